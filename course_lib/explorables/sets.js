// Lesson 02: the lines of a block of B in memory, and in the sets of a cache, into which they fall one after another, twice.
// Data: sets.py, which reads were found and what was pushed out. Computed here: the set of a line, and the order of the lines in a set.
import { clamp, ease, explorable, lerp, plural } from "./stage.js";

const EPS = 1e-6, HUES = { light: { held: "#8ec3ea", on: "#000", found: "#00694e", onFound: "#fff", gone: "#b3261e" },
  dark: { held: "#2f6fa8", on: "#fff", found: "#3fd0a4", onFound: "#000", gone: "#ff8a70" } };

/** The line of memory in which a row of the block begins; the set to which a line belongs. */
export const lineOf = ({ perRow }, row) => row * perRow;
export const setOf = ({ sets }, line) => line % sets;

export function sceneOf(values, states, before, at = 0) {
  const { sets, ways, perLine, block } = states, reads = states.reads[String(values.floats)].map(([found, gone], n) => ({ row: n % block, found: found === 1, gone }));
  const perRow = values.floats / perLine, steps = reads.length, wide = states.first / perLine, crowded = reads.findIndex(read => read.gone >= 0);
  const lines = Math.floor((lineOf({ perRow }, block - 1) + wide - 1) / sets) + 1;                 // rows of the picture of memory
  return { floats: values.floats, unused: values.floats - states.first, sets, ways, block, reads, perRow, wide, lines, steps, crowded,
    begin: at >= steps ? steps : at >= block ? block : 0, answer: reads.slice(block).filter(read => read.found).length,
    seconds: step => (step === crowded || step === block ? 1.6 : step < 2 || step === crowded + 1 || step === block + 1 ? 0.9 : 0.4) };
}

/** What each set holds after so many reads: its rows, the one used longest ago first. */
export function heldAfter(scene, step) {
  const held = new Map();
  for (const { row, gone } of scene.reads.slice(0, step)) {
    const set = setOf(scene, lineOf(scene, row)), rows = (held.get(set) ?? []).filter(other => other !== row && other !== gone);
    held.set(set, [...rows, row]);
  }
  return held;
}
/** How many lines the second reading has found after so many reads, of how many that it has asked for. */
export function foundAfter({ reads, block }, step) {
  const second = reads.slice(block, Math.max(block, step));
  return { found: second.filter(read => read.found).length, asked: second.length };
}
/** Where each row's line stands after so many reads: its level in its set, 0 below, or nothing. */
function levels(scene, step) {
  const at = [];
  for (const rows of heldAfter(scene, step).values()) rows.forEach((row, level) => { at[row] = level; });
  return at;
}

// ---- where things are --------------------------------------------------------------------------------------------------------------
/** Where each set begins, from left to right, and where the last one ends: as many sets as the block has rows are drawn several times as wide as the others. */
function edgesOf({ sets, block }, width, narrow) {
  const times = narrow ? 2 : 6, unit = width / (block * times + sets - block);
  return Array.from({ length: sets + 1 }, (_, set) => 1 + unit * (set <= block ? set * times : block * (times - 1) + set));
}
export function layout(view) {
  const { width, height, narrow, scene } = view, text = Math.min(view.text, width / (narrow ? 29 : 54), height / (narrow ? 36 : 27.5));
  const edges = edgesOf(scene, width - 2, narrow), head = (narrow ? 7.8 : 3.9) * text;
  const tall = clamp((height - head - 11.3 * text) / scene.ways, 1.02 * text, (narrow ? 1.15 : 1.35) * text);
  const floor = height - 2.9 * text, top = floor - scene.ways * tall, high = top - 1.9 * text - head;
  const memory = { x: 1, y: head, w: edges[scene.sets] - 1, h: high, line: high / scene.lines }, cache = { x: 1, y: top, w: memory.w, h: floor - top, floor };
  return { text, edges, tall, memory, cache, labels: height - 0.45 * text };
}
const columnOf = ({ edges }, set) => ({ x: edges[set], w: edges[set + 1] - edges[set] });
const inMemory = (where, scene, line) => ({ ...columnOf(where, setOf(scene, line)), y: where.memory.y + Math.floor(line / scene.sets) * where.memory.line, h: where.memory.line });
const inCache = (where, scene, row, level) => ({ ...columnOf(where, setOf(scene, lineOf(scene, row))), y: where.cache.floor - (level + 1) * where.tall, h: where.tall });
const below = (where, scene, row) => { const box = inCache(where, scene, row, 0); return { ...box, y: box.y + 1.2 * where.tall }; };
const between = (a, b, t) => ({ x: lerp(a.x, b.x, t), y: lerp(a.y, b.y, t), w: lerp(a.w, b.w, t), h: lerp(a.h, b.h, t) });

/** Where the line of each row is drawn in the cache at a moment, or on its way there; nothing for one that is not in it. */
export function boxes(where, scene, at) {
  const step = Math.min(Math.floor(at + EPS), scene.steps), part = clamp(at - step), now = levels(scene, step);
  const place = (row, level) => inCache(where, scene, row, level);
  if (part < EPS || step >= scene.steps) return Array.from({ length: scene.block }, (_, row) => (now[row] === undefined ? null : place(row, now[row])));
  const next = levels(scene, step + 1), { row: read } = scene.reads[step], fall = ease(part) ** 1.4, move = ease(clamp(2 * part - 1));
  return Array.from({ length: scene.block }, (_, row) => {
    if (row === read && now[row] === undefined) return between(inMemory(where, scene, lineOf(scene, row)), place(row, next[row]), fall);
    if (now[row] === undefined) return null;
    return between(place(row, now[row]), next[row] === undefined ? below(where, scene, row) : place(row, next[row]), move);
  });
}

// ---- drawing -----------------------------------------------------------------------------------------------------------------------
function write(pen, view, words, x, y, { size = 1, align = "left", weight = 400, colour = view.ink, alpha = 1, most } = {}) {
  pen.globalAlpha = alpha;
  pen.fillStyle = colour;
  pen.textAlign = align;
  pen.font = `${weight} ${Math.round(size * view.text)}px ${view.fontFamily}`;
  pen.fillText(words, x, y, ...(most === undefined ? [] : [most]));
  pen.globalAlpha = 1;
}
/** The first of some texts, from long to short, that fits. */
function longest(pen, view, texts, room, weight = 400) {
  pen.font = `${weight} ${Math.round(view.text)}px ${view.fontFamily}`;
  return texts.find(words => pen.measureText(words).width <= room) ?? texts.at(-1);
}
function fill(pen, { x, y, w, h }, colour, alpha = 1, inset = 0) {
  pen.globalAlpha = alpha;
  pen.fillStyle = colour;
  pen.fillRect(x + inset, y + inset, w - 2 * inset, h - 2 * inset);
  pen.globalAlpha = 1;
}
function outline(pen, { x, y, w, h }, colour, wide, alpha = 1, inset = 0) {
  pen.globalAlpha = alpha;
  pen.strokeStyle = colour;
  pen.lineWidth = wide;
  pen.strokeRect(x + inset, y + inset, w - 2 * inset, h - 2 * inset);
  pen.globalAlpha = 1;
}
/** A line that is not in the cache any more: empty, with a stroke through it, so that it is told from the others without its colour. */
function cross(pen, view, box, alpha = 1) {
  outline(pen, box, view.hues.gone, 1.6, alpha, 1);
  pen.globalAlpha = alpha;
  pen.beginPath();
  pen.moveTo(box.x + 1, box.y + box.h - 1);
  pen.lineTo(box.x + box.w - 1, box.y + 1);
  pen.stroke();
  pen.globalAlpha = 1;
}

/** Draw a large number and what it counts; return where that ends. */
function drawCount(pen, view, number, words, x, y) {
  write(pen, view, String(number), x, y, { size: 2.2, weight: 700 });
  const beside = x + pen.measureText(String(number)).width + 0.5 * view.text;
  write(pen, view, words, beside, y - 0.05 * view.text, { weight: 600 });
  return beside + pen.measureText(words).width;
}
const LEGEND = [["in the cache", "held"], ["found again", "found"], ["pushed out", "gone"]];
function drawHead(pen, view) {
  const { text, scene, step, narrow, width } = view, { found, asked } = foundAfter(scene, step), held = levels(scene, step).filter(level => level !== undefined).length, small = 0.95;
  const next = drawCount(pen, view, step ? held : "–", step ? `of ${scene.block} lines in the cache` : "lines in the cache", 1, 2 * text);
  const at = narrow ? [1, 4.3 * text] : [Math.max(next + 2 * text, 20 * text), 2 * text];
  drawCount(pen, view, asked ? found : "–", asked ? `of ${asked} found again` : "lines found again", ...at);
  pen.font = `400 ${Math.round(small * text)}px ${view.fontFamily}`;
  const widths = LEGEND.map(([words]) => pen.measureText(words).width + 2.6 * text);
  let left = narrow ? 1 : width - widths.reduce((a, b) => a + b) + text;
  const y = (narrow ? 5.9 : 1.95) * text;
  LEGEND.forEach(([words, hue], i) => {
    const box = { x: left, y: y - 0.8 * text, w: 1.1 * text, h: 0.9 * text };
    if (hue === "gone") cross(pen, view, box); else { fill(pen, box, view.hues[hue]); outline(pen, box, view.ink, 0.8, 0.6); }
    write(pen, view, words, left + 1.5 * text, y, { size: small });
    left += widths[i];
  });
}

/** The rows of B, as many lines in each row of the picture as the cache has sets; the unused floats are grey. */
function drawMemory(pen, view, where) {
  const { scene, text, step, part } = view, { memory } = where, room = memory.w;
  write(pen, view, longest(pen, view, [`16 rows of B in memory; each row of the picture is ${scene.sets} cache lines (4096 bytes); grey: unused floats`,
    `16 rows of B in memory; each row of the picture is ${scene.sets} lines`, `memory, ${scene.sets} lines per row`], room, 600), memory.x, memory.y - 0.5 * text, { weight: 600 });
  for (let row = 0; row < scene.block - 1; ++row) for (let line = lineOf(scene, row) + scene.wide, end = lineOf(scene, row + 1); line < end;) {
    const set = setOf(scene, line), many = Math.min(end - line, scene.sets - set), box = inMemory(where, scene, line);
    fill(pen, { ...box, w: where.edges[set + many] - box.x }, view.ink, 0.2 * view.turn);
    line += many;
  }
  for (let line = 1; line < scene.lines; ++line) fill(pen, { ...memory, y: memory.y + line * memory.line - 0.25, h: 0.5 }, view.ink, 0.16 * view.turn);
  for (let set = 1; set < scene.sets; ++set) fill(pen, { ...memory, x: where.edges[set] - 0.25, w: 0.5 }, view.ink, 0.3);
  outline(pen, memory, view.ink, 1, 0.6);
  const now = levels(scene, step), moving = part > EPS && step < scene.steps, latest = moving ? scene.reads[step].row : step > 0 ? scene.reads[step - 1].row : -1;
  for (let row = 0; row < scene.block; ++row) {
    const box = view.moved(inMemory(view.then, view.was, lineOf(view.was, row)), inMemory(where, scene, lineOf(scene, row)));
    if (now[row] !== undefined) fill(pen, box, view.hueOf(row)[0]);
    else if (row < step) cross(pen, view, box);
    if (now[row] !== undefined || row >= step) outline(pen, box, view.ink, row === latest ? 2.4 : 1, row === latest ? 1 : 0.8);
    else if (row === latest) outline(pen, box, view.ink, 2.4);
    const named = step === 0 && !moving ? row === 0 || row === scene.block - 1 : row === latest;
    if (named && view.turn === 1) {
      const right = box.x + box.w + 7 * text < memory.x + memory.w, y = clamp(box.y + box.h / 2 + 0.33 * text, memory.y + 0.85 * text, memory.y + memory.h - 0.2 * text);
      write(pen, view, `row ${row}`, right ? box.x + box.w + 0.4 * text : box.x - 0.4 * text, y, { size: 0.92, weight: 600, align: right ? "left" : "right" });
    }
  }
}

function drawCache(pen, view, where) {
  const { scene, text, step, part, at } = view, { cache, edges, tall, labels } = where, most = scene.block - 1;
  write(pen, view, longest(pen, view, [
    `the first cache: ${scene.sets} sets (columns) of ${scene.ways} lines each, sets 0 to ${most} drawn wider; the line used last is on top`,
    `the first cache: ${scene.sets} sets of ${scene.ways} lines, sets 0 to ${most} drawn wider`, `${scene.sets} sets of ${scene.ways} lines, 0 to ${most} wider`], cache.w, 600), cache.x, cache.y - 0.5 * text, { weight: 600 });
  for (let set = 0; set < scene.sets; ++set) for (let level = 0; level < scene.ways; ++level)
    outline(pen, { ...columnOf(where, set), y: cache.floor - (level + 1) * tall, h: tall }, view.ink, 0.6, 0.16);
  for (let set = 0; set <= scene.sets; ++set) fill(pen, { x: edges[set] - 0.5, y: cache.y, w: 1, h: cache.h }, view.ink, 0.3);
  fill(pen, { x: cache.x, y: cache.floor - 1, w: cache.w, h: 2 }, view.ink, 0.8);
  const each = edges[1] - edges[0] > 2.4 * text ? 1 : 8;
  for (let set = 0; set < scene.sets; set += set < scene.block ? each : 8)
    write(pen, view, set ? String(set) : "set 0", set ? (edges[set] + edges[set + 1]) / 2 : cache.x, labels, { size: 0.92, align: set ? "center" : "left" });
  const moving = part > EPS && step < scene.steps, going = moving ? scene.reads[step].gone : -1, went = step > 0 ? scene.reads[step - 1].gone : -1;
  if (went >= 0) drawGone(pen, view, where, went, moving ? clamp(1 - 3 * part) : 1);
  const old = boxes(view.then, view.was, at);
  boxes(where, scene, at).forEach((box, row) => {
    if (!box || row === going) return;
    const drawn = view.moved(old[row] ?? inMemory(view.then, view.was, lineOf(view.was, row)), box), [colour, on] = view.hueOf(row);
    fill(pen, drawn, colour, 1, 0.5);
    outline(pen, drawn, view.ink, 1, 0.7, 0.5);
    if (drawn.h > 0.9 * tall) drawNumber(pen, view, row, drawn, on);
  });
  if (going >= 0) {
    const box = boxes(where, scene, at)[going];
    fill(pen, box, view.paper);
    cross(pen, view, box);
  }
}
function drawNumber(pen, view, row, box, colour) {
  const words = box.w > 3.4 * view.text ? `row ${row}` : String(row);
  if (box.w > 0.98 * view.text) write(pen, view, words, box.x + box.w / 2, box.y + box.h / 2 + 0.31 * view.text, { size: 0.88, weight: 600, align: "center", colour, most: box.w - 2 });
}
/** Below its set: the line that the latest read has pushed out. */
function drawGone(pen, view, where, row, alpha) {
  const box = below(where, view.scene, row);
  cross(pen, view, box, alpha);
  if (alpha === 1) write(pen, view, `row ${row} is pushed out`, box.x + box.w + 0.4 * view.text, box.y + box.h / 2 + 0.33 * view.text, { size: 0.95, weight: 600, colour: view.hues.gone });
}

export function draw(pen, given) {
  const { scene, before, turn } = given, where = layout(given), step = Math.min(Math.floor(given.at + EPS), scene.steps);
  const hues = HUES[given.dark ? "dark" : "light"], was = turn < 1 ? before : scene, again = new Set(scene.reads.slice(scene.block, Math.max(scene.block, step)).filter(read => read.found).map(read => read.row));
  const view = { ...given, text: where.text, hues, step, part: clamp(given.at - step), was, then: layout({ ...given, scene: was }),
    moved: (from, to) => (turn < 1 ? between(from, to, ease(turn)) : to), hueOf: row => (again.has(row) ? [hues.found, hues.onFound] : [hues.held, hues.on]) };
  drawHead(pen, view);
  drawMemory(pen, view, where);
  drawCache(pen, view, where);
}

// ---- words -------------------------------------------------------------------------------------------------------------------------
const rowsOf = floats => `Rows of ${floats} floats.`;
/** Over how many sets the lines are spread, and what that means for them. */
export function spread(scene) {
  const sets = new Set(scene.reads.map(({ row }) => setOf(scene, lineOf(scene, row)))).size, each = scene.block / sets;
  if (sets === 1) return `All ${scene.block} belong to set ${setOf(scene, 0)}, which holds ${scene.ways}.`;
  return `They belong to ${sets} sets, ${each === 1 ? "one" : each} to each.`;
}
export function says({ scene }, step) {
  const { block, floats, reads, steps, answer } = scene;
  if (step <= 0) return `${rowsOf(floats)} The ${block} lines of the block are read one after another, row by row, and then once more. How many of them does the second reading find in the cache? Predict, then play.`;
  const { row, found, gone } = reads[step - 1], which = step <= block ? "First" : "Second", set = setOf(scene, lineOf(scene, row));
  const pushes = gone >= 0 ? ` Set ${set} is full, so row ${gone}, which was used longest ago, is pushed out.` : "";
  const what = found ? "is still there." : step <= block ? `is fetched, and goes into set ${set}.${pushes}` : `is gone, and is fetched again.${pushes}`;
  const one = `${which} reading, row ${row}: its line ${what}`;
  return step < steps ? one : `${rowsOf(floats)} The second reading has found ${answer} of the ${block} lines. ${spread(scene)}`;
}
const when = ({ scene }, step) => (step <= 0 ? "before the first reading" : step <= scene.block ? `first reading, row ${step - 1}` : `second reading, row ${step - scene.block - 1}`);
export function describes(view, step) {
  const held = [...heldAfter(view.scene, step)].map(([set, rows]) => `set ${set}: ${rows.join(", ")}`).join("; ");
  return `${says(view, step)} ${held ? `The rows whose lines each set holds, the one used last at the end: ${held}.` : "The cache is empty."}`;
}

function hit(view, x, y) {
  const where = layout(view), { memory, cache, edges } = where, { scene } = view, set = edges.findLastIndex(edge => edge <= x);
  if (set < 0 || set >= scene.sets) return null;
  if (y >= memory.y && y < memory.y + memory.h) {
    const line = Math.floor((y - memory.y) / memory.line) * scene.sets + set, row = line / scene.perRow;
    return { text: `line ${line} of memory belongs to set ${set}${Number.isInteger(row) && row < scene.block ? `: row ${row} of the block` : ""}` };
  }
  if (y < cache.y || y > cache.floor) return null;
  const rows = heldAfter(scene, Math.floor(view.at + EPS)).get(set);
  return { text: `set ${set} ${rows ? `holds ${plural(rows.length, "line")}: row ${rows.join(", ")}` : "is empty"}` };
}

// ---- the explorable ----------------------------------------------------------------------------------------------------------------
export const picture = {
  title: "A block of B and the sets of a cache",
  ask: { label: "Your prediction", unit: "lines" },
  order: ["says", "player", "controls", "picture"],
  height: (width, text, narrow) => (narrow ? 38 : 33) * text,
  controls: ({ first, last, step }) => [{ kind: "range", key: "floats", label: "Floats per row", name: "Floats per row: how far the rows of B are from each other", min: first, max: last, step,
    says: ({ floats }) => (floats > first ? `${floats}: ${floats - first} unused` : `${floats}`) }],
  scene: sceneOf, draw, says, when, describes, hit,
};
export default explorable(picture);
