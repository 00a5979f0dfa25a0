// Lesson 17: tiles on their way to a multiprocessor. When each is asked for, arrives, and is multiplied; and when nothing is.
// Data: stages.py, from course_lib.model.stages. Computed here: what has happened by a given cycle, held to the model by tests.
import { clamp, explorable, lerp, plural } from "./stage.js";

const HUES = { light: { way: "#0072b2", ready: "#8ec9e8", multiply: "#f0a000", idle: "#7a7a7a" },
  dark: { way: "#56b4e9", ready: "#1f6a96", multiply: "#ffd24d", idle: "#9a9a9a" } };
const EPS = 1e-6, TICK = 5000, THIN = { way: 0.36, ready: 0.22, multiply: 0.08 };        // thin: on its way; tall: multiplied. Readable without colour
const comma = n => Math.round(n).toLocaleString("en");

/** What has happened by a cycle: idle and busy cycles since the first product began, steps multiplied, and the tiles on their way. */
export function counted(tiles, cycle) {
  const first = tiles[0][2], busy = tiles.reduce((sum, [, , begun, done]) => sum + clamp(cycle - begun, 0, done - begun), 0);
  return { busy, idle: clamp(cycle - first, 0, tiles.at(-1)[3] - first) - busy, done: tiles.filter(tile => tile[3] <= cycle + EPS).length,
    way: tiles.flatMap(([issued, arrived], i) => (issued <= cycle + EPS && cycle < arrived - EPS ? [i] : [])),
    multiplied: tiles.findIndex(([, , begun, done]) => begun <= cycle + EPS && cycle < done - EPS) };
}

/** What lies in each stage of shared memory at a cycle: the number of a tile and how much of its way is behind it, or nothing. */
export function inStages(tiles, stages, cycle) {
  return Array.from({ length: stages }, (_, slot) => {
    const tile = tiles.findIndex(([issued, , , done], i) => i % stages === slot && issued <= cycle + EPS && cycle < done - EPS);
    if (tile < 0) return null;
    const [issued, arrived, begun] = tiles[tile];
    return { tile, part: clamp((cycle - issued) / Math.max(arrived - issued, 1)), state: cycle < arrived - EPS ? "way" : cycle < begun - EPS ? "ready" : "multiply" };
  });
}

const positionOf = (values, stages = values.stages) => `${values.product}|${stages}|${values.latency}`;
export function sceneOf(values, states, before = null, at = 0) {
  const tiles = states.at[positionOf(values)], alone = states.at[positionOf(values, 1)], [latency, source] = states.latencies[values.product][values.latency];
  const times = [...new Set([0, ...tiles.flat()])].sort((a, b) => a - b), [multiply] = states.products[values.product], steps = times.length - 1;
  return { tiles, times, multiply, latency, source, stages: values.stages, bytes: states.bytes[values.product], recorded: states.recorded[positionOf(values)],
    span: alone.at(-1)[3], steps, begin: before && at >= before.steps - EPS ? steps : 0,      // who has seen the end sees the next one at once
    seconds: step => clamp(((times[step + 1] ?? times[step]) - times[step]) / 450, 0.35, 1.6), answer: counted(tiles, tiles.at(-1)[3]).idle };
}
/** The cycle that a moment between two steps stands for. */
export function cycleAt(scene, at) {
  const step = Math.min(Math.floor(at), scene.steps - 1), from = Math.max(step, 0);
  return lerp(scene.times[from], scene.times[from + 1], at - from);
}

// ---- where things are --------------------------------------------------------------------------------------------------------------
export function layout(view) {
  const { width, height, narrow, scene } = view, text = Math.min(view.text, width / (narrow ? 26 : 52), height / (narrow ? 34 : 25));
  const label = (narrow ? 4.2 : 6.4) * text, foot = height - (narrow ? 3.6 : 1.5) * text, head = 4.1 * text;
  const memory = { x: label, y: foot - 3.3 * text, w: width - label - 2, h: 2.2 * text }, strip = { x: label, y: memory.y - 2.7 * text, w: width - label - 2, h: 1.5 * text };
  const rows = { x: label, y: head, w: width - label - 2, h: strip.y - head - 0.9 * text };
  return { text, label, foot, rows, strip, memory, slot: rows.h / scene.tiles.length, scale: rows.w / scene.span };
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
function fill(pen, colour, x, y, w, h) {
  if (w <= 0) return;
  pen.fillStyle = colour;
  pen.fillRect(x, y, w, h);
}
function hatch(pen, view, { x, y, w, h }) {
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

function drawHead(pen, view, now) {
  const { text, width, cycle, scene } = view, since = Math.max(cycle - scene.tiles[0][2], 0), share = since > 0 ? `, ${Math.round((100 * now.idle) / since)} %` : "";
  const first = write(pen, view, comma(now.idle), 0, 2.2 * text, { size: 2.2, weight: 700 });
  const words = ` ${now.idle === 1 ? "cycle" : "cycles"} without a product${share}`, half = view.narrow ? width : 0.62 * width;
  write(pen, view, words, first + 0.2 * text, 2.2 * text, { weight: 600, most: half - first - 0.4 * text });
  if (!view.narrow && view.at > 0) write(pen, view, `${plural(now.way.length, "step")} on the way, ${comma(now.way.length * scene.bytes)} bytes`, width - 2, 2.2 * text, { weight: 600, align: "right", most: width - half });
}

/** The axis of cycles above the rows, and lines from what frees a stage down to the copies that go there. */
function drawLines(pen, view, { text, rows, slot, scale }) {
  const { scene: { tiles, stages, span }, cycle } = view, line = (x, from, to) => { pen.beginPath(); pen.moveTo(x, from); pen.lineTo(x, to); pen.stroke(); };
  pen.strokeStyle = view.ink;
  pen.lineWidth = 1;
  for (let tick = 0; tick < span; tick += view.narrow && span > 4 * TICK ? 2 * TICK : TICK) {
    const x = rows.x + tick * scale;
    line(x, rows.y - 0.3 * text, rows.y);
    write(pen, view, tick ? comma(tick) : "cycle 0", tick ? x : x - 1, rows.y - 0.45 * text, { size: 0.96, align: tick ? "center" : "left" });
  }
  pen.globalAlpha = 0.75;
  pen.setLineDash([2, 3]);
  tiles.forEach(([issued], i) => {
    const freed = stages === 1 ? i - 1 : i - stages + 1, x = rows.x + issued * scale;
    if (view.at > 0 && issued > 0 && issued <= cycle + EPS) line(x, rows.y + (freed + 0.5) * slot, rows.y + (i + 0.5) * slot);
  });
  pen.setLineDash([]);
  pen.globalAlpha = 1;
}

/** A row per step: on its way (thin), waiting in shared memory, multiplied (tall). */
function drawRows(pen, view, where) {
  const { text, cycle, scene, hues } = view, { rows, slot, scale } = where;
  scene.tiles.forEach(([issued, arrived, begun, done], i) => {
    const y = rows.y + i * slot, bar = (kind, from, to) => fill(pen, hues[kind], rows.x + from * scale, y + THIN[kind] * slot, (Math.min(to, cycle) - from) * scale, slot * (1 - 2 * THIN[kind]));
    write(pen, view, `step ${i}`, rows.x - 0.5 * text, y + slot / 2 + 0.35 * text, { size: 0.96, align: "right" });
    if (view.at <= 0) return;
    bar("way", issued, arrived);
    bar("ready", arrived, begun);
    bar("multiply", begun, done);
    if (issued <= cycle + EPS && cycle < arrived) {                      // the parcel itself
      const side = Math.min(0.72 * slot, 1.1 * text), x = clamp(rows.x + cycle * scale, rows.x, rows.x + rows.w - side);
      fill(pen, hues.way, x, y + (slot - side) / 2, side, side);
      box(pen, view, { x, y: y + (slot - side) / 2, w: side, h: side });
    }
  });
  if (scene.stages > 1 && view.at > 0) write(pen, view, `${view.narrow ? "one stage" : "with one stage the last product"} ends here, after ${comma(scene.span)} cycles`, rows.x + rows.w - 0.5 * text, rows.y + 1.2 * text, { align: "right", size: 0.96, most: 0.62 * rows.w });
  box(pen, view, rows, 0.5);
}

/** Before the first cycle: the way of one step alone. */
function drawOne(pen, view, where) {
  const { text, scene, hues } = view, { rows, scale } = where, y = rows.y + 2 * text, x = rows.x + 0.5 * text;
  write(pen, view, "one step alone:", x, y - 0.6 * text, { most: rows.w - text });
  fill(pen, hues.way, x, y + 0.4 * text, scene.latency * scale, 0.4 * text);
  fill(pen, hues.multiply, x + scene.latency * scale, y, scene.multiply * scale, 1.2 * text);
  write(pen, view, `${comma(scene.latency)} cycles on their way + ${comma(scene.multiply)} cycles of multiplying`, x + (scene.latency + scene.multiply) * scale + 0.5 * text, y + text, { most: rows.w - (scene.latency + scene.multiply) * scale - 1.2 * text });
}

function drawStrip(pen, view, where) {
  const { text, cycle, scene, hues } = view, { strip, scale } = where, first = scene.tiles[0][2], last = scene.tiles.at(-1)[3];
  hatch(pen, view, { ...strip, x: strip.x + first * scale, w: (Math.min(cycle, last) - first) * scale });
  for (const [, , begun, done] of scene.tiles) {
    const w = (Math.min(done, cycle) - begun) * scale;
    if (w <= 0) continue;
    fill(pen, view.paper, strip.x + begun * scale, strip.y, w, strip.h);
    fill(pen, hues.multiply, strip.x + begun * scale + 0.5, strip.y, w - 0.5, strip.h);
  }
  box(pen, view, strip);
  write(pen, view, view.narrow ? "product" : "multiplying", strip.x - 0.5 * text, strip.y + 1.05 * text, { size: 0.96, weight: 600, align: "right", most: where.label - 0.5 * text });
}

/** The stages of shared memory: which step's tiles lie there, and how far they have come. */
function drawMemory(pen, view, where) {
  const { text, cycle, scene, hues } = view, { memory } = where, gap = 0.5 * text, w = (memory.w - gap * (scene.stages - 1)) / scene.stages;
  write(pen, view, view.narrow ? "stages" : "shared mem.", memory.x - 0.5 * text, memory.y + 1.4 * text, { size: 0.96, weight: 600, align: "right", most: where.label - 0.5 * text });
  inStages(scene.tiles, scene.stages, view.at > 0 ? cycle : -1).forEach((held, i) => {
    const at = { x: memory.x + i * (w + gap), y: memory.y, w, h: memory.h };
    if (held) fill(pen, hues[held.state], at.x, at.y + 0.72 * at.h, at.w * held.part, 0.28 * at.h);
    box(pen, view, at);
    const words = !held ? "empty" : { way: `step ${held.tile} comes`, ready: `step ${held.tile} waits`, multiply: `step ${held.tile} multiplied` }[held.state];
    write(pen, view, view.narrow && held ? `${held.tile}` : words, at.x + at.w / 2, at.y + 1.15 * text, { align: "center", size: 0.96, most: at.w - 0.3 * text });
  });
}

function drawLegend(pen, view, y) {
  const { text, narrow, width } = view, items = [["way", "copies on their way"], ["ready", "arrived, not used yet"], ["multiply", "multiplied"], ["idle", "no product"]], many = narrow ? 2 : 4;
  items.forEach(([hue, words], i) => {
    const x = (i % many) * (width / many), top = y + Math.floor(i / many) * 1.3 * text, thin = (THIN[hue] ?? 0) * 0.9 * text;
    if (hue === "idle") hatch(pen, view, { x, y: top, w: 1.1 * text, h: 0.9 * text });
    else fill(pen, view.hues[hue], x, top + thin, 1.1 * text, 0.9 * text - 2 * thin);
    write(pen, view, words, x + 1.5 * text, top + 0.82 * text, { size: 0.96, most: width / many - 2 * text });
  });
}

export function draw(pen, given) {
  const where = layout(given), view = { ...given, text: where.text, hues: HUES[given.dark ? "dark" : "light"], cycle: cycleAt(given.scene, given.at) };
  drawHead(pen, view, counted(view.scene.tiles, view.cycle));
  drawRows(pen, view, where);
  drawLines(pen, view, where);
  if (view.at <= 0) drawOne(pen, view, where);
  drawStrip(pen, view, where);
  drawMemory(pen, view, where);
  drawLegend(pen, view, where.foot);
}

// ---- words -------------------------------------------------------------------------------------------------------------------------
const roomOf = scene => (scene.stages === 1 ? "Shared memory has room for the tiles of one step" : `Shared memory has room for the tiles of ${scene.stages} steps`);
const listed = numbers => (numbers.length > 1 ? `steps ${numbers.slice(0, -1).join(", ")} and ${numbers.at(-1)} are` : `step ${numbers[0]} is`);
export function says(view, step) {
  const { scene } = view, { tiles } = scene;
  if (step <= 0) return `${roomOf(scene)}. A step's copies are on their way for ${comma(scene.latency)} cycles (${scene.source}), and its product takes ${comma(scene.multiply)}. For how many cycles will nothing be multiplied between the first product and the last? Predict, then play.`;
  const cycle = scene.times[step], now = counted(tiles, cycle);
  if (step < scene.steps) {
    const way = now.way.length ? `${listed(now.way)} on the way` : "nothing is on the way", product = now.multiplied < 0 ? "nothing is multiplied" : `step ${now.multiplied} is multiplied`;
    return `Cycle ${comma(cycle)}: ${product}, and ${way}. Without a product so far: ${plural(comma(now.idle), "cycle")}.`;
  }
  const whole = now.idle + now.busy;
  const each = (tiles.at(-1)[2] - tiles[0][2]) / (tiles.length - 1), recorded = scene.recorded ? ` A step took ${comma(each)} cycles here, and ${comma(scene.recorded)} when it was recorded on the GPU.` : "";
  return `All ${tiles.length} steps are multiplied after ${comma(cycle)} cycles. Between the first product and the last nothing was multiplied for ${comma(now.idle)} of ${comma(whole)} cycles, ${Math.round((100 * now.idle) / whole)}\u00a0%.${recorded}`;
}
const when = (view, step) => (step <= 0 ? "before the first cycle" : `cycle ${comma(view.scene.times[step])}, event ${step} of ${view.scene.steps}`);
export function describes(view, step) {
  const { scene } = view;
  if (step <= 0) return `${says(view, step)} The picture shows the way of one step alone: ${comma(scene.latency)} cycles on its way, then ${comma(scene.multiply)} cycles of its product.`;
  const held = inStages(scene.tiles, scene.stages, scene.times[step]).map((one, i) => `stage ${i}: ${one ? `step ${one.tile}, ${{ way: "on its way", ready: "arrived", multiply: "being multiplied" }[one.state]}` : "empty"}`);
  return `${says(view, step)} In shared memory, ${held.join("; ")}.`;
}

function hit(view, x, y) {
  const { rows, slot, scale } = layout(view), cycle = (x - rows.x) / scale, i = Math.floor((y - rows.y) / slot), tile = view.scene.tiles[i];
  if (!tile || view.at <= 0 || x < rows.x || cycle > cycleAt(view.scene, view.at)) return null;
  const [issued, arrived, begun, done] = tile;
  if (cycle < issued || cycle > done) return null;
  return { text: cycle < arrived ? `step ${i}: on its way from cycle ${comma(issued)} to ${comma(arrived)}` : cycle < begun ? `step ${i}: arrived in cycle ${comma(arrived)}, waits until ${comma(begun)}` : `step ${i}: multiplied from cycle ${comma(begun)} to ${comma(done)}` };
}

// ---- the explorable ----------------------------------------------------------------------------------------------------------------
export const picture = {
  title: "Tiles on their way to a multiprocessor",
  ask: { label: "Your prediction", unit: "cycles" },
  order: ["says", "player", "controls", "picture"],
  height: (width, text, narrow) => (narrow ? Math.round(0.3 * width + 27 * text) : clamp(0.34 * width, 370, 420)),
  controls: states => [
    { kind: "range", key: "stages", label: "Stages", name: "Stages: steps whose tiles have room in shared memory", min: 1, max: 6, says: values => plural(values.stages, "stage") },
    { kind: "range", key: "latency", label: "Copies", name: "Copies: how long those of a step are on their way", min: 0, max: states.latencies.small.length - 1, says: values => { const [cycles, source] = states.latencies[values.product][values.latency]; return `${comma(cycles)} cycles, ${source}`; } },
    { kind: "choice", key: "product", label: "Product", options: Object.entries(states.products).map(([product, [, words]]) => [product, words]) },
  ],
  scene: sceneOf, draw, says, when, describes, hit,
};
export default explorable(picture);
