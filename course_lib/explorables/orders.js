// Lesson 01: two orders of the triple loop side by side. A cache keeps the lines that were used last; counters say how many were fetched.
// Computed here: the cache, and its count at every multiply-add; held to the course's counters, in C and in Python, at every position.
import { clamp, explorable, lerp } from "./stage.js";

const SIDES = ["left", "right"], MATRICES = ["A", "B", "C"], INDICES = { A: "ik", B: "kj", C: "ij" };

/** The loops of one order on N × N matrices, multiply-add after multiply-add, with a cache from which the line used longest ago goes. */
export class Walk {
  constructor(order, N, perLine, room) {
    Object.assign(this, { order, N, perLine, room, rowLines: Math.ceil(N / perLine) });
    this.restart();
  }
  restart() {
    Object.assign(this, { step: 0, held: new Map(), fetched: [0, 0, 0], at: new Map(), evicted: 0 });
  }
  /** Indices of a multiply-add, counted from 0. */
  indices(step) {
    const { N, order } = this, [outer, middle, inner] = order;
    return { [outer]: Math.floor(step / (N * N)), [middle]: Math.floor(step / N) % N, [inner]: step % N };
  }
  /** Row and column of the element of a matrix that a multiply-add uses. */
  element(matrix, step) {
    const now = this.indices(step), [row, column] = INDICES[matrix];
    return [now[row], now[column]];
  }
  line(number, step) {
    const [row, column] = this.element(MATRICES[number], step);
    return number * this.N * this.rowLines + row * this.rowLines + Math.floor(column / this.perLine);
  }
  /** Go on, or begin anew, until so many multiply-adds are done. */
  to(steps) {
    if (steps < this.step) this.restart();
    for (; this.step < steps; ++this.step) for (let number = 0; number < 3; ++number) this.touch(number, this.line(number, this.step));
    return this;
  }
  touch(number, line) {
    if (!this.held.delete(line)) {
      this.fetched[number] += 1;
      this.at.set(line, this.step);
      if (this.held.size === this.room) { this.held.delete(this.held.keys().next().value); this.evicted += 1; }
    }
    this.held.set(line, true);               // a Map keeps its order: the first is the one used longest ago
  }
  /** Names of the matrices of which a multiply-add fetches a line that was in the cache before, and has left it. */
  again(step) {
    this.to(step);
    const known = new Set(this.at.keys()), before = [...this.fetched];
    this.to(step + 1);
    return MATRICES.filter((name, number) => this.fetched[number] > before[number] && known.has(this.line(number, step)));
  }
  get total() { return this.fetched.reduce((a, b) => a + b); }
}

/** How many multiply-adds are done at each stop: one by one at first, then whole inner loops, then whole turns of the outermost. */
export function stops(N) {
  const found = [0];
  const go = (by, until) => { while (found[found.length - 1] < until) found.push(found[found.length - 1] + by); };
  go(1, 2 * N);
  go(N, N * N);
  go(N * N, N ** 3);
  return found;
}
export function doneAt({ stops }, at) {
  const low = Math.min(Math.floor(at + 1e-9), stops.length - 1), next = stops[Math.min(low + 1, stops.length - 1)];
  return Math.floor(lerp(stops[low], next, clamp(at - low)) + 1e-6);
}

/** The most lines of one matrix that any position of the controls fetches: all bars have this scale. */
export const mostOf = ({ totals }) => Math.max(...Object.values(totals).flatMap(byLines => Object.values(byLines).flat()));
const sum = list => list.reduce((a, b) => a + b);
/** How many times as many lines the left side fetches as the right one: with one decimal, or three digits when it is less than 1. */
export const timesAsMany = (left, right) => (left < right ? Number((left / right).toPrecision(3)) : Math.round(10 * left / right) / 10);
export function sceneOf(values, states) {
  const { N, per_line: perLine, totals } = states, at = stops(N), steps = at.length - 1;
  const ends = Object.fromEntries(SIDES.map(side => [side, totals[values[side]][values.lines]]));
  const ratio = timesAsMany(...SIDES.map(side => sum(ends[side])));
  const walks = Object.fromEntries(SIDES.map(side => [side, new Walk(values[side], N, perLine, values.lines)]));
  const again = SIDES.map(side => [values[side], walks[side].again(N)]).filter(([, names]) => names.length);       // when an inner loop begins anew
  return { states, N, stops: at, steps, all: N ** 3, ends, answer: ratio, most: mostOf(states), rest: steps, walks, again, pauses: again.length ? [N + 1] : [],
    seconds: step => (step < N ? 0.28 : step < 2 * N ? 0.12 : step < 3 * N ? 0.1 : 0.14) };
}

// ---- where things are --------------------------------------------------------------------------------------------------------------
const isStacked = (width, text) => width < 800 && text < 20;              // the second side below the first; never on a projector
const textOf = ({ width, height, text }) => Math.min(text, width / (isStacked(width, text) ? 30 : 66), height / (isStacked(width, text) ? 46 : 23));
export function layout(view) {
  const { width, height, scene } = view, text = textOf(view), { N } = scene, stacked = isStacked(width, view.text), many = stacked ? 1 : 2;
  const wide = width / many, high = height / (stacked ? 2 : 1), gap = 1.5 * text, column = 10.5 * text;
  const room = (high - 2.4 * text - gap) / (2 * N), cell = Math.min((wide - column - 2.2 * text - gap) / (2 * N), 1.4 * room), square = 2 * N * cell + gap;
  const tall = Math.min(room, 1.5 * cell), size = { cell, tall };           // an element may be higher than wide, where there is room below
  return Object.fromEntries(SIDES.map((side, i) => {
    const x = (stacked ? 0 : i * wide) + Math.max(0, (wide - column - square - 1.5 * text) / 2), y = stacked ? i * high : 0;
    const left = x + column, A = { x: left + text, y: y + 1.4 * text + N * tall + gap, ...size }, B = { x: A.x + N * cell + gap, y: y + 1.4 * text, ...size };
    return [side, { side, text, words: { x: x + 2, y, w: column - 0.4 * text }, A, B, C: { x: B.x, y: A.y, ...size },
      corner: { x: A.x, y: B.y, w: N * cell, h: N * tall }, right: B.x + N * cell, bottom: A.y + N * tall }];
  }));
}

// ---- drawing -----------------------------------------------------------------------------------------------------------------------
const HUES = { light: { held: "#a9d4ef", fetched: "#e06a1c", used: "#0b3c5d", of: { A: "#8b2fa8", B: "#00735c", C: "#8a6d00" } },
  dark: { held: "#1f567a", fetched: "#ff8a3c", used: "#e8f4ff", of: { A: "#dc9bff", B: "#26b98d", C: "#f0e442" } } };      // of: the matrix that a line of the cache belongs to
function write(pen, view, words, x, y, { size = 1, align = "left", weight = 400, colour = view.ink, family = view.fontFamily, most } = {}) {
  pen.fillStyle = colour;
  pen.textAlign = align;
  pen.font = `${weight} ${Math.round(size * view.text)}px ${family}`;
  pen.fillText(words, x, y, most);
}

/** A matrix: a box for each line, filled when it is in the cache, strong when it has just come, framed when the cache had lost it; and the numbers used last. */
function drawMatrix(pen, view, at, name, walk, recent, lost) {
  const { N, perLine, rowLines } = walk, { cell, tall } = at, number = MATRICES.indexOf(name), first = number * N * rowLines, high = N * tall;
  for (let row = 0; row < N; ++row) for (let part = 0; part < rowLines; ++part) {
    const line = first + row * rowLines + part, x = at.x + part * perLine * cell, y = at.y + row * tall;
    if (walk.held.has(line)) {
      pen.fillStyle = walk.at.get(line) >= walk.step - recent ? view.hues.fetched : view.hues.held;
      pen.fillRect(x + 0.5, y + 0.5, perLine * cell - 1, tall - 1);
    }
    pen.strokeStyle = view.ink;
    pen.globalAlpha = 0.3;
    pen.lineWidth = 0.6;
    pen.strokeRect(x, y, perLine * cell, tall);
    pen.globalAlpha = 1;
  }
  pen.fillStyle = view.hues.used;
  for (let step = Math.max(0, walk.step - N); step < walk.step; ++step) {
    const [row, column] = walk.element(name, step), now = step === walk.step - 1, small = Math.min(cell, tall), mark = now ? small + 2 : Math.max(1.6, 0.5 * small);
    pen.fillRect(at.x + (column + 0.5) * cell - mark / 2, at.y + (row + 0.5) * tall - mark / 2, mark, mark);
  }
  pen.strokeStyle = view.ink;
  pen.lineWidth = 1.4;
  pen.strokeRect(at.x, at.y, N * cell, high);
  if (lost) {
    const [row, column] = walk.element(name, walk.step - 1);
    pen.lineWidth = 3;
    pen.strokeRect(at.x + (column - column % perLine) * cell - 3, at.y + row * tall - 3, perLine * cell + 6, tall + 6);
  }
  write(pen, view, `${name}(${INDICES[name][0]}, ${INDICES[name][1]})`, at.x + N * cell, at.y - 0.35 * view.text, { weight: 700, align: "right" });
}

function drawWords(pen, view, { words, side, bottom }, walk) {
  const { text, scene, values } = view, order = values[side], { x, w } = words, mono = "ui-monospace, 'DejaVu Sans Mono', monospace";
  let y = words.y + 1.8 * text;
  write(pen, view, order, x, y, { size: 1.7, weight: 700 });
  y += 1.9 * text;
  [...order].forEach((letter, depth) => {
    write(pen, view, `${"  ".repeat(depth)}for ${letter}`, x, y, { family: mono, weight: depth === 2 ? 700 : 400, most: w });
    y += 1.35 * text;
  });
  write(pen, view, "      C += A * B", x, y, { family: mono, most: w });
  y += 3.2 * text;
  write(pen, view, walk.total.toLocaleString("en"), x, y, { size: 2.6, weight: 700, most: w });
  y += 1.5 * text;
  write(pen, view, "lines fetched", x, y, { weight: 600, most: w });
  MATRICES.forEach((name, number) => {
    y += 1.65 * text;
    const bar = { x: x + 5.5 * text, y: y - 0.85 * text, w: w - 5.5 * text, h: 1.1 * text };
    write(pen, view, name, x, y, { weight: 700, colour: view.hues.of[name] });
    write(pen, view, walk.fetched[number].toLocaleString("en"), bar.x - 0.5 * text, y, { align: "right" });
    pen.fillStyle = view.hues.fetched;
    pen.fillRect(bar.x, bar.y, bar.w * walk.fetched[number] / scene.most, bar.h);
  });
  drawSlots(pen, view, { x, y: y + 1.7 * text, w, bottom }, walk);
}

/** What the cache holds, line by line in the colour of its matrix: first the one used longest ago, which has to go first. */
function drawSlots(pen, view, { x, y, w, bottom }, walk) {
  const perRow = walk.room > 48 ? 32 : 16, wide = w / perRow, top = y + 0.5 * view.text, high = Math.min(wide, (bottom - top) / Math.ceil(walk.room / perRow));
  write(pen, view, "In the cache, oldest first:", x, y, { size: 0.92, most: w });
  const held = [...walk.held.keys()];
  for (let slot = 0; slot < walk.room; ++slot) {
    const box = [x + (slot % perRow) * wide + 0.5, top + Math.floor(slot / perRow) * high + 0.5, wide - 1, high - 1];
    if (slot < held.length) {
      pen.fillStyle = view.hues.of[MATRICES[Math.floor(held[slot] / (walk.N * walk.rowLines))]];
      pen.fillRect(...box);
    }
    pen.strokeStyle = view.ink;
    pen.globalAlpha = 0.3;
    pen.lineWidth = 0.6;
    pen.strokeRect(...box);
    pen.globalAlpha = 1;
  }
}

function drawKey(pen, view, { corner, side }) {
  const { text, hues, scene } = view, left = side === "left";
  const lines = left ? [[hues.held, "in the cache"], [hues.fetched, "just fetched"], [hues.used, "used now"], [null, "used before it"]] : [];
  const room = Math.floor(corner.w / (0.55 * text));
  if (room < 14) return;
  const said = left ? ["Each box: one line,", `${scene.states.per_line} floats of a row.`] : ["The cache holds", `${view.values.lines} lines.`, "When it is full, the", "line used longest", "ago has to go."];
  said.forEach((words, i) => write(pen, view, words, corner.x, corner.y + (0.9 + 1.35 * i) * text, { most: corner.w }));
  lines.forEach(([colour, words], i) => {
    const y = corner.y + (4.2 + 1.45 * i) * text;
    pen.fillStyle = colour ?? hues.used;
    const dots = colour ? [[0, i === 2 ? 0.7 : 1.8, 0.9]] : [0.1, 0.75, 1.4].map(x => [x, 0.3, 0.3]);
    for (const [x, wide, high] of dots) pen.fillRect(corner.x + x * text, y - (0.35 + high / 2) * text, wide * text, high * text);
    write(pen, view, words, corner.x + 2.3 * text, y, { most: corner.w - 2.3 * text });
  });
}

/** The matrices of which an order needs a line again, at the pause, that its cache has lost. */
const lostBy = ({ again }, order) => again.find(([which]) => which === order)?.[1] ?? [];

function draw(pen, view) {
  const { scene, values } = view, done = doneAt(scene, view.at), where = layout(view), text = where.left.text;
  const next = scene.stops[Math.min(Math.floor(view.at + 1e-9) + 1, scene.steps)], pace = next - scene.stops[Math.min(Math.floor(view.at + 1e-9), scene.steps)];
  const more = { ...view, text, hues: HUES[view.dark ? "dark" : "light"] }, recent = Math.max(1, Math.min(scene.N, pace));
  for (const side of SIDES) {
    const walk = scene.walks[side].to(done);
    drawWords(pen, more, where[side], walk);
    drawKey(pen, more, where[side]);
    const lost = done === scene.N + 1 ? lostBy(scene, values[side]) : [];
    for (const name of MATRICES) drawMatrix(pen, more, where[side][name], name, walk, recent, lost.includes(name));
  }
}

// ---- words ---------------------------------------------------------------------------------------------------------------------------
const count = n => n.toLocaleString("en");
const cameAgain = ({ again }) => again.map(([order, names]) =>
  ` Now ${order} needs ${names.length > 1 ? "lines" : "a line"} of ${names.join(" and ")} again, but the cache has lost ${names.length > 1 ? "them" : "it"}.`).join("") + (again.length ? " Press Play to go on." : "");
export function says(view) {
  const { scene, values, at } = view, done = doneAt(scene, at), [left, right] = SIDES.map(side => scene.walks[side].to(done).total);
  if (done === 0) return `How many times as many cache lines does ${values.left} fetch as ${values.right}? (Write 1/2 if you expect half as many.) Predict, then play.`;
  if (done < scene.all) return `${count(done)} of ${count(scene.all)} multiply-adds: ${values.left} has fetched ${count(left)} lines, ${values.right} ${count(right)}.${done === scene.N + 1 ? cameAgain(scene) : ""}`;
  const ratio = timesAsMany(left, right);
  const factor = left === right ? "That is the same." : `${values.left} fetched ${ratio} times as many as ${values.right}.`;
  return `All ${count(scene.all)} multiply-adds are done. ${values.left} has fetched ${count(left)} lines, ${values.right} ${count(right)}. ${factor}`;
}
const when = view => `${count(doneAt(view.scene, view.at))} multiply-adds`;
export function describes(view) {
  const done = doneAt(view.scene, view.at);
  const told = SIDES.map(side => `${view.values[side]}: ${MATRICES.map((name, number) => `${name} ${view.scene.walks[side].to(done).fetched[number]}`).join(", ")}`);
  return `${says(view)} A cache of ${view.values.lines} lines. Lines fetched by ${told.join("; by ")}.`;
}

export function hit(view, x, y) {
  const where = layout(view), { N, states, walks } = view.scene;
  for (const side of SIDES) for (const [number, name] of MATRICES.entries()) {
    const at = where[side][name], row = Math.floor((y - at.y) / at.tall), column = Math.floor((x - at.x) / at.cell);
    if (row < 0 || column < 0 || row >= N || column >= N) continue;
    const first = column - column % states.per_line, walk = walks[side].to(doneAt(view.scene, view.at));
    const line = (number * N + row) * walk.rowLines + first / states.per_line;
    return { text: `${name}(${row}, ${first}) to ${name}(${row}, ${first + states.per_line - 1}), one line: ${walk.held.has(line) ? "in the cache" : "not in the cache"}` };
  }
  return null;
}

// ---- the explorable ------------------------------------------------------------------------------------------------------------------
export const picture = {
  title: "The same three loops in two orders",
  ask: { label: "Your prediction", unit: "times as many" },
  order: ["says", "player", "picture", "controls"],           // what to do and Play are on the first screen of a lesson
  height: (width, text) => (isStacked(width, text) ? 2 * Math.round(clamp(0.62 * width + 30, 0, 360)) : clamp(0.25 * width, 265, 400)),
  controls: states => [
    ...SIDES.map(side => ({ kind: "choice", key: side, label: side === "left" ? "Left" : "Right", options: states.orders.map(order => [order, order]) })),
    { kind: "range", key: "lines", label: "Cache", name: "How many lines the cache holds", min: states.caches[0], max: states.caches[states.caches.length - 1],
      step: states.caches[1] - states.caches[0], says: values => `${values.lines} lines` },
  ],
  scene: sceneOf, draw, says, when, describes, hit,
};
export default explorable(picture);
