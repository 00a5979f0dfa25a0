// Lesson 03: which element of C a thread computes, and what the 32 lanes of its warp ask memory for, step by step.
// Computed here: rows, columns, elements and sectors by the kernels' formulas, held to the simulator's trace at every position.
import { clamp, ease, explorable, lerp, plural } from "./stage.js";

const LANES = 32, SECTOR = 8, T = 16;                          // threads of a warp; floats of a sector; threads along each side of a block
const EPS = 1e-6;

/** Rows and columns of A, B and C. */
export const sizeOf = ({ rows, columns, deep }, name) => ({ A: [rows, deep], B: [deep, columns], C: [rows, columns] })[name];

/** Who a lane of a warp is: its thread, its block, and its row and column of C. Warps are counted through all blocks, along the rows of C. */
export function threadOf(values, states, warp, lane) {
  const inBlock = T * T / LANES, number = Math.floor(warp / inBlock), swapped = values.kernel === "swapped";
  const across = states.columns / T, thread = (warp % inBlock) * LANES + lane, tx = thread % T, ty = Math.floor(thread / T);
  const [blockX, blockY] = swapped ? [Math.floor(number / across), number % across] : [number % across, Math.floor(number / across)];
  const x = blockX * T + tx, y = blockY * T + ty;
  return { warp: warp % inBlock, lane, tx, ty, blockX, blockY, row: swapped ? x : y, col: swapped ? y : x };
}
const warpsOf = ({ rows, columns }) => rows * columns / LANES;
const warpOf = (values, states) => Array.from({ length: LANES }, (_, lane) => threadOf(values, states, values.warp, lane));

/** What one request asks for: the element of each lane, and the sectors that these lie in, in rising order. */
export function request(values, states, name, k) {
  const where = { A: t => t.row * states.deep + k, B: t => k * states.columns + t.col }[name];
  const elements = warpOf(values, states).map(where);
  const sectors = [...new Set(elements.map(element => Math.floor(element / SECTOR)))].sort((a, b) => a - b);
  return { name, k, elements, sectors };
}

/** A load request by its number: to A and B in turn for each k. */
export const numbered = (values, states, number) => request(values, states, "AB"[number % 2], Math.floor(number / 2));

/** What both requests of a step touch: of A, of B, and together. */
export function perStep(values, states) {
  const [A, B] = [0, 1].map(number => numbered(values, states, number).sectors.length);
  return { A, B, sum: A + B };
}

/** What the warp has loaded when so many requests are done. */
export function loaded(values, states, requests) {
  const found = { requests: 0, sectors: 0 };
  for (let number = 0; number < Math.min(requests, 2 * states.deep); ++number) {
    found.requests += 1;
    found.sectors += numbered(values, states, number).sectors.length;
  }
  return found;
}

const NAMES = { naive: "col from x", swapped: "row from x" };
const otherOf = values => ({ ...values, kernel: values.kernel === "naive" ? "swapped" : "naive" });
const summed = ({ A, B, sum }) => `${A} + ${B} = ${sum}`;
const paceOf = step => (step < 1 ? 4.4 : step < 2 ? 2.2 : 0.16);          // from k = 2 on every step looks the same

export function sceneOf(values, states) {
  return { states, values, steps: states.deep, keeps: before => before && before.values.kernel === values.kernel, seconds: paceOf,
    answer: perStep(values, states).sum };
}

/** Which request is on show at a moment, and how much of it is done: two in a step, A's and then B's. Before the first one it is -1. */
export function moment(at) {
  const number = Math.ceil(2 * at - EPS) - 1;
  return { number, done: number < 0 ? 0 : clamp(2 * at - number) };
}
const ended = (at, { deep }) => at >= deep - EPS;

// ---- where things are ------------------------------------------------------------------------------------------------------------
const textOf = ({ width, height, text, narrow }) => Math.min(text, width / (narrow ? 30 : 54), height / (narrow ? 46 : 25));     // a small projector
export function layout(view) {
  const { width, height, narrow, scene } = view, text = textOf(view), { rows, columns, deep } = scene.states;
  const gap = Math.round(1.6 * text), left = Math.round(1.3 * text), top = Math.round(0.4 * text), low = 26.4 * text;
  const fits = part => (part * width - left - gap - 0.6 * text) / (deep + columns), high = ((narrow ? height - low : height) - top - gap - 0.6 * text) / (deep + rows);
  const cell = Math.min(high, narrow ? fits(1) : Math.max(fits(0.48), Math.min(fits(0.57), 0.7 * text)));       // a narrow notebook leaves the panel less
  const B = { x: left + deep * cell + gap, y: top }, A = { x: left, y: top + deep * cell + gap }, C = { x: B.x, y: A.y };
  const square = C.y + rows * cell + 0.4 * text, wide = C.x + columns * cell;
  const panel = narrow ? { x: 0.5 * text, y: square + 0.6 * text, w: width - text, h: height - square - text } : { x: wide + 2 * text, y: top, w: width - wide - 2.4 * text, h: height - top - 0.4 * text };
  const arrows = clamp((panel.h - 17.8 * text) / 2, 2 * text, 7.5 * text);
  const above = { y: panel.y + 1.8 * text, h: 1.9 * text }, lanes = { y: above.y + above.h + arrows, h: 1.6 * text };
  const below = { y: lanes.y + lanes.h + arrows, h: above.h }, counters = { y: below.y + below.h + 2.4 * text };
  return { text, cell, A, B, C, corner: { x: left, y: top, w: deep * cell, h: deep * cell }, panel, above, lanes, below, counters, low: counters.y + 4.8 * text };
}
const box = ({ x, y }, cell, row, column, long = 1) => ({ x: x + column * cell, y: y + row * cell, w: long * cell, h: cell });
const middle = ({ x, y, w, h }) => [x + w / 2, y + h / 2];
const elementBox = (where, states, name, element) => { const [, wide] = sizeOf(states, name); return box(where[name], where.cell, Math.floor(element / wide), element % wide); };

/** The boxes of a request's pieces in the panel: neighbours in memory touch, others lie apart. No box is wider than `most`. */
export function pieceBoxes(where, pieces, row, most) {
  const gaps = pieces.map((piece, i) => (i > 0 && piece !== pieces[i - 1] + 1 ? 1 : 0)), gap = 0.22 * where.text;
  const spent = gap * gaps.reduce((a, b) => a + b, 0), wide = Math.min(most, (where.panel.w - spent) / pieces.length);
  let x = where.panel.x + (where.panel.w - pieces.length * wide - spent) / 2;
  return pieces.map((_, i) => { x += gaps[i] * gap; const made = { x, y: row.y, w: wide, h: row.h }; x += wide; return made; });
}

/** How wide a piece is drawn: A's and B's, which the panel shows together, alike. */
export const pieceWide = (where, all) => Math.min(...all.map(asked => pieceBoxes(where, asked.sectors, where.above, 3.6 * where.text)[0].w));

// ---- drawing -----------------------------------------------------------------------------------------------------------------------
const HUES = { light: { A: "#0072b2", B: "#b34700", C: "#00795a", odd: { A: "#6db3dd", B: "#e59a63", C: "#7fcdb6" }, band: ["#c3d0dd", "#e0e8f0"], watch: "#f0e442" },
  dark: { A: "#56b4e9", B: "#f2933f", C: "#34c79b", odd: { A: "#2c77a3", B: "#a3592a", C: "#25896c" }, band: ["#46525e", "#2b3239"], watch: "#f0e442" } };
/** The hue of A, B or C for a lane: threads whose y is odd have a second tone, so that one sees which lanes stand side by side in the block. */
const toneOf = (view, name, lane) => (view.lanes[lane].ty % 2 ? view.hues.odd : view.hues)[name];
function write(pen, view, words, x, y, { size = 1, align = "left", weight = 400, colour = view.ink, most } = {}) {
  pen.fillStyle = colour;
  pen.textAlign = align;
  pen.font = `${weight} ${Math.round(size * view.text)}px ${view.fontFamily}`;
  if (most === undefined) pen.fillText(words, x, y); else pen.fillText(words, x, y, most);
  return pen.measureText(words).width;
}
function fill(pen, { x, y, w, h }, colour, alpha = 1) {
  pen.globalAlpha = alpha;
  pen.fillStyle = colour;
  pen.fillRect(x, y, w, h);
  pen.globalAlpha = 1;
}
function outline(pen, { x, y, w, h }, colour, wide, alpha = 1) {
  pen.globalAlpha = alpha;
  pen.strokeStyle = colour;
  pen.lineWidth = wide;
  pen.strokeRect(x, y, w, h);
  pen.globalAlpha = 1;
}
function framed(pen, view, { x, y, w, h }) {                              // around what it frames, and over none of it
  outline(pen, { x: x - 0.75, y: y - 0.75, w: w + 1.5, h: h + 1.5 }, view.ink, 1.5);
}
function watched(pen, view, shape) {
  const grow = { x: shape.x - 2, y: shape.y - 2, w: Math.max(8, shape.w) + 3, h: Math.max(8, shape.h) + 3 };
  fill(pen, grow, view.hues.watch);
  outline(pen, grow, view.dark ? "#000" : view.ink, 1.4);
}

/** A matrix: A and B in boxes of one sector, C in its elements. */
function drawGrid(pen, view, where, name) {
  const [rows, columns] = sizeOf(view.scene.states, name), { x, y } = where[name], { cell } = where, every = name === "C" ? 1 : SECTOR;
  pen.strokeStyle = view.ink;
  pen.globalAlpha = 0.28;
  pen.lineWidth = 0.7;
  pen.beginPath();
  for (let row = 1; row < rows; ++row) { pen.moveTo(x, y + row * cell); pen.lineTo(x + columns * cell, y + row * cell); }
  for (let column = every; column < columns; column += every) { pen.moveTo(x + column * cell, y); pen.lineTo(x + column * cell, y + rows * cell); }
  pen.stroke();
  outline(pen, { x, y, w: columns * cell, h: rows * cell }, view.ink, 1.2);
}

/** C: the blocks, in the watched one its warps by bands, and the elements of the watched warp, fuller as their sums grow. */
function drawC(pen, view, where) {
  const { states } = view.scene, { rows, columns, deep } = states, { cell, C } = where, inBlock = T * T / LANES, block = Math.floor(view.chosen.warp / inBlock);
  for (let warp = block * inBlock; warp < (block + 1) * inBlock; ++warp)
    for (let lane = 0; lane < LANES; ++lane) {
      const { row, col } = threadOf(view.chosen, states, warp, lane);
      fill(pen, box(C, cell, row, col), view.hues.band[warp % 2]);
    }
  const part = clamp(Math.max(0, view.at - 0.5) / deep);
  view.lanes.forEach(({ row, col }, lane) => fill(pen, box(C, cell, row, col), toneOf(view, "C", lane), 0.6 + 0.35 * part));
  drawGrid(pen, view, where, "C");
  for (let row = 0; row < rows; row += T) for (let column = 0; column < columns; column += T) outline(pen, { x: C.x + column * cell, y: C.y + row * cell, w: T * cell, h: T * cell }, view.ink, 2);
}

/** In A and B: the row and the column that the watched thread needs, and what the request on show touches. */
function drawTouched(pen, view, where, asked, strength) {
  const { states } = view.scene, { name } = asked;
  for (const piece of strength > 0 ? asked.sectors : []) {
    const shape = { ...elementBox(where, states, name, piece * SECTOR), w: SECTOR * where.cell };
    fill(pen, shape, view.hues[name], 0.42 * strength);
    outline(pen, shape, view.hues[name], 1.5, strength);
  }
  for (const element of new Set(asked.elements)) fill(pen, elementBox(where, states, name, element), view.hues[name], 0.95);
}
function drawNeeded(pen, view, where, { row, col }) {
  const { deep } = view.scene.states, { cell } = where;
  framed(pen, view, box(where.A, cell, row, 0, deep));
  framed(pen, view, { ...box(where.B, cell, 0, col), h: deep * cell });
}

/** Numbers on their way from A or B to the elements of C whose threads want them. */
function drawMoving(pen, view, where, asked, done) {
  const { states } = view.scene, t = clamp((done - 0.5) / 0.5), mark = Math.max(2.4, 0.7 * where.cell);
  if (t <= 0 || t >= 1) return;
  asked.elements.forEach((element, lane) => {
    const [from, to] = [elementBox(where, states, asked.name, element), box(where.C, where.cell, view.lanes[lane].row, view.lanes[lane].col)].map(middle);
    fill(pen, { x: lerp(from[0], to[0], ease(t)) - mark / 2, y: lerp(from[1], to[1], ease(t)) - mark / 2, w: mark, h: mark }, view.hues[asked.name], 0.85);
  });
}

/** Who is watched, and how its row and column come about, with numbers. */
function drawCard(pen, view, where, thread) {
  const { text } = view, { x, y, w, h } = where.corner, swapped = view.chosen.kernel === "swapped";
  const sums = [[thread.blockX, thread.tx], [thread.blockY, thread.ty]].map(([block, own]) => `${block} · ${T} + ${own} = ${block * T + own}`);
  const [row, col] = swapped ? sums : [sums[1], sums[0]];
  const lines = [["thread", `(${thread.tx}, ${thread.ty})`], ["block", `(${thread.blockX}, ${thread.blockY})`], ["row", row], ["col", col], ["warp", `${thread.warp}, lane ${thread.lane}`]];
  const step = Math.min(1.55 * text, h / 7), size = clamp(Math.min(step / (1.3 * text), w / (11.4 * text)), 0.86, 1), tab = 4.4 * size * text;
  lines.forEach(([what, says], i) => {
    const at = y + (i + 1) * step;
    write(pen, view, what, x, at, { weight: 600, size });
    write(pen, view, says, x + tab, at, { size, most: w - tab + text });           // into the gap beside B, below its letter
  });
  watched(pen, view, { x: x + 1, y: y + 6.1 * step - 0.75 * text * size, w: 0.7 * text, h: 0.7 * text });
  write(pen, view, `computes C[${thread.row}][${thread.col}]`, x + 1.5 * text, y + 6.1 * step, { size, weight: 600, most: w - 0.5 * text });
}

/** Along which side of C x counts, and along which y. */
function drawAxes(pen, view, { C, text }) {
  const [across, down] = view.chosen.kernel === "swapped" ? "yx" : "xy";
  write(pen, view, `${across} →`, C.x, C.y - 0.45 * text, { weight: 600 });
  write(pen, view, down, C.x - 0.4 * text, C.y + 0.9 * text, { weight: 600, align: "right" });
  write(pen, view, "↓", C.x - 0.4 * text, C.y + 2.1 * text, { weight: 600, align: "right" });
}

/** One request in the panel: 32 lanes, an arrow from each to its number, and the sectors that hold these numbers. */
function drawRequest(pen, view, where, asked, row, up, done, faint) {
  const { states } = view.scene, pieces = asked.sectors, { lanes, panel } = where, colour = view.hues[asked.name];
  const beside = [..."AB"].map(name => request(view.chosen, states, name, asked.k));
  const shapes = pieceBoxes(where, pieces, row, pieceWide(where, beside));
  const slot = panel.w / LANES, grown = clamp(done / 0.5), seen = clamp((done - 0.35) / 0.3), alpha = faint ? 0.3 : 0.75;
  asked.elements.forEach((element, lane) => {
    const shape = shapes[pieces.indexOf(Math.floor(element / SECTOR))], word = shape.w / SECTOR;
    const to = [shape.x + (element % SECTOR + 0.5) * word, up ? shape.y + shape.h : shape.y], from = [panel.x + (lane + 0.5) * slot, up ? lanes.y : lanes.y + lanes.h];
    const mine = lane === view.chosen.lane;
    pen.globalAlpha = mine ? 1 : alpha;
    pen.strokeStyle = mine ? view.ink : toneOf(view, asked.name, lane);
    pen.lineWidth = mine ? 2.6 : 1.3;
    pen.beginPath();
    pen.moveTo(...from);
    pen.lineTo(lerp(from[0], to[0], grown), lerp(from[1], to[1], grown));
    pen.stroke();
    pen.globalAlpha = 1;
  });
  shapes.forEach((shape, i) => {
    fill(pen, shape, colour, 0.22 * seen);
    const used = new Set(asked.elements.filter(element => Math.floor(element / SECTOR) === pieces[i]).map(element => element % SECTOR));
    for (const word of used) fill(pen, { x: shape.x + word * shape.w / SECTOR, y: shape.y, w: Math.max(2, shape.w / SECTOR), h: shape.h }, colour, seen);
    outline(pen, shape, view.ink, 1.1, seen);
  });
  return seen;
}

/** Before the first step: each lane asks for a number of A and of B, and in how many sectors these lie is the question. */
function drawUnknown(pen, view, where, name) {
  const { text } = view, { panel, lanes } = where, row = name === "A" ? where.above : where.below, colour = view.hues[name];
  for (let lane = 0; lane < LANES; ++lane) {
    const x = panel.x + (lane + 0.5) * panel.w / LANES, mine = lane === view.chosen.lane;
    fill(pen, { x: x - (mine ? 1.3 : 0.65), y: name === "A" ? row.y + row.h : lanes.y + lanes.h, w: mine ? 2.6 : 1.3, h: Math.abs(row.y - lanes.y) - (name === "A" ? row.h : lanes.h) },
      mine ? view.ink : toneOf(view, name, lane), mine ? 1 : 0.5);
  }
  const shape = { x: panel.x, y: row.y, w: panel.w, h: row.h };
  fill(pen, shape, colour, 0.14);
  outline(pen, shape, colour, 1.1);
  write(pen, view, `in how many sectors of ${name}?`, panel.x + panel.w / 2, row.y + 0.68 * row.h, { align: "center", weight: 600 });
}

/** The warp in a line: a box for each lane, and as many numbers as have room. */
function drawLanes(pen, view, where) {
  const { text } = view, { panel, lanes } = where, slot = panel.w / LANES, { lane: watch } = view.chosen;
  const every = slot >= 1.35 * text ? 1 : [2, 4, 8].find(n => n * slot >= 2.2 * text) ?? 31;      // two digits are 1.15 times as wide as high
  const order = [...Array(LANES).keys()].sort((a, b) => (a === watch) - (b === watch));     // the watched one last: its number makes it wider
  const wideOf = lane => (every > 1 && lane === watch ? Math.max(slot, 1.45 * text) : slot);
  const shapes = order.map(lane => ({ lane, mine: lane === watch, w: wideOf(lane) - 1, h: lanes.h, y: lanes.y,
    x: clamp(panel.x + (lane + 0.5) * slot - wideOf(lane) / 2, panel.x, panel.x + panel.w - wideOf(lane)) + 0.5 }));
  for (const { lane, mine, ...shape } of shapes) {
    fill(pen, shape, mine ? view.hues.watch : toneOf(view, "C", lane), mine ? 1 : 0.5);
    outline(pen, shape, mine && view.dark ? "#000" : view.ink, mine ? 2 : 0.8);
  }
  for (const { lane, mine, x, w } of shapes)
    if (mine || every === 1 || (lane % every === 0 && Math.abs(lane - watch) > 2)) write(pen, view, lane, x + w / 2, lanes.y + 1.15 * text, { align: "center", size: 0.86, colour: mine ? "#000" : view.ink, weight: mine ? 700 : 400 });
}

function drawPanel(pen, view, where) {
  const { text, scene, now } = view, { panel } = where, { states } = scene;
  const on = now.number < 0 ? [] : [[now.number, now.done], ...(now.number % 2 === 1 ? [[now.number - 1, 1]] : [])];
  const shown = Object.fromEntries(on.map(([number, done]) => [numbered(view.chosen, states, number).name, { asked: numbered(view.chosen, states, number), done }]));
  const k = now.number < 0 ? "k" : Math.floor(now.number / 2), what = { A: `A[row][${k}]`, B: `B[${k}][col]` };
  const label = (name, y) => {
    const wide = write(pen, view, `Request to ${name}`, panel.x, y, { weight: 700, colour: view.hues[name] });
    const room = panel.w - wide - 7 * text, words = [`: each lane asks for ${what[name]}`, `: ${what[name]}`].find(some => 0.52 * text * some.length < room) ?? "";
    write(pen, view, words, panel.x + wide, y);
    const found = shown[name];
    if (found && found.done > 0.6) write(pen, view, plural(found.asked.sectors.length, "sector"), panel.x + panel.w, y, { weight: 700, align: "right", size: 1.25 });
  };
  label("A", where.above.y - 0.6 * text);
  label("B", where.below.y + where.below.h + 1.2 * text);
  if (now.number < 0) for (const name of "AB") drawUnknown(pen, view, where, name);
  for (const [name, { asked, done }] of Object.entries(shown)) drawRequest(pen, view, where, asked, name === "B" ? where.below : where.above, name !== "B", done, name === "A" && shown.B);
  drawLanes(pen, view, where);
  drawCounters(pen, view, where);
}

/** The counter, and at the end what the picture is about: the sum of one step, and beside it the other kernel's, where the reader may see that. */
function drawCounters(pen, view, where) {
  const { text, scene, now } = view, { panel, counters } = where, served = now.number + (now.done > 0.6 ? 1 : 0), found = loaded(view.chosen, scene.states, served), y = counters.y + 2.6 * text;
  if (ended(view.at, scene.states)) {
    const wide = write(pen, view, summed(perStep(view.chosen, scene.states)), panel.x, y, { size: 2.6, weight: 700 });
    write(pen, view, " sectors per step", panel.x + wide, y, { weight: 600, most: panel.w - wide });
    if (scene.states.both) write(pen, view, `${NAMES[otherOf(view.chosen).kernel]}: ${summed(perStep(otherOf(view.chosen), scene.states))}`, panel.x, y + 1.7 * text, { size: 1.25, weight: 600 });
    return;
  }
  if (now.number < 0) {
    const mark = write(pen, view, "? + ? = ?", panel.x, y, { size: 2.6, weight: 700 });
    write(pen, view, " sectors per step", panel.x + mark, y, { weight: 600, most: panel.w - mark });
    return;
  }
  const wide = write(pen, view, `${found.sectors}`, panel.x, y, { size: 2.6, weight: 700 });
  const said = write(pen, view, " sectors loaded", panel.x + wide, y, { weight: 600 });
  write(pen, view, ` in ${plural(found.requests, "request")}`, panel.x + wide + said, y);
}

function draw(pen, view) {
  const where = layout(view), hues = HUES[view.dark ? "dark" : "light"], chosen = { ...view.values, ...view.hover?.pick }, { states } = view.scene;
  const more = { ...view, text: where.text, hues, now: moment(view.at), chosen, lanes: warpOf(chosen, states) }, { now } = more, thread = more.lanes[chosen.lane];
  for (const name of "AB") drawGrid(pen, more, where, name);
  drawC(pen, more, where);
  const shown = now.number < 0 ? [] : now.number % 2 === 1 ? [now.number - 1, now.number] : [now.number];
  drawNeeded(pen, more, where, thread);
  for (const number of shown) drawTouched(pen, more, where, numbered(chosen, states, number), number < now.number ? 0.6 : clamp((now.done - 0.35) / 0.3));
  if (now.number >= 0) drawMoving(pen, more, where, numbered(chosen, states, now.number), now.done);
  watched(pen, more, box(where.C, where.cell, thread.row, thread.col));
  write(pen, more, "A", where.A.x, where.A.y - 0.4 * where.text, { weight: 700, size: 1.1 });
  write(pen, more, "B", where.B.x - 0.4 * where.text, where.B.y + 0.9 * where.text, { weight: 700, align: "right", size: 1.1 });
  drawAxes(pen, more, where);
  write(pen, more, "C", where.C.x - 0.4 * where.text, where.C.y + states.rows * where.cell, { weight: 700, align: "right", size: 1.1 });
  drawCard(pen, more, where, thread);
  drawPanel(pen, more, where);
}

// ---- words ---------------------------------------------------------------------------------------------------------------------------
const listed = numbers => (numbers.length === 1 ? `${numbers[0]}` : `${numbers[0]} to ${numbers.at(-1)}`);
const spanOf = (lanes, key, one) => { const found = [...new Set(lanes.map(t => t[key]))].sort((a, b) => a - b); return `${one}${found.length > 1 ? "s" : ""} ${listed(found)}`; };

const LANES_ASK = { A: ["column", "row", "row"], B: ["row", "col", "column"] };
function asks(view, asked) {
  const { states } = view.scene, [along, key, one] = LANES_ASK[asked.name], numbers = plural(new Set(asked.elements).size, "number");
  return `${asked.name}: ${along} ${asked.k}, ${spanOf(warpOf(view.values, states), key, one)}, ${numbers} in ${plural(asked.sectors.length, "sector")}.`;
}

/** The sum of one step in words, and where the reader may see it the other kernel's. */
function concludes(values, states) {
  const { A, B, sum } = perStep(values, states), other = otherOf(values);
  const said = `${plural(A, "sector")} of A + ${B} of B = ${plural(sum, "sector")} per step.`;
  return states.both ? `${NAMES[values.kernel]}: ${said} ${NAMES[other.kernel]} in the same blocks: ${summed(perStep(other, states))}.` : said;
}

export function says(view) {
  const { scene: { states }, values } = view, { number } = moment(view.at);
  if (number < 0) return "Click on an element of C: its thread needs the framed row and column. How many sectors does its warp touch per step? Predict, then play.";
  const asked = numbered(values, states, number);
  if (ended(view.at, states)) return `${concludes(values, states)} In ${states.deep} steps, ${2 * states.deep} requests touched ${loaded(values, states, 2 * states.deep).sectors} sectors.`;
  if (asked.name === "A") return `k = ${asked.k}. The lanes ask for ${asks(view, asked)}`;
  return `k = ${asked.k}. The lanes ask for ${asks(view, numbered(values, states, number - 1))} Then for ${asks(view, asked)} Each lane multiplies and adds.`;
}

function when(view) {
  const { steps } = view.scene, { number } = moment(view.at), k = Math.floor(number / 2);
  if (number < 0) return "before the first step";
  return `step ${k + 1} of ${steps}: k = ${k}`;
}

function describes(view) {
  const { scene, values } = view, lanes = warpOf(values, scene.states), t = lanes[values.lane], found = loaded(values, scene.states, moment(view.at).number + 1);
  return `${says(view)} Watched: thread (${t.tx}, ${t.ty}) of block (${t.blockX}, ${t.blockY}), lane ${t.lane}, which computes C[${t.row}][${t.col}]. Its warp computes ${spanOf(lanes, "row", "row")} and ${spanOf(lanes, "col", "column")} of C. So far ${found.sectors} sectors in ${found.requests} requests.`;
}

/** The warp and the lane that compute an element of C. */
export function whoComputes(values, states, row, col) {
  for (let warp = 0; warp < warpsOf(states); ++warp) for (let lane = 0; lane < LANES; ++lane) {
    const found = threadOf(values, states, warp, lane);
    if (found.row === row && found.col === col) return { ...found, pick: { warp, lane } };
  }
  return null;
}

function hit(view, x, y) {
  const where = layout(view), { states } = view.scene;
  for (const name of ["C", "A", "B"]) {
    const [rows, columns] = sizeOf(states, name);
    const row = Math.floor((y - where[name].y) / where.cell), column = Math.floor((x - where[name].x) / where.cell);
    if (row < 0 || column < 0 || row >= rows || column >= columns) continue;
    if (name !== "C") return { text: `${name}[${row}][${column}]` };
    const t = whoComputes(view.values, states, row, column);
    return { pick: t.pick, text: `C[${row}][${column}]: thread (${t.tx}, ${t.ty}) of block (${t.blockX}, ${t.blockY}), warp ${t.warp}, lane ${t.lane}` };
  }
  return null;
}

// ---- the explorable ------------------------------------------------------------------------------------------------------------------
export const picture = {
  title: "Which thread computes which element, and what its warp asks memory for",
  ask: { label: "Your prediction", unit: "sectors" },
  order: ["says", "player", "picture", "controls"],           // what to do and Play are on the first screen of a lesson
  height: (width, text, narrow) => (narrow ? Math.round(0.76 * width + 26 * text) : clamp(0.32 * width, 350, 380)),
  controls: states => [
    { kind: "range", key: "warp", label: "Warp", name: "Warp that is watched", min: 0, max: warpsOf(states) - 1,
      says: values => { const t = threadOf(values, states, values.warp, 0); return `${t.warp} of block (${t.blockX}, ${t.blockY})`; } },
    { kind: "range", key: "lane", label: "Lane", name: "Lane that is watched", min: 0, max: LANES - 1,
      says: values => { const t = threadOf(values, states, values.warp, values.lane); return `${t.lane}: thread (${t.tx}, ${t.ty})`; } },
    ...(states.both ? [{ kind: "choice", key: "kernel", label: "Kernel", options: Object.entries(NAMES) }] : []),
  ],
  scene: sceneOf, draw, says, when, describes, hit,
};
export default explorable(picture);
