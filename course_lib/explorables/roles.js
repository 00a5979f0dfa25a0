// Lesson 18: one warp copies, two warpgroups multiply. Who orders, waits, multiplies and releases, and what lies in each stage meanwhile.
// Data: roles.py, from the simulator's trace of sbgemm_tma. Computed here: what has happened by a given event, held to the trace by tests.
import { clamp, explorable, plural } from "./stage.js";

const HUES = { light: { way: "#0072b2", ready: "#8ec9e8", multiply: "#f0a000", idle: "#7a7a7a" },
  dark: { way: "#56b4e9", ready: "#1f6a96", multiply: "#ffd24d", idle: "#9a9a9a" } };
const EPS = 1e-6, ROLES = ["producer", "consumer 0", "consumer 1"], WHO = [0, 1];

/** A scene begins where the first half of a stage is released: all stages are in use, and the producer waits for one of them. */
export function sceneOf(values, states) {
  const found = states.at[values.stages], begin = found.events.findIndex(([kind]) => kind === "release") + 1;
  return { ...found, stages: values.stages, tiles: states.steps, steps: found.events.length, begin, seconds: () => 0.45, answer: found.waited.length };
}

/** What lies in a stage at a moment: the step, and for each consumer "way", "ready", "multiply" or "released"; or nothing. */
export function inStage(scene, slot, at) {
  for (let tile = slot; tile < scene.tiles; tile += scene.stages) {
    const gone = WHO.map(who => scene.released[who][tile] <= at + EPS);
    if (scene.ordered[tile] > at + EPS || gone.every(Boolean)) continue;
    return { tile, of: WHO.map(who => (gone[who] ? "released" : scene.begun[who][tile] <= at + EPS ? "multiply" : scene.arrived[tile] <= at + EPS ? "ready" : "way")) };
  }
  return null;
}

/** What has happened by a moment: steps ordered, products that both consumers have ended, waits of the producer that have begun. */
export function counted(scene, at) {
  const past = times => times.filter(time => time <= at + EPS).length;
  return { ordered: past(scene.ordered), done: Math.min(...scene.released.map(past)), waited: past(scene.waited.map(([from]) => from)),
    used: Array.from({ length: scene.stages }, (_, slot) => inStage(scene, slot, at)).filter(Boolean).length };
}

// ---- where things are --------------------------------------------------------------------------------------------------------------
export function layout(view) {
  const { width, height, narrow, scene } = view, text = Math.min(view.text, width / (narrow ? 26 : 52), height / (narrow ? 30 : 24));
  const label = (narrow ? 5.2 : 6.2) * text, foot = height - (narrow ? 3.2 : 1.6) * text, head = 3.5 * text, gap = 1.9 * text;
  const w = width - label - 2, lane = (foot - head - gap - 0.8 * text) / (ROLES.length + scene.stages), lanes = { x: label, y: head, w, h: ROLES.length * lane };
  return { text, label, foot, lane, lanes, memory: { x: label, y: head + lanes.h + gap, w, h: scene.stages * lane }, scale: w / (scene.steps + 1) };
}

// ---- drawing -----------------------------------------------------------------------------------------------------------------------
function write(pen, view, words, x, y, { size = 1, align = "left", weight = 400, colour = view.ink, most } = {}) {
  pen.fillStyle = colour;
  pen.textAlign = align;
  pen.font = `${weight} ${Math.round(size * view.text)}px ${view.fontFamily}`;
  pen.fillText(words, x, y, ...(most === undefined ? [] : [most]));
  return pen.measureText(words).width;
}
function box(pen, view, { x, y, w, h }, alpha = 0.5) {
  pen.globalAlpha = alpha;
  pen.strokeStyle = view.ink;
  pen.lineWidth = 1;
  pen.strokeRect(x, y, w, h);
  pen.globalAlpha = 1;
}
function hatch(pen, view, x, y, w, h) {
  if (w <= 0) return;
  pen.save();
  pen.beginPath();
  pen.rect(x, y, w, h);
  pen.clip();
  pen.strokeStyle = view.hues.idle;
  pen.lineWidth = 1.4;
  pen.beginPath();
  for (let i = x - h; i < x + w; i += 0.5 * view.text) { pen.moveTo(i, y + h); pen.lineTo(i + h, y); }
  pen.stroke();
  pen.restore();
}
/** A bar from one event to another, as far as time has come, with the number of its step where there is room. */
function bar(pen, view, hue, number, from, to, y, h) {
  const x = view.where.lanes.x + from * view.where.scale, w = (Math.min(to, view.at) - from) * view.where.scale;
  if (w <= 0) return;
  pen.fillStyle = view.hues[hue];
  pen.fillRect(x, y, w, h);
  pen.strokeStyle = view.paper;
  pen.lineWidth = 1;
  pen.strokeRect(x + 0.5, y + 0.5, Math.max(w - 1, 0), h - 1);
  if (number !== null && h >= view.text && w > 0.9 * view.text) write(pen, view, `${number}`, x + 0.3 * view.text, y + h / 2 + 0.34 * view.text, { size: 0.92, weight: 600, colour: hue === "way" && !view.dark ? "#fff" : "#000" });
}

function drawHead(pen, view) {
  const { text, width, scene, at, narrow } = view, now = counted(scene, at), half = narrow ? width : 0.6 * width;
  const first = write(pen, view, `${now.used} of ${scene.stages}`, 0, 2 * text, { size: 1.9, weight: 700 });
  write(pen, view, " stages in use", first + 0.2 * text, 2 * text, { weight: 600, most: half - first - 0.4 * text });
  if (!narrow) write(pen, view, `the producer has waited ${plural(now.waited, "time")}`, width - 2, 2 * text, { weight: 600, align: "right", most: width - half });
}

/** A lane per role: when the producer ordered and waited, and which products of a consumer were under way. Those of two steps overlap, and the later ones queue. */
function drawLanes(pen, view) {
  const { text, scene, where } = view, { lanes, lane, scale } = where, inner = 0.08 * lane;
  ROLES.forEach((role, i) => {
    const y = lanes.y + i * lane;
    write(pen, view, role, lanes.x - 0.5 * text, y + lane / 2 + 0.35 * text, { size: 0.96, align: "right", most: where.label - 0.6 * text });
    if (i) pen.fillStyle = view.ink, pen.globalAlpha = 0.25, pen.fillRect(lanes.x, y, lanes.w, 1), pen.globalAlpha = 1;
  });
  for (const [from, to] of scene.waited) hatch(pen, view, lanes.x + from * scale, lanes.y + inner, (Math.min(to, view.at) - from) * scale, lane - 2 * inner);
  scene.ordered.forEach((time, k) => bar(pen, view, "way", k, time, time + 0.9, lanes.y + inner, lane - 2 * inner));
  for (const who of WHO)
    for (let k = 0; k < scene.tiles; ++k) {
      const half = (lane - 2 * inner) / 2, y = lanes.y + (who + 1) * lane + inner + (k % 2) * half;
      bar(pen, view, "multiply", k, scene.begun[who][k], scene.released[who][k], y, half);
    }
  box(pen, view, lanes);
}

/** A row per stage: copies on their way (thin), arrived, products under way (tall); the upper half for consumer 0, the lower one for consumer 1. */
function drawStages(pen, view) {
  const { text, scene, where } = view, { memory, lane, lanes } = where, inner = 0.1 * lane, half = lane / 2 - inner;
  write(pen, view, view.narrow ? "stages of shared memory" : "stages of shared memory: the upper half shows what consumer 0 does there, the lower half consumer 1", lanes.x, memory.y - 0.5 * text, { size: 0.96, most: lanes.w });
  for (let slot = 0; slot < scene.stages; ++slot) {
    const y = memory.y + slot * lane;
    write(pen, view, `stage ${slot}`, memory.x - 0.5 * text, y + lane / 2 + 0.35 * text, { size: 0.96, align: "right", most: where.label - 0.6 * text });
    for (let k = slot; k < scene.tiles; k += scene.stages) {
      bar(pen, view, "way", null, scene.ordered[k], scene.arrived[k], y + 0.38 * lane, 0.24 * lane);
      for (const who of WHO) {
        const top = y + inner + who * half;
        bar(pen, view, "ready", null, scene.arrived[k], scene.begun[who][k], top, half);
        bar(pen, view, "multiply", k, scene.begun[who][k], scene.released[who][k], top, half);
      }
    }
    if (slot) pen.fillStyle = view.ink, pen.globalAlpha = 0.25, pen.fillRect(memory.x, y, memory.w, 1), pen.globalAlpha = 1;
  }
  box(pen, view, memory);
  if (view.at > 0) pen.fillStyle = view.ink, pen.globalAlpha = 0.5, [lanes, memory].forEach(part => pen.fillRect(part.x + view.at * where.scale, part.y, 1, part.h)), pen.globalAlpha = 1;
}

function drawLegend(pen, view, y) {
  const { text, narrow, width } = view, items = [["way", "copies on their way"], ["ready", "arrived, not begun"], ["multiply", "products under way"], ["idle", "the producer waits"]], many = narrow ? 2 : 4;
  items.forEach(([hue, words], i) => {
    const x = (i % many) * (width / many), top = y + Math.floor(i / many) * 1.4 * text, thin = hue === "way" ? 0.3 * text : 0;
    if (hue === "idle") hatch(pen, view, x, top, 1.1 * text, 0.9 * text);
    else pen.fillStyle = view.hues[hue], pen.fillRect(x, top + thin, 1.1 * text, 0.9 * text - 2 * thin);
    write(pen, view, words, x + 1.5 * text, top + 0.82 * text, { size: 0.96, most: width / many - 2 * text });
  });
}

export function draw(pen, given) {
  const where = layout(given), view = { ...given, where, text: where.text, hues: HUES[given.dark ? "dark" : "light"] };
  drawHead(pen, view);
  drawLanes(pen, view);
  drawStages(pen, view);
  drawLegend(pen, view, where.foot);
}

// ---- words -------------------------------------------------------------------------------------------------------------------------
export function says(view, step) {
  const { scene } = view;
  if (step <= 0) return `Shared memory has room for the tiles of ${scene.stages} steps, and there are ${scene.tiles} steps. How often will the producer have to wait until a stage is free? Predict, then play.`;
  const [kind, who, k] = scene.events[step - 1], slot = k % scene.stages, before = k - scene.stages;
  const asks = step === scene.begin && !view.ended ? ` How often will the producer have to wait in all ${scene.tiles} steps? Predict, then play.` : "";
  const end = step < scene.steps ? asks : ` All ${scene.tiles} steps are multiplied. The producer had to wait ${plural(scene.answer, "time")}.`;
  if (kind === "order") return `The producer orders the copies of step ${k} into stage ${slot}${before < 0 ? ", which nobody has used yet" : `: both consumers have released step ${before}`}.${end}`;
  if (kind === "stall") return `The producer waits: step ${k} belongs into stage ${slot}, and step ${before} still lies there.${end}`;
  if (kind === "begin") return `The tiles of step ${k} have arrived in stage ${slot}, and consumer ${who} begins its products.${end}`;
  const other = scene.released[1 - who][k] > step + EPS;
  return `Consumer ${who} has multiplied step ${k} and releases stage ${slot}. ${other ? `Consumer ${1 - who} still needs it.` : `Consumer ${1 - who} has released it, too: the stage is free.`}${end}`;
}
const when = (view, step) => (step <= 0 ? "before the first copy" : `event ${step} of ${view.scene.steps}`);
const STATES = { way: "on its way", ready: "arrived", multiply: "in products" }, FOR = { ready: "waiting for", multiply: "in products of", released: "released by" };
export function describes(view, step) {
  const { scene } = view, held = Array.from({ length: scene.stages }, (_, slot) => [slot, inStage(scene, slot, step)]);
  return `${says(view, step)} ${held.map(([slot, one]) => `Stage ${slot}: ${one ? `step ${one.tile}, ${one.of[0] === one.of[1] ? STATES[one.of[0]] : WHO.map(who => `${FOR[one.of[who]]} consumer ${who}`).join(", ")}` : "free"}`).join("; ")}.`;
}

// ---- the explorable ----------------------------------------------------------------------------------------------------------------
export const picture = {
  title: "A producer and two consumers",
  ask: { label: "Your prediction", unit: "times" },
  order: ["says", "player", "controls", "picture"],
  height: (width, text, narrow) => (narrow ? Math.round(0.25 * width + 24 * text) : clamp(0.34 * width, 360, 420)),
  controls: () => [{ kind: "range", key: "stages", label: "Stages", name: "Stages: steps whose tiles have room in shared memory", min: 2, max: 4, says: values => plural(values.stages, "stage") }],
  scene: sceneOf, draw, says, when, describes,
};
export default explorable(picture);
