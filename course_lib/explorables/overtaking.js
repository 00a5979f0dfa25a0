// Lesson 04: the eight warps of one block in the simulator's order, with the second barrier and without it.
// Data: overtaking.py, from traces of the running kernel: what each warp stores and reads, which words came too early, which elements of C are wrong.
import { clamp, ease, explorable, plural } from "./stage.js";

const EPS = 1e-6, WARPS = 8, SIDE = 16;
const ORDINALS = ["first", "second"];

/** The name of the n-th barrier that the block meets, from 0: a round has one or two of them. */
function barrierOf({ barrier }, n) {
  const each = barrier === "there" ? 2 : 1;
  return `${ORDINALS[n % each]} barrier, round ${Math.floor(n / each) + 1}`;
}

/** Which step is on show at a moment, from 0, and how much of it is done. Before the first one it is -1. */
export function moment(at) {
  const step = Math.ceil(at - EPS) - 1;
  return { step, done: step < 0 ? 0 : clamp(at - step) };
}

/** What lies in the tiles and in C at a moment. `held`: for each tile, word to 0 or 1, the tile that it is of. `sums`: for each element of C how far it is, and whether it is spoilt. */
export function stateAt({ steps, names }, at) {
  const { step, done } = moment(at), held = Object.fromEntries(names.map(name => [name, new Map()])), spoilt = new Set(), rounds = Array(WARPS).fill(0);
  steps.slice(0, step + 1).forEach((now, i) => {
    const part = i < step ? 1 : done;
    if (now.kind === "fill") for (const [name, words] of Object.entries(now.writes)) words.slice(0, Math.round(part * words.length)).forEach(word => held[name].set(word, now.tile));
    if (now.kind === "multiply") {
      rounds[now.warp] += part;
      if (part > 0.5) now.spoilt.forEach(element => spoilt.add(element));
    }
  });
  return { held, spoilt, rounds };
}

/** For each square the rows that each warp stores there, first and last; null where one stores something else than whole rows. */
export function bandsOf(steps, names, tiles) {
  const bands = { C: [...Array(WARPS).keys()].map(warp => [2 * warp, 2 * warp + 1]) };
  for (const name of names) bands[name] = steps.filter(({ kind, tile }) => kind === "fill" && tile === 0).map(({ writes }) => {
    const words = writes[name] ?? [], columns = tiles[name][1], [first, last] = [words[0] / columns, (words[words.length - 1] + 1) / columns - 1];
    return words.length && Number.isInteger(first) && words.length === (last - first + 1) * columns ? [first, last] : null;
  });
  return bands;
}

const SECONDS = { fill: 0.55, multiply: 0.7, barrier: 0.9, store: 0.3 };
export function sceneOf({ barrier }, states) {
  const { steps, wrong } = states[barrier], names = Object.keys(states.tiles);
  const marks = steps.map((step, i) => ({ step: i + 1, early: step.spoilt?.length })).filter(({ early }) => early).map(({ step }) => ({ step, label: "warp that reads too late" }));
  return { steps: steps.length, all: { steps, names }, tiles: states.tiles, names, bands: bandsOf(steps, names, states.tiles), instead: states.instead ? `${states.instead} ` : "", wrong, barrier, marks, answer: wrong.length,
    seconds: step => SECONDS[steps[Math.min(step, steps.length - 1)].kind] * (step < 12 || barrier === "out" && step < 22 ? 1 : 0.6) };
}

// ---- where things are ------------------------------------------------------------------------------------------------------------
export function layout({ width, height, text, narrow, scene }) {
  const gap = 2 * text, columns = scene.names.reduce((sum, name) => sum + scene.tiles[name][1], SIDE), label = (narrow ? 1.6 : 4.6) * text;
  const below = (narrow ? 10.4 : 6.6) * text, row = Math.max(0.85 * text, Math.min(1.7 * text, 0.036 * height));      // key, line of C; a warp's row
  const cell = Math.min((width - 3.2 * gap) / columns, (height - below - WARPS * row - 1.6 * text) / SIDE);
  const room = (width - cell * columns) / 4, tiles = {};
  let x = room;
  for (const name of [...scene.names, "C"]) {
    tiles[name] = { x, y: 1.6 * text, cell, columns: name === "C" ? SIDE : scene.tiles[name][1] };
    x += tiles[name].columns * cell + room;
  }
  const said = 1.6 * text + SIDE * cell + 1.5 * text, top = said + 1.9 * text;
  return { tiles, said, lines: { x: label, y: top, w: width - label - 0.4 * text, row, h: WARPS * row }, key: { x: 0.4 * text, y: top + WARPS * row + 1.5 * text } };
}
const boxOf = ({ x, y, cell, columns }, word) => ({ x: x + word % columns * cell, y: y + Math.floor(word / columns) * cell, w: cell, h: cell });

// ---- colours, told apart by lightness, and by crosses where something is wrong ------------------------------------------------------
const HUES = { light: { tiles: ["#7fbfe6", "#f2c230"], right: "#009e73", wrong: "#c3201f", barrier: "#8b2fa8", store: "#8a8a8a" },
  dark: { tiles: ["#2f78a8", "#f2d25a"], right: "#26b98d", wrong: "#ff7a6b", barrier: "#dc9bff", store: "#9a9a9a" } };

// ---- drawing -----------------------------------------------------------------------------------------------------------------------
function write(pen, view, words, x, y, { size = 1, align = "left", weight = 400, colour = view.ink, most } = {}) {
  pen.fillStyle = colour;
  pen.textAlign = align;
  pen.font = `${weight} ${Math.round(size * view.text)}px ${view.fontFamily}`;
  pen.fillText(words, x, y, most);
}
function fill(pen, { x, y, w, h }, colour, alpha = 1) {
  pen.globalAlpha = alpha;
  pen.fillStyle = colour;
  pen.fillRect(x, y, w, h);
  pen.globalAlpha = 1;
}
function outline(pen, { x, y, w, h }, colour, wide) {
  pen.strokeStyle = colour;
  pen.lineWidth = wide;
  pen.strokeRect(x, y, w, h);
}
function cross(pen, { x, y, w, h }, colour, wide = 1.6) {
  const s = 0.7 * Math.min(w, h) / 2, [cx, cy] = [x + w / 2, y + h / 2];
  pen.strokeStyle = colour;
  pen.lineWidth = wide;
  pen.beginPath();
  pen.moveTo(cx - s, cy - s); pen.lineTo(cx + s, cy + s); pen.moveTo(cx + s, cy - s); pen.lineTo(cx - s, cy + s);
  pen.stroke();
}

/** The rows of each warp, faint from the beginning; who they belong to is written there before the first step. */
function drawBands(pen, view, at, name) {
  const { scene, text } = view;
  scene.bands[name].forEach((band, warp) => {
    if (!band) return;
    const box = { x: at.x, y: at.y + band[0] * at.cell, w: at.columns * at.cell, h: (band[1] - band[0] + 1) * at.cell };
    pen.globalAlpha = 0.45;
    outline(pen, box, view.ink, 1);
    pen.globalAlpha = 1;
    if (view.at <= EPS && box.h > 1.2 * text) write(pen, view, `warp ${warp}`, box.x + box.w / 2, box.y + box.h / 2 + 0.33 * text, { align: "center", size: 0.92 });
  });
}

function drawTile(pen, view, where, name, state) {
  const { scene, hues, now } = view, at = where.tiles[name], step = scene.all.steps[now.step], reads = step?.kind === "multiply" && now.done < 1 ? step.reads[name] ?? [] : [];
  drawBands(pen, view, at, name);
  for (const [word, tile] of state.held[name]) fill(pen, boxOf(at, word), hues.tiles[tile % 2]);
  for (const word of reads) { const box = boxOf(at, word); fill(pen, { x: box.x + 0.3 * at.cell, y: box.y + 0.3 * at.cell, w: 0.4 * at.cell, h: 0.4 * at.cell }, hues.right, ease(now.done)); }
  for (const word of step?.early?.[name] ?? []) { fill(pen, boxOf(at, word), hues.wrong, 0.85); cross(pen, boxOf(at, word), view.paper); }
  frame(pen, view, at, name);
}
function drawC(pen, view, where, state) {
  const { scene, hues } = view, at = where.tiles.C, rounds = Math.max(...scene.all.steps.filter(({ kind }) => kind === "multiply").map(({ tile }) => tile)) + 1;
  drawBands(pen, view, at, "C");
  for (let element = 0; element < SIDE * SIDE; ++element) {
    const warp = Math.floor(element / 32), box = boxOf(at, element);
    if (state.spoilt.has(element)) { fill(pen, box, hues.wrong); cross(pen, box, view.paper); }
    else if (state.rounds[warp]) fill(pen, box, hues.right, 0.15 + 0.75 * Math.min(1, state.rounds[warp] / rounds));
  }
  frame(pen, view, at, "C");
}
/** The frame of a square, its name, and the two rows of the warp that is at work. */
function frame(pen, view, at, name) {
  const { scene, text, now, hues } = view, box = { x: at.x, y: at.y, w: at.columns * at.cell, h: SIDE * at.cell }, step = scene.all.steps[now.step], waits = step?.kind === "barrier";
  outline(pen, box, waits ? hues.barrier : view.ink, waits ? 4 : 1.2);
  write(pen, view, name, at.x, at.y - 0.45 * text, { weight: 700 });
  const mine = step?.kind === "fill" ? step.writes[name] : step && !waits && name === "C" ? [32 * step.warp, 32 * step.warp + 31] : null;
  if (!mine?.length) return;
  const [first, last] = [Math.floor(mine[0] / at.columns), Math.floor(mine[mine.length - 1] / at.columns)];
  outline(pen, { x: at.x - 2, y: at.y + first * at.cell, w: box.w + 4, h: (last - first + 1) * at.cell }, view.ink, 3);
}

function drawLines(pen, view, { lines }) {
  const { scene, text, hues, now } = view, { steps } = scene.all, wide = lines.w / steps.length;
  for (let warp = 0; warp < WARPS; ++warp) {
    const y = lines.y + (warp + 0.5) * lines.row;
    fill(pen, { x: lines.x, y: y - 0.5, w: lines.w, h: 1 }, view.ink, 0.25);
    write(pen, view, view.narrow ? `${warp}` : `warp ${warp}`, lines.x - 0.5 * text, y + 0.34 * Math.min(text, lines.row), { align: "right", size: Math.max(0.86, Math.min(1, 0.9 * lines.row / text)) });
  }
  steps.forEach((step, i) => {
    if (i > now.step) return;
    const part = i < now.step ? 1 : now.done, box = { x: lines.x + i * wide + 0.5, y: lines.y + step.warp * lines.row + 0.1 * lines.row, w: (wide - 1) * part, h: 0.8 * lines.row };
    if (step.kind === "barrier") {
      const name = barrierOf(scene, step.tile);
      fill(pen, { x: lines.x + i * wide + wide * 0.2, y: lines.y, w: wide * 0.6, h: lines.h * part }, hues.barrier);
      write(pen, view, view.narrow ? name.split(" ")[0] : name, lines.x + (i + 0.5) * wide, lines.y - 0.5 * text, { align: "center", size: 0.92, colour: hues.barrier });
    } else {
      const bad = step.kind === "multiply" && step.spoilt.length;
      fill(pen, box, step.kind === "fill" ? hues.tiles[step.tile % 2] : step.kind === "store" ? hues.store : bad ? hues.wrong : hues.right);
      if (bad && part === 1) cross(pen, box, view.paper, 2);
    }
  });
  outline(pen, { x: lines.x, y: lines.y, w: lines.w, h: lines.h }, view.ink, 0.8);
  fill(pen, { x: lines.x + view.at * wide - 1.5, y: lines.y - 0.3 * text, w: 3, h: lines.h + 0.6 * text }, view.ink);
}

function drawKey(pen, view, { key }) {
  const { text, hues } = view, entries = [["stores the first tiles", hues.tiles[0]], ["stores the second tiles", hues.tiles[1]], ["multiplies", hues.right],
    ["reads what came too early", hues.wrong], ["barrier", hues.barrier], ["stores C", hues.store]];
  let { x, y } = key;
  for (const [words, colour] of entries) {
    pen.font = `400 ${Math.round(0.92 * text)}px ${view.fontFamily}`;
    const wide = pen.measureText(words).width + 1.2 * text;
    if (x + wide > view.width && x > key.x) { x = key.x; y += 1.4 * text; }
    const box = { x, y: y - 0.7 * text, w: 0.8 * text, h: 0.8 * text };
    fill(pen, box, colour);
    if (colour === hues.wrong) cross(pen, box, view.paper);
    write(pen, view, words, x + 1.05 * text, y, { size: 0.92 });
    x += wide + 1.1 * text;
  }
}

const ROWS = ([one, other]) => [`Each warp stores two rows of ${one} and of ${other}, and computes two rows of C.`, "Each warp has two rows of each square."];
const textOf = ({ width, height, text, narrow }) => Math.min(text, width / (narrow ? 26 : 56), height / (narrow ? 30 : 25));
function draw(pen, view) {
  const text = textOf(view), where = layout({ ...view, text }), state = stateAt(view.scene.all, view.at);
  const more = { ...view, text, now: moment(view.at), hues: HUES[view.dark ? "dark" : "light"] };
  for (const name of view.scene.names) drawTile(pen, more, where, name, state);
  drawC(pen, more, where, state);
  const wrong = state.spoilt.size, rows = view.at <= EPS && Object.values(view.scene.bands).every(bands => bands.every(band => band?.[1] - band?.[0] === 1));
  const said = rows ? ROWS(view.scene.names)[view.narrow ? 1 : 0] : `${wrong} of 256 elements of C are wrong${view.at < view.scene.steps ? " so far" : ""}`;
  write(pen, more, said, view.width / 2, where.said, { weight: 700, size: 1.15, align: "center", colour: wrong ? more.hues.wrong : more.ink });
  drawLines(pen, more, where);
  drawKey(pen, more, where);
}

// ---- words ---------------------------------------------------------------------------------------------------------------------------
export function says(view) {
  const { scene } = view, { step } = moment(view.at), { steps } = scene.all, now = steps[step];
  if (step < 0) return `${scene.instead}The eight warps of one block: the simulator lets warp 0 go on until a barrier stops it, then warp 1, and so on. ${scene.barrier === "out" ? "The second barrier is left out." : "Both barriers are there."} Which warps will find their tiles whole, and how many of the 256 elements of C will be wrong? Predict, then play.`;
  const tile = ORDINALS[now.tile] ?? "next", before = steps[step - 1];
  if (step === steps.length - 1) return `C is stored, and ${scene.wrong.length ? scene.wrong.length : "none"} of its 256 elements ${scene.wrong.length === 1 ? "is" : "are"} wrong. This was the simulator's order. A GPU may choose ${scene.wrong.length ? "another one, and be right by luck" : "any other, and the barriers keep it right"}.`;
  if (now.kind === "barrier") return `The ${barrierOf(scene, now.tile)}: all eight warps have come here, and only now do they go on.`;
  if (now.kind === "fill") return `Warp ${now.warp} loads its part of the ${tile} tiles and stores it in ${scene.names.join(" and ")}.${before?.kind === "multiply" && now.warp < WARPS - 1 && scene.barrier === "out" ? " No barrier made it wait, and other warps still need what it overwrites." : ""}`;
  if (now.kind === "store") return `Warp ${now.warp} stores its 32 elements of C.`;
  const early = Object.values(now.early).reduce((sum, words) => sum + words.length, 0);
  if (!early) return `Warp ${now.warp} multiplies, and finds the ${tile} tiles whole.`;
  return `Warp ${now.warp} multiplies the ${tile} tiles, but ${plural(early, "element")} that it reads ${early === 1 ? "is" : "are"} of the next ones already: ${plural(now.spoilt.length, "sum")} of C ${now.spoilt.length === 1 ? "is" : "are"} wrong.`;
}
function when(view) {
  const { step } = moment(view.at), now = view.scene.all.steps[step];
  return step < 0 ? "before the first step" : `step ${step + 1} of ${view.scene.steps}: ${now.kind === "barrier" ? barrierOf(view.scene, now.tile) : `warp ${now.warp}, ${now.kind}`}`;
}
const describes = view => `${says(view)} So far ${stateAt(view.scene.all, view.at).spoilt.size} of 256 elements of C are wrong.`;

// ---- the explorable ------------------------------------------------------------------------------------------------------------------
export const picture = {
  title: "The eight warps of a block, with the second barrier and without it",
  ask: { label: "Your prediction", unit: "wrong elements" },
  order: ["says", "player", "picture", "controls"],
  height: (width, text, narrow) => (narrow ? Math.round(0.33 * width + 16.5 * text) : clamp(0.4 * width, 400, 450)),
  controls: () => [{ kind: "choice", key: "barrier", label: "Second barrier", options: [["there", "there"], ["out", "left out"]] }],
  scene: sceneOf, draw, says, when, describes,
};
export default explorable(picture);
