// Lesson 08: two schedulers side by side. Which warp issues in a cycle, which wait for words, and how busy shared memory is.
// Data: warps.py, from course_lib.model.rounds. Computed here: sums over its letters, held to the model by tests.
import { clamp, explorable, plural } from "./stage.js";

const SIDES = ["left", "right"], NAMES = { left: "Left", right: "Right" };
const LETTERS = { L: "issues a load", M: "issues a multiply-add", q: "queues for shared memory", w: "waits for its words", r: "ready, but another warp issues" };
const LEGEND = { M: "issues a multiply-add", L: "issues a load", other: "load of another scheduler", q: "stripes: queues for shared memory", w: "line: waits for its words", r: "hollow: ready, not its turn" };
const HUES = { light: { L: "#0072b2", M: "#f0a000", q: "#aa3377", w: "#7a7a7a", r: "#00805d", other: "#a6d3ee" },
  dark: { L: "#56b4e9", M: "#ffd24d", q: "#f08cc4", w: "#a8a8a8", r: "#3fd6a4", other: "#1f567a" } };
const EPS = 1e-6;

/** What a side has done after so many cycles: multiply-adds and loads started, and cycles in which shared memory was busy. */
export function counted(seen, cycles) {
  let adds = 0, loads = 0, busy = 0;
  for (let i = 0; i < cycles; ++i) {
    for (const line of seen.warps) { adds += line[i] === "M"; loads += line[i] === "L"; }
    busy += seen.shared[i] !== ".";
  }
  return { adds, loads, busy };
}

/** A line of letters as [letter, from, to] pieces. */
export function pieces(line) {
  const found = [];
  for (let i = 0; i < line.length; ++i) {
    if (found.length && found.at(-1)[0] === line[i]) found.at(-1)[2] = i + 1;
    else found.push([line[i], i, i + 1]);
  }
  return found;
}

export function sceneOf(values, states) {
  const sides = Object.fromEntries(SIDES.map(side => {
    const outputs = values[side], seen = states.at[outputs];
    const adds = [...seen.shared].map((_, i) => (seen.warps.some(line => line[i] === "M") ? "M" : " ")).join("");
    const shared = seen.shared.replace(/0/g, "o").replace(/[1-3]/g, "x");                  // its own loads, and those of the other three
    return [side, { outputs, warps: seen.warps.length, registers: seen.registers, seen, lines: seen.warps.map(pieces), adds, shared }];
  }));
  const same = before => before?.sides.left.seen === sides.left.seen;      // the prediction is for the left side as it was when it was made
  return { states, sides, steps: states.cycles, rest: states.cycles, keeps: same, seconds: step => (step < 8 ? 0.35 : 0.07), answer: counted(sides.left.seen, states.cycles).adds };
}

// ---- where things are --------------------------------------------------------------------------------------------------------------
export function layout(view) {
  const { width, height, narrow, scene } = view, text = Math.min(view.text, width / (narrow ? 27 : 54), height / (narrow ? 52 : 26));
  const top = (narrow ? 4 : 2.8) * text, gap = 2.2 * text, high = (height - top - (narrow ? text : 0)) / (narrow ? 2 : 1) - 2, wide = narrow ? width : (width - gap) / 2;
  const label = (narrow ? 5.2 : 7.5) * text, head = 4.3 * text, strip = 1.25 * text;
  const panels = SIDES.map((side, i) => {
    const x = narrow ? 0 : i * (wide + gap), y = top + (narrow ? i * (high + text) : 0);
    const cell = (wide - label - 2) / scene.steps, slot = (high - head - 2 * strip - 1.1 * text) / scene.states.most;
    const adds = { x: x + label, y: y + head, w: cell * scene.steps, h: strip }, shared = { ...adds, y: adds.y + strip + 0.35 * text };
    const rows = { ...adds, y: shared.y + strip + 0.5 * text, h: slot * scene.states.most };
    return [side, { side, x, y, wide, label, cell, slot, rows, adds, shared, bottom: rows.y + rows.h }];
  });
  return { text, ...Object.fromEntries(panels) };
}

// ---- drawing -----------------------------------------------------------------------------------------------------------------------
function write(pen, view, words, x, y, { size = 1, align = "left", weight = 400, colour = view.ink, most } = {}) {
  pen.fillStyle = colour;
  pen.textAlign = align;
  pen.font = `${weight} ${Math.round(size * view.text)}px ${view.fontFamily}`;
  pen.fillText(words, x, y, ...(most === undefined ? [] : [most]));
  return pen.measureText(words).width;
}
function box(pen, view, { x, y, w, h }, alpha = 0.7) {
  pen.globalAlpha = alpha;
  pen.strokeStyle = view.ink;
  pen.lineWidth = 1;
  pen.strokeRect(x, y, w, h);
  pen.globalAlpha = 1;
}
const outputsOf = side => plural(side * side, "output");
/** A scheduler has a quarter of the warps of its multiprocessor. */
const warpsOf = side => `${side.warps} of the ${4 * side.warps} warps, ${outputsOf(side.outputs)} per thread`;

function drawHead(pen, view, where, side) {
  const { text, at } = view, now = counted(side.seen, Math.floor(at + EPS)), { x, y, wide } = where;
  const name = write(pen, view, `${NAMES[where.side]}: `, x, y + 1.1 * text, { size: 1.1, weight: 700 });
  write(pen, view, warpsOf(side), x + name, y + 1.1 * text, { size: 1.1, most: wide - name });
  const number = write(pen, view, now.adds, x, y + 3.5 * text, { size: 2.4, weight: 700 });
  const beside = x + number + 0.6 * text, most = wide - number - text;
  write(pen, view, `${now.adds === 1 ? "multiply-add" : "multiply-adds"} started in ${plural(Math.floor(at + EPS), "cycle")}`, beside, y + 2.5 * text, { weight: 600, most });
  write(pen, view, "in a model of schedulers and shared memory only", beside, y + 3.7 * text, { most });
}

/** What a warp does, readable without colour: it issues (tall), queues (stripes), waits for words (a line), is ready (hollow). */
function drawPiece(pen, view, letter, x, y, w, h) {
  pen.fillStyle = pen.strokeStyle = view.hues[letter];
  pen.lineWidth = 1.5;
  const inset = Math.min(1.5, 0.12 * h), thin = 0.22 * h;
  if (letter === "q") stripes(pen, { x, y: y + thin, w, h: h - 2 * thin }, 0.42 * view.text);
  else if (letter === "w") pen.fillRect(x, y + 0.42 * h, w, 0.16 * h);
  else if (letter === "r") pen.strokeRect(x + 0.75, y + thin, Math.max(w - 1.5, 0.1), h - 2 * thin);
  else pen.fillRect(x, y + inset, w, h - 2 * inset);
}
function stripes(pen, { x, y, w, h }, step) {
  pen.save();
  pen.beginPath();
  pen.rect(x, y, w, h);
  pen.clip();
  pen.beginPath();
  for (let i = Math.floor((x - h) / step) * step; i < x + w; i += step) { pen.moveTo(i, y + h); pen.lineTo(i + h, y); }
  pen.stroke();
  pen.restore();
}

/** Before the first cycle: what a warp does for one k, if it has the multiprocessor to itself. */
function drawAlone(pen, view, where, side) {
  const { text } = view, { rows, cell } = where, loads = 2 * side.outputs, { latency } = view.scene.states, y = rows.y + 2.4 * text;
  const parts = [["L", loads], ["w", latency - 1], ["M", side.outputs ** 2]];
  write(pen, view, "one warp, for one k, if it were alone:", rows.x + 0.6 * text, y - 0.7 * text, { most: rows.w - text });
  let from = rows.x + 0.6 * text;
  for (const [letter, cycles] of parts) {
    drawPiece(pen, view, letter, from, y, cycles * cell, 1.3 * text);
    from += cycles * cell;
  }
}

/** One row per warp that a scheduler can hold: what it did until now, or why there is none. */
function drawRows(pen, view, where, side) {
  const { text, at } = view, { rows, slot, cell, x } = where, every = slot < 0.92 * text ? 2 : 1;
  for (let i = 0; i < view.scene.states.most; ++i) {
    const y = rows.y + i * slot, line = side.lines[i];
    if (line && at > 0 && i % every === 0) write(pen, view, `warp ${i}`, x + where.label - 0.5 * text, y + slot / 2 + 0.32 * text, { size: 0.96, align: "right" });
    for (const [letter, from, to] of line ?? []) {
      const end = Math.min(to, at);
      if (end <= from) break;
      drawPiece(pen, view, letter, rows.x + from * cell, y, (end - from) * cell, slot);
    }
  }
  const full = { ...rows, h: side.warps * slot }, no = { ...rows, y: rows.y + full.h, h: rows.h - full.h };
  box(pen, view, full);
  if (at <= 0) drawAlone(pen, view, where, side);
  if (side.warps < view.scene.states.most) {
    pen.fillStyle = view.ink;
    pen.globalAlpha = 0.12;
    pen.fillRect(no.x, no.y, no.w, no.h);
    pen.globalAlpha = 1;
    const middle = { align: "center", most: no.w - text }, from = no.y + no.h / 2;
    write(pen, view, "no registers left for more warps", no.x + no.w / 2, from - (at > 0 ? 0.3 : -0.35) * text, { weight: 600, ...middle });
    if (at > 0) write(pen, view, `${view.scene.states.registers.toLocaleString("en")} per multiprocessor, ${side.registers} per thread`, no.x + no.w / 2, from + 1.05 * text, middle);
    if (at >= view.scene.steps) drawLate(pen, view, where, side, no.y);
  }
}
/** Beside the empty rows: why a warp never issued, where there is one. */
function drawLate(pen, view, where, side, y) {
  const { text } = view, late = side.lines.findIndex(line => line.length === 1 && line[0][0] === "r");
  if (late < 0) return;
  const words = [`warp ${late}:`, "its turn of", `${2 * side.outputs + side.outputs ** 2} cycles`, "comes later"];
  words.forEach((line, i) => write(pen, view, line, where.x + where.label - 0.5 * text, y + (1.4 + 1.15 * i) * text, { size: 0.96, align: "right", most: where.label - 0.5 * text }));
}

/** Two strips: in which cycles this scheduler started a multiply-add, and whose load shared memory served. */
function drawStrips(pen, view, where, side) {
  const { at, text } = view, { adds, shared, cell } = where, cycles = Math.min(side.seen.shared.length, Math.ceil(at - EPS));
  const mark = (strip, line, hues) => pieces(line.slice(0, cycles)).forEach(([letter, from, to]) => {
    if (!hues[letter]) return;
    pen.fillStyle = hues[letter];
    pen.fillRect(strip.x + from * cell, strip.y, (Math.min(to, at) - from) * cell, strip.h);
    pen.fillStyle = view.paper;
    for (let i = from; cell > 3 && i < to; ++i) pen.fillRect(strip.x + i * cell - 0.5, strip.y, 1, strip.h);        // so that cycles can be counted
  });
  mark(adds, side.adds, { M: view.hues.M });
  mark(shared, side.shared, { o: view.hues.L, x: view.hues.other });
  for (const [strip, words] of [[adds, "arithmetic"], [shared, view.narrow ? "shared" : "shared memory"]]) {
    box(pen, view, strip);
    write(pen, view, words, strip.x - 0.4 * text, strip.y + 0.95 * text, { size: 0.96, weight: 600, align: "right", most: where.label - 0.4 * text });
  }
}

function drawLegend(pen, view) {
  const { text, narrow, width } = view, items = ["M", "L", "w", "q", "r", "other"], many = narrow ? 2 : 3, step = width / many;
  items.forEach((letter, i) => {
    if (view.at <= 0 && !"MLw".includes(letter)) return;                   // the others are seen from the first cycle on
    const x = (i % many) * step, top = Math.floor(i / many) * 1.2 * text;
    drawPiece(pen, view, letter, x, top, 2 * text, text);
    write(pen, view, LEGEND[letter], x + 2.4 * text, top + 0.86 * text, { size: 0.96, most: step - 2.8 * text });
  });
}

export function draw(pen, given) {
  const where = layout(given), view = { ...given, text: where.text, hues: HUES[given.dark ? "dark" : "light"] };
  for (const name of SIDES) {
    const side = view.scene.sides[name], panel = where[name];
    drawHead(pen, view, panel, side);
    drawRows(pen, view, panel, side);
    drawStrips(pen, view, panel, side);
    if (view.at > 0 && view.at < view.scene.steps) {
      pen.fillStyle = view.ink;
      pen.fillRect(panel.rows.x + view.at * panel.cell - 0.75, panel.adds.y - 3, 1.5, panel.bottom - panel.adds.y + 6);
    }
  }
  drawLegend(pen, view);
}

// ---- words -------------------------------------------------------------------------------------------------------------------------
const eachOf = side => `For each k a warp on the left issues ${plural(2 * side.outputs, "load")} and ${plural(side.outputs ** 2, "multiply-add")}.`;
export function says(view, step) {
  const { left, right } = view.scene.sides, { steps } = view.scene;
  if (step <= 0) return `${eachOf(left)} On the right it issues ${2 * right.outputs} and ${right.outputs ** 2}. Shared memory serves one load per cycle, for all four schedulers. How many multiply-adds does the left one start in ${steps} cycles? Predict, then play.`;
  const [a, b] = [left, right].map(side => counted(side.seen, step));
  if (step < steps) return `After ${plural(step, "cycle")}, the left scheduler has started ${plural(a.adds, "multiply-add")} and the right one ${b.adds}.`;
  return `In ${steps} cycles the left scheduler started ${plural(a.adds, "multiply-add")} and the right one ${b.adds}. Shared memory was busy for ${a.busy} cycles on the left and for ${b.busy} on the right.`;
}
const when = (view, step) => (step <= 0 ? "before the first cycle" : `cycle ${step} of ${view.scene.steps}`);
export function describes(view, step) {
  if (step <= 0) return `Left: ${warpsOf(view.scene.sides.left)}. Right: ${warpsOf(view.scene.sides.right)}. The picture begins when the warps have long been at work. ${says(view, step)} The picture shows what one warp does for one k, if it were alone: it issues its loads, waits ${view.scene.states.latency} cycles for the last word, and issues its multiply-adds.`;
  const kinds = SIDES.map(name => {
    const lines = view.scene.sides[name].seen.warps.map(line => line[step - 1]), many = Object.keys(LETTERS).map(letter => [lines.filter(l => l === letter).length, LETTERS[letter]]);
    return `${NAMES[name]}, in cycle ${step}: ${many.filter(([n]) => n).map(([n, words]) => `${plural(n, "warp")} ${words}`).join(", ")}.`;
  });
  return `${says(view, step)} ${kinds.join(" ")}`;
}

function hit(view, x, y) {
  const where = layout(view);
  for (const name of SIDES) {
    const { rows, slot, cell, shared, adds } = where[name], side = view.scene.sides[name], cycle = Math.floor((x - rows.x) / cell), warp = Math.floor((y - rows.y) / slot);
    if (cycle < 0 || cycle >= view.scene.steps) continue;
    if (warp >= 0 && warp < view.scene.states.most) {
      if (warp >= side.warps) return { text: `more than ${plural(side.warps, "warp")} do not fit: the registers are used up` };
      if (cycle < view.at) return { text: `cycle ${cycle + 1}, warp ${warp}: ${LETTERS[side.seen.warps[warp][cycle]]}` };
    }
    if (y >= shared.y && y <= shared.y + shared.h) return { text: "shared memory, which all four schedulers use: one load per cycle" };
    if (y >= adds.y && y <= adds.y + adds.h) return { text: "the arithmetic units of this scheduler: one multiply-add of a warp per cycle" };
  }
  return null;
}

// ---- the explorable ----------------------------------------------------------------------------------------------------------------
const choiceOf = side => ({ kind: "choice", key: side, label: `${NAMES[side]}: outputs`, options: [1, 2, 4, 8].map(n => [n, `${n} × ${n}`]) });

export const picture = {
  title: "Two schedulers, their warps and what they wait for",
  ask: { label: "Your prediction", unit: "on the left" },
  order: ["says", "player", "controls", "picture"],
  height: (width, text, narrow) => (narrow ? Math.round(0.55 * width + 34.5 * text) : clamp(0.34 * width, 405, 440)),
  controls: () => SIDES.map(choiceOf),
  scene: sceneOf, draw, says, when, describes, hit,
};
export default explorable(picture);
