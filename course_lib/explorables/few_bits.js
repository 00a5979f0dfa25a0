// Lesson 20: the bits of a number in three formats and in parts of any length, and the error of a product over the bits that are left.
// Data: few_bits.py, rounded and multiplied there. Nothing is computed here but places on the canvas.
import { clamp, ease, explorable, lerp, plural } from "./stage.js";

// One colour per format, as in the lesson's other pictures: float32, TF32, bfloat16, parts of bfloat16, and numbers of other lengths.
const HUES = { light: { 23: "#d55e00", 10: "#a64d83", 7: "#0072b2", parts: "#00805a", other: "#767676" },
  dark: { 23: "#ff9248", 10: "#e39bc4", 7: "#5cb8f0", parts: "#2fd3a0", other: "#a8a8a8" } };
const hueOf = (bits, parts) => (parts === 1 && [7, 10, 23].includes(bits) ? bits : bits === 7 ? "parts" : "other");
const NAMED = { 7: "bfloat16", 10: "TF32", 23: "float32" }, TICKS = [0, -8, -16, -24, -32, -40];
const raised = n => `2^{${String(n).replace("-", "−")}}`;       // `write` raises what stands in the braces
export const power = (exponent, least) => (exponent <= least ? `less than 2 to the minus ${-least}` : `2 to the minus ${(-exponent).toFixed(1)}`);
const off = (exponent, least, written) => (exponent <= least ? "all that float32 has" : `off by ${written(exponent)}`);

/** How many parts a moment has: one until step 2, then one more with each step. */
export const partsAt = at => clamp(Math.ceil(at - 1e-6) - 1, 1, 3);

export function sceneOf(values, states, _, at = 0) {
  const { number, bits } = values, column = states.bits.indexOf(bits), found = states.numbers[number];
  return { states, column, bits, label: found.label, rows: found.rows, own: found.own[column], left: found.left[column],
    error: states.errors.map(row => row[column]), bound: states.bounds.map(row => row[column]), answer: -states.errors[0][column],
    steps: 4, told: 2, pauses: [2, 3], seconds: () => 1.4, keeps: before => before?.bits === bits, begin: at >= 2 ? Math.floor(at + 1e-6) : 0 };
}

// ---- where things are --------------------------------------------------------------------------------------------------------------
export function layout(view) {
  const { width, height, narrow } = view, text = Math.min(view.text, width / (narrow ? 28 : 62), height / (narrow ? 48 : 25));
  const row = 1.75 * text, label = 5.2 * text, value = 7.2 * text, wide = narrow ? width : 0.56 * width;
  const table = { x: label, y: 4 * text, w: wide - label - value, row, gap: 2.6 * text, end: wide };
  const high = table.y + 6 * row + table.gap;
  const plot = narrow ? { x: 3.6 * text, y: high + 3.4 * text, w: width - 4.6 * text } : { x: wide + 4.6 * text, y: 2.6 * text, w: width - wide - 5.6 * text };
  plot.h = height - plot.y - (narrow ? 9.4 : 3.4) * text;
  const legend = { x: 0.4 * text, y: (narrow ? plot.y + plot.h + 2.6 * text : high) + 1.3 * text, w: wide - 0.8 * text };
  return { text, table, plot, high, legend, cell: table.w / 33 };
}

// ---- drawing -----------------------------------------------------------------------------------------------------------------------
function write(pen, view, words, x, y, { size = 0.96, align = "left", weight = 400, colour = view.ink, most } = {}) {
  const font = share => { pen.font = `${weight} ${Math.round(share * view.text)}px ${view.fontFamily}`; };
  const pieces = words.split(/\^\{(.*?)\}/), share = i => (i % 2 ? Math.max(0.87, 0.86 * view.type / view.text) : size);      // every second piece is raised
  const widths = pieces.map((piece, i) => { font(share(i)); return pen.measureText(piece).width; });
  const whole = widths.reduce((sum, width) => sum + width, 0);
  pen.fillStyle = colour;
  pen.textAlign = pieces.length > 1 ? "left" : align;
  let left = pieces.length > 1 ? x - whole * { left: 0, center: 0.5, right: 1 }[align] : x;
  pieces.forEach((piece, i) => {
    font(share(i));
    if (piece) pen.fillText(piece, left, y - (i % 2 ? 0.42 * view.text : 0), ...(most === undefined ? [] : [most]));
    left += widths[i];
  });
}
function upright(pen, view, words, x, y) {
  pen.save();
  pen.translate(x, y);
  pen.rotate(-Math.PI / 2);
  write(pen, view, words, 0, 0);
  pen.restore();
}
/** Thin white lines across a bar, so that colour alone does not say on which side of the orange line it ends. */
function stripes(pen, view, x, y, w, h) {
  pen.fillStyle = view.paper;
  for (let at = y + 4; at < y + h; at += 6) pen.fillRect(x, at, w, 1.5);
}
function bit(pen, view, digit, x, y, hue, { cell, text }) {
  pen.globalAlpha = digit === "1" ? 1 : 0.22;
  pen.fillStyle = hue;
  pen.fillRect(x, y, cell - 1, 1.3 * text);
  pen.globalAlpha = 1;
  if (cell >= 0.62 * text) write(pen, view, digit, x + (cell - 1) / 2, y + 1.02 * text, { align: "center", colour: digit === "1" ? view.paper : view.ink });
}
const place = (n, { table, cell }) => table.x + (n + (n > 0 ? 0.5 : 0) + (n > 8 ? 0.5 : 0)) * cell;
/** What the columns are, each word above a line as wide as its bits. */
function drawHeads(pen, view, where) {
  const { table, cell, text } = where, y = table.y - 0.5 * text;
  for (const [word, first, last] of [["sign", 0, 0], ["exponent", 1, 8], ["fraction", 9, 31]]) {
    const from = place(first, where), to = place(last, where) + cell - 1;
    pen.fillStyle = view.ink;
    pen.fillRect(from, y, to - from, 1.5);
    write(pen, view, word, first ? (from + to) / 2 : to, y - 0.4 * text, { align: first ? "center" : "right", size: 0.97 });
  }
}
/** One number: sign, exponent and fraction in columns; where float32 has more bits, a thin line. */
function drawRow(pen, view, { name, sign, exponent, fraction, value }, y, where, hue) {
  const { table, cell, text } = where, at = n => place(n, where);
  write(pen, view, name, table.x - 0.6 * text, y + 1.02 * text, { align: "right" });
  bit(pen, view, sign, at(0), y, hue, where);
  [...exponent].forEach((digit, i) => bit(pen, view, digit, at(1 + i), y, hue, where));
  [...fraction].forEach((digit, i) => bit(pen, view, digit, at(9 + i), y, hue, where));
  if (fraction.length < 23) {
    pen.globalAlpha = 0.35;
    pen.fillStyle = view.ink;
    pen.fillRect(at(9 + fraction.length), y + 0.62 * text, (23 - fraction.length) * cell - 1, 1.5);
    pen.globalAlpha = 1;
  }
  write(pen, view, value, table.end - 0.4 * text, y + 1.02 * text, { align: "right", most: 6.4 * text });
}

function drawTable(pen, view, where) {
  const { table, text } = where, { scene, at } = view, parts = partsAt(at);
  write(pen, view, `x = ${scene.label}`, 0.4 * text, 1.2 * text, { weight: 700, size: 1.05 });
  drawHeads(pen, view, where);
  scene.rows.forEach((row, i) => drawRow(pen, view, row, table.y + i * table.row, where, view.hues[[23, 10, 7][i]]));
  if (at <= 0) return;
  const top = table.y + scene.rows.length * table.row + table.gap, lost = off(scene.left[parts - 1], scene.states.least, n => raised(n.toFixed(1)));
  write(pen, view, `${plural(scene.bits, "fraction bit")}, ${plural(parts, "part")}: ${lost} of x`, 0.4 * text, top - 0.6 * text, { weight: 700 });
  scene.own.slice(0, parts).forEach((row, i) => drawRow(pen, view, row, top + i * table.row, where, view.hues[hueOf(scene.bits, parts)]));
}

/** Where each bar and its bound end at a moment, as powers of two: the bars grow, then go from one part to two, and to three. */
export function barsAt({ states }, at) {
  const level = clamp(at - 2, 0, 2), low = Math.floor(level), high = Math.ceil(level), between = rows => rows[low].map((from, i) => lerp(from, rows[high][i], ease(level - low)));
  return { ends: between(states.errors).map(end => lerp(states.least, end, clamp(at - 1))), bounds: between(states.bounds) };
}

function drawChart(pen, view, where) {
  const { plot, text } = where, { scene, at } = view, { states } = scene, gap = plot.w / states.bits.length, { ends, bounds } = barsAt(scene, at), parts = partsAt(at);
  const yOf = exponent => plot.y + plot.h * exponent / states.least, foot = yOf(states.least);
  write(pen, view, `${view.narrow ? "Largest error" : "Largest error of C"} / Σ |a| |b|, sums of ${states.K} terms`, plot.x - 3 * text, plot.y - 1.2 * text, { weight: 700, most: plot.w + 3 * text });
  for (const tick of TICKS) {
    pen.globalAlpha = 0.18;
    pen.fillStyle = view.ink;
    pen.fillRect(plot.x, yOf(tick), plot.w, 1);
    pen.globalAlpha = 1;
    write(pen, view, tick ? raised(tick) : "1", plot.x - 0.4 * text, yOf(tick) + 0.35 * text, { align: "right" });
  }
  states.bits.forEach((bits, i) => {
    const now = i === scene.column, x = plot.x + i * gap, top = yOf(ends[i]);
    if (at > 1 && bits === 23) upright(pen, view, "exact", x + gap / 2 + 0.35 * text, foot - 0.4 * text);
    else if (at > 1) {
      pen.globalAlpha = now ? 1 : 0.45;
      pen.fillStyle = view.hues[hueOf(bits, parts)];
      pen.fillRect(x + 1, top, gap - 2, foot - top);
      if (at >= 2 && ends[i] < states.float32) stripes(pen, view, x + 1, top, gap - 2, foot - top);
      pen.globalAlpha = 1;
      pen.fillStyle = view.ink;
      pen.fillRect(x, yOf(bounds[i]) - 1, gap, now ? 3 : 1.5);
    }
    if (now || bits % 4 === 0 && Math.abs(i - scene.column) > 1) write(pen, view, String(bits), x + gap / 2, foot + 1.2 * text, { align: "center", weight: now ? 700 : 400 });
  });
  write(pen, view, "fraction bits", plot.x + plot.w / 2, foot + 2.6 * text, { align: "center" });
  if (at <= 1) return write(pen, view, "?", plot.x + plot.w / 2, plot.y + plot.h / 2, { align: "center", size: 2.4, weight: 700 });
  pen.fillStyle = view.hues[23];
  pen.fillRect(plot.x, yOf(states.float32) - 1, plot.w, 2.5);
  if (at >= 2 && Number.isInteger(at) && scene.bits < 23) {            // in the corner that no bar reaches
    const told = [["error", scene.error], ["bound", scene.bound]].map(([word, found]) => [word, found[parts - 1]]);
    told.forEach(([word, n], i) => write(pen, view, `${scene.bits} bits: ${word} ${n <= states.least ? "<" : "="} ${raised(n.toFixed(1))}`,
      plot.x + plot.w, plot.y + (1.5 + 1.4 * i) * text, { align: "right", weight: 700 }));
  }
  return 0;
}

/** What the chart's marks mean, outside of it: below the table, or on narrow screens below the chart. */
function drawLegend(pen, view, { legend, text }) {
  const formats = partsAt(view.at) > 1 ? "green: bfloat16 in parts" : "blue: bfloat16; purple: TF32";
  const lines = [`bars: A and B rounded, sums exact; ${formats}`, "striped bars: below the orange line",
    `${view.dark ? "white" : "black"} marks: the bound, which no error exceeds`, "orange line: sgemm_naive in float32, sums rounded"];
  lines.forEach((words, i) => write(pen, view, words, legend.x, legend.y + 1.3 * i * text, { most: legend.w }));
}

export function draw(pen, given) {
  const where = layout(given), view = { ...given, text: where.text, type: given.text, hues: HUES[given.dark ? "dark" : "light"] };
  drawTable(pen, view, where);
  drawChart(pen, view, where);
  drawLegend(pen, view, where);
}

// ---- words -------------------------------------------------------------------------------------------------------------------------
export function says({ scene }, step) {
  const { label, bits, states, error, bound, left } = scene, parts = partsAt(step), kept = `${plural(bits, "fraction bit")}${parts > 1 ? ` in each of ${parts} parts` : ""}`;
  if (step <= 0) return `With ${kept}, how large is the largest error of C, as a share of Σ |a| |b|: 2 to the minus what? Predict, then play.`;
  if (step < 2) return `${label} with ${kept} is ${off(left[0], states.least, power)} of it.`;
  const next = step < 3 ? " Read on before the next step." : "", line = power(states.float32, states.least);
  if (bits === 23) return `With ${kept} the numbers stay what they are, and the product is exact, as its sums are. sgemm_naive rounds sums: its error is ${line}.${next}`;
  const verdict = error[parts - 1] < states.float32 ? "less" : "more", [found, most] = [error, bound].map(row => power(row[parts - 1], states.least));
  return `With ${kept} the largest error of the product is ${found}; the bound is ${most}. It is ${verdict} than sgemm_naive's, ${line}.${next}`;
}
const when = (_, step) => ["all bits", "what is left", "the error of a product", "two parts", "three parts"][step];
export function describes(view, step) {
  const { rows, own } = view.scene, parts = partsAt(step), told = ({ name, value }) => `${name} ${value}`;
  const table = rows.map(told).join(", ") + (step <= 0 ? "" : `; ${plural(parts, "part")}: ${own.slice(0, parts).map(row => row.value).join(", ")}`);
  return `${says(view, step)} A table of bits: ${table}. Beside it ${step < 2 ? "an empty chart" : "bars of the error over the fraction bits, with their bounds"}.`;
}

// ---- the explorable ----------------------------------------------------------------------------------------------------------------
export const picture = {
  title: "What is left of a number, and what it costs a product",
  ask: { label: "Your prediction: 2 to the minus", unit: "" },
  order: ["says", "player", "controls", "picture"],
  height: (width, text, narrow) => (narrow ? 48 * text : clamp(0.27 * width, 350, 380)),
  controls: states => [
    { kind: "choice", key: "number", label: "x in the table", options: states.numbers.map(({ label }, i) => [i, label]) },
    { kind: "range", key: "bits", label: "Fraction", name: "Bits of the fraction", min: states.bits[0], max: states.bits.at(-1), says: values => `${values.bits}: ${NAMED[values.bits] ?? "bits"}` }],
  scene: sceneOf, draw, says, when, describes,
};
export default explorable(picture);
