// Lesson 15: the lanes of a warp on its tile of C, and the words that their four loads for one k bring, wavefront by wavefront.
// Data: lanes.py, traced. Computed here: how many wavefronts there were until now, and the cycles that four warps need for them.
import { clamp, explorable, plural } from "./stage.js";

const EPS = 1e-6, WARPS = 4, MULTIPLY_ADDS = 64, BANKS = 32, LANES = 32, PHASE = 8, STRETCH = 3;
const HUES = { light: { row: "#d55e00", column: "#0072b2", add: "#00805f" }, dark: { row: "#ff9248", column: "#5cb8f0", add: "#3fd0a4" } };

export function sceneOf(values, states) {
  const { pieces, rows, columns, loads } = states.at[values.placement];
  const waves = loads.flatMap((load, index) => load.waves.map((wave, n) => ({ ...wave, load, index, n })));
  const name = states.placements.find(([key]) => key === values.placement)[1];
  return { states, pieces, rows, columns, loads, waves, name, steps: waves.length, answer: waves.length, seconds: () => 0.8 };
}
/** The cycles of shared memory for the loads of four warps, one of each scheduler. */
export const cyclesOf = wavefronts => WARPS * wavefronts;
/** The runs of neighbours among the lanes of a wavefront: [first, how many]. */
export function runs(lanes) {
  const firsts = lanes.filter(lane => !lanes.includes(lane - 1));
  return firsts.map(first => [first, lanes.filter(lane => lane >= first && !firsts.some(other => other > first && other <= lane)).length]);
}
/** Which rows or columns have arrived by one load until a step, and which come with that step's wavefront. */
export function words(scene, index, done) {
  const mine = scene.waves.slice(0, done).filter(wave => wave.index === index), latest = scene.waves[done - 1];
  return { before: new Set(mine.flatMap(wave => wave.words)), now: new Set(latest?.index === index ? latest.words : []) };
}

// ---- where things are --------------------------------------------------------------------------------------------------------------
export function layout(view) {
  const { width, height, narrow, scene } = view, text = Math.min(view.text, width / (narrow ? 27 : 57.5), height / (narrow ? 42 : 25.5));
  const head = 3.4 * text, strip = 1.1 * text, side = 3.2 * text, gap = 2.2 * text;
  const wide = narrow ? width : 0.54 * width, high = narrow ? height - 25 * text : height;
  const most = { x: (wide - side - strip - 0.5 * text) / scene.columns, y: (high - head - 2 * strip - 0.4 * text) / scene.rows };
  const unit = { x: Math.min(most.x, STRETCH * most.y), y: Math.min(most.y, STRETCH * most.x) };      // of an element: not square, so that the tile is large
  const tile = { x: side + 1.4 * strip, y: head + 1.4 * strip, unit, w: unit.x * scene.columns, h: unit.y * scene.rows };
  const panel = narrow ? { x: 0, y: high + 0.6 * text, w: width } : { x: wide + gap, y: 0.4 * text, w: width - wide - gap };
  const loads = { x: panel.x + 8.4 * text, y: panel.y + 5.4 * text, w: panel.w - 8.4 * text - 2, row: 1.75 * text }, banks = { x: panel.x, y: panel.y + 14.2 * text, w: panel.w };
  return { text, strip, tile, panel, loads, banks, bottom: panel.y + 23.2 * text };
}

// ---- drawing -----------------------------------------------------------------------------------------------------------------------
function write(pen, view, said, x, y, { size = 1, align = "left", weight = 400, colour = view.ink, most, font = view.fontFamily } = {}) {
  pen.fillStyle = colour;
  pen.textAlign = align;
  pen.font = `${weight} ${Math.round(size * view.text)}px ${font}`;
  pen.fillText(said, x, y, ...(most === undefined ? [] : [most]));
}
function box(pen, colour, x, y, w, h, { fill = 0, line = 0, alpha = 1 } = {}) {
  pen.globalAlpha = fill;
  pen.fillStyle = colour;
  if (fill) pen.fillRect(x, y, w, h);
  pen.globalAlpha = alpha;
  pen.strokeStyle = colour;
  pen.lineWidth = line;
  if (line) pen.strokeRect(x, y, w, h);
  pen.globalAlpha = 1;
}

/** The words beside the tile: A's to the left of their rows, B's above their columns. Strong: those of the latest wavefront. */
function drawWords(pen, view, { tile, strip, text }) {
  const { scene, done, hues } = view;
  write(pen, view, "Bs[k], a word per column", tile.x, tile.y - 1.3 * strip - 0.45 * text, { size: 0.96, colour: hues.column, weight: 600, most: view.narrow ? view.width - tile.x : tile.w > 20 * text ? tile.w : 20 * text });
  pen.save();
  pen.translate(tile.x - 1.3 * strip - 0.5 * text, tile.y);
  pen.rotate(-Math.PI / 2);
  if (tile.h > 10 * text) write(pen, view, "As[k], a word per row", 0, 0, { size: 0.96, align: "right", colour: hues.row, weight: 600, most: tile.h });
  pen.restore();
  if (tile.h <= 10 * text) write(pen, view, "As[k]", tile.x - 1.5 * strip, tile.y + 0.5 * tile.h, { size: 0.96, align: "right", colour: hues.row, weight: 600, most: 3 * text });
  scene.loads.forEach(({ side }, index) => {
    const { before, now } = words(scene, index, done);
    for (const word of before) {
      const strong = now.has(word), x = side === "column" ? tile.x + word * tile.unit.x : tile.x - 1.3 * strip, y = side === "column" ? tile.y - 1.3 * strip : tile.y + word * tile.unit.y;
      const [w, h] = side === "column" ? [tile.unit.x, strip] : [strip, tile.unit.y];
      box(pen, hues[side], x, y, w - 0.5, h - 0.5, { fill: strong ? 1 : 0.22 });
    }
  });
  box(pen, view.ink, tile.x, tile.y - 1.3 * strip, tile.w, strip, { line: 1, alpha: 0.5 });
  box(pen, view.ink, tile.x - 1.3 * strip, tile.y, strip, tile.h, { line: 1, alpha: 0.5 });
}

/** Whether a piece of C is multiplied by one of these rows or columns. */
function touches([top, left, high, wide], side, found) {
  const [first, many] = side === "row" ? [top, high] : [left, wide];
  for (let n = first; n < first + many; ++n) if (found.has(n)) return true;
  return false;
}

function drawTile(pen, view, { tile, text }) {
  const { scene, done, hues } = view, latest = scene.waves[done - 1], found = new Set(latest?.words ?? []);
  scene.pieces.forEach((mine, lane) => mine.forEach(piece => {
    const [top, left, high, wide] = piece, served = latest?.lanes.includes(lane) && touches(piece, latest.load.side, found), hovered = view.hover?.lane === lane;
    const x = tile.x + left * tile.unit.x, y = tile.y + top * tile.unit.y, w = wide * tile.unit.x, h = high * tile.unit.y, hue = served ? hues[latest.load.side] : view.ink;
    box(pen, hue, x + 0.5, y + 0.5, w - 1, h - 1, { fill: served ? 1 : lane < 4 ? 0.17 : 0.04, line: hovered ? 2.5 : 0.8, alpha: hovered ? 1 : 0.45 });
    if (Math.min(w, h) > 1.25 * text) write(pen, view, String(lane), x + w / 2, y + h / 2 + 0.34 * text, { align: "center", size: 0.9, weight: served || !lane ? 700 : 400, colour: served ? (view.dark ? "#000" : "#fff") : view.ink });
  }));
  box(pen, view.ink, tile.x, tile.y, tile.w, tile.h, { line: 1.6 });
}

/** For each load its wavefronts, each above the lanes that it serves; the lanes stand in their four phases. */
function drawLoads(pen, view, { panel, loads, text }) {
  const { scene, done, hues, dark } = view, { x, y, w, row } = loads, lane = w / LANES;
  for (let phase = 0; phase < LANES / PHASE; ++phase) {
    const middle = x + (phase + 0.5) * PHASE * lane;
    write(pen, view, `phase ${phase + 1}`, middle, y - 1.75 * text, { align: "center", size: 0.96, weight: 600, most: PHASE * lane - 4 });
    write(pen, view, `${phase * PHASE}–${phase * PHASE + PHASE - 1}`, middle, y - 0.5 * text, { align: "center", size: 0.96 });
  }
  write(pen, view, "lanes", panel.x, y - 0.5 * text, { size: 0.96 });
  scene.loads.forEach(({ name, array, side, waves }, index) => {
    const top = y + index * row, latest = scene.waves[done - 1], mine = scene.waves.slice(0, done).filter(wave => wave.index === index).length;
    write(pen, view, `${name} from ${array}`, panel.x, top + text, { weight: latest?.index === index ? 700 : 400, most: 8 * text });
    for (let phase = 0; phase < LANES / PHASE; ++phase) box(pen, view.ink, x + phase * PHASE * lane, top, PHASE * lane, 1.25 * text, { line: 0.8, alpha: 0.3 });
    waves.slice(0, mine).forEach((wave, n) => runs(wave.lanes).forEach(([first, many]) => {
      const now = latest.index === index && n === mine - 1;
      for (const [hue, strength] of [[view.paper, 1], [hues[side], now ? 1 : 0.55]]) box(pen, hue, x + first * lane + 1.5, top + 1.5, many * lane - 3, 1.25 * text - 3, { fill: strength });
      write(pen, view, String(n + 1), x + (first + many / 2) * lane, top + text, { align: "center", size: 0.96, weight: 700, colour: !now ? view.ink : dark ? "#000" : "#fff" });
    }));
  });
}

/** How many wavefronts there were, and how long they keep shared memory busy, beside the multiply-adds. */
function drawPanel(pen, view, { panel, text }) {
  const { done, hues } = view, { x, y, w } = panel;
  write(pen, view, String(done), x, y + 2 * text, { size: 2.6, weight: 700 });
  write(pen, view, done === 1 ? "wavefront" : "wavefronts", x + (String(done).length * 1.55 + 0.6) * text, y + 2 * text, { size: 1.15, weight: 600 });
  const bars = y + 18.6 * text, scale = Math.min(w - 3 * text, 26 * text) / 80, cycles = cyclesOf(done);
  write(pen, view, `${WARPS} warps, one per scheduler: cycles for one k, at least`, x, bars - 0.55 * text, { size: 0.96, weight: 600, most: w });
  [["multiply-adds", MULTIPLY_ADDS, hues.add], ["shared memory, for these loads", cycles, cycles > MULTIPLY_ADDS ? hues.row : hues.column]].forEach(([name, many, hue], i) => {
    const top = bars + (0.1 + 2.35 * i) * text;
    write(pen, view, name, x, top + text, { size: 0.96 });
    box(pen, hue, x, top + 1.3 * text, Math.max(0, many * scale), 0.8 * text, { fill: 0.85 });
    write(pen, view, String(many), x + many * scale + 0.4 * text, top + 2.02 * text, { weight: 700 });
  });
}

/** From which banks the latest wavefront comes. */
function drawBanks(pen, view, { banks: { x, y, w }, text }) {
  const { scene, done, hues } = view, latest = scene.waves[done - 1], slot = (w - 0.6 * text) / BANKS, busy = new Set(latest?.words.map(word => (word + latest.load.bank) % BANKS));
  write(pen, view, latest ? `this wavefront: ${plural(busy.size, "bank")} of ${BANKS}, for ${plural(latest.lanes.length, "lane")}` : `the ${BANKS} banks of shared memory`, x, y - 0.5 * text, { size: 0.96, weight: 600, most: w });
  for (let bank = 0; bank < BANKS; ++bank) {
    box(pen, view.ink, x + bank * slot, y, slot - 1.5, 1.1 * text, { line: 0.8, alpha: 0.4 });
    if (bank % 8 === 0 || bank === BANKS - 1) write(pen, view, bank ? String(bank) : "bank 0", x + bank * slot + (bank ? slot / 2 : 0), y + 2.15 * text, { align: bank ? "center" : "left", size: 0.96 });
    if (busy.has(bank)) box(pen, hues[latest.load.side], x + bank * slot, y, slot - 1.5, 1.1 * text, { fill: 1 });
  }
}

export function draw(pen, given) {
  const where = layout(given), view = { ...given, text: where.text, hues: HUES[given.dark ? "dark" : "light"], done: Math.floor(given.at + EPS) };
  write(pen, view, `C: one warp's ${view.scene.rows} × ${view.scene.columns} elements, not to scale, numbered by lane${view.narrow ? "" : "; grey: lanes 0 to 3"}`, 0, where.text, { weight: 700, most: where.panel.x > 0 ? where.panel.x - where.text : view.width });
  drawWords(pen, view, where);
  drawTile(pen, view, where);
  drawPanel(pen, view, where);
  drawLoads(pen, view, where);
  drawBanks(pen, view, where);
}

// ---- words -------------------------------------------------------------------------------------------------------------------------
const listed = lanes => (lanes.at(-1) - lanes[0] === lanes.length - 1 ? `lanes ${lanes[0]} to ${lanes.at(-1)}` : `lanes ${lanes.join(", ")}`);
export function says(view, step) {
  const { waves, loads, steps, name } = view.scene;
  if (step <= 0) return `${name}: each lane brings 16 words for its 64 multiply-adds with 4 loads of 128 bits. How many wavefronts does the warp need for the 4 loads? Predict, then play.`;
  const { load, n, lanes, words: brought } = waves[step - 1], one = `${load.name}, wavefront ${n + 1}: ${plural(brought.length, "word")} of ${load.array} for ${listed(lanes)}.`;
  if (step < steps) return one;
  const cycles = cyclesOf(steps), verdict = cycles > MULTIPLY_ADDS ? "shared memory cannot keep up" : cycles === MULTIPLY_ADDS ? "shared memory is busy all the time" : "shared memory can keep up";
  return `${one} In all ${plural(steps, "wavefront")} for ${loads.length} loads. Four warps need ${cycles} cycles of shared memory, and ${MULTIPLY_ADDS} cycles for their multiply-adds: ${verdict}.`;
}
const when = (view, step) => (step <= 0 ? "before the first wavefront" : `wavefront ${step}`);
export function describes(view, step) {
  const { scene } = view, done = scene.loads.map(({ name }, index) => `${name} ${scene.waves.slice(0, step).filter(wave => wave.index === index).length}`);
  const tile = `The warp's tile of C has ${scene.rows} rows and ${scene.columns} columns; lane 0 has ${plural(scene.pieces[0].length, "piece")} of it, lane 1 begins at row ${scene.pieces[1][0][0]}, column ${scene.pieces[1][0][1]}, lane 2 at row ${scene.pieces[2][0][0]}, column ${scene.pieces[2][0][1]}.`;
  return step <= 0 ? `${says(view, 0)} ${tile}` : `${says(view, step)} ${tile} Wavefronts until now: ${done.join(", ")}.`;
}

function hit(view, x, y) {
  const { tile } = layout(view), row = Math.floor((y - tile.y) / tile.unit.y), column = Math.floor((x - tile.x) / tile.unit.x);
  const lane = view.scene.pieces.findIndex(mine => mine.some(([top, left, high, wide]) => row >= top && row < top + high && column >= left && column < left + wide));
  return lane < 0 ? null : { text: `lane ${lane}: row ${row}, column ${column} of the warp's tile`, lane };
}

// ---- the explorable ----------------------------------------------------------------------------------------------------------------
export const picture = {
  title: "Which lane reads which words",
  ask: { label: "Your prediction", unit: "wavefronts" },
  order: ["says", "player", "controls", "picture"],
  height: (width, text, narrow) => (narrow ? Math.round(0.75 * width + 29.5 * text) : clamp(0.33 * width, 370, 420)),
  controls: states => [{ kind: "choice", key: "placement", label: "Each lane has", options: states.placements }],
  scene: sceneOf, draw, says, when, describes, hit,
};
export default explorable(picture);
