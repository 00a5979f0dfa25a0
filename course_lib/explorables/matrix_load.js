// Lesson 16: the words that one ldmatrix reads from shared memory, wavefront by wavefront, and the registers to which they go.
// Data: matrix_load.py, traced. Computed here: in which bank a word lies, and what has come by a step.
import { clamp, explorable, plural } from "./stage.js";

const EPS = 1e-6, BANKS = 32, ROWS = 16, GROUP = 4, MATRICES = 4, PIECE = 4;
const HUES = { light: ["#d55e00", "#0072b2", "#00805f", "#a4508b"], dark: ["#ff9248", "#5cb8f0", "#3fd0a4", "#e79acb"] };

export const bankOf = word => word % BANKS;
export function sceneOf(values, states) {
  const { row, waves } = states.at[String(values.pad)], words = waves.flatMap((wave, n) => wave.map(([word, pointing, lane, matrix]) => ({ word, pointing, lane, matrix, wave: n + 1 })));
  return { pad: values.pad, row, waves, words, lines: Math.ceil(ROWS * row / BANKS), steps: waves.length, answer: waves.length, seconds: () => (waves.length > 8 ? 0.35 : 1) };
}
/** The banks that a wavefront reads. */
export const banksOf = wave => [...new Set(wave.map(([word]) => bankOf(word)))].sort((a, b) => a - b);

// ---- where things are --------------------------------------------------------------------------------------------------------------
export function layout(view) {
  const { width, height, narrow, scene } = view, text = Math.min(view.text, width / (narrow ? 26 : 54), height / (narrow ? 46 : 26)), head = 3.4 * text;
  const side = narrow ? { w: width - 2 } : { w: 19 * text }, wide = narrow ? width - 2 : width - side.w - 2.5 * text;
  const cell = { w: wide / BANKS, h: Math.min(narrow ? text : 1.5 * text, ((narrow ? 24 * text : height - 1) - head) / scene.lines) }, memory = { x: 1, y: head, w: wide, h: cell.h * scene.lines };
  Object.assign(side, narrow ? { x: 1, y: 25.2 * text } : { x: width - side.w - 1, y: 0 });
  const chip = { w: (side.w - 1.4 * text) / (2 * GROUP), h: narrow ? 1.05 * text : 1.15 * text }, grids = [...Array(MATRICES).keys()].map(i => ({
    x: side.x + (i % 2) * (GROUP * chip.w + 1.4 * text), y: side.y + 4.4 * text + Math.floor(i / 2) * (8 * chip.h + 1.9 * text) }));
  return { text, cell, memory, side, chip, grids, bottom: grids[3].y + 8 * chip.h };
}

// ---- drawing -----------------------------------------------------------------------------------------------------------------------
function write(pen, view, words, x, y, { size = 1, align = "left", weight = 400, colour = view.ink, most } = {}) {
  pen.fillStyle = colour;
  pen.textAlign = align;
  pen.font = `${weight} ${Math.round(size * view.text)}px ${view.fontFamily}`;
  pen.fillText(words, x, y, ...(most === undefined ? [] : [most]));
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
const onHue = view => (view.dark ? "#000" : "#fff");

function drawMemory(pen, view, { cell, memory, text }) {
  const { scene, done, hues, narrow } = view, at = word => [memory.x + bankOf(word) * cell.w, memory.y + Math.floor(word / BANKS) * cell.h];
  write(pen, view, narrow ? "shared memory: 16 rows of A" : "shared memory: 16 rows of A; a piece has the number of the lane that points to it", memory.x, 1.1 * text, { weight: 700, most: memory.w });
  for (let bank = 0; bank < BANKS; bank += PIECE) write(pen, view, `${bank ? "" : "bank "}${bank}`, memory.x + bank * cell.w, memory.y - 0.5 * text, { size: 0.92, most: PIECE * cell.w - 2 });
  for (let word = 0; word < ROWS * scene.row; ++word) {
    const [x, y] = at(word), unused = word % scene.row >= scene.row - scene.pad / 2;
    box(pen, view.ink, x, y, cell.w, cell.h, { fill: unused ? 0.16 : 0, line: 0.6, alpha: 0.22 });
  }
  for (const { word, matrix, wave } of scene.words) {
    const [x, y] = at(word), now = wave === done;
    box(pen, hues[matrix], x + 0.5, y + 0.5, cell.w - 1, cell.h - 1, { fill: now ? 1 : wave < done ? 0.5 : 0.18 });
  }
  for (const { word, pointing, wave } of scene.words) {
    const [x, y] = at(word), now = wave === done;
    if (word % PIECE === 0 && cell.h > 0.95 * text) write(pen, view, String(pointing), x + PIECE * cell.w / 2, y + cell.h / 2 + 0.33 * text, { size: 0.88, align: "center", weight: now ? 700 : 400, colour: now ? onHue(view) : view.ink });
  }
}

/** The four registers of each lane that the load fills: eight groups of four lanes, as in the fragment. */
function drawRegisters(pen, view, { side, chip, grids, text }) {
  const { scene, done, hues } = view, wave = scene.waves[done - 1];
  write(pen, view, plural(done, "wavefront"), side.x, side.y + 1.3 * text, { size: 1.3, weight: 700, most: side.w });
  write(pen, view, wave ? `the latest reads ${plural(banksOf(wave).length, "bank")} of ${BANKS}` : "none yet", side.x, side.y + 2.6 * text, { size: 0.92, most: side.w });
  grids.forEach(({ x, y }, register) => {
    write(pen, view, `register ${register}`, x, y - 0.3 * text, { size: 0.92, weight: 600, colour: hues[register], most: GROUP * chip.w });
    for (const { lane, matrix, wave: came } of scene.words) {
      if (matrix !== register) continue;
      const left = x + lane % GROUP * chip.w, top = y + Math.floor(lane / GROUP) * chip.h, now = came === done;
      box(pen, hues[register], left, top, chip.w, chip.h, { fill: now ? 1 : came < done ? 0.5 : 0 });
      box(pen, view.ink, left, top, chip.w, chip.h, { line: 0.7, alpha: 0.3 });
      write(pen, view, String(lane), left + chip.w / 2, top + chip.h / 2 + 0.33 * text, { size: 0.88, align: "center", weight: now ? 700 : 400, colour: now ? onHue(view) : view.ink, most: chip.w - 1 });
    }
  });
}

export function draw(pen, given) {
  const where = layout(given), view = { ...given, text: where.text, hues: HUES[given.dark ? "dark" : "light"], done: Math.floor(given.at + EPS) };
  drawMemory(pen, view, where);
  drawRegisters(pen, view, where);
}

// ---- words -------------------------------------------------------------------------------------------------------------------------
const span = numbers => (numbers.length === 1 ? `lane ${numbers[0]}` : `lanes ${numbers[0]} to ${numbers.at(-1)}`);
export function says({ scene }, step) {
  const { pad, steps, waves } = scene;
  if (step <= 0) return `With ${pad ? `${pad} unused numbers` : "no unused number"} at the end of each row: each lane points to a piece of 16 bytes, ${MATRICES * 8} pieces in all. How many wavefronts does this ldmatrix need? Predict, then play.`;
  const wave = waves[step - 1], pointing = [...new Set(wave.map(([, lane]) => lane))].sort((a, b) => a - b), got = wave.map(([, , lane]) => lane).sort((a, b) => a - b);
  const one = `Wavefront ${step}: the pieces of ${span(pointing)}, from ${plural(banksOf(wave).length, "bank")}, go to register ${wave[0][3]} of ${span(got)}.`;
  return step < steps ? one : `${one} In all ${plural(steps, "wavefront")} for ${MATRICES * 8 * PIECE} words.`;
}
const when = (view, step) => (step <= 0 ? "before the first wavefront" : `wavefront ${step}`);
export function describes(view, step) {
  const { row, waves } = view.scene, come = waves.slice(0, Math.max(0, step)).flat().length;
  return `${says(view, step)} A row takes ${row} words of shared memory, so each row begins ${row % BANKS} banks further than the one before. Until now ${come} of ${MATRICES * 8 * PIECE} words have come.`;
}

// ---- the explorable ----------------------------------------------------------------------------------------------------------------
export const picture = {
  title: "One ldmatrix and the banks of shared memory",
  ask: { label: "Your prediction", unit: "wavefronts" },
  order: ["says", "player", "picture", "controls"],
  height: (width, text, narrow) => (narrow ? 50 * text : clamp(0.3 * width, 26 * text, 29 * text)),
  controls: () => [{ kind: "range", key: "pad", label: "Padding", name: "Padding: unused numbers at the end of each row", min: 0, max: 24, step: 8, says: values => `${values.pad} numbers` }],
  scene: sceneOf, draw, says, when, describes,
};
export default explorable(picture);
