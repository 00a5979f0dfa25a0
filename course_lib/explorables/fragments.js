// Lesson 16: who holds which element of A, B and C in one instruction of the tensor cores, and whose factors come together in a lane's sums.
// Data: fragments.py, the simulator's table. Computed here: which elements a lane's sums need, and whose they are.
import { explorable, lerp, plural } from "./stage.js";

const EPS = 1e-6, LANES = 32, GROUP = 4, NAMES = ["A", "B", "C"];
const HUES = { light: { A: "#d55e00", B: "#0072b2", C: "#00805f" }, dark: { A: "#ff9248", B: "#5cb8f0", C: "#3fd0a4" } };

/** Rows and columns of a matrix. */
export const sides = ({ m, n, k }, name) => ({ A: [m, k], B: [k, n], C: [m, n] })[name];
/** The lane that holds an element. */
export const ownerOf = (held, name, row, column) => held.owner[name][row * sides(held, name)[1] + column];
/** The elements of a matrix that a lane holds, in the order of its registers: [row, column]. */
export function elementsOf(held, name, lane) {
  const columns = sides(held, name)[1], places = held.owner[name].map((owner, i) => [owner, i]).filter(([owner]) => owner === lane).map(([, i]) => i);
  return places.sort((a, b) => held.slot[name][a] - held.slot[name][b]).map(i => [Math.floor(i / columns), i % columns]);
}
const distinct = numbers => [...new Set(numbers)].sort((a, b) => a - b);
/** The elements of A and of B that a lane's sums need for one k: [row, column]. */
export function factors(held, lane, k) {
  const sums = elementsOf(held, "C", lane);
  return { A: distinct(sums.map(([row]) => row)).map(row => [row, k]), B: distinct(sums.map(([, column]) => column)).map(column => [k, column]) };
}
/** The lanes that hold what was needed before k = until, by matrix. */
export function sources(held, lane, until) {
  const found = { A: [], B: [] };
  for (let k = 0; k < until; ++k) for (const name of ["A", "B"]) found[name].push(...factors(held, lane, k)[name].map(([row, column]) => ownerOf(held, name, row, column)));
  return { A: distinct(found.A), B: distinct(found.B), all: distinct([...found.A, ...found.B]) };
}

/** Another lane of the same instruction is shown at the moment at which the lane before was; another instruction asks anew. */
export function sceneOf(values, states, before, at) {
  const held = states.at[values.instruction], { lane } = values, label = states.instructions.find(([key]) => key === values.instruction)[1];
  return { held, lane, label, steps: held.k, answer: sources(held, lane, held.k).all.length, begin: before?.held === held ? at : 0, seconds: () => 8 / held.k + 0.1 };
}

// ---- where things are: A left of C, and B above C, so that a row of A and a column of B point at their sum ----------------------------
export function layout(view) {
  const { width, height, narrow, scene: { held } } = view, { m, n, k } = held, text = Math.min(view.text, width / (narrow ? 25 : 54), height / (narrow ? 50 : Math.max(0.9 * (m + k) + 2.4, 24.5)));
  const side = 1.6 * text, across = narrow ? 8 : GROUP, rows = LANES / across;                                       // side: of the numbers of rows
  const panel = narrow ? { w: width - 2 } : { w: 17 * text }, below = narrow ? 19 * text : 0.4 * text, beside = narrow ? 2 : panel.w + 7 * text + 1;
  const head = 1.4 * text, gap = 0.5 * text, most = narrow ? { w: 3 * text, h: 1.5 * text } : { w: 2.3 * text, h: 1.5 * text };      // head: of the numbers of columns
  const cell = { w: Math.min((width - 2 * side - beside) / (k + n), most.w), h: Math.min((height - head - gap - below) / (m + k), most.h) };
  const left = narrow ? 0 : Math.max(0, (width - 2 * side - beside - (k + n) * cell.w) / 2), at = (name, x, y) => {
    const [high, wide] = sides(held, name);
    return { x, y, rows: high, columns: wide, w: wide * cell.w, h: high * cell.h };
  };
  const B = at("B", left + side + k * cell.w + side, head), A = at("A", left + side, B.y + B.h + gap), C = at("C", B.x, A.y), low = C.y + C.h;
  Object.assign(panel, narrow ? { x: 1, y: low + 1.6 * text } : { x: C.x + C.w + 7 * text, y: 0 });
  const chips = { x: panel.x, y: panel.y + 3.5 * text, across, w: Math.min(panel.w / across, 3.4 * text), h: (narrow ? 1.62 : 1.4) * text };
  const list = { x: panel.x, y: chips.y + rows * chips.h + 1.8 * text, w: narrow ? width - 3 : panel.w };
  return { text, cell, grids: { A, B, C }, panel, chips, list };
}

// ---- drawing -----------------------------------------------------------------------------------------------------------------------
function write(pen, view, words, x, y, { size = 1, align = "left", weight = 400, colour = view.ink, most } = {}) {
  pen.fillStyle = colour;
  pen.textAlign = align;
  pen.font = `${weight} ${Math.round(size * view.text)}px ${view.fontFamily}`;
  pen.fillText(words, x, y, ...(most === undefined ? [] : [most]));
}
function fill(pen, colour, strength, x, y, w, h) {
  pen.globalAlpha = strength;
  pen.fillStyle = colour;
  pen.fillRect(x, y, w, h);
  pen.globalAlpha = 1;
}
function frame(pen, colour, width, strength, x, y, w, h) {
  pen.globalAlpha = strength;
  pen.strokeStyle = colour;
  pen.lineWidth = width;
  pen.strokeRect(x, y, w, h);
  pen.globalAlpha = 1;
}
const middle = (grid, cell, [row, column]) => [grid.x + (column + 0.5) * cell.w, grid.y + (row + 0.5) * cell.h];
const onHue = view => (view.dark ? "#000" : "#fff");

/** The numbers of A's rows and columns and of B's: small, and paler than what is in the elements. C has A's rows and B's columns. */
function drawIndices(pen, view, grid, cell) {
  const { text } = view, small = { size: 0.86 };
  pen.globalAlpha = 0.7;
  for (let row = 0; row < grid.rows; ++row) write(pen, view, String(row), grid.x - 0.3 * text, grid.y + (row + 0.5) * cell.h + 0.3 * text, { ...small, align: "right" });
  for (let column = 0; column < grid.columns; ++column) write(pen, view, String(column), grid.x + (column + 0.5) * cell.w, grid.y - 0.3 * text, { ...small, align: "center", most: cell.w });
  pen.globalAlpha = 1;
}

/** The name of a matrix: A's above it; B's and C's on their right, where there is room. */
function drawTitle(pen, view, name, { grids, cell }) {
  const { narrow, hues, text } = view, grid = grids[name], style = { weight: 700, colour: hues[name] }, title = `${name}: ${grid.rows} × ${grid.columns}`;
  if (name === "A") write(pen, view, title, grid.x, grid.y - 1.5 * text, { ...style, most: grid.w });
  else if (!narrow) write(pen, view, title, grid.x + grid.w + 0.6 * text, grid.y + 0.5 * cell.h + 0.35 * text, { ...style, most: 6.4 * text });
  else if (name === "B") write(pen, view, title, grid.x - 1.8 * text, grid.y + 0.9 * text, { ...style, align: "right" });
  else write(pen, view, title, grid.x, grid.y + grid.h + 1.15 * text, { ...style, most: grid.w });
}

function drawGrid(pen, view, name, where) {
  const { grids, cell } = where, { scene: { held, lane }, done, hues, text } = view, grid = grids[name], numbers = cell.w > 1.25 * text && cell.h > 0.88 * text;
  drawTitle(pen, view, name, where);
  if (name !== "C") drawIndices(pen, view, grid, cell);
  for (let row = 0; row < grid.rows; ++row) for (let column = 0; column < grid.columns; ++column) {
    const owner = ownerOf(held, name, row, column), x = grid.x + column * cell.w, y = grid.y + row * cell.h, k = name === "A" ? column : row;
    const wanted = name !== "C" && k < done && factors(held, lane, k)[name].some(([r, c]) => r === row && c === column), now = wanted && k === done - 1;
    const mine = owner === lane, pointed = view.hover && view.hover.lane === owner;
    fill(pen, hues[name], now || mine && name === "C" ? 1 : wanted ? 0.45 : mine ? 0.25 : 0, x, y, cell.w, cell.h);
    frame(pen, view.ink, 0.7, 0.25, x, y, cell.w, cell.h);
    if (numbers) write(pen, view, String(owner), x + cell.w / 2, y + cell.h / 2 + 0.33 * text, { size: 0.88, align: "center", weight: mine || now ? 700 : 400, colour: now || mine && name === "C" ? onHue(view) : view.ink });
    const wide = Math.min(mine ? 2.2 : 1.4, 0.12 * cell.h);                    // of a frame, inside the element
    if (mine || pointed) frame(pen, view.ink, wide, 1, x + wide / 2, y + wide / 2, cell.w - wide, cell.h - wide);
  }
}

/** Factors on their way to the sums, while a step is played. */
function drawFlights(pen, view, { grids, cell }) {
  const { scene: { held, lane, steps }, at, done, hues } = view, part = at - done;
  if (part < EPS || done >= steps) return;
  const sums = elementsOf(held, "C", lane), size = 0.5 * Math.min(cell.w, cell.h), found = factors(held, lane, done);
  for (const name of ["A", "B"]) for (const place of found[name]) for (const sum of sums) {
    if (name === "A" ? place[0] !== sum[0] : place[1] !== sum[1]) continue;
    const [x0, y0] = middle(grids[name], cell, place), [x1, y1] = middle(grids.C, cell, sum), x = lerp(x0, x1, part), y = lerp(y0, y1, part);
    fill(pen, hues[name], 1, x - size / 2, y - size / 2, size, size);
    frame(pen, view.paper, 1, 1, x - size / 2, y - size / 2, size, size);
  }
}

/** The warp: eight groups of four lanes, and of which factors each has brought some; the left half stands for A where it is both. */
function drawLanes(pen, view, { panel, chips }) {
  const { scene: { held, lane }, done, hues, text } = view, from = sources(held, lane, done);
  write(pen, view, `${from.all.length} ${from.all.length === 1 ? "lane" : "lanes"}`, panel.x, panel.y + 1.35 * text, { size: 1.3, weight: 700, most: panel.w });
  write(pen, view, `with factors of lane ${lane}'s sums`, panel.x, panel.y + 2.75 * text, { size: 0.92, most: panel.w });
  for (let n = 0; n < LANES; ++n) {
    const x = chips.x + n % chips.across * chips.w, y = chips.y + Math.floor(n / chips.across) * chips.h, brought = ["A", "B"].filter(name => from[name].includes(n));
    brought.forEach((name, i) => fill(pen, hues[name], 1, x + i * chips.w / 2, y, chips.w / brought.length, chips.h));
    frame(pen, view.ink, 0.8, 0.4, x, y, chips.w, chips.h);
    if (n === lane) frame(pen, view.ink, 2.4, 1, x + 1, y + 1, chips.w - 2, chips.h - 2);
    write(pen, view, brought.length ? `${n} ${brought.join("")}` : String(n), x + chips.w / 2, y + chips.h / 2 + 0.34 * text, { size: 0.92, align: "center", weight: brought.length || n === lane ? 700 : 400, colour: brought.length ? onHue(view) : view.ink, most: chips.w - 3 });
  }
}

const written = places => places.map(([row, column]) => `(${row}, ${column})`).join(" ");
/** What the lane itself holds, and in how many registers. */
function drawList(pen, view, { list }) {
  const { scene: { held, lane }, hues, text, narrow } = view, most = list.w;
  write(pen, view, `lane ${lane} itself holds (row, column)`, list.x, list.y, { size: 0.92, weight: 600, most });
  let y = list.y + 1.3 * text;
  for (const name of NAMES) {
    const places = elementsOf(held, name, lane), many = narrow ? 8 : 4;
    write(pen, view, `${name}: ${plural(held.registers[name], "register")}`, list.x, y, { size: 0.92, weight: 600, colour: hues[name], most: narrow ? 7.4 * text : most });
    for (let i = 0; i < places.length; i += many) {
      if (!narrow) y += 1.15 * text;
      write(pen, view, written(places.slice(i, i + many)), list.x + (narrow ? 7.8 * text : 0), y, { size: 0.92, most: narrow ? most - 7.8 * text : most });
    }
    y += (narrow ? 1.4 : 1.3) * text;
  }
}

export function draw(pen, given) {
  const where = layout(given), view = { ...given, text: where.text, hues: HUES[given.dark ? "dark" : "light"], done: Math.floor(given.at + EPS) };
  for (const name of NAMES) drawGrid(pen, view, name, where);
  drawFlights(pen, view, where);
  drawLanes(pen, view, where);
  drawList(pen, view, where);
}

// ---- words -------------------------------------------------------------------------------------------------------------------------
const named = lanes => (lanes.length === 1 ? `lane ${lanes[0]}` : `lanes ${lanes.slice(0, -1).join(", ")} and ${lanes.at(-1)}`);
export function says({ scene }, step) {
  const { held, lane, label, steps, answer } = scene, sums = elementsOf(held, "C", lane);
  if (step <= 0) return `mma ${label}: framed is what lane ${lane} holds; green are its ${sums.length} sums. How many lanes hold a factor of them? Predict, then play.`;
  const k = step - 1, found = factors(held, lane, k), from = name => distinct(found[name].map(([row, column]) => ownerOf(held, name, row, column)));
  const one = `k = ${k}: A at ${written(found.A)} lies in ${named(from("A"))}, B at ${written(found.B)} in ${named(from("B"))}.`;
  return step < steps ? one : `${one} In all ${plural(answer, "lane")} of ${LANES} hold factors of lane ${lane}'s sums.`;
}
const when = ({ scene }, step) => (step <= 0 ? "before the first product" : `k = ${Math.min(step, scene.steps) - 1}`);
export function describes(view, step) {
  const { held, lane } = view.scene, own = NAMES.map(name => `of ${name} ${written(elementsOf(held, name, lane))} in ${plural(held.registers[name], "register")}`);
  const until = sources(held, lane, Math.max(0, step)), so = step <= 0 ? "" : ` Until now: of A from ${named(until.A)}, of B from ${named(until.B)}.`;
  return `${says(view, step)} The number in an element is the lane that holds it. A is ${held.m} × ${held.k}, B ${held.k} × ${held.n}, C ${held.m} × ${held.n}. Lane ${lane} itself holds ${own.join(", ")}.${so}`;
}
function hit(view, x, y) {
  const { cell, grids } = layout(view), { held } = view.scene;
  for (const name of NAMES) {
    const grid = grids[name], row = Math.floor((y - grid.y) / cell.h), column = Math.floor((x - grid.x) / cell.w);
    if (row < 0 || row >= grid.rows || column < 0 || column >= grid.columns) continue;
    const lane = ownerOf(held, name, row, column);
    return { text: `${name}(${row}, ${column}): lane ${lane}. Click to follow its sums.`, lane, pick: { lane } };
  }
  return null;
}

// ---- the explorable ----------------------------------------------------------------------------------------------------------------
export const picture = {
  title: "Who holds which element",
  ask: { label: "Your prediction", unit: "lanes" },
  order: ["says", "player", "controls", "picture"],
  height: (width, text, narrow) => (narrow ? 59 : 26.8) * text,
  controls: states => [
    { kind: "choice", key: "instruction", label: "Instruction", options: states.instructions },
    { kind: "range", key: "lane", label: "Lane", name: "Lane whose sums are followed", min: 0, max: LANES - 1, says: values => `lane ${values.lane}` },
  ],
  scene: sceneOf, draw, says, when, describes, hit,
};
export default explorable(picture);
