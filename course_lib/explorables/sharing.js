// Lesson 19: the tiles of C fall onto the multiprocessors, whole, split along K, or in even shares of k-steps.
// Data: sharing.py. Computed here: who computes what and when, held to course_lib.model.stream_k, which is held to the running kernel.
import { clamp, explorable, plural } from "./stage.js";

const HUES = { light: ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#8a7a00", "#6a51a3"],
  dark: ["#3d9fd8", "#f0b429", "#2fc295", "#e39cc4", "#8fd0f5", "#f08a4b", "#c9bb3c", "#a18fd6"] };
const EPS = 1e-6, SECONDS = 6, BAND = 8, SLOT = 0.04, IDLE = 0.2, FAINT = 0.3;    // SLOT, IDLE: how much ink is in an empty column, and in idle time

// ---- who computes what -------------------------------------------------------------------------------------------------------------
export const shareBegins = (who, units, blocks) => Math.floor(units / blocks) * who + Math.min(units % blocks, who);

/** What each block does, in its order: pieces {block, tile, first, last}, the k-steps first <= s < last of a tile. */
export function piecesOf(tiles, steps, blocks) {
  const waves = Math.max(Math.floor(tiles / blocks) - 1, 0), units = (tiles - waves * blocks) * steps;
  return Array.from({ length: blocks }, (_, block) => {
    const mine = Array.from({ length: waves }, (_, wave) => ({ block, tile: wave * blocks + block, first: 0, last: steps }));
    const begin = shareBegins(block, units, blocks);
    for (let end = shareBegins(block + 1, units, blocks); begin < end;) {
      const tile = Math.floor((end - 1) / steps), first = Math.max(begin - tile * steps, 0);
      mine.push({ block, tile: waves * blocks + tile, first, last: end - tile * steps });
      end = tile * steps + first;
    }
    return mine;
  });
}

/** Split-K: what each block does when every tile is cut by itself, into shares that differ by one k-step at most. */
export function splitPieces(tiles, steps, split) {
  return Array.from({ length: tiles * split }, (_, block) => {
    const tile = Math.floor(block / split), first = shareBegins(block % split, steps, split), last = shareBegins(block % split + 1, steps, split);
    return first < last ? [{ block, tile, first, last }] : [];
  });
}

/** When and where each piece is computed: blocks start in order, each on the multiprocessor that is free first. */
export function dispatch(blocks, multiprocessors) {
  const free = Array(multiprocessors).fill(0), found = [];
  for (const mine of blocks) {
    let where = 0;
    for (let i = 1; i < multiprocessors; ++i) if (free[i] < free[where]) where = i;
    for (const piece of mine) {
      found.push({ ...piece, where, start: free[where] });
      free[where] += piece.last - piece.first;
    }
  }
  return { placed: found, loads: free };
}

export function placeOf(tile, tilesM, tilesN) {
  const band = Math.floor(tile / (BAND * tilesN)) * BAND, within = tile % (BAND * tilesN), high = Math.min(BAND, tilesM - band);
  return [band + within % high, Math.floor(within / high)];
}

/** Which of the eight colours each tile has: not that of a tile beside it, also across a corner, nor that of the next tile by number. */
export function coloursOf(rows, columns) {
  const turn = rows % BAND === 3 ? 6 : 2;
  return Array.from({ length: rows * columns }, (_, tile) => placeOf(tile, rows, columns)).map(([row, column]) => (row + turn * column) % HUES.light.length);
}

/** What the controls ask for: N, the tile, how many tiles and k-steps, how many blocks. */
export function wanted(values, states) {
  const N = states.sizes[values.size], tile = states.tiles.find(({ BM }) => BM === values.tile), [rows, columns] = [Math.ceil(N / tile.BM), Math.ceil(N / tile.BN)];
  const tiles = rows * columns, steps = Math.ceil(N / tile.BK), blocks = { tiles, split: values.split * tiles, even: states.multiprocessors }[values.share];
  return { N, tile, rows, columns, tiles, steps, blocks };
}

export function sceneOf(values, states, before, at) {
  const asked = wanted(values, states), { tiles, steps, blocks, rows, columns } = asked, happens = [values.size, values.tile, values.share, values.split].join();
  const { placed, loads } = dispatch(values.share === "split" ? splitPieces(tiles, steps, values.split) : piecesOf(tiles, steps, blocks), states.multiprocessors);
  const busiest = Math.max(...loads), mean = loads.reduce((a, b) => a + b) / loads.length, left = placed.filter(({ last }) => last < steps).length;
  const cycles = ({ BM, BN, BK }) => BM * BN * BK / states.perCycle, cost = cycles(asked.tile);
  const shown = size => { const whole = wanted({ ...values, size, tile: states.tiles[0].BM, share: "tiles" }, states); return Math.ceil(whole.tiles / states.multiprocessors) * whole.steps * cycles(whole.tile); };
  const sizes = [values.size, values.size + 1].filter(size => states.sizes[size] - asked.N <= 1);      // the scale is that of whole large tiles, so that columns can be compared, and N and N + 1 have the same
  const top = Math.max(busiest * cost, ...sizes.map(shown));
  return { ...asked, states, happens, colours: coloursOf(rows, columns), placed, loads, busiest, mean, left, bytes: 4 * left * asked.tile.BM * asked.tile.BN, cost, top, share: values.share, split: values.split, steps: busiest, depth: steps, keeps: old => old?.happens === happens,
    answer: 100 * (1 - mean / busiest), rest: busiest, begin: before && at >= before.steps - EPS ? busiest : 0, seconds: () => SECONDS * cost / top };
}

/** How many multiprocessors work at a moment, in k-steps from the beginning. */
export const working = (scene, at) => scene.loads.filter(load => load > at + EPS).length;

// ---- where things are --------------------------------------------------------------------------------------------------------------
export function layout(view) {
  const { width, height, narrow, scene } = view, text = Math.min(view.text, width / (narrow ? 27 : 60), height / (narrow ? 36 : 24));
  const side = narrow ? Math.min(0.36 * width, 10 * text) : Math.min(0.24 * width, 0.5 * height, 20 * text), foot = 3.4 * text;
  const C = { x: 0, y: 1.6 * text, w: side, h: side }, told = narrow ? { x: side + 1.4 * text, y: C.y + 0.9 * text } : { x: 0, y: C.y + side + 3.2 * text };
  const x = narrow ? 0.6 * text : side + 4.6 * text, y = narrow ? C.y + side + 4.2 * text : 1.6 * text;
  const columns = { x, y, w: width - x - 2, h: height - foot - y };
  return { text, C, told, columns, wide: columns.w / scene.loads.length, tall: columns.h / scene.top, foot: height - 0.5 * text };
}

// ---- drawing -----------------------------------------------------------------------------------------------------------------------
function write(pen, view, words, x, y, { size = 1, align = "left", weight = 400, most } = {}) {
  pen.fillStyle = view.ink;
  pen.textAlign = align;
  pen.font = `${weight} ${Math.round(size * view.text)}px ${view.fontFamily}`;
  pen.fillText(words, x, y, ...(most === undefined ? [] : [most]));
  return pen.measureText(words).width;
}
function line(pen, view, x0, y0, x1, y1, { wide = 1, alpha = 1, dash = [] } = {}) {
  pen.globalAlpha = alpha;
  pen.strokeStyle = view.ink;
  pen.lineWidth = wide;
  pen.setLineDash(dash);
  pen.beginPath();
  pen.moveTo(x0, y0);
  pen.lineTo(x1, y1);
  pen.stroke();
  pen.setLineDash([]);
  pen.globalAlpha = 1;
}
function outline(pen, colour, thick, ...box) {
  pen.strokeStyle = colour;
  pen.lineWidth = thick;
  pen.strokeRect(...box);
}
const hueOf = (view, tile) => view.hues[view.scene.colours[tile]];
/** The tile under the pointer, else the one of the slider; undefined: none. Everything but its parts is faint. */
const marked = view => view.hover?.tile ?? (view.values.mark ? view.values.mark - 1 : undefined);
const faintness = (view, tile) => (marked(view) === undefined || marked(view) === tile ? 1 : FAINT);
/** Pieces that are left to a later block are pale. */
const paleness = (scene, piece) => (piece.last < scene.depth ? 0.5 : 1);

function drawColumns(pen, view, where) {
  const { scene, at, text } = view, { columns, wide, tall } = where, bottom = columns.y + columns.h, gap = wide > 4 ? 0.8 : 0.3;
  scene.loads.forEach((load, i) => {
    const x = columns.x + i * wide, idle = Math.max(at - load, 0) * scene.cost * tall;
    pen.fillStyle = view.ink;
    pen.globalAlpha = SLOT;
    pen.fillRect(x + gap / 2, columns.y, wide - gap, columns.h);
    pen.globalAlpha = IDLE;
    pen.fillRect(x + gap / 2, bottom - load * scene.cost * tall - idle, wide - gap, idle);
    pen.globalAlpha = 1;
  });
  for (const piece of scene.placed) {
    const steps = Math.min(at - piece.start, piece.last - piece.first);
    if (steps <= 0) continue;
    const h = steps * scene.cost * tall, y = bottom - piece.start * scene.cost * tall - h, x = columns.x + piece.where * wide;
    pen.globalAlpha = paleness(scene, piece) * faintness(view, piece.tile);
    pen.fillStyle = hueOf(view, piece.tile);
    pen.fillRect(x + gap / 2, y + (h > 3 ? 0.6 : 0), wide - gap, h > 3 ? h - 0.6 : h);
    pen.globalAlpha = 1;
    if (marked(view) === piece.tile) outline(pen, view.ink, 1.5, x, y, wide, h);
  }
  line(pen, view, columns.x, bottom, columns.x + columns.w, bottom, { wide: 1.5 });
  const labels = `${view.narrow ? "" : "one column per "}${view.narrow ? "M" : "m"}ultiprocessor${view.narrow ? "s" : ""}, 0 to ${scene.loads.length - 1}`;
  write(pen, view, labels, columns.x, bottom + 1.15 * text, { size: 0.96, most: columns.w / 2 });
  if (at > 0) drawMoment(pen, view, where);
}

/** The moment, as a line across the columns, and at the end the mean, to which all columns would come if they were equal. */
function drawMoment(pen, view, { columns, tall }) {
  const { scene, at, text } = view, bottom = columns.y + columns.h, yOf = steps => bottom - steps * scene.cost * tall, now = yOf(at);
  line(pen, view, columns.x, now, columns.x + columns.w, now, { alpha: 0.75 });
  write(pen, view, `${Math.floor(at + EPS)} k-steps`, columns.x + columns.w, now - 0.4 * text, { size: 0.96, weight: 600, align: "right" });
  if (at < scene.steps - EPS) return;
  const mean = yOf(scene.mean), words = `mean ${scene.mean.toFixed(1)}`, free = mean - now > 1.9 * text;
  line(pen, view, columns.x, mean, columns.x + columns.w, mean, { wide: 2, dash: [6, 4] });
  if (!free) return;
  pen.font = `600 ${Math.round(0.96 * text)}px ${view.fontFamily}`;
  const most = pen.measureText(words).width + 0.8 * text;
  pen.fillStyle = view.paper;
  pen.fillRect(columns.x + columns.w - most, mean - 1.45 * text, most, 1.3 * text);
  write(pen, view, words, columns.x + columns.w - 0.4 * text, mean - 0.4 * text, { size: 0.96, weight: 600, align: "right" });
}

/** C and its tiles, as large as they are together; each fills as its k-steps are done. */
function drawMatrix(pen, view, { C }) {
  const { scene, at, text } = view, { rows, columns, depth, tile } = scene, wide = C.w / columns, high = C.h / rows, done = Array(scene.tiles).fill(0);
  for (const piece of scene.placed) done[piece.tile] += clamp(at - piece.start, 0, piece.last - piece.first) / depth;
  done.forEach((part, number) => {
    const [row, column] = placeOf(number, rows, columns), x = C.x + column * wide, y = C.y + row * high;
    pen.fillStyle = hueOf(view, number);
    pen.globalAlpha = 0.25 * faintness(view, number);
    pen.fillRect(x, y, wide, high);
    pen.globalAlpha = faintness(view, number);
    pen.fillRect(x, y + (1 - part) * high, wide, part * high);
    pen.globalAlpha = 1;
    if (wide > 5) outline(pen, view.paper, 1, x, y, wide, high);
  });
  if (marked(view) !== undefined) {
    const [row, column] = placeOf(marked(view), rows, columns);
    outline(pen, view.ink, 3, C.x + column * wide, C.y + row * high, wide, high);
  }
  const edge = scene.N / (columns * tile.BN);
  outline(pen, view.ink, 2, C.x + 1, C.y + 1, C.w * edge - 2, C.h * edge - 2);
  write(pen, view, `C: ${plural(scene.tiles, "tile")}`, C.x, C.y - 0.5 * text, { weight: 700, most: C.w });
}

export const megabytes = bytes => (bytes === 0 ? "0 bytes" : bytes < 1e6 ? `${(bytes / 1e3).toFixed(0)} kB` : `${(bytes / 1e6).toFixed(1)} MB`);
const percent = share => `${share < 9.95 ? share.toFixed(1) : share.toFixed(0)} %`;

function drawTold(pen, view, { told, columns }) {
  const { scene, at, text, narrow, width } = view, most = (narrow ? width : columns.x - 2.6 * text) - told.x, ended = at >= scene.steps - EPS;
  const head = at <= 0 ? "?" : ended ? percent(scene.answer) : working(scene, at);
  const number = write(pen, view, head, told.x, told.y + 0.9 * text, { size: narrow ? 1.9 : 2.3, weight: 700 });
  write(pen, view, ended || at <= 0 ? " idle" : ` of ${scene.loads.length} work`, told.x + number + 0.3 * text, told.y + 0.9 * text, { weight: 600, most: most - number - 0.3 * text });
  const lines = [`${plural(scene.blocks, "block")}, ${plural(scene.depth, "k-step")} per tile`];
  if (ended) lines.push(`busiest / mean: ${(scene.busiest / scene.mean).toFixed(2)}`, `partial sums: ${megabytes(scene.bytes)}`);
  lines.forEach((words, i) => write(pen, view, words, told.x, told.y + (2.6 + 1.45 * i) * text, { most }));
}

function drawLegend(pen, view, where) {
  const { text } = view, items = [[view.hues[0], 1, "ends its tile"], [view.hues[0], 0.5, "leaves a partial sum"], [view.ink, IDLE, "idle"]];
  let { x } = where.columns;
  const y = where.foot;
  for (const [colour, alpha, words] of items) {
    pen.globalAlpha = alpha;
    pen.fillStyle = colour;
    pen.fillRect(x, y - 0.75 * text, 0.9 * text, 0.9 * text);
    pen.globalAlpha = 1;
    x += 1.3 * text;
    x += write(pen, view, words, x, y, { size: 0.96 }) + 1.4 * text;
  }
}

export function draw(pen, given) {
  const where = layout(given), view = { ...given, text: where.text, hues: HUES[given.dark ? "dark" : "light"] };
  drawMatrix(pen, view, where);
  drawTold(pen, view, where);
  drawColumns(pen, view, where);
  drawLegend(pen, view, where);
}

// ---- words -------------------------------------------------------------------------------------------------------------------------
const HOW = { tiles: () => "Each block computes a whole tile", split: ({ split }) => `${split} blocks for each tile share its k-steps`, even: () => "One block per multiprocessor, and all have equally many k-steps, or one more" };
const blocksOf = scene => `${HOW[scene.share](scene)}: ${plural(scene.blocks, "block")}.`;
const partsOf = (scene, tile) => {
  const blocks = scene.placed.filter(piece => piece.tile === tile).map(({ block }) => block), [from, to] = [Math.min(...blocks), Math.max(...blocks)];
  return `tile ${tile}: computed in ${plural(blocks.length, "piece")}, by ${from === to ? `block ${from}` : `blocks ${from} to ${to}`}`;
};
const toldOf = ({ scene, values }) => (values.mark ? ` Marked is ${partsOf(scene, values.mark - 1)}.` : "");
export const says = (view, step) => saysOf(view.scene, step) + toldOf(view);
function saysOf(scene, step) {
  const sms = scene.loads.length;
  if (step <= 0) return `${scene.N} × ${scene.N} matrices in tiles of ${scene.tile.BM} × ${scene.tile.BN}: C has ${plural(scene.tiles, "tile")} of ${plural(scene.depth, "k-step")} each, and the GPU has ${sms} multiprocessors. ${blocksOf(scene)} Which share of the multiprocessors' time is idle, until the last of them is done? Predict, then play.`;
  if (step < scene.steps) return `After ${plural(step, "k-step")}, ${working(scene, step)} of ${sms} multiprocessors still work.`;
  return `${blocksOf(scene)} The busiest multiprocessor had ${plural(scene.busiest, "k-step")}, and the mean is ${scene.mean.toFixed(1)}: ${percent(scene.answer)} of the time was idle. ${scene.left ? `${plural(scene.left, "partial sum")} went through memory, ${megabytes(scene.bytes)}.` : "No partial sums went through memory."}`;
}
const when = (view, step) => (step <= 0 ? "before the first k-step" : `k-step ${step} of ${view.scene.steps}`);
export function describes(view, step) {
  const { scene } = view, ratio = step >= scene.steps ? ` The busiest over the mean is ${(scene.busiest / scene.mean).toFixed(2)}.` : "";
  return `${says(view, step)}${ratio} A column for each multiprocessor, on which pieces of tiles are stacked, and idle time is grey; beside it C, whose tiles fill.`;
}

function hit(view, x, y) {
  const where = layout(view), { scene } = view, { columns, wide, tall, C } = where, column = Math.floor((x - columns.x) / wide), at = (columns.y + columns.h - y) / (scene.cost * tall);
  if (column >= 0 && column < scene.loads.length && at >= 0 && y >= columns.y) {
    const found = scene.placed.find(piece => piece.where === column && piece.start <= at && at < piece.start + piece.last - piece.first);
    if (found && found.start < view.at) return { tile: found.tile, text: `multiprocessor ${column}, block ${found.block}: tile ${found.tile}, k-steps ${found.first} to ${found.last - 1}${found.last < scene.depth ? ", left to a later block" : ""}` };
    return { text: `multiprocessor ${column}: ${at < view.at ? "idle" : "not yet"}` };
  }
  const row = Math.floor((y - C.y) / (C.h / scene.rows)), col = Math.floor((x - C.x) / (C.w / scene.columns));
  if (row < 0 || col < 0 || row >= scene.rows || col >= scene.columns) return null;
  const tile = Array.from({ length: scene.tiles }, (_, i) => i).find(i => { const [r, c] = placeOf(i, scene.rows, scene.columns); return r === row && c === col; });
  return { tile, text: partsOf(scene, tile) };
}

// ---- the explorable ----------------------------------------------------------------------------------------------------------------
export const picture = {
  title: "The tiles of C fall onto the multiprocessors",
  ask: { label: "Your prediction", unit: "% idle" },
  order: ["says", "player", "picture", "controls"],
  height: (width, text, narrow) => (narrow ? Math.round(0.5 * width + 19 * text) : clamp(0.32 * width, 340, 400)),
  controls: states => [
    { kind: "range", key: "size", label: "N", name: "N: rows and columns of the matrices", min: 0, max: states.sizes.length - 1, says: values => `${states.sizes[values.size]}` },
    { kind: "choice", key: "tile", label: "Tile", options: states.tiles.map(({ BM, BN }) => [BM, `${BM} × ${BN}`]) },
    { kind: "choice", key: "share", label: "Blocks", options: [["tiles", "whole tiles"], ["split", "split-K"], ["even", "stream-K"]] },
    { kind: "range", key: "split", label: "Per tile", name: "Split-K: blocks for each tile", min: 2, max: 8, enabled: values => values.share === "split", says: values => (values.share === "split" ? plural(values.split, "block") : "split-K only") },
    { kind: "range", key: "mark", label: "Mark", name: "Mark a tile of C and all its parts", min: 0, max: 0, most: values => wanted(values, states).tiles, says: values => (values.mark ? `tile ${values.mark - 1}` : "no tile") },
  ],
  takes: key => (key === "size" || key === "tile" ? { mark: 0 } : {}),
  scene: sceneOf, draw, says, when, describes, hit,
};
export default explorable(picture);
