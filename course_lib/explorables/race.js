// Lesson 00: kernels that multiply the same two matrices, each at its recorded speed, beside NVIDIA's library.
// Data: race.py, for each kernel the recorded time of one product, and at which part of it each cell of C got its number.
import { clamp, explorable, plural } from "./stage.js";

const EPS = 1e-9, SECOND = 1000, REAL = 1;                                  // ms; the pace that is not slowed
const ABREAST = 12;                                                        // products in a row of a pile
const DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/", WHOLE = DIGITS.length ** 2;
const LETTERS = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"];

/** What a lane has done at a moment, in ms: whole products, and the part of the next one's time. */
export function done(lane, ms) {
  const products = Math.floor(ms / lane.ms + EPS);
  return { products, part: clamp(ms / lane.ms - products) };
}

const decoded = new WeakMap();                                                // each lane's cells, read once
/** For each cell of a C, row by row: which part of the product's time has passed when it fills, as recorded. */
export function fills(lane) {
  const digit = at => DIGITS.indexOf(lane.fills[at]), many = lane.fills.length / 2;
  if (!decoded.has(lane)) decoded.set(lane, Array.from({ length: many }, (_, i) => (DIGITS.length * digit(2 * i) + digit(2 * i + 1)) / WHOLE));
  return decoded.get(lane);
}

/** How many cells of its C a lane has filled. */
export const filled = (lane, part) => fills(lane).filter(when => when <= part + EPS).length;

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
const SLIM = 400;                       // a telephone: one below the other
const FILLED = 15;                      // the smallest type of a full screen, whose picture has larger type than its controls
export function textOf({ width, height, text }) {
  if (width < SLIM) return Math.min(text, width / 30, height / 38);
  return Math.min(text < FILLED ? text : Math.max(text, 24), width / (width < 700 ? 34 : 51), height / 23);
}
const columnsOf = ({ width }, count) => (count > 2 ? (width < SLIM ? 4 : width < 700 ? 5 : 7) : width < SLIM ? 1 : 2);

/** One of two lanes, its words beside its square or above and below it, whichever leaves the larger square. */
function largeLane(lane, { x, y, wide, high }, text) {
  const beside = Math.min(high - text, wide - 14 * text), below = Math.min(high - 6.8 * text, wide - 1.6 * text), columns = below > beside, side = Math.max(beside, below);
  const left = columns ? x + (wide - side) / 2 : x + 2 + Math.max(0, (wide - side - 15 * text) / 2);
  const pane = { x: left, y: y + (columns ? 2.1 : 0.4) * text, side }, after = left + side + 1.4 * text;
  if (!columns) return { lane, pane, words: { x: after, y: y + 1.6 * text, w: x + wide - after - 0.6 * text } };
  const words = { x: x + Math.max(0.4 * text, Math.min(left - x, (wide - 15 * text) / 2)), y: y + 1.3 * text };
  return { lane, pane, words: { ...words, w: x + wide - words.x - 0.6 * text }, below: pane.y + side };
}

export function layout(view) {
  const { width, height, scene } = view, text = textOf(view), count = scene.lanes.length, top = 2.6 * text;
  const columns = columnsOf(view, count), wide = width / columns, high = (height - top) / Math.ceil(count / columns);
  return scene.lanes.map((lane, i) => {
    const x = (i % columns) * wide, y = top + Math.floor(i / columns) * high;
    if (count <= 2) return { small: false, ...largeLane(lane, { x, y, wide, high }, text) };
    const side = Math.min(wide - 0.9 * text, high - 4.5 * text), left = x + (wide - side) / 2;
    return { lane, small: true, pane: { x: left, y: y + 1.6 * text, side }, words: { x: x + 0.2 * text, y: y + 1.2 * text, w: wide - 0.4 * text }, under: y + side + 2.8 * text };
  });
}

// ---- drawing -----------------------------------------------------------------------------------------------------------------------
const HUES = { light: { rival: ["#e08a2c", "#a9480b"], library: ["#4aa3df", "#0b5c96"], other: ["#58b99a", "#00745a"], empty: 0.1 },
  dark: { rival: ["#c8681a", "#ffb066"], library: ["#2a78b5", "#8accff"], other: ["#1f8f6d", "#78dcbb"], empty: 0.16 } };
const tonesOf = ({ scene, hues }, lane) => (lane === scene.library ? hues.library : lane === scene.rival ? hues.rival : hues.other);
function write(pen, view, words, x, y, { size = 1, align = "left", weight = 400, colour = view.ink, most } = {}) {
  pen.fillStyle = colour;
  pen.textAlign = align;
  pen.font = `${weight} ${Math.round(size * view.text)}px ${view.fontFamily}`;
  pen.fillText(words, x, y, most);
}

/** The cells of one C: those of the product before in one tone, those of this one in the other. */
function drawFilling(pen, view, { lane, pane }, tones) {
  const { side } = view.scene.states, { products, part } = done(lane, view.ms), when = fills(lane), cell = pane.side / side, hair = cell > 5 ? 0.5 : 0;
  for (let i = 0; i < side * side; ++i) {
    const tone = when[i] <= part + EPS ? products : products - 1;
    pen.fillStyle = tone < 0 ? view.ink : tones[tone % 2];
    pen.globalAlpha = tone < 0 ? view.hues.empty : 1;
    pen.fillRect(pane.x + (i % side) * cell, pane.y + Math.floor(i / side) * cell, cell - hair, cell - hair);
  }
  pen.globalAlpha = 1;
}

/** In real time finished products pile up, one small square each; the library's pile is as high as a C at the end. */
function drawPile(pen, view, { lane, pane }, tones) {
  const { products } = done(lane, view.ms), cell = pane.side / Math.ceil(done(view.scene.library, SECOND).products / ABREAST), hair = cell > 5 ? 1 : 0.4;
  const left = pane.x + (pane.side - ABREAST * cell) / 2, ground = pane.y + pane.side;
  pen.fillStyle = tones[1];
  for (let i = 0; i < products; ++i) pen.fillRect(left + (i % ABREAST) * cell, ground - (Math.floor(i / ABREAST) + 1) * cell, cell - hair, cell - hair);
  pen.fillStyle = view.ink;
  pen.fillRect(left - cell, ground, (ABREAST + 2) * cell, 1.5);
}

/** What each tone of a square stands for: the product under way first, then the one before it. */
export function keyOf({ scene, ms }, lane) {
  const { products, part } = done(lane, ms);
  if (scene.pace === REAL) return [{ tone: 1, words: "one product per small square" }];
  const now = part < 1e-6 ? [] : [{ tone: products % 2, words: `product ${products + 1}, ${filled(lane, part) ? "under way" : "nothing final yet"}` }];
  return products ? [...now, { tone: (products - 1) % 2, words: `product ${products}, complete` }] : now;
}

/** The key of a large square, from (x, y), one entry below the other. */
function drawKey(pen, view, lane, tones, x, y, most) {
  const { text } = view;
  keyOf(view, lane).forEach(({ tone, words }, i) => {
    const line = y + 1.4 * i * text;
    pen.fillStyle = tones[tone];
    pen.fillRect(x, line - 0.75 * text, 0.8 * text, 0.8 * text);
    write(pen, view, words, x + 1.3 * text, line, { most: most - 1.3 * text });
  });
}

function drawWords(pen, view, { lane, words, below }) {
  const { text } = view, tones = tonesOf(view, lane), { products } = done(lane, view.ms), from = lane.lesson ? `from lesson ${lane.lesson}` : "NVIDIA's library";
  const finished = `${products === 1 ? "product" : "products"} finished`, { x, y, w } = words;
  write(pen, view, lane.name, x, y, { size: 1.25, weight: 700, most: w });
  if (below === undefined) {
    write(pen, view, from, x, y + 1.5 * text, { most: w });
    write(pen, view, String(products), x, y + 6 * text, { size: 4.2, weight: 700, most: w });
    write(pen, view, finished, x, y + 7.8 * text, { weight: 600, most: w });
    drawKey(pen, view, lane, tones, x, y + 10 * text, w);
    return;
  }
  const after = x + pen.measureText(lane.name).width + text;
  write(pen, view, from, after, y, { most: x + w - after });
  write(pen, view, String(products), x, below + 3.9 * text, { size: w < 20 * text ? 3 : 4.2, weight: 700 });
  const beside = x + pen.measureText(String(products)).width + 0.6 * text;
  write(pen, view, finished, beside, below + 1.5 * text, { weight: 600, most: x + w - beside });
  drawKey(pen, view, lane, tones, beside, below + 2.9 * text, x + w - beside);
}

/** Speed in percent of the library's, as the recorded times say. */
export const share = (lane, { library }) => Math.round(100 * library.ms / lane.ms);

function drawSquare(pen, view, where) {
  const { lane, pane } = where, { scene } = view;
  if (scene.pace === REAL) return drawPile(pen, view, where, tonesOf(view, lane));
  drawFilling(pen, view, where, tonesOf(view, lane));
  pen.strokeStyle = view.ink;
  pen.lineWidth = lane === scene.rival || lane === scene.library ? 2 : 1;
  pen.strokeRect(pane.x, pane.y, pane.side, pane.side);
}

function drawSmallWords(pen, view, { lane, pane, words, under }) {
  const { scene, text } = view, { products } = done(lane, view.ms);
  const centre = pane.x + pane.side / 2;
  write(pen, view, lane.name, centre, words.y, { weight: lane === scene.rival || lane === scene.library ? 700 : 500, align: "center", most: words.w });
  write(pen, view, `${products} finished`, centre, under, { align: "center", weight: 600, most: words.w });
  if (view.at >= scene.steps) write(pen, view, `${share(lane, scene)} %`, centre, under + 1.25 * text, { align: "center", most: words.w });
}

function drawClock(pen, view) {
  const { text, scene, width, narrow } = view, said = scene.pace === REAL ? "real time" : `slowed ${scene.pace} times`;
  write(pen, view, `${view.ms.toFixed(scene.pace === REAL ? 0 : 1)} ms`, 2, 1.7 * text, { size: 1.6, weight: 700 });
  write(pen, view, said, 9 * text, 1.7 * text);
  const matrices = narrow ? `C = A · B, ${scene.states.N} × ${scene.states.N}` : `C = A · B, each ${scene.states.N} × ${scene.states.N}, recorded on an NVIDIA H200`;
  write(pen, view, matrices, width - 2, 1.7 * text, { align: "right", most: width - 18 * text });
}

function draw(pen, view) {
  const more = { ...view, text: textOf(view), ms: clock(view.scene, view.at), hues: HUES[view.dark ? "dark" : "light"] };
  drawClock(pen, more);
  const lanes = layout(view);
  for (const where of lanes) drawSquare(pen, more, where);
  for (const where of lanes) (where.small ? drawSmallWords : drawWords)(pen, more, where);
}

// ---- words ---------------------------------------------------------------------------------------------------------------------------
const number = n => (n < LETTERS.length ? LETTERS[n] : n.toLocaleString("en"));
export function says(view) {
  const { scene, at } = view, ms = clock(scene, at), { rival, library } = scene;
  const who = scene.lanes.length > 2 ? `All ${scene.lanes.length}` : "Both", shares = scene.lanes.length > 2 ? ` In percent: how fast each is, with ${library.name} at 100.` : "";
  if (at <= 0 && scene.pace === REAL) return `${who} multiply again and again, for one second. Each small square that appears is one finished product. How many will ${library.name} finish? Predict, then play.`;
  if (at <= 0) return `${who} multiply again and again. How many products will ${library.name} finish while the ${rival.name} kernel makes its first? Predict, then play.`;
  const counts = [rival, library].map(lane => done(lane, ms));
  if (ms < scene.lasts) return `${Math.round(10 * ms) / 10} ms: the ${rival.name} kernel has finished ${plural(counts[0].products, "product")}, ${library.name} ${counts[1].products}.`;
  if (scene.pace === REAL) return `One second: the ${rival.name} kernel has finished ${plural(counts[0].products, "product")}, ${library.name} ${counts[1].products}.${shares}`;
  return `After ${ms.toFixed(1)} ms the ${rival.name} kernel has finished its first product. ${library.name} has finished ${number(counts[1].products)}, and is at work on its next.${shares}`;
}
const when = ({ scene, at }) => `${clock(scene, at).toFixed(scene.pace === REAL ? 0 : 1)} ms`;
export function describes(view) {
  const ms = clock(view.scene, view.at), { scene } = view;
  const shares = scene.lanes.length > 2 && view.at >= scene.steps;
  const told = what => scene.lanes.map(lane => `${lane.name} ${what(lane)}`).join(", "), { side, order } = scene.states;
  const products = told(lane => `${done(lane, ms).products}${shares ? ` (${share(lane, scene)} %)` : ""}`);
  if (scene.pace === REAL) return `${scene.lanes.length} kernels, each with a pile of small squares, one for each finished product. ${says(view)} Products finished: ${products}.`;
  const from = side => scene.lanes.filter(lane => lane.begins === side).map(lane => lane.name).join(", ");
  const sides = ["top", "left"].filter(from).map(side => `from the ${side} ${from(side)}`);
  const cells = `Of the ${side ** 2} cells of the product that is under way, filled: ${told(lane => filled(lane, done(lane, ms).part))}.`;
  return `${scene.lanes.length} kernels, each with a square, C, that fills again and again, in the order that was ${order}: ${sides.join("; ")}. `
    + `${says(view)} ${cells} Products finished: ${products}.`;
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
  height: (width, text, narrow) => (width < SLIM ? clamp(1.4 * width, 420, 620) : narrow ? clamp(0.64 * width, 330, 430)
    : width < 820 ? 330 : clamp(Math.min(0.29 * width, 0.5 * width - 10 * text), 310, 430)),
  controls: states => [
    { kind: "range", key: "rival", label: "Against cuBLAS", name: "Kernel that races against NVIDIA's library", min: 0, max: states.lanes.length - 2,
      says: values => `${rivalOf(values, states).name} (lesson ${rivalOf(values, states).lesson})` },
    { kind: "choice", key: "show", label: "Show", options: [["two", "these two"], ["all", `all ${states.lanes.length}`]] },
    { kind: "choice", key: "pace", label: "Time", options: [[400, "slowed 400 times"], [REAL, "real time"]] },
  ],
  scene: sceneOf, draw, says, when, describes, hit,
};
export default explorable(picture);
