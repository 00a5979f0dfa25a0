// Lesson 02: the same product without blocks and in blocks, side by side, with the lines that the cache holds and a counter of those fetched.
// Computed here: a cache in which the line used longest ago goes first. A test holds it to the course's counter at every multiply-add.
import { clamp, explorable } from "./stage.js";

const NAMES = ["A", "B", "C"], SIDES = ["rows", "blocks"], PACE = [5, 3, 1.5, 1], EPS = 1e-6;      // seconds of the first steps

/** (i, j, k) of the n-th multiply-add: blocks in the order i, j, k, and within a block the rows of B in the order i, k, j. */
export function indices(N, block, n) {
  const many = N / block, q = Math.floor(n / block ** 3), r = n % block ** 3;
  return { i: Math.floor(q / many ** 2) * block + Math.floor(r / block ** 2), j: Math.floor(q / many) % many * block + r % block,
    k: q % many * block + Math.floor(r / block) % block };
}

/** The lines, numbered through A, B and C, that a multiply-add needs. */
export function linesOf({ N, perLine }, { i, j, k }) {
  const wide = N / perLine, each = N * wide;
  return [i * wide + Math.floor(k / perLine), each + k * wide + Math.floor(j / perLine), 2 * each + i * wide + Math.floor(j / perLine)];
}

/** Every line fetched in blocks of a size, in order: the multiply-add that needs it, the line, and where in the cache it goes. */
export function fetches(states, block, capacity) {
  const { N, perLine } = states, held = new Map(), when = [], line = [], slot = [];      // held: the line used longest ago comes first
  let last = [-1, -1, -1];
  for (let n = 0; n < N ** 3; ++n) {
    const needed = linesOf(states, indices(N, block, n));
    if (needed.every((x, m) => x === last[m])) continue;
    for (const wanted of last = needed) {
      let to = held.get(wanted);
      if (to === undefined) {
        to = held.size;
        if (held.size === capacity) { const [oldest, freed] = held.entries().next().value; held.delete(oldest); to = freed; }
        when.push(n); line.push(wanted); slot.push(to);
      } else held.delete(wanted);
      held.set(wanted, to);
    }
  }
  return { block, when, line, slot };
}

const matrixOf = ({ N, perLine }, line) => Math.floor(line / (N * N / perLine));
/** How many fetches come before the n-th multiply-add. */
export function before({ when }, n) {
  let low = 0, high = when.length;
  while (low < high) { const middle = (low + high) >> 1; if (when[middle] < n) low = middle + 1; else high = middle; }
  return low;
}
/** What was fetched before the n-th multiply-add: {A, B, C, all}. */
export function fetchedBefore(states, run, n) {
  const counts = [0, 0, 0], end = before(run, n);
  for (let e = 0; e < end; ++e) counts[matrixOf(states, run.line[e])] += 1;
  return { A: counts[0], B: counts[1], C: counts[2], all: end };
}
/** What lies in each slot of the cache before the n-th multiply-add: {line, when}, or nothing. */
export function cacheBefore(run, n) {
  const cache = [];
  for (let e = 0, end = before(run, n); e < end; ++e) cache[run.slot[e]] = { line: run.line[e], when: run.when[e] };
  return cache;
}

export function sceneOf(values, states) {
  const { N, bytesPerLine, block } = states, steps = N, each = N ** 3 / steps, capacity = values.cache / bytesPerLine;
  const runs = { rows: fetches(states, N, capacity), blocks: fetches(states, block, capacity) };
  const all = Object.fromEntries(SIDES.map(side => [side, fetchedBefore(states, runs[side], N ** 3)]));
  const most = Math.max(...SIDES.flatMap(side => NAMES.map(name => all[side][name])));
  return { states, steps, each, capacity, runs, all, most, rest: 0, answer: all.blocks.B,
    seconds: step => (states.quick ? 0.25 : PACE[step] ?? 0.6) };
}

// ---- where things are ------------------------------------------------------------------------------------------------------------
const textOf = ({ width, height, text, narrow }) => Math.min(text, (narrow ? 2 : 1) * width / 62, height / (narrow ? 56 : 28));
export function layout(view) {
  const { width, height, narrow, scene } = view, text = textOf(view), { N } = scene.states, many = narrow ? 1 : 2, high = height / (narrow ? 2 : 1);
  const gap = Math.round(1.5 * text), head = Math.round(1.9 * text), foot = Math.round(1.3 * text);
  const cell = Math.min((width / many - gap - 1.6 * text) / (2 * N), (high - head - gap - foot) / (2 * N));
  const wide = 2 * N * cell + gap, spare = clamp(width / many - wide - 3 * text, 0, 7 * text);
  return Object.fromEntries(SIDES.map((side, s) => {
    const x = (width / many) * (narrow ? 0.5 : s + 0.5) - (wide + spare) / 2, y = (narrow ? s * high : 0) + head;
    const A = { x: x + spare, y: y + N * cell + gap, cell }, B = { x: A.x + N * cell + gap, y, cell }, C = { x: B.x, y: A.y, cell };
    const corner = { x, y, w: N * cell + spare - 1.2 * text, h: N * cell };
    return [side, { side, x, y, A, B, C, corner, high: A.y + N * cell + foot }];
  }));
}
const lineBox = ({ N, perLine }, where, line) => {
  const wide = N / perLine, at = where[NAMES[matrixOf({ N, perLine }, line)]], local = line % (N * wide);
  return { x: at.x + (local % wide) * perLine * at.cell, y: at.y + Math.floor(local / wide) * at.cell, w: perLine * at.cell, h: at.cell };
};
const blockBox = ({ x, y, cell }, row, column, block) => ({ x: x + Math.floor(column / block) * block * cell, y: y + Math.floor(row / block) * block * cell, w: block * cell, h: block * cell });

// ---- colours: one per matrix, told apart by lightness too, and by where they are ---------------------------------------------------------
const HUES = { light: { A: "#e69f00", B: "#56a0d8", C: "#7fbf9b", fetch: "#b3261e", watch: "#f0e442" },
  dark: { A: "#b87c00", B: "#2f6fa8", C: "#2c7d5c", fetch: "#ff8a70", watch: "#f0e442" } };

// ---- drawing -----------------------------------------------------------------------------------------------------------------------
function write(pen, view, words, x, y, { size = 1, align = "left", weight = 400, colour = view.ink, most } = {}) {
  pen.fillStyle = colour;
  pen.textAlign = align;
  pen.font = `${weight} ${Math.round(size * view.text)}px ${view.fontFamily}`;
  pen.fillText(...(most ? [words, x, y, most] : [words, x, y]));
}
function fill(pen, { x, y, w, h }, colour, alpha = 1, inset = 0) {
  pen.globalAlpha = alpha;
  pen.fillStyle = colour;
  pen.fillRect(x + inset, y + inset, w - 2 * inset, h - 2 * inset);
  pen.globalAlpha = 1;
}
function outline(pen, { x, y, w, h }, colour, wide, alpha = 1) {
  pen.globalAlpha = alpha;
  pen.strokeStyle = colour;
  pen.lineWidth = wide;
  pen.strokeRect(x, y, w, h);
  pen.globalAlpha = 1;
}
const fresh = (view, when) => clamp(1 - (view.n - when) / view.glow);          // 1 when a line has just been fetched, 0 a moment later

/** A, B and C in lines of 16 floats: those in the cache are filled, and those just fetched light up. */
function drawMatrices(pen, view, where) {
  const { states } = view.scene, { N, perLine } = states, held = new Map(view[where.side].cache.filter(Boolean).map(found => [found.line, found.when]));
  for (let line = 0; line < 3 * N * N / perLine; ++line) {
    const box = lineBox(states, where, line), when = held.get(line);
    if (when !== undefined) {
      fill(pen, box, view.hues[NAMES[matrixOf(states, line)]]);
      fill(pen, box, view.hues.fetch, fresh(view, when));
    }
    outline(pen, box, view.ink, 0.6, 0.3);
  }
  for (const name of NAMES) outline(pen, { ...where[name], w: N * where[name].cell, h: N * where[name].cell }, view.ink, 1.2);
}

/** The three blocks that the program is in, and the three elements of its latest multiply-add. */
function drawNow(pen, view, where) {
  const { states, runs } = view.scene, { N } = states, { block } = runs[where.side], { i, j, k } = indices(N, block, clamp(view.n - 1, 0, N ** 3 - 1));
  const spots = [[where.A, i, k], [where.B, k, j], [where.C, i, j]];
  if (block < N) for (const [at, row, column] of spots) {
    const box = blockBox(at, row, column, block);
    outline(pen, box, view.paper, 4.5);
    outline(pen, box, view.ink, 2.4);
  }
  if (view.n === 0 || view.n >= N ** 3) return;
  for (const [at, row, column] of spots) {
    const size = Math.max(6, 1.25 * at.cell), box = { x: at.x + (column + 0.5) * at.cell - size / 2, y: at.y + (row + 0.5) * at.cell - size / 2, w: size, h: size };
    fill(pen, box, view.hues.watch);
    outline(pen, box, view.dark ? "#000" : view.ink, 1.2);
  }
}

const TITLES = { rows: () => ["Without blocks: ", "the order ikj"], blocks: b => [`Blocks of ${b} × ${b}: `, "six loops"] };
function drawCounters(pen, view, where) {
  const { text, scene } = view, { x, y, w } = where.corner, { fetched } = view[where.side], [name, does] = TITLES[where.side](scene.runs.blocks.block);
  write(pen, view, name, x, y - 0.7 * text, { size: 1.1, weight: 700 });
  write(pen, view, does, x + pen.measureText(name).width, y - 0.7 * text, { size: 1.1 });
  write(pen, view, fetched.B.toLocaleString("en"), x, y + 2.2 * text, { size: 2.7, weight: 700 });
  const beside = x + pen.measureText(fetched.B.toLocaleString("en")).width + 0.5 * text;
  ["lines of B", "fetched"].forEach((words, i) => write(pen, view, words, beside, y + (1.1 + 1.1 * i) * text, { weight: 600, most: x + w - beside }));
  const left = 1.5 * text, right = 3.2 * text;
  NAMES.forEach((matrix, m) => {
    const bar = { x: x + left, y: y + (2.9 + 1.25 * m) * text, w: Math.max(1, w - left - right), h: 0.9 * text };
    write(pen, view, matrix, x, bar.y + 0.82 * text, { weight: 700 });
    fill(pen, { ...bar, w: bar.w * fetched[matrix] / scene.most }, view.hues[matrix]);
    outline(pen, bar, view.ink, 0.8, 0.5);
    write(pen, view, fetched[matrix].toLocaleString("en"), x + w, bar.y + 0.82 * text, { align: "right" });
  });
}

/** The cache: one box for each line that it can hold, in the colour of the matrix whose line lies there. */
export function slots({ corner }, capacity, text) {
  const columns = 16, rows = Math.max(capacity, 64) / columns, top = corner.y + 8.4 * text, w = corner.w / columns;
  const h = Math.min(0.8 * text, (corner.y + corner.h - top) / rows);
  return Array.from({ length: capacity }, (_, p) => ({ x: corner.x + (p % columns) * w, y: top + Math.floor(p / columns) * h, w, h }));
}
function drawCache(pen, view, where) {
  const { text, scene } = view, { cache } = view[where.side];
  write(pen, view, `The cache: ${scene.capacity} lines`, where.corner.x, where.corner.y + 8 * text, { weight: 600, most: where.corner.w });
  slots(where, scene.capacity, text).forEach((box, p) => {
    if (cache[p]) {
      fill(pen, box, view.hues[NAMES[matrixOf(scene.states, cache[p].line)]], 1, 0.5);
      fill(pen, box, view.hues.fetch, fresh(view, cache[p].when), 0.5);
    }
    outline(pen, box, view.ink, 0.7, 0.5);
  });
}

function draw(pen, view) {
  const { scene, at } = view, n = Math.floor(at * scene.each + EPS), where = layout(view);
  const more = { ...view, n, text: textOf(view), hues: HUES[view.dark ? "dark" : "light"], glow: at < scene.steps ? 0.35 * scene.each / scene.seconds(Math.floor(at)) : EPS };
  for (const side of SIDES) more[side] = { cache: cacheBefore(scene.runs[side], n), fetched: fetchedBefore(scene.states, scene.runs[side], n) };
  for (const side of SIDES) {
    drawCounters(pen, more, where[side]);
    drawCache(pen, more, where[side]);
    drawMatrices(pen, more, where[side]);
    drawNow(pen, more, where[side]);
    const { A, B, C } = where[side], { N } = scene.states, { text } = more;
    write(pen, more, "A", A.x, A.y - 0.35 * text, { weight: 700 });
    write(pen, more, "B", B.x - 0.5 * text, B.y + 0.9 * text, { weight: 700, align: "right" });
    write(pen, more, "C", C.x + N * C.cell, C.y + N * C.cell + 1.05 * text, { weight: 700, align: "right" });
  }
}

// ---- words ---------------------------------------------------------------------------------------------------------------------------
const grouped = x => x.toLocaleString("en");
const listed = ({ A, B, C }) => `${grouped(A)} of A, ${grouped(B)} of B, ${grouped(C)} of C`;

/** How two counts compare, in words. */
export function compared(ratio) {
  if (ratio === 1) return "the same number";
  return ratio > 1 ? `${Number(ratio.toFixed(2))} times fewer` : `${Number((1 / ratio).toFixed(2))} times more`;
}

export function says({ scene }, step) {
  const { states, all } = scene, { N, block: b } = states;
  if (step <= 0) return `Both sides multiply ${N} × ${N} matrices. The cache holds ${scene.capacity} lines; when it is full, the line used longest ago makes way. The left side will fetch ${grouped(all.rows.B)} lines of B. How many will the right side fetch? Predict, then play.`;
  if (step < scene.steps) {
    const [rows, blocks] = SIDES.map(side => listed(fetchedBefore(states, scene.runs[side], step * scene.each)));
    return `After ${grouped(step * scene.each)} of ${grouped(N ** 3)} multiply-adds. Lines fetched without blocks: ${rows}. In blocks of ${b} × ${b}: ${blocks}.`;
  }
  return `Both sides have computed C. Lines of B: ${grouped(all.rows.B)} without blocks, ${grouped(all.blocks.B)} in blocks of ${b} × ${b}, ${compared(all.rows.B / all.blocks.B)}. All three matrices together: ${grouped(all.rows.all)} and ${grouped(all.blocks.all)}.`;
}

const when = ({ scene }, step) => (step <= 0 ? "before the first multiply-add" : `after ${grouped(step * scene.each)} multiply-adds`);
const describes = view => {
  const { scene, at } = view, [rows, blocks] = SIDES.map(side => fetchedBefore(scene.states, scene.runs[side], Math.floor(at * scene.each + EPS)));
  return `${says(view, Math.floor(at + EPS))} So far without blocks: ${listed(rows)}. In blocks: ${listed(blocks)}.`;
};

function hit(view, x, y) {
  const where = layout(view), { states, runs, each } = view.scene, { N, perLine } = states, n = Math.floor(view.at * each + EPS);
  for (const side of SIDES) for (const [m, name] of NAMES.entries()) {
    const at = where[side][name], row = Math.floor((y - at.y) / at.cell), column = Math.floor((x - at.x) / at.cell);
    if (row < 0 || column < 0 || row >= N || column >= N) continue;
    const first = column - column % perLine, line = (m * N + row) * (N / perLine) + first / perLine, run = runs[side];
    const often = run.line.slice(0, before(run, n)).filter(found => found === line).length, held = cacheBefore(run, n).some(found => found?.line === line);
    return { text: `${name}[${row}][${first}] to [${first + perLine - 1}], one cache line: ${held ? "in the cache" : "not in the cache"}, fetched ${often === 1 ? "once" : `${often} times`} so far` };
  }
  return null;
}

// ---- the explorable ------------------------------------------------------------------------------------------------------------------
export const picture = {
  title: "A product without blocks and in blocks, and what the cache holds",
  ask: { label: "Your prediction", unit: "lines of B" },
  order: ["says", "player", "picture", "controls"],
  height: (width, text, narrow) => (narrow ? 2 * Math.round(0.74 * width + 5.4 * text) : clamp(0.33 * width, 340, 400)),
  controls: () => [],
  scene: sceneOf, draw, says, when, describes, hit,
};
export default explorable(picture);
