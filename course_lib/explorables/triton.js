// Lesson 21: where the tiles of each step are while a warp goes through the loop that Triton wrote, in the order of its PTX.
// Data: triton.py, which has every event and what is where behind it. Nothing is computed here but places on the canvas.
import { clamp, explorable, plural } from "./stage.js";

const HUES = { light: { kinds: ["#0072b2", "#d55e00", "#8e3b8a", "#e69f00", "#009e73", "#dcdcdc"], here: "#8ec9e8", way: "#d8ecf8" },
  dark: { kinds: ["#3d9fd8", "#f07a33", "#d78fd3", "#f0b429", "#2fc295", "#4a4a4a"], here: "#1f6a96", way: "#12384f" } };
const ROWS = 4, SHORT = ["copy", "wait", "barrier", "load", "multiply", "all else"], HALVES = ["1st half", "2nd half"];
const CODE = { 19: "a = tl.load(…)", "19, 20": "a, b = tl.load(…)", 21: "sums = tl.dot(a, b, sums)" };           // of the program, shortened

export function sceneOf(values, states, before = null, at = 0) {
  const { events, loop, shared } = states.at[`${values.target}|${values.stages}`], steps = events.length;
  const refill = events.findIndex(({ buffers }, i) => i && buffers.some(([step, state], at) => state === "way" && events[i - 1].buffers[at][0] >= 0 && events[i - 1].buffers[at][0] !== step));
  const marks = [refill < 0 ? { step: steps, label: "end: in these steps no buffer is filled again" } : { step: refill + 1, label: "first copies into a buffer that was used before" }];
  return { events, loop, shared, kinds: states.kinds, marks, tiles: states.tiles, total: loop.reduce((sum, [, count]) => sum + count, 0), stages: values.stages, target: values.target,
    steps, begin: before && at >= before.steps - 1e-6 ? steps : 1, answer: events[0].buffers.length, seconds: () => 0.9 };
}
/** The event that the picture shows at a moment, or nothing before the first. */
export const eventAt = (scene, at) => scene.events[Math.min(Math.floor(at + 1e-6), scene.steps) - 1] ?? null;

/** What stands in the rows of the four panels behind an event: [words, "here" or "way" or ""], from the top. */
export function rowsOf(scene, event, used) {
  const way = event ? event.buffers.filter(([, state]) => state === "way").map(([step]) => step) : [];
  if (event && event.fetched >= 0 && !way.includes(event.fetched)) way.push(event.fetched);
  const buffer = ([step, state]) => (step < 0 ? ["empty", ""] : [{ way: `step ${step} comes`, here: `step ${step}`, free: `free (step ${step})` }[state], state === "free" ? "" : state]);
  const done = (halves, step) => [`step ${step}${halves === 0 ? "" : event.running === step ? " runs" : halves === 1 ? ", half" : ", done"}`, halves === 0 ? "" : event.running === step ? "way" : "here"];
  return [way.sort((a, b) => a - b).map(step => [`step ${step}`, "way"]), event ? event.buffers.slice(0, used).map(buffer) : [["how many buffers?", ""]],
    scene.target === "sm_90a" ? [["none: wgmma reads", ""], ["shared memory itself", ""]] : event ? event.registers.map(([step, half]) => [`step ${step}, ${HALVES[half]}`, "here"]) : [], (event ? event.multiplied : Array(scene.tiles).fill(0)).map(done)];
}
/** How many buffers in shared memory have been filled by a moment. */
export const usedBy = (scene, at) => Math.max(0, ...scene.events.slice(0, Math.floor(at + 1e-6)).flatMap(event => event.buffers.flatMap(([step], i) => (step < 0 ? [] : [i + 1]))));

// ---- where things are --------------------------------------------------------------------------------------------------------------
export function layout(view) {
  const { width, height, narrow } = view, text = Math.min(view.text, width / (narrow ? 27 : 58), height / (narrow ? 36 : 20));
  const head = (narrow ? 3.6 : 2.4) * text, columns = narrow ? 2 : 4, stacked = narrow ? 2 : 1, gap = text, wide = (width - 2 - (columns - 1) * gap) / columns;
  const foot = (narrow ? 8.5 : 6.7) * text, row = clamp((height - head - foot - stacked * 1.7 * text) / (stacked * ROWS), 1.9 * text, 3 * text), high = 1.7 * text + row * ROWS;
  const panels = [0, 1, 2, 3].map(i => ({ x: 1 + (i % columns) * (wide + gap), y: head + Math.floor(i / columns) * high, w: wide, h: high }));
  const strip = { x: 1, y: head + stacked * high + 2 * text, w: width - 2, h: 1.3 * text };
  return { text, row, panels, strip, key: strip.y + strip.h + 2.7 * text };
}

// ---- drawing -----------------------------------------------------------------------------------------------------------------------
function write(pen, view, words, x, y, { size = 1, align = "left", weight = 400, most } = {}) {
  pen.fillStyle = view.ink;
  pen.textAlign = align;
  pen.font = `${weight} ${Math.round(size * view.text)}px ${view.fontFamily}`;
  pen.fillText(words, x, y, ...(most === undefined ? [] : [most]));
  return pen.measureText(words).width;
}
function box(pen, view, { x, y, w, h }, fill) {
  if (fill) { pen.fillStyle = fill; pen.fillRect(x, y, w, h); }
  pen.strokeStyle = view.ink;
  pen.lineWidth = 1;
  pen.globalAlpha = 0.6;
  pen.strokeRect(x, y, w, h);
  pen.globalAlpha = 1;
}

function drawPanel(pen, view, title, rows, panel, row) {
  const { text } = view, { x, y, w } = panel, high = Math.min(row - 0.3 * text, 2.4 * text);
  write(pen, view, title, x, y + 1.1 * text, { weight: 700, most: w });
  rows.forEach(([words, state], i) => {
    const at = { x, y: y + 1.7 * text + row * i, w, h: high };
    box(pen, view, at, state && view.hues[state]);
    write(pen, view, words, x + w / 2, at.y + high / 2 + 0.35 * text, { size: 0.96, align: "center", most: w - 0.6 * text });
  });
}

/** The loop, every instruction in its order, and a frame around those of the event. */
function drawStrip(pen, view, { strip, key }, event) {
  const { text, scene, narrow, width } = view, each = strip.w / scene.total;
  write(pen, view, `the loop in PTX, ${scene.total} instructions in their order${narrow ? "" : event && event.at[0] < 0 ? "; now: outside of the loop" : "; framed: where the warp is"}`, strip.x, strip.y - 0.9 * text, { size: 0.96, most: strip.w });
  let x = strip.x, barriers = 0;
  for (const [kind, count] of scene.loop) {
    pen.fillStyle = view.hues.kinds[scene.kinds.indexOf(kind)];
    pen.fillRect(x, strip.y, count * each, strip.h);
    if (kind === "barrier") write(pen, view, String(++barriers), x + count * each / 2, strip.y + strip.h + 1.15 * text, { align: "center", weight: 700 });
    x += count * each;
  }
  if (event && event.at[0] >= 0) {
    pen.strokeStyle = view.ink;
    pen.lineWidth = 2.5;
    pen.strokeRect(strip.x + event.at[0] * each - 2, strip.y - 3, (event.at[1] - event.at[0] + 1) * each + 4, strip.h + 6);
  }
  const many = narrow ? 3 : 6;
  SHORT.forEach((words, i) => {
    const left = 1 + (i % many) * (width / many), top = key + Math.floor(i / many) * 1.4 * text;
    pen.fillStyle = view.hues.kinds[i];
    pen.fillRect(left, top - 0.8 * text, 0.9 * text, 0.9 * text);
    write(pen, view, words, left + 1.3 * text, top, { size: 0.96, most: width / many - 1.8 * text });
  });
}

export function draw(pen, given) {
  const where = layout(given), view = { ...given, text: where.text, hues: HUES[given.dark ? "dark" : "light"] }, { scene, narrow, text } = view;
  const event = eventAt(scene, view.at), said = event ? event.ptx : "press Play", code = event && CODE[event.lines] ? `: ${CODE[event.lines]}` : "";
  const lines = !event ? "" : event.lines ? `line${event.lines.includes(",") ? "s" : ""} ${event.lines}${code}` : "behind the loop";
  write(pen, view, said, 1, 1.4 * text, { size: 1.15, weight: 700, most: narrow ? view.width - 2 : 0.6 * view.width });
  if (lines) write(pen, view, lines, narrow ? 1 : view.width - 2, (narrow ? 2.9 : 1.4) * text, { align: narrow ? "left" : "right", most: 0.38 * view.width + (narrow ? 0.6 * view.width : 0) });
  const rows = rowsOf(scene, event, usedBy(scene, view.at));
  ["on its way", "shared memory", "registers", "multiplied"].forEach((title, i) => drawPanel(pen, view, title, rows[i], where.panels[i], where.row));
  drawStrip(pen, view, where, event);
}

// ---- words -------------------------------------------------------------------------------------------------------------------------
const settingOf = ({ target, stages }) => `For ${target}, num_stages = ${stages}`;
export function says({ scene, ended }, step) {
  if (step <= 0) return `${settingOf(scene)}. How many buffers in shared memory? Predict, then play.`;
  const said = scene.events[Math.min(step, scene.steps) - 1].says;
  if (step === scene.begin && !ended && step < scene.steps) return `${settingOf(scene)}. ${said} How many buffers in shared memory? Predict, then play.`;
  if (step < scene.steps) return said;
  return `${said} That was all: ${plural(scene.tiles, "step")} with ${plural(scene.answer, "buffer")} in shared memory. The block has ${scene.shared.toLocaleString("en")} bytes of it.`;
}
const when = ({ scene }, step) => (step <= 0 ? "before the first copy" : `event ${step} of ${scene.steps}`);
export function describes(view, step) {
  if (step <= 0) return `${says(view, step)} Four panels are empty: on its way, shared memory, registers, multiplied. Below them lies the loop, a strip of ${view.scene.total} instructions.`;
  const rows = rowsOf(view.scene, eventAt(view.scene, step), usedBy(view.scene, step)).map(found => found.map(([words]) => words).join("; ") || "nothing");
  return `${says(view, step)} On its way: ${rows[0]}. Shared memory: ${rows[1]}. Registers: ${rows[2]}. Multiplied: ${rows[3]}.`;
}

// ---- the explorable ----------------------------------------------------------------------------------------------------------------
export const picture = {
  title: "The loop that Triton wrote",
  ask: { label: "Your prediction", unit: "buffers" },
  jump: "First refill",                                       // of a buffer, from wherever the reader is
  order: ["says", "player", "picture", "controls"],
  height: (width, text, narrow) => (narrow ? 37 * text : clamp(0.26 * width, 300, 340)),
  controls: () => [
    { kind: "range", key: "stages", label: "num_stages", name: "num_stages: stages that Triton was asked for", min: 1, max: 4, says: values => plural(values.stages, "stage") },
    { kind: "choice", key: "target", label: "Target", options: [["sm_80", "sm_80"], ["sm_90a", "sm_90a"]] },
  ],
  scene: sceneOf, draw, says, when, describes,
};
export default explorable(picture);
