// Lesson 15: 64 multiply-adds in two orders, the registers that each reads, and how long the two banks are busy with them.
// Data: reads.py, recorded machine code; which registers are read is decided there. Computed here: counts of what was read.
import { clamp, explorable, plural } from "./stage.js";

const EPS = 1e-6, SIDE = 8, SIDES = ["left", "right"], LANES = ["multiply-adds", "even bank", "odd bank"];
const HUES = { light: { sum: "#9a9a9a", row: "#d55e00", column: "#0072b2", add: "#00805f", pale: 0.12 }, dark: { sum: "#9a9a9a", row: "#ff9248", column: "#5cb8f0", add: "#3fd0a4", pale: 0.2 } };

/** What an order has done after so many multiply-adds: registers read from either bank, and the cycles that all of it takes at least. */
export function counted(order, adds) {
  let even = 0, odd = 0;
  for (const { read } of order.adds.slice(0, adds)) for (const register of read) { odd += register % 2; even += 1 - register % 2; }
  return { adds, even, odd, cycles: Math.max(adds, even, odd) };
}
/** The role of a register: a factor of a row of the square, one of a column, or a sum. */
export const roleOf = (order, register) => (order.rows.includes(register) ? "row" : order.columns.includes(register) ? "column" : "sum");

export function sceneOf(values, states) {
  const { orders, names } = states, steps = orders[0].adds.length, ends = orders.map(order => counted(order, steps));
  const roles = orders.map(order => [0, 1].map(bank => order.adds.flatMap(({ read }, i) => read.filter(r => r % 2 === bank).map(r => [i, roleOf(order, r), r]))));
  return { states, orders, names, ends, roles, steps, most: Math.max(...ends.map(end => end.cycles)), seconds: step => (step < 10 ? 0.9 : 0.16), answer: ends[0].cycles };
}

// ---- where things are --------------------------------------------------------------------------------------------------------------
export function layout(view) {
  const { width, height, narrow } = view, text = Math.min(view.text, width / (narrow ? 29 : 62), height / (narrow ? 47 : 26.5)), foot = (narrow ? 2.8 : 1.7) * text;
  const gap = 2 * text, wide = narrow ? width : (width - gap) / 2, high = (height - foot) / (narrow ? 2 : 1);
  const panels = SIDES.map((side, i) => {
    const x = narrow ? 0 : i * (wide + gap), y = narrow ? i * high : 0, lane = 1.25 * text, lanes = { x: x + 7.4 * text, y: y + high - 3 * 1.6 * text - 0.9 * text, w: wide - 10.4 * text, h: lane, step: 1.6 * text };
    const head = 2 * text, cell = Math.min(2.2 * text, (wide - 17 * text) / SIDE, (lanes.y - 0.7 * text - y - head - 1.6 * text) / SIDE), grid = { x: x + 2.9 * text, y: y + head + 1.5 * text, cell };
    return [side, { side, x, y, wide, head, grid, lanes, words: { x: grid.x + SIDE * cell + 1.2 * text, y: grid.y, w: x + wide - grid.x - SIDE * cell - 1.4 * text }, bottom: lanes.y + 3 * lanes.step }];
  });
  return { text, foot: height - foot, ...Object.fromEntries(panels) };
}

// ---- drawing -----------------------------------------------------------------------------------------------------------------------
function write(pen, view, words, x, y, { size = 1, align = "left", weight = 400, colour = view.ink, most, font = view.fontFamily } = {}) {
  pen.fillStyle = colour;
  pen.textAlign = align;
  pen.font = `${weight} ${Math.round(size * view.text)}px ${font}`;
  pen.fillText(words, x, y, ...(most === undefined ? [] : [most]));
}
function frame(pen, view, x, y, w, h, width = 1, alpha = 0.6) {
  pen.globalAlpha = alpha;
  pen.strokeStyle = view.ink;
  pen.lineWidth = width;
  pen.strokeRect(x, y, w, h);
  pen.globalAlpha = 1;
}
const names = registers => registers.map(r => `R${r}`).join(", ");

/** The 8 × 8 products, the way through them until now, and which factors are read or kept for the latest one. */
function drawGrid(pen, view, { grid }, order) {
  const { text, hues } = view, { cell } = grid, done = view.done, now = done ? order.adds[done - 1] : null;
  const middle = ({ row, column }) => [grid.x + (column + 0.5) * cell, grid.y + (row + 0.5) * cell];
  pen.fillStyle = hues.add;
  pen.globalAlpha = 2 * hues.pale;
  for (const { row, column } of order.adds.slice(0, done)) pen.fillRect(grid.x + column * cell + 1, grid.y + row * cell + 1, cell - 2, cell - 2);
  pen.globalAlpha = 1;
  for (let i = 0; i <= SIDE; ++i) {
    pen.fillStyle = view.ink;
    pen.globalAlpha = 0.25;
    pen.fillRect(grid.x + i * cell - 0.5, grid.y, 1, SIDE * cell);
    pen.fillRect(grid.x, grid.y + i * cell - 0.5, SIDE * cell, 1);
    pen.globalAlpha = 1;
  }
  pen.strokeStyle = view.ink;
  pen.lineWidth = 1.6;
  pen.beginPath();
  order.adds.slice(0, done).forEach((add, i) => { const [x, y] = middle(add); if (i) pen.lineTo(x, y); else pen.moveTo(x, y); });
  pen.stroke();
  const R = cell < 2 * text ? "" : "R", label = (register, x, y, hue, align) => {
    const read = now?.read.includes(register), kept = now?.kept.includes(register), half = Math.min(1.25 * text, 0.49 * cell);
    if (read || kept) {
      pen.fillStyle = hue;
      if (read) pen.fillRect(x - half, y - 0.98 * text, 2 * half, 1.3 * text);
      else { pen.strokeStyle = hue; pen.lineWidth = 2; pen.strokeRect(x - half, y - 0.98 * text, 2 * half, 1.3 * text); }
    }
    write(pen, view, `${R}${register}`, x, y, { align, size: 0.97, weight: read || kept ? 700 : 400, colour: read ? (view.dark ? "#000" : "#fff") : view.ink });
  };
  order.columns.forEach((register, i) => label(register, grid.x + (i + 0.5) * cell, grid.y - 0.5 * text, hues.column, "center"));
  order.rows.forEach((register, i) => label(register, grid.x - 1.5 * text, grid.y + (i + 0.5) * cell + 0.35 * text, hues.row, "center"));
  if (!now) return;
  pen.fillStyle = hues.add;
  pen.fillRect(grid.x + now.column * cell + 2, grid.y + now.row * cell + 2, cell - 4, cell - 4);
}

/** The latest instruction, what it reads and what it need not read. */
function drawWords(pen, view, { words, side }, order, index) {
  const { text, narrow } = view, { x, y, w } = words, now = view.done ? order.adds[view.done - 1] : null, end = counted(order, view.done);
  write(pen, view, String(end.cycles), x, y + 1.9 * text, { size: 2.6, weight: 700 });
  write(pen, view, "cycles at least,", x, y + 3.6 * text, { most: w });
  write(pen, view, `for ${plural(view.done, "multiply-add")}`, x, y + 4.9 * text, { most: w });
  if (!now) return;
  const code = now.text.split(" "), line = y + (narrow ? 6.9 : 7.3) * text;
  if (narrow) code.splice(3, 0, "\n");
  code.join(" ").split(" \n ").forEach((part, i) => write(pen, view, part, x, line + 1.35 * i * text, { size: 0.96, font: "ui-monospace, monospace", most: w }));
  const below = line + (narrow ? 3 : 1.6) * text;
  write(pen, view, `reads ${names(now.read)}`, x, below, { weight: 700, most: w });
  write(pen, view, now.kept.length ? `already there: ${names(now.kept)}` : "nothing is there already", x, below + 1.4 * text, { most: w });
}

/** Three lanes with a cell for each cycle: multiply-adds, registers of the even bank, registers of the odd one. */
function drawLanes(pen, view, { lanes, x }, order, index) {
  const { text, hues, scene, done } = view, cell = lanes.w / scene.most, { adds, even, odd, cycles } = counted(order, done);
  [adds, even, odd].forEach((many, i) => {
    const y = lanes.y + i * lanes.step, longest = done > 0 && many === cycles;
    write(pen, view, LANES[i], lanes.x - 0.5 * text, y + 0.95 * text, { align: "right", size: 0.96, weight: longest ? 700 : 400, most: 6.9 * text });
    const roles = i ? scene.roles[index][i - 1].filter(([add]) => add < done) : Array.from({ length: done }, (_, n) => [n, "add"]);
    roles.forEach(([, role], n) => {
      pen.fillStyle = hues[role];
      pen.fillRect(lanes.x + n * cell, y + (role === "sum" ? 0.18 * lanes.h : 0), Math.max(1, cell - (cell > 4 ? 1 : 0.5)), lanes.h * (role === "sum" ? 0.64 : 1));
    });
    frame(pen, view, lanes.x, y, lanes.w, lanes.h, 1, 0.35);
    if (done) write(pen, view, String(many), lanes.x + lanes.w + 0.5 * text, y + 0.95 * text, { weight: longest ? 700 : 400 });
  });
  const at = lanes.x + scene.steps * cell;
  pen.fillStyle = view.ink;
  pen.fillRect(at - 0.75, lanes.y - 0.3 * text, 1.5, 2 * lanes.step + lanes.h + 0.6 * text);
}

function drawLegend(pen, view, y) {
  const { text, narrow, width, hues } = view, items = [["row", "factor of a row"], ["column", "factor of a column"], ["sum", "sum"], ["add", "multiply-add; the line: cycle 64"]];
  const many = narrow ? 2 : 4, step = width / many;
  items.forEach(([hue, words], i) => {
    const x = (i % many) * step, top = y + Math.floor(i / many) * 1.3 * text;
    pen.fillStyle = hues[hue];
    pen.fillRect(x, top + (hue === "sum" ? 0.15 : 0) * text, 0.9 * text, (hue === "sum" ? 0.6 : 0.9) * text);
    write(pen, view, words, x + 1.3 * text, top + 0.82 * text, { size: 0.96, most: step - 1.6 * text });
  });
}

export function draw(pen, given) {
  const where = layout(given), view = { ...given, text: where.text, hues: HUES[given.dark ? "dark" : "light"], done: Math.floor(given.at + EPS) };
  SIDES.forEach((side, i) => {
    const panel = where[side], order = view.scene.orders[i];
    write(pen, view, view.scene.names[i], panel.x, panel.y + 1.2 * where.text, { size: 1.15, weight: 700 });
    drawGrid(pen, view, panel, order);
    drawWords(pen, view, panel, order, i);
    drawLanes(pen, view, panel, order, i);
  });
  drawLegend(pen, view, where.foot + 0.4 * where.text);
}

// ---- words -------------------------------------------------------------------------------------------------------------------------
const readsOf = ({ read, kept, text }) => `${text} reads ${names(read)}${kept.length ? ` and finds ${names(kept)} already there` : ""}`;
export function says(view, step) {
  const { orders, steps, names: [first, second] } = view.scene;
  if (step <= 0) return `${steps} multiply-adds, in two orders. Each needs three registers, and a bank delivers one register per cycle. How many cycles do they take at least, ${first.toLowerCase()}? Predict, then play.`;
  if (step < steps) return `Left: ${readsOf(orders[0].adds[step - 1])}. Right: ${readsOf(orders[1].adds[step - 1])}.`;
  const [left, right] = orders.map(order => counted(order, step));
  return `${first}, the banks deliver ${left.even} even and ${left.odd} odd registers, which takes at least ${plural(left.cycles, "cycle")} for ${steps} multiply-adds. ${second}, they deliver ${right.even} and ${right.odd}: ${plural(right.cycles, "cycle")}.`;
}
const when = (view, step) => (step <= 0 ? "before the first multiply-add" : `multiply-add ${step} of ${view.scene.steps}`);
export function describes(view, step) {
  const told = view.scene.orders.map((order, i) => {
    const { even, odd, cycles } = counted(order, step);
    return `${view.scene.names[i]}: ${plural(step, "multiply-add")}, ${even} even and ${odd} odd registers read, at least ${plural(cycles, "cycle")}.`;
  });
  return step <= 0 ? `${says(view, step)} Two squares of 8 × 8 products; a factor for each row and each column is in a register.` : `${says(view, step)} ${told.join(" ")}`;
}

function hit(view, x, y) {
  const where = layout(view);
  for (const [i, side] of SIDES.entries()) {
    const { lanes, grid } = where[side], cell = lanes.w / view.scene.most, n = Math.floor((x - lanes.x) / cell), lane = Math.floor((y - lanes.y) / lanes.step), order = view.scene.orders[i];
    if (n >= 0 && n < view.scene.most && (lane === 1 || lane === 2)) {
      const found = view.scene.roles[i][lane - 1][n];
      if (found && found[0] < view.at) return { text: `R${found[2]}, a ${found[1] === "sum" ? "sum" : `factor of a ${found[1]}`}, for multiply-add ${found[0] + 1}` };
    }
    const column = Math.floor((x - grid.x) / grid.cell), row = Math.floor((y - grid.y) / grid.cell), at = order.adds.findIndex(add => add.row === row && add.column === column);
    if (at >= 0) return { text: `multiply-add ${at + 1}: ${order.adds[at].text}` };
  }
  return null;
}

// ---- the explorable ----------------------------------------------------------------------------------------------------------------
export const picture = {
  title: "Which registers a multiply-add reads",
  ask: { label: "Your prediction", unit: "cycles, row by row" },
  order: ["says", "player", "picture"],
  height: (width, text, narrow) => (narrow ? Math.round(0.1 * width + 45 * text) : clamp(0.33 * width, 370, 420)),
  controls: () => [],
  scene: sceneOf, draw, says, when, describes, hit,
};
export default explorable(picture);
