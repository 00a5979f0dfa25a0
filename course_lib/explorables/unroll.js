// Lesson 07: one warp executes one step along K, instruction by instruction: source, machine code, and a pile of what it has executed.
// Data: unroll.py, from the compiler's machine code. Computed here: sums over those instructions, held to the counts of the whole step.
import { clamp, ease, explorable, lerp, plural } from "./stage.js";

const KINDS = ["multiply", "load", "loop", "tile"], WORK = 16, EPS = 1e-6, CLOSED = 2;          // multiply-adds of a thread per tile: one row of the pile
const NAMES = { multiply: "multiply-adds", load: "shared-memory loads", loop: "the inner loop itself", tile: "once per tile" };
const DOES = { multiply: "multiplies and adds", load: "loads from shared memory" };
const LOOPS = { address: "moves an address on", counter: "counts the iterations", test: "tests whether the loop goes on", jump: "jumps back for the next iteration" };
const MONO = 'ui-monospace, "DejaVu Sans Mono", monospace';

/** The rows of machine code: what comes once per tile stands in one row, and the inner loop has a row for each instruction. */
export function rowsOf(code) {
  const rows = [], rowOf = [];
  code.forEach(({ kind }, n) => {
    const folded = kind === "tile";
    if (folded && rows.at(-1)?.folded) rows.at(-1).members.push(n);
    else rows.push({ folded, members: [n] });
    rowOf.push(rows.length - 1);
  });
  return { codeRows: rows, rowOf };
}

/** What one position of the controls shows. `loop`: the instructions of one iteration, `times`: how many iterations the tile takes.
    After the boxes were sorted, another UNROLL asks first (`asks`): the boxes of UNROLL = 1 lie there; then what goes fades; then the pile
    closes up, and the player stops. Whoever plays on sees its machine code from the beginning. */
export function sceneOf(values, states, last = null, at = 0) {
  const lay = last !== null && (at >= last.steps - EPS || last.asks && at <= CLOSED + EPS), asks = values.unroll > 1 && lay, { order: all, code: rolled } = states[1], firsts = all.map(n => rolled[n].kind);
  const wholes = Object.fromEntries(KINDS.map(kind => [kind, firsts.filter(k => k === kind).length]));
  const state = states[values.unroll], many = state.order.length, kinds = state.order.map(n => state.code[n].kind);
  const counts = Object.fromEntries(KINDS.map(kind => [kind, kinds.filter(k => k === kind).length])), times = WORK / values.unroll;
  const loop = (many - counts.tile) / times, first = kinds.findIndex(kind => kind !== "tile");
  const sorted = [...kinds.keys()].sort((a, b) => KINDS.indexOf(kinds[a]) - KINDS.indexOf(kinds[b]) || a - b), place = Array(many);
  sorted.forEach((executed, at) => { place[executed] = at; });
  const iterations = [...Array(times).keys()].map(i => ({ step: first + i * loop, label: `iteration ${i + 1}` }));
  const rows = Math.max(...Object.values(states).map(s => Math.ceil(s.order.length / WORK)));
  const main = state.code.find(i => i.kind === "multiply").line;
  const sortedAt = many + 1, steps = asks ? CLOSED + sortedAt : sortedAt, begin = lay && !asks ? steps : 0, shown = asks ? { pauses: [CLOSED], told: CLOSED } : {};
  const scene = { ...rowsOf(state.code), unroll: values.unroll, state, main, rows, wholes, whole: all.length, asks, many, kinds, counts, times, loop, first, place, sortedAt, steps, begin, ...shown, moves: lay && !(last.asks && at < CLOSED - EPS), answer: many / WORK };
  const marks = state.inner ? iterations : [{ step: first, label: "16 multiply-adds of each thread" }];
  return { ...scene, marks: marks.map(mark => ({ ...mark, step: mark.step + (asks ? CLOSED : 0) })), seconds: step => (asks && step < CLOSED ? 2 : paceOf(scene, step - (asks ? CLOSED : 0))) };
}

/** The view that a picture draws. Where the scene asks first, its first two steps are those after sorting, and the later ones those of a scene that does not ask. */
export function inner(view) {
  const { scene, at } = view;
  if (!scene.asks) return view;
  const asks = at <= CLOSED + EPS;
  return { ...view, scene: { ...scene, asks, steps: scene.sortedAt + (asks ? CLOSED : 0) }, at: asks ? scene.sortedAt + at : at - CLOSED };
}

/** Seconds for an instruction: the first iteration can be followed, later ones hurry. */
function paceOf({ many, first, loop, times, state }, step) {
  const since = step - first;
  if (step >= many) return step === many ? 1.6 : 2;
  if (since < 0 || !state.inner && state.code[state.order[step]].kind === "tile" || since >= loop * times) return 0.03;
  if (since < loop) return since < 8 ? 0.8 : 0.25;
  return since < 2 * loop ? 0.2 : 0.035;
}

/** How many instructions have been executed at a moment: in all, of each kind, and of each instruction of the code. */
export function executed(scene, at) {
  const done = Math.min(scene.many, Math.floor(at + EPS)), kinds = Object.fromEntries(KINDS.map(kind => [kind, 0])), times = Array(scene.state.code.length).fill(0);
  for (let j = 0; j < done; ++j) { kinds[scene.kinds[j]] += 1; times[scene.state.order[j]] += 1; }
  return { done, kinds, times };
}
const iterationOf = ({ first, loop, times }, j) => (j < first || j >= first + loop * times ? 0 : 1 + Math.floor((j - first) / loop));
const perMultiplyAdd = n => String(Math.round(100 * n / WORK) / 100);

// ---- where things are ------------------------------------------------------------------------------------------------------------
// Three columns, or source and code above the pile, or all below each other; widths and heights in letters' sizes.
const SOURCE = 22.1, CODE = 24.6, PILE = 15.4, GAP = 1.3, SMALLEST = 12.2, BESIDE = SOURCE + CODE + GAP;
const modeOf = ({ width }) => (width >= SMALLEST * (BESIDE + PILE + GAP) ? "wide" : width >= SMALLEST * BESIDE ? "middle" : "narrow");
const NEEDS = { wide: [BESIDE + PILE + GAP, 26], middle: [BESIDE, 42], narrow: [32, 48] };
const textOf = view => Math.min(view.text, view.width / NEEDS[modeOf(view)][0], view.height / NEEDS[modeOf(view)][1]);          // a small projector
export function layout(view) {
  const { width, height, scene } = view, mode = modeOf(view), wide = mode === "wide", below = mode === "narrow", text = textOf(view);
  const line = 1.42 * text, head = 1.7 * text, mono = 0.9 * text, letter = 0.602 * mono, lines = scene.state.source.length;
  const extra = width - text * NEEDS[mode][0], source = { x: 0, y: head, w: below ? width : SOURCE * text + 0.25 * extra, rows: lines };
  const code = { x: below ? 0 : source.w + GAP * text, y: below ? 2 * head + lines * line : head };
  code.w = below ? width : wide ? CODE * text + 0.25 * extra : width - code.x;
  code.rows = below ? 9 : wide ? Math.floor((height - head - 2) / line) : 15;
  const x = wide ? code.x + code.w + GAP * text : 0, top = wide ? head : code.y + code.rows * line + head, bottom = wide ? height - 6.6 * text : height - 2;
  const cell = Math.min((wide ? width - x : 0.52 * width) / WORK, (bottom - top) / scene.rows), high = Math.min((bottom - top) / scene.rows, 1.6 * cell);
  const pile = { x, y: top, cell, high, w: WORK * cell, h: scene.rows * high, bottom };
  const legend = wide ? { x, y: bottom + 1.7 * text } : { x: pile.w + 0.8 * text, y: bottom - 5.2 * text };
  const count = wide ? { x: 0, y: source.y + lines * line + 3.9 * text } : { x: legend.x, y: top + 2 * text };
  return { mode, text, line, mono, letter, source, code, pile, legend, count };
}
const cellBox = ({ x, bottom, cell, high }, n) => ({ x: x + (n % WORK) * cell, y: bottom - (Math.floor(n / WORK) + 1) * high, w: cell, h: high });
const between = (a, b, t) => ({ x: lerp(a.x, b.x, t), y: lerp(a.y, b.y, t), w: lerp(a.w, b.w, t), h: lerp(a.h, b.h, t) });

/** The first row of machine code in sight, once j instructions have been executed. */
export function topRow({ state, many, codeRows, rowOf }, j, rows) {
  const { order } = state, last = Math.max(0, codeRows.length - rows);
  if (j > many) return 0;                                             // in the end from its beginning
  const now = rowOf[order[Math.max(0, j - 1)]], known = Math.max(0, ...order.slice(0, j).map(n => rowOf[n]));
  return clamp(Math.min(known - rows + 2, now - 1), 0, last);
}

// ---- drawing -----------------------------------------------------------------------------------------------------------------------
const HUES = { light: { multiply: "#00795a", load: "#0072b2", loop: "#d55e00", tile: "#a3a8ae" }, dark: { multiply: "#2fc496", load: "#56a8e9", loop: "#ff8a4c", tile: "#767c84" } };
const INKS = { light: { multiply: "#00664b", load: "#005f95", loop: "#a84300", tile: "#5b6168" }, dark: { multiply: "#46d3a7", load: "#7cbff2", loop: "#ff9f6b", tile: "#a3a9b1" } };

function write(pen, view, words, x, y, { size = 1, align = "left", weight = 400, colour = view.ink, mono = false, alpha = 1 } = {}) {
  pen.globalAlpha = alpha;
  pen.fillStyle = colour;
  pen.textAlign = align;
  pen.font = `${weight} ${mono ? view.mono : size * view.text}px ${mono ? MONO : view.fontFamily}`;
  pen.fillText(words, x, y);
  pen.globalAlpha = 1;
}
function fill(pen, { x, y, w, h }, colour, alpha = 1) {
  pen.globalAlpha = alpha;
  pen.fillStyle = colour;
  pen.fillRect(x, y, w, h);
  pen.globalAlpha = 1;
}
function stroke(pen, points, colour, wide, alpha = 1) {
  pen.globalAlpha = alpha;
  pen.strokeStyle = colour;
  pen.lineWidth = wide;
  pen.beginPath();
  for (const [x1, y1, x2, y2] of points) { pen.moveTo(x1, y1); pen.lineTo(x2, y2); }
  pen.stroke();
  pen.globalAlpha = 1;
}

/** One executed instruction: a box, with a mark that tells its kind where colours do not. */
function drawBox(pen, view, { x, y, w, h }, kind, alpha = 1) {
  const inset = w > 9 ? 0.75 : 0.4, wide = clamp(w / 9, 1, 3);
  fill(pen, { x: x + inset, y: y + inset, w: w - 2 * inset, h: h - 2 * inset }, view.hues[kind], alpha);
  const [mx, my] = [x + w / 2, y + h / 2], part = 0.2 * Math.min(w, h), [l, t, r, b] = [mx - part, my - part, mx + part, my + part];
  const marks = { multiply: [[l, my, r, my], [mx, t, mx, b]], load: [[mx, t, mx, b]], tile: [] };
  if (kind === "loop") drawRing(pen, view, mx, my, part, wide, alpha);
  else stroke(pen, marks[kind], view.paper, wide, alpha);
}
function drawRing(pen, view, x, y, radius, wide, alpha) {
  pen.globalAlpha = alpha;
  pen.strokeStyle = view.paper;
  pen.lineWidth = wide;
  pen.beginPath();
  pen.arc(x, y, radius, 0, 2 * Math.PI);
  pen.stroke();
  pen.globalAlpha = 1;
}

function drawSource(pen, view, where) {
  const { scene, now, hover } = view, { source, line } = where, current = hover?.line ?? now.line ?? (view.at < EPS ? scene.main : null);
  write(pen, view, "The tile loop, CUDA C", source.x, source.y - 0.6 * view.text, { weight: 600 });
  scene.state.source.forEach(({ number, text, more }, i) => {
    const y = source.y + i * line, here = number === current;
    if (here) fill(pen, { x: source.x, y, w: source.w, h: line }, view.inks[hover ? "tile" : view.at < EPS ? "multiply" : now.kind], 0.22);
    if (!more) write(pen, view, number, source.x + 2.6 * where.letter, y + 0.72 * line, { mono: true, align: "right", alpha: 0.75 });
    write(pen, view, text, source.x + 3.4 * where.letter, y + 0.72 * line, { mono: true, weight: here ? 700 : 400 });
  });
}

/** The machine code, pale where it has not been executed yet; the row of this moment is marked. */
function drawCode(pen, view, where) {
  const { scene, now, hover, seen } = view, { code, line, letter } = where, { state } = scene, j = Math.floor(view.at + EPS);
  const top = lerp(topRow(scene, Math.max(0, j), code.rows), topRow(scene, j + 1, code.rows), ease(clamp(view.at - j)));
  write(pen, view, "Machine code of one warp", code.x, code.y - 0.6 * view.text, { weight: 600 });
  pen.save();
  pen.beginPath();
  pen.rect(code.x, code.y, code.w, code.rows * line);
  pen.clip();
  const cut = !hides(view) && j > scene.many && scene.codeRows.length > code.rows ? code.rows - 1 : Infinity;
  if (cut < Infinity) write(pen, view, `… and ${scene.codeRows.length - cut} more rows`, code.x + 4.4 * letter, code.y + (cut + 0.72) * line);
  scene.codeRows.forEach(({ folded, members }, row) => {
    if (row >= cut) return;
    const y = code.y + (row - top) * line, here = members.includes(now.index), many = members.filter(n => seen.times[n]).length;
    if (y < code.y - 0.5 || y + line > code.y + code.rows * line + 0.5) return;
    const { text, line: from, kind, purpose } = state.code[members[0]], pointed = hover && (folded ? hover.kind === kind : hover.line === from);
    if (hides(view) || !many && !here) return write(pen, view, folded ? `${plural(members.length, "instruction")}, once per tile` : text, code.x + 4.4 * letter, y + 0.72 * line, { mono: !folded, alpha: 0.5 });
    fill(pen, { x: code.x, y: y + 1, w: 0.35 * view.text, h: line - 2 }, view.hues[kind]);
    if (here || pointed) fill(pen, { x: code.x, y, w: code.w, h: line }, view.inks[kind], here ? 0.28 : 0.14);
    if (folded) return write(pen, view, `${plural(many, "instruction")}, once per tile`, code.x + 4.4 * letter, y + 0.72 * line, { colour: view.inks[kind] });
    write(pen, view, from ?? "", code.x + 3.6 * letter, y + 0.72 * line, { mono: true, align: "right", alpha: 0.75 });
    const room = Math.floor(code.w / letter) - 4.4 - (purpose.length + 1), said = text.length > room ? `${text.slice(0, room - 1)}…` : text;
    write(pen, view, said, code.x + 4.4 * letter, y + 0.72 * line, { mono: true, weight: here ? 700 : 400 });
    write(pen, view, purpose, code.x + code.w - 0.4 * letter, y + 0.72 * line, { mono: true, align: "right", colour: view.inks[kind] });
  });
  pen.restore();
}

/** Whether the answer is still to be given: the boxes of UNROLL = 1 lie there, and nothing has faded. */
const hides = ({ scene, at }) => scene.asks && Math.abs(at - scene.sortedAt) < EPS;

/** The boxes: in the order of execution, 16 per row, then sorted by kind. What UNROLL = 1 needed and this one does not fades. */
function drawPile(pen, view, where) {
  const { scene, seen, at } = view, { pile } = where, sort = ease(clamp(at - scene.many));
  write(pen, view, "Executed, 16 per row", pile.x, pile.y - 0.6 * view.text, { weight: 600 });
  stroke(pen, [[pile.x, pile.bottom + 1, pile.x + pile.w, pile.bottom + 1]], view.ink, 1.2, 0.6);
  if (at < 1) drawWanted(pen, view, where, 1 - at);
  if (sort === 1 && scene.unroll > 1) drawFirst(pen, view, where);
  if (at >= scene.sortedAt - EPS) return drawSorted(pen, view, pile);
  const places = endsOf(scene), kept = keptOf(scene);
  kept.forEach((is, n) => { if (!is) drawFaded(pen, view, cellBox(pile, places[n]), kindsOf(scene)[n], 1, sort); });
  const own = [...kept.keys()].filter(n => kept[n]);
  for (let j = 0; j < seen.done; ++j) drawBox(pen, view, between(cellBox(pile, j), cellBox(pile, places[own[scene.place[j]]]), sort), scene.kinds[j], faint(view, j));
  const part = at - seen.done;
  if (seen.done < scene.many && part > EPS) {                            // on its way from its row of code
    const y = where.code.y + (scene.rowOf[view.now.index] - topRow(scene, seen.done + 1, where.code.rows)) * where.line, from = { x: where.code.x + where.code.w, y, w: 0, h: where.line };
    drawBox(pen, view, between(from, cellBox(pile, seen.done), ease(part)), view.now.kind, 0.4 + 0.6 * part);
  }
}

// The boxes of UNROLL = 1, sorted by kind: the kind of each, whether this scene still has it, and where it lies in the end.
const kindsOf = ({ wholes }) => KINDS.flatMap(kind => Array(wholes[kind]).fill(kind));
const keptOf = ({ wholes, counts }) => KINDS.flatMap(kind => [...Array(wholes[kind]).keys()].map(i => i < counts[kind]));
export function endsOf(scene) {
  let stays = 0, goes = scene.many;
  return keptOf(scene).map(kept => (kept ? stays++ : goes++));
}

/** After sorting: the boxes of UNROLL = 1, then those that go fade, then the pile closes up, with what is gone on top of it. */
function drawSorted(pen, view, pile) {
  const { scene, before, turn, at } = view, kept = keptOf(scene), ends = endsOf(scene), moves = turn < 1 && scene.moves && before.unroll !== scene.unroll;
  const since = at - scene.sortedAt, gone = scene.asks ? clamp(since) : 1, closing = scene.asks ? ease(clamp(since - 1)) : 1;
  const old = moves ? endsOf(before) : ends, had = moves ? keptOf(before) : kept;
  kindsOf(scene).forEach((kind, n) => {
    const place = between(cellBox(pile, n), cellBox(pile, ends[n]), closing), box = moves ? between(cellBox(pile, old[n]), place, ease(turn)) : place;
    const off = kept[n] ? 0 : gone, off0 = moves && !had[n] ? 1 : 0;
    const pale = moves ? lerp(off0, off, turn) : off;
    if (pale > EPS) drawFaded(pen, view, box, kind, pale);
    else drawBox(pen, view, box, kind, kept[n] ? faint(view, scene.place.indexOf(ends[n])) : 1);
  });
}

/** A box that UNROLL = 1 needed and this UNROLL does not: it fades. On dark paper, where what is faint is nearly black, its dashed outline stays. */
function drawFaded(pen, view, box, kind, part, alpha = 1) {
  drawBox(pen, view, box, kind, alpha * lerp(1, view.dark ? 0.3 : 0.16, part));
  if (!view.dark) return;
  const [l, t, r, b] = [box.x + 1.5, box.y + 1.5, box.x + box.w - 1.5, box.y + box.h - 1.5];
  pen.setLineDash([3, 2]);
  stroke(pen, [[l, t, r, t], [r, t, r, b], [r, b, l, b], [l, b, l, t]], view.inks[kind], 1, alpha * part);
  pen.setLineDash([]);
}

/** Before the first instruction: the row of multiply-adds that the tile is there for, as empty boxes. */
function drawWanted(pen, view, { pile, text }, alpha) {
  for (let n = 0; n < WORK; ++n) {
    const { x, y, w, h } = cellBox(pile, n), [l, t, r, b] = [x + 1, y + 1, x + w - 1, y + h - 1];
    stroke(pen, [[l, t, r, t], [r, t, r, b], [r, b, l, b], [l, b, l, t]], view.inks.multiply, 1.6, alpha);
  }
  if (alpha === 1) write(pen, view, "16 multiply-adds per thread", pile.x, pile.bottom - pile.high - 0.5 * text);
}

/** How high the pile is when nothing is unrolled: a dashed frame around its boxes. */
function drawFirst(pen, view, { pile }) {
  const box = cellBox(pile, view.scene.whole - 1), [left, right, low, high] = [pile.x, pile.x + pile.w, box.y + box.h, box.y];
  pen.setLineDash([5, 4]);
  stroke(pen, [[left, pile.bottom, left, high], [left, high, box.x + pile.cell, high], [box.x + pile.cell, high, box.x + pile.cell, low], [box.x + pile.cell, low, right, low], [right, low, right, pile.bottom]], view.ink, 1.2, 0.7);
  pen.setLineDash([]);
}
function faint({ hover, scene }, j) {
  const { kind, line } = scene.state.code[scene.state.order[j]];
  return hover && (hover.kind ? kind !== hover.kind : line !== hover.line) ? 0.25 : 1;
}

/** What the colours mean, once they have been seen, and how many of each; in the end per multiply-add. */
function drawLegend(pen, view, where) {
  const { scene, seen, text, at } = view, { legend } = where, short = where.mode === "narrow", ended = at >= scene.sortedAt - EPS, numbers = hides(view) ? scene.wholes : seen.kinds;
  let y = legend.y;
  for (const kind of [...KINDS].reverse()) {
    if (!numbers[kind] && !(scene.asks && ended)) continue;
    drawBox(pen, view, { x: legend.x, y: y - 0.85 * text, w: text, h: text }, kind);
    const number = ended ? perMultiplyAdd(numbers[kind]) : numbers[kind];
    write(pen, view, number, legend.x + 3.7 * text, y, { align: "right", weight: 700 });
    write(pen, view, short ? NAMES[kind].replace("-memory", "").replace(" itself", "") : NAMES[kind], legend.x + 4.2 * text, y);
    y += 1.45 * text;
  }
}

function drawCount(pen, view, where) {
  const { scene, seen, text, at } = view, { count } = where, narrow = where.mode === "narrow", ended = at >= scene.sortedAt - EPS, big = narrow ? 2.1 : 3.2, many = hides(view) ? scene.whole : scene.many;
  if (!seen.done) return;
  write(pen, view, ended ? perMultiplyAdd(many) : seen.done, count.x, count.y, { size: big, weight: 700 });
  const y = count.y + 1.5 * text, all = narrow ? "executed" : "instructions executed";
  write(pen, view, ended ? (narrow ? "per multiply-add" : "instructions per multiply-add of a thread") : all, count.x, y, { weight: 600 });
  const compared = ended && !hides(view) && scene.unroll > 1 ? `with UNROLL = 1: ${perMultiplyAdd(scene.whole)}` : "";
  const done = ended ? `${many} for ${WORK}${hides(view) ? ", with UNROLL = 1" : ""}` : `for ${plural(seen.kinds.multiply, "multiply-add")}${narrow ? "" : " of each thread"}`;
  write(pen, view, compared && !narrow ? `${done}; ${compared}` : done, count.x, y + 1.4 * text);
  if (narrow) write(pen, view, compared, count.x, y + 2.8 * text);
}

/** The instruction of this moment: while it is on its way, and after it has been executed. */
function nowOf(scene, at) {
  const j = Math.ceil(at - EPS) - 1, index = j >= 0 && j < scene.many ? scene.state.order[j] : -1;
  return { j, index, line: index < 0 ? null : scene.state.code[index].line, kind: index < 0 ? "tile" : scene.state.code[index].kind };
}

function draw(pen, stage) {
  const view = inner(stage), where = layout(view), theme = view.dark ? "dark" : "light";
  const more = { ...view, text: where.text, mono: where.mono, hues: HUES[theme], inks: INKS[theme], now: nowOf(view.scene, view.at), seen: executed(view.scene, view.at) };
  for (const part of [drawSource, drawCode, drawPile, drawLegend, drawCount]) part(pen, more, where);
}

// ---- words ---------------------------------------------------------------------------------------------------------------------------
export function says(stage) {
  const view = inner(stage), { scene } = view, { unroll, many, loop, times, counts } = scene, { j, index } = nowOf(scene, view.at);
  if (j < 0 && unroll === 1) return "A warp works on one tile. How many machine instructions does it execute per multiply-add of a thread? Predict, then play.";
  const wrote = `With UNROLL = ${unroll} the compiler writes ${unroll} multiply-adds into each iteration of the inner loop.`;
  if (j < 0) return `${wrote} How many instructions per multiply-add of a thread? Predict, then play.`;
  if (hides(view)) return `These are the boxes of UNROLL = 1. ${wrote} How many instructions per multiply-add of a thread will be left? Predict, then play.`;
  if (index < 0 && scene.asks && view.at < scene.steps - EPS) return `What UNROLL = ${unroll} does not need has faded: ${plural(scene.whole - many, "instruction")} of ${scene.whole}.`;
  if (index < 0) {
    const taken = scene.state.inner ? `Each of the ${times} iterations takes ${loop} instructions` : `The ${WORK} multiply-adds of each thread take ${loop} instructions, and no inner loop is left`;
    return `${taken}. With the ${counts.tile} that come once per tile, the warp has executed ${many} instructions for ${WORK} multiply-adds of each thread: ${perMultiplyAdd(many)} per multiply-add of a thread.${scene.asks ? " Press Play once more to watch the warp execute this machine code." : ""}`;
  }
  const { text, line, kind, purpose } = scene.state.code[index];
  if (kind === "tile") return `Once per tile, line ${line}: instruction ${j + 1}, ${j < scene.first ? "before" : "after"} the ${scene.state.inner ? "inner loop" : "multiply-adds"}.`;
  const turn = iterationOf(scene, j);
  const does = kind === "loop" ? LOOPS[purpose] || "keeps the loop going" : DOES[purpose];
  const where = scene.state.inner ? `Iteration ${turn} of ${times}` : "No inner loop is left";
  return `${where}${line ? `, line ${line}` : ""}: ${text} ${does}.`;
}

function when(stage) {
  const view = inner(stage), { scene } = view, { j, index } = nowOf(scene, view.at);
  return j < 0 ? "before the first instruction" : index < 0 ? (hides(view) ? "the boxes of UNROLL = 1" : scene.asks && view.at < scene.steps - EPS ? "what goes has faded" : "sorted by kind") : `instruction ${j + 1}`;
}

function describes(stage) {
  const view = inner(stage), asked = hides(view), found = executed(view.scene, view.at), { done, kinds } = asked ? { done: view.scene.whole, kinds: view.scene.wholes } : found, told = KINDS.filter(kind => kinds[kind]).map(kind => `${NAMES[kind]} ${kinds[kind]}`).join(", ");
  return `The tile loop in CUDA C, its machine code, and a box for each executed instruction. ${says(stage)} So far ${plural(done, "instruction")}${told && `: ${told}`}.`;
}

function hit(stage, x, y) {
  const view = inner(stage), where = layout(view), { scene } = view, { source, code, line } = where, seen = executed(scene, view.at);
  const row = Math.floor((y - source.y) / line), place = Math.floor((y - code.y) / line);
  if (x >= source.x && x < source.x + source.w && row >= 0 && row < source.rows) {
    const { number } = scene.state.source[row], many = scene.state.order.slice(0, seen.done).filter(n => scene.state.code[n].line === number).length;
    if (hides(view)) return null;
    return { line: number, text: `line ${number}: ${plural(many, "instruction")} executed so far` };
  }
  if (x >= code.x && x < code.x + code.w && place >= 0 && place < code.rows) {
    const { folded, members } = scene.codeRows[place + Math.round(topRow(scene, Math.floor(view.at + EPS), code.rows))] ?? { members: [] };
    const here = scene.state.code[members[0]], many = members.reduce((sum, n) => sum + seen.times[n], 0);
    if (!many || hides(view)) return null;
    if (folded) return { kind: "tile", text: `${plural(many, "instruction")} so far, once per tile` };
    return { line: here.line, text: `${here.text}: executed ${many === 1 ? "once" : plural(many, "time")} so far` };
  }
  return null;
}

// ---- the explorable ------------------------------------------------------------------------------------------------------------------
export const picture = {
  title: "One warp executes the machine code of one tile",
  ask: { label: "Your prediction", unit: "per multiply-add" },
  jump: "Next iteration",
  order: ["says", "player", "controls", "picture"],           // what to do, Play and UNROLL are on the first screen of a lesson
  height: (width, text) => (modeOf({ width }) === "wide" ? clamp(0.36 * width, 26 * text, 450) : Math.round(NEEDS[modeOf({ width })][1] * text)),
  controls: () => [{ kind: "choice", key: "unroll", label: "UNROLL", options: [1, 2, 4, 8, 16].map(u => [u, `${u}`]) }],
  scene: sceneOf, draw, says, when, describes, hit,
};
export default explorable(picture);
