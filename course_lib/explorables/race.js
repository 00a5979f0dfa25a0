// Lesson 00: kernels that multiply the same two matrices, each at its recorded speed, beside NVIDIA's library.
// Data: race.py, the recorded time of one product for each kernel. In which order C fills is not recorded: it is drawn row by row.
import { clamp, explorable, plural } from "./stage.js";

const EPS = 1e-9, SECOND = 1000, REAL = 1;                                  // ms; the pace that is not slowed
const LETTERS = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"];

/** What a lane has done at a moment, in ms: whole products, and the part of the next one's time. */
export function done(lane, ms) {
  const products = Math.floor(ms / lane.ms + EPS);
  return { products, part: clamp(ms / lane.ms - products) };
}

/** How many squares of a C are filled: in proportion to the time. */
export const filled = (part, side) => Math.floor(part * side * side + EPS);

export const libraryOf = states => states.lanes[states.lanes.length - 1];
export const rivalOf = (values, states) => states.lanes[values.rival];

export function sceneOf(values, states) {
  const rival = rivalOf(values, states), library = libraryOf(states), lasts = values.pace === REAL ? SECOND : rival.ms;
  const lanes = values.show === "all" ? states.lanes : [rival, library];
  return { states, rival, library, lanes, lasts, pace: values.pace, steps: Math.ceil(lasts), seconds: () => values.pace / 1000,
    answer: done(library, lasts).products };
}
export const clock = ({ lasts }, at) => Math.min(at, lasts);

// ---- where things are --------------------------------------------------------------------------------------------------------------
const textOf = ({ width, height, text, narrow }) => Math.min(text, width / (narrow ? 30 : 62), height / (narrow ? 38 : 24));
export function layout(view) {
  const { width, height, narrow, scene } = view, text = textOf(view), count = scene.lanes.length, top = 2.6 * text;
  const columns = count > 2 ? (narrow ? 4 : 7) : narrow ? 1 : 2, rows = Math.ceil(count / columns), wide = width / columns, high = (height - top) / rows;
  return scene.lanes.map((lane, i) => {
    const x = (i % columns) * wide, y = top + Math.floor(i / columns) * high;
    if (count > 2) {
      const side = Math.min(wide - 0.9 * text, high - 3.4 * text), left = x + (wide - side) / 2;
      return { lane, small: true, pane: { x: left, y: y + 1.6 * text, side }, words: { x: x + 0.2 * text, y: y + 1.2 * text, w: wide - 0.4 * text }, under: y + side + 2.9 * text };
    }
    const side = Math.min(high - text, wide - 13 * text), gap = Math.max(0, (wide - side - 14 * text) / 2);
    return { lane, small: false, pane: { x: x + gap + 2, y: y + 0.4 * text, side }, words: { x: x + gap + side + 1.4 * text, y: y + 1.6 * text, w: wide - side - gap - 1.6 * text } };
  });
}

// ---- drawing -----------------------------------------------------------------------------------------------------------------------
const HUES = { light: { rival: ["#e08a2c", "#a9480b"], library: ["#4aa3df", "#0b5c96"], other: ["#58b99a", "#00745a"], empty: 0.1 },
  dark: { rival: ["#c8681a", "#ffb066"], library: ["#2a78b5", "#8accff"], other: ["#1f8f6d", "#78dcbb"], empty: 0.16 } };
function write(pen, view, words, x, y, { size = 1, align = "left", weight = 400, colour = view.ink, most } = {}) {
  pen.fillStyle = colour;
  pen.textAlign = align;
  pen.font = `${weight} ${Math.round(size * view.text)}px ${view.fontFamily}`;
  pen.fillText(words, x, y, most);
}

/** The squares of one C: those of the product before in one tone, those of this one in the other. */
function drawFilling(pen, view, { lane, pane }, tones) {
  const { side } = view.scene.states, { products, part } = done(lane, view.ms), now = filled(part, side), cell = pane.side / side, hair = cell > 5 ? 0.5 : 0;
  for (let i = 0; i < side * side; ++i) {
    const tone = i < now ? products : products - 1;
    pen.fillStyle = tone < 0 ? view.ink : tones[tone % 2];
    pen.globalAlpha = tone < 0 ? view.hues.empty : 1;
    pen.fillRect(pane.x + (i % side) * cell, pane.y + Math.floor(i / side) * cell, cell - hair, cell - hair);
  }
  pen.globalAlpha = 1;
}

/** In real time a cell stands for a whole product. */
function drawTally(pen, view, { lane, pane }, tones) {
  const { side } = view.scene.states, { products } = done(lane, view.ms), cell = pane.side / side, hair = cell > 5 ? 1 : 0.4;
  for (let i = 0; i < side * side; ++i) {
    pen.fillStyle = i < products ? tones[1] : view.ink;
    pen.globalAlpha = i < products ? 1 : view.hues.empty;
    pen.fillRect(pane.x + (i % side) * cell, pane.y + Math.floor(i / side) * cell, cell - hair, cell - hair);
  }
  pen.globalAlpha = 1;
}

function drawLane(pen, view, where) {
  const { lane, small, pane, words, under } = where, { scene, hues, text } = view, { products } = done(lane, view.ms);
  const tones = lane === scene.library ? hues.library : lane === scene.rival ? hues.rival : hues.other;
  (scene.pace === REAL ? drawTally : drawFilling)(pen, view, where, tones);
  pen.strokeStyle = view.ink;
  pen.lineWidth = lane === scene.rival || lane === scene.library ? 2 : 1;
  pen.strokeRect(pane.x, pane.y, pane.side, pane.side);
  if (small) {
    write(pen, view, lane.name, pane.x + pane.side / 2, words.y, { weight: lane === scene.rival || lane === scene.library ? 700 : 500, align: "center", most: words.w });
    write(pen, view, `${products} finished`, pane.x + pane.side / 2, under, { align: "center", weight: 600, most: words.w });
    return;
  }
  write(pen, view, lane.name, words.x, words.y, { size: 1.25, weight: 700, most: words.w });
  write(pen, view, lane.lesson ? `the kernel of lesson ${lane.lesson}` : "NVIDIA's library", words.x, words.y + 1.5 * text, { most: words.w });
  write(pen, view, String(products), words.x, words.y + 6 * text, { size: 4.2, weight: 700, most: words.w });
  write(pen, view, `${products === 1 ? "product" : "products"} finished`, words.x, words.y + 7.8 * text, { weight: 600, most: words.w });
  const below = scene.pace === REAL ? "each cell: one product" : `${Math.floor(100 * done(lane, view.ms).part + EPS)} % of the next`;
  write(pen, view, below, words.x, words.y + 9.3 * text, { most: words.w });
}

function drawClock(pen, view) {
  const { text, scene, width, narrow } = view, said = scene.pace === REAL ? "real time" : `slowed ${scene.pace} times`;
  write(pen, view, `${view.ms.toFixed(scene.pace === REAL ? 0 : 1)} ms`, 2, 1.7 * text, { size: 1.6, weight: 700 });
  write(pen, view, said, 9 * text, 1.7 * text);
  const matrices = narrow ? `C = A · B, ${scene.states.N} × ${scene.states.N}` : `C = A · B, each ${scene.states.N} × ${scene.states.N}, on one NVIDIA H200`;
  write(pen, view, matrices, width - 2, 1.7 * text, { align: "right", most: width - 18 * text });
}

function draw(pen, view) {
  const more = { ...view, text: textOf(view), ms: clock(view.scene, view.at), hues: HUES[view.dark ? "dark" : "light"] };
  drawClock(pen, more);
  for (const where of layout(view)) drawLane(pen, more, where);
}

// ---- words ---------------------------------------------------------------------------------------------------------------------------
const number = n => (n < LETTERS.length ? LETTERS[n] : n.toLocaleString("en"));
export function says(view) {
  const { scene, at } = view, ms = clock(scene, at), { rival, library } = scene;
  if (at <= 0 && scene.pace === REAL) return `Both multiply again and again, for one second. How many products will ${library.name} finish? Predict, then play.`;
  if (at <= 0) return `Both multiply the same matrices, again and again. How many products will ${library.name} finish while the ${rival.name} kernel makes its first? Predict, then play.`;
  const counts = [rival, library].map(lane => done(lane, ms));
  if (ms < scene.lasts) return `${Math.round(10 * ms) / 10} ms: the ${rival.name} kernel has finished ${plural(counts[0].products, "product")}, ${library.name} ${counts[1].products}.`;
  if (scene.pace === REAL) return `One second: the ${rival.name} kernel has finished ${plural(counts[0].products, "product")}, ${library.name} ${counts[1].products}.`;
  return `After ${ms.toFixed(1)} ms the ${rival.name} kernel has finished its first product. ${library.name} has finished ${number(counts[1].products)}, and is at work on its next.`;
}
const when = ({ scene, at }) => `${clock(scene, at).toFixed(scene.pace === REAL ? 0 : 1)} ms`;
export function describes(view) {
  const ms = clock(view.scene, view.at), { scene } = view;
  const told = scene.lanes.map(lane => `${lane.name} ${done(lane, ms).products}`).join(", ");
  return `${scene.lanes.length} kernels, each with a square, C, that fills row by row, again and again. ${says(view)} Products finished: ${told}.`;
}

export function hit(view, x, y) {
  const { scene, at } = view;
  for (const { lane, pane } of layout(view)) {
    if (x < pane.x || y < pane.y || x > pane.x + pane.side || y > pane.y + pane.side) continue;
    const whose = lane.lesson ? `${lane.name}: lesson ${lane.lesson}` : `${lane.name}: NVIDIA's library`;
    return { text: at < scene.steps ? whose : `${whose}, ${lane.ms.toFixed(lane.ms < 10 ? 2 : 1)} ms per product` };
  }
  return null;
}

// ---- the explorable ------------------------------------------------------------------------------------------------------------------
export const picture = {
  title: "The race: kernels multiply the same two matrices",
  ask: { label: "Your prediction", unit: "products" },
  order: ["says", "player", "picture", "controls"],           // what to do and Play are on the first screen of a lesson
  height: (width, text, narrow) => (narrow ? clamp(1.25 * width, 420, 620) : clamp(0.33 * width, 330, 430)),
  controls: states => [
    { kind: "range", key: "rival", label: "Against cuBLAS", name: "Kernel that races against NVIDIA's library", min: 0, max: states.lanes.length - 2,
      says: values => `${rivalOf(values, states).name} (lesson ${rivalOf(values, states).lesson})` },
    { kind: "choice", key: "show", label: "Show", options: [["two", "these two"], ["all", `all ${states.lanes.length}`]] },
    { kind: "choice", key: "pace", label: "Time", options: [[400, "slowed 400 times"], [REAL, "real time"]] },
  ],
  scene: sceneOf, draw, says, when, describes, hit,
};
export default explorable(picture);
