// Lesson 19: who adds up a tile that is cut. Three orders side by side; blocks compute, leave sums and wait, and time goes upwards.
// Data: hand_over.py, which has every moment from course_lib.model.turns. Nothing is computed here but places on the canvas.
import { clamp, explorable, plural } from "./stage.js";

const HUES = { light: ["#0072b2", "#e69f00", "#009e73", "#cc79a7"], dark: ["#3d9fd8", "#f0b429", "#2fc295", "#e39cc4"] };
const EPS = 1e-6, PALE = 0.5, COLUMN = 0.66;           // PALE: as in sharing.js; COLUMN: its share of the room for a block, the rest is for arrows

export function sceneOf(values, states) {
  const last = Math.max(...states.orders.map(({ done }) => done));
  return { ...states, steps: last, most: last + 2, keeps: true, answer: states.orders[1].done, seconds: () => 0.9 };
}
/** Which blocks wait in an order at a moment. */
export const waiting = ({ turns }, at) => turns.filter(({ computed, end }) => computed <= at + EPS && at < end - EPS).map(({ block }) => block);

// ---- where things are --------------------------------------------------------------------------------------------------------------
export function layout(view) {
  const { width, height, narrow, scene } = view, text = Math.min(view.text, width / (narrow ? 26 : 56), height / (narrow ? 56 : 22)), count = scene.orders.length;
  const left = 2 * text, between = 1.6 * text, head = 3.3 * text, foot = 2.7 * text, key = 1.8 * text;
  const wide = narrow ? width - left : (width - left - (count - 1) * between) / count, high = narrow ? (height - key) / count : height - key;
  const panels = scene.orders.map((_, i) => ({ x: left + (narrow ? 0 : i * (wide + between)), y: (narrow ? i * high : 0) + head, w: wide, h: high - head - foot }));
  return { text, panels, room: wide / scene.blocks, step: panels[0].h / scene.most, key: height - 0.4 * text };
}

// ---- drawing -----------------------------------------------------------------------------------------------------------------------
function write(pen, view, words, x, y, { size = 1, align = "left", weight = 400, most } = {}) {
  pen.fillStyle = view.ink;
  pen.textAlign = align;
  pen.font = `${weight} ${Math.round(size * view.text)}px ${view.fontFamily}`;
  pen.fillText(words, x, y, ...(most === undefined ? [] : [most]));
  return pen.measureText(words).width;
}
/** Words on a colour: on a strip of paper, so that they can be read on each of them. */
function label(pen, view, words, x, y) {
  pen.font = `400 ${Math.round(0.96 * view.text)}px ${view.fontFamily}`;
  const wide = pen.measureText(words).width + 4;
  pen.globalAlpha = 0.85;
  pen.fillStyle = view.paper;
  pen.fillRect(x - wide / 2, y - 0.62 * view.text, wide, 1.24 * view.text);
  pen.globalAlpha = 1;
  write(pen, view, words, x, y + 0.34 * view.text, { size: 0.96, align: "center" });
}
function arrow(pen, view, x0, y0, x1, y1) {
  const turn = Math.atan2(y1 - y0, x1 - x0), head = 0.6 * view.text;
  pen.strokeStyle = pen.fillStyle = view.ink;
  pen.lineWidth = 2;
  pen.beginPath();
  pen.moveTo(x0, y0);
  pen.lineTo(x1, y1);
  pen.stroke();
  pen.beginPath();
  pen.moveTo(x1, y1);
  for (const side of [-0.45, 0.45]) pen.lineTo(x1 - head * Math.cos(turn + side), y1 - head * Math.sin(turn + side));
  pen.fill();
}

function drawTurn(pen, view, { block, tile, start, computed, end, ends }, { xOf, yOf }) {
  const { at, room } = view, wide = COLUMN * room, x = xOf(block) - wide / 2, until = Math.min(at, computed), high = yOf(start) - yOf(until);
  if (until <= start + EPS) return;
  pen.globalAlpha = ends ? 1 : PALE;
  pen.fillStyle = view.hues[tile];
  pen.fillRect(x, yOf(until), wide, high);
  pen.globalAlpha = 1;
  pen.strokeStyle = view.paper;
  pen.lineWidth = 1;
  pen.strokeRect(x, yOf(until), wide, high);
  if (until - start > 0.9) label(pen, view, `tile ${tile}`, xOf(block), yOf((start + until) / 2));
  const waits = Math.min(at, end);
  if (waits <= computed + EPS) return;
  pen.strokeStyle = view.ink;
  pen.setLineDash([2, 3]);
  pen.strokeRect(x, yOf(waits), wide, yOf(computed) - yOf(waits));
  pen.setLineDash([]);
  if (waits - computed > 0.9) write(pen, view, "waits", xOf(block), yOf((computed + waits) / 2) + 0.34 * view.text, { size: 0.96, align: "center" });
}

/** An arrow for each part that is left, from where it is complete to the block that ends its tile, growing until that block has it. */
function drawArrows(pen, view, { turns }, { xOf, yOf }) {
  const { at, room } = view;
  for (const left of turns.filter(turn => !turn.ends && turn.computed <= at + EPS)) {
    const to = turns.find(turn => turn.ends && turn.tile === left.tile), side = (to.block > left.block ? COLUMN : -COLUMN) * room / 2;
    const part = to.end > left.computed ? clamp((at - left.computed) / (to.end - left.computed)) : 1, [x0, y0] = [xOf(left.block) + side, yOf(left.computed)];
    if (part > EPS) arrow(pen, view, x0, y0, x0 + part * (xOf(to.block) - side - x0), y0 + part * (yOf(to.end) - y0));
  }
}

function drawOrder(pen, view, order, panel, where) {
  const { text, at, scene } = view, { room, step } = where, bottom = panel.y + panel.h;
  const place = { xOf: block => panel.x + (block + 0.5) * room, yOf: moment => bottom - moment * step };
  write(pen, view, `${order.name[0].toUpperCase()}${order.name.slice(1)} ends a tile`.replace("reversed ends a tile", "reversed"), panel.x, panel.y - 2.1 * text, { weight: 700, most: panel.w });
  const now = waiting(order, at).length, told = at <= 0 ? "done after ? k-steps" : at >= order.done - EPS ? `done after ${plural(order.done, "k-step")}` : now ? `${plural(now, "block")} ${now === 1 ? "waits" : "wait"}` : "nobody waits";
  write(pen, view, told, panel.x, panel.y - 0.8 * text, { most: panel.w });
  for (const turn of order.turns) drawTurn(pen, { ...view, room }, turn, place);
  drawArrows(pen, { ...view, room }, order, place);
  pen.fillStyle = view.ink;
  pen.fillRect(panel.x, bottom, panel.w, 1.5);
  for (let block = 0; block < scene.blocks; ++block) write(pen, view, String(block), place.xOf(block), bottom + 1.2 * text, { size: 0.96, align: "center" });
  write(pen, view, "block", panel.x + panel.w / 2, bottom + 2.3 * text, { size: 0.96, align: "center" });
  for (let moment = 0; moment <= scene.most; moment += 2) write(pen, view, String(moment), panel.x - 0.4 * text, place.yOf(moment) + 0.34 * text, { size: 0.96, align: "right" });
}

function drawKey(pen, view, { key }) {
  let x = view.text;
  for (const [alpha, words] of [[1, "ends its tile"], [PALE, "leaves a partial sum"]]) {
    pen.globalAlpha = alpha;
    pen.fillStyle = view.hues[0];
    pen.fillRect(x, key - 0.8 * view.text, 0.9 * view.text, 0.9 * view.text);
    pen.globalAlpha = 1;
    x += 1.3 * view.text;
    x += write(pen, view, words, x, key, { size: 0.96 }) + 1.4 * view.text;
  }
  if (!view.narrow) write(pen, view, "time, in k-steps, from the bottom up", view.width - 0.4 * view.text, key, { size: 0.96, align: "right" });
}

export function draw(pen, given) {
  const where = layout(given), view = { ...given, text: where.text, hues: HUES[given.dark ? "dark" : "light"] };
  view.scene.orders.forEach((order, i) => drawOrder(pen, view, order, where.panels[i], where));
  drawKey(pen, view, where);
}

// ---- words -------------------------------------------------------------------------------------------------------------------------
const listed = blocks => (blocks.length > 1 ? `blocks ${blocks.slice(0, -1).join(", ")} and ${blocks.at(-1)} wait` : blocks.length ? `block ${blocks[0]} waits` : "nobody waits");
export function says({ scene }, step) {
  const [ours, chain, mirror] = scene.orders;
  if (step <= 0) return `${scene.tiles} tiles of ${scene.depth} k-steps on ${scene.blocks} blocks, in three orders. After how many k-steps are all blocks done in the second one? Predict, then play.`;
  const done = step >= ours.done && step >= mirror.done ? "the first and the third order are done" : "in the first and the third order nobody waits";
  if (step >= scene.steps) return `When the last block ends a tile, all are done after ${ours.done} k-steps. When the first block ends it, each waits for the next: ${chain.done} k-steps. With its loop reversed it is ${mirror.done} again.`;
  return `After ${plural(step, "k-step")}: ${done}; in the second ${listed(waiting(chain, step).sort((a, b) => a - b))}.`;
}
const when = (_, step) => (step <= 0 ? "before the first k-step" : `k-step ${step}`);
export function describes(view, step) {
  const told = view.scene.orders.map(({ name, done }) => `${name}: ${step >= done ? `done after ${done}` : "not yet done"}`);
  return `${says(view, step)} Three panels with a column for each block, time from the bottom up; arrows lead from what is left to the block that ends its tile. ${told.join("; ")}.`;
}

// ---- the explorable ----------------------------------------------------------------------------------------------------------------
export const picture = {
  title: "Who adds up a tile that is cut",
  ask: { label: "Your prediction", unit: "k-steps" },
  order: ["says", "player", "picture", "controls"],
  height: (width, text, narrow) => (narrow ? 66 * text : clamp(0.34 * width, 340, 400)),
  controls: () => [],
  scene: sceneOf, draw, says, when, describes,
};
export default explorable(picture);
