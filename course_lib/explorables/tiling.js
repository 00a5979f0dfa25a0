// Lesson 04: one block of the naive kernel and one of the tiled kernel, side by side, with counters of the sectors they load.
// Data: tiling.py, from traces of the running kernels. Computed here: sums over those traces, held to the simulator's counters.
import { clamp, ease, explorable, lerp, plural } from "./stage.js";

const SIDES = ["naive", "tiled"], WARPS = 8, FLOATS = 8;                   // floats per sector
const TITLES = { naive: ["Naive kernel: ", "each thread loads what it needs"], tiled: ["Tiled kernel: ", "the block loads each tile once"] };
const EPS = 1e-6;

/** Which step is on show at a moment, from 0, and how much of it is done. Before the first one it is -1. */
export function moment(at) {
  const step = Math.ceil(at - EPS) - 1;
  return { step, done: step < 0 ? 0 : clamp(at - step) };
}

/** What a block has loaded at a moment: {requests, sectors, times: {A, B}}. Warps load one after another; `times` counts each sector. */
export function loaded(states, side, at) {
  const { step, done } = moment(at), times = { A: Array(states.shapes.A[0] * states.shapes.A[1] / FLOATS).fill(0), B: Array(states.shapes.B[0] * states.shapes.B[1] / FLOATS).fill(0) };
  let requests = 0, sectors = 0;
  for (let i = 0; i <= step; ++i) {
    const asked = states.steps[i][side]?.sectors ?? {}, warps = i < step ? WARPS : Math.floor(done * WARPS + EPS);
    for (const [name, lists] of Object.entries(asked)) for (const list of lists.slice(0, warps)) {
      requests += 1;
      sectors += list.length;
      for (const sector of list) times[name][sector] += 1;
    }
  }
  return { requests, sectors, times };
}

export const totals = states => Object.fromEntries(SIDES.map(side => [side, loaded(states, side, states.steps.length)]));

const PACE = { load: [1.5, 0.9], barrier: [1.1, 0.8], store: [1, 1] };     // seconds in the first tile, in later ones
const paceOf = ({ kind, tile, k }) => (kind === "multiply" ? (k < 2 ? 1.3 : tile === 0 ? 0.36 : 0.2) : PACE[kind][Math.min(tile, 1)]);

export function sceneOf(values, states) {
  const steps = states.steps.length, { naive, tiled } = totals(states);
  const barriers = states.steps.map(({ kind }, i) => (kind === "barrier" ? i + 1 : 0)).filter(Boolean);
  const marks = barriers.map((step, i) => ({ step, label: `${i % 2 ? "second" : "first"} barrier of the ${i < 2 ? "first" : "second"} tiles` }));
  return { states, steps, marks, keeps: true, seconds: step => paceOf(states.steps[Math.min(step, steps - 1)]), naive, tiled, answer: naive.sectors / tiled.sectors };
}

// ---- where things are ------------------------------------------------------------------------------------------------------------
const textOf = ({ width, height, text, narrow }) => Math.min(text, (narrow ? 2 : 1) * width / 58, height / (narrow ? 52 : 26));
export function layout(view) {
  const { width, height, narrow, scene } = view, text = textOf(view);
  const { shapes } = scene.states, [rows, depth] = shapes.A, columns = shapes.B[1], many = narrow ? 1 : 2, high = height / (narrow ? 2 : 1);
  const gap = Math.round(1.5 * text), head = Math.round(1.9 * text), foot = Math.round(3.2 * text);
  const cell = Math.min((width / many - gap - 1.6 * text) / (depth + columns), (high - head - gap - foot) / (depth + rows));
  const wide = cell * (depth + columns) + gap, spare = clamp(width / many - wide - 3 * text, 0, 7 * text), top = 6.4 * text;
  return Object.fromEntries(SIDES.map((side, i) => {
    const x = (width / many) * (narrow ? 0.5 : i + 0.5) - (wide + spare) / 2, y = (narrow ? i * high : 0) + head;
    const A = { x: x + spare, y: y + cell * depth + gap, cell }, B = { x: A.x + cell * depth + gap, y, cell }, C = { x: B.x, y: A.y, cell };
    const corner = { x, y, w: cell * depth + spare - 1.2 * text, h: cell * depth };
    const box = { x, y: y + top, w: corner.w, h: corner.h - top };
    const small = Math.min((box.w - 3 * text) / (2 * columns), (box.h - 2.9 * text) / rows), side0 = (box.w - 2 * columns * small) / 3;
    const As = { x: box.x + side0, y: box.y + 2.55 * text, cell: small }, Bs = { x: As.x + columns * small + side0, y: As.y, cell: small };
    const strip = { x: A.x, y: A.y + cell * rows + 1.9 * text, w: wide, h: 0.8 * text };
    return [side, { side, x, y, wide, A, B, C, As, Bs, corner, box, strip, high: strip.y + strip.h }];
  }));
}
const cellBox = ({ x, y, cell }, row, column, long = 1) => ({ x: x + column * cell, y: y + row * cell, w: long * cell, h: cell });
const place = (states, name, element) => [Math.floor(element / states.shapes[name][1]), element % states.shapes[name][1]];
const elementBox = (where, states, name, element) => cellBox(where[name], ...place(states, name, element));
const between = (a, b, t) => ({ x: lerp(a.x, b.x, t), y: lerp(a.y, b.y, t), w: lerp(a.w, b.w, t), h: lerp(a.h, b.h, t) });
const middle = box => [box.x + box.w / 2, box.y + box.h / 2];

// ---- colours: how often a sector was loaded, from yellow over orange to red, in the dark theme from brown over orange to yellow; the same order in brightness without colour vision -------------------
const RAMPS = { light: ["#fbe3b0", "#f5b562", "#e2722f", "#b9321f", "#7d0f22"], dark: ["#5a3a1c", "#94541c", "#cf7420", "#f39b45", "#ffd9a0"] };
const HUES = { light: { now: "#0072b2", shared: "#a6d3ee", multiply: "#009e73", barrier: "#8b2fa8", watch: "#f0e442" },
  dark: { now: "#56b4e9", shared: "#1f567a", multiply: "#26b98d", barrier: "#dc9bff", watch: "#f0e442" } };   // barriers are purple: orange and red say how often a sector was loaded
const rgb = hex => [1, 3, 5].map(i => parseInt(hex.slice(i, i + 2), 16));
export function heat(times, dark, most = 8) {
  const ramp = RAMPS[dark ? "dark" : "light"], at = clamp((times - 1) / (most - 1)) * (ramp.length - 1), low = Math.min(Math.floor(at), ramp.length - 2);
  return `rgb(${rgb(ramp[low]).map((c, i) => Math.round(lerp(c, rgb(ramp[low + 1])[i], at - low))).join(" ")})`;
}

// ---- drawing -----------------------------------------------------------------------------------------------------------------------
function write(pen, view, words, x, y, { size = 1, align = "left", weight = 400, colour = view.ink, most } = {}) {
  pen.fillStyle = colour;
  pen.textAlign = align;
  pen.font = `${weight} ${Math.round(size * view.text)}px ${view.fontFamily}`;
  pen.fillText(words, x, y, most);
}
function fill(pen, { x, y, w, h }, colour, alpha = 1, inset = 0) {
  pen.globalAlpha = alpha;
  pen.fillStyle = colour;
  pen.fillRect(x + inset, y + inset, w - 2 * inset, h - 2 * inset);
  pen.globalAlpha = 1;
}
function outline(pen, { x, y, w, h }, colour, wide, alpha = 1) {
  pen.globalAlpha = alpha;
  pen.strokeStyle = colour;
  pen.lineWidth = wide;
  pen.strokeRect(x, y, w, h);
  pen.globalAlpha = 1;
}

/** A or B in sectors of eight floats, each in the colour of how often it was loaded. */
function drawMatrix(pen, view, where, name, times) {
  const { states } = view.scene, [rows, columns] = states.shapes[name];
  times.forEach((count, sector) => {
    const [row, column] = place(states, name, sector * FLOATS), box = cellBox(where[name], row, column, FLOATS);
    if (count) fill(pen, box, heat(count, view.dark));
    outline(pen, box, view.ink, 0.7, 0.35);
  });
  outline(pen, { ...cellBox(where[name], 0, 0, columns), h: rows * where[name].cell }, view.ink, 1.2);
}

function drawSquare(pen, view, at, rows, columns, colour, part) {
  const box = { x: at.x, y: at.y, w: columns * at.cell, h: rows * at.cell };
  if (part > 0) fill(pen, box, colour, part);
  pen.globalAlpha = 0.16;
  pen.strokeStyle = view.ink;
  pen.lineWidth = 0.6;
  pen.beginPath();
  for (let i = 1; i < columns; ++i) { pen.moveTo(at.x + i * at.cell, at.y); pen.lineTo(at.x + i * at.cell, at.y + box.h); }
  for (let i = 1; i < rows; ++i) { pen.moveTo(at.x, at.y + i * at.cell); pen.lineTo(at.x + box.w, at.y + i * at.cell); }
  pen.stroke();
  outline(pen, box, view.ink, 1.2);
}

function drawCounter(pen, view, where) {
  const { text, scene, at } = view, now = loaded(scene.states, where.side, at), most = scene.naive.sectors, { x, y, w } = where.corner;
  const [name, does] = TITLES[where.side];
  write(pen, view, name, x, y - 0.7 * text, { size: 1.1, weight: 700 });
  write(pen, view, does, x + pen.measureText(name).width, y - 0.7 * text, { size: 1.1 });
  write(pen, view, now.sectors.toLocaleString("en"), x, y + 2.9 * text, { size: 3.4, weight: 700 });
  write(pen, view, "sectors loaded", x, y + 4.4 * text, { weight: 600 });
  write(pen, view, ` in ${plural(now.requests, "request")}`, x + pen.measureText("sectors loaded").width, y + 4.4 * text);
  const bar = { x, y: y + 5 * text, w, h: 0.9 * text };
  if (now.sectors) fill(pen, { ...bar, w: w * now.sectors / most }, view.hues.barOf(where.side));
  outline(pen, bar, view.ink, 1, 0.6);
  return now;
}

/** What the colours say. The numbers come at the end, and stay: the largest of them is half of the answer. */
function drawLegend(pen, view, { box }) {
  const { text, at, scene, ended } = view, wide = Math.min(2.1 * text, box.w / 9), y = box.y + 3 * text, bar = { x: box.x + wide, y, w: 8 * wide, h: 1.1 * text };
  const said = box.w > 19 * text ? ["Each box of A and B is one sector, 8 floats.", "Its colour says how often it was loaded:"] : ["Each box: one sector, 8 floats.", "Colour: how often loaded."];
  said.forEach((line, i) => write(pen, view, line, box.x, box.y + (1.1 + 1.3 * i) * text, { most: box.w }));
  for (let i = 0; i < 48; ++i) fill(pen, { ...bar, x: bar.x + i * bar.w / 48, w: bar.w / 48 + 0.5 }, heat(0.5 + (i + 0.5) / 6, view.dark));
  for (const swatch of [{ ...bar, x: box.x, w: wide }, bar]) outline(pen, swatch, view.ink, 0.7, 0.5);
  const under = (words, x, align) => write(pen, view, words, x, y + 2.25 * text, { align, size: 0.92 });
  if (ended || at >= scene.steps) for (let times = 0; times <= 8; ++times) under(times, box.x + (times + 0.5) * wide, "center");
  else { under("not yet", box.x, "left"); under("often", bar.x + bar.w, "right"); if (box.w > 12 * text) under("once", bar.x + 2.6 * text, "left"); }
}

/** Shared memory: each tile blue where it is filled; a barrier is a frame around it in which everyone waits. */
function drawShared(pen, view, where) {
  const { text, scene, now } = view, { box } = where, step = now.step < 0 ? null : scene.states.steps[now.step], waits = step?.kind === "barrier";
  pen.setLineDash(waits ? [] : [5, 4]);
  outline(pen, box, waits ? view.hues.barrier : view.ink, waits ? 4 : 1.2, waits ? 1 : 0.7);
  pen.setLineDash([]);
  const says = waits ? "barrier: all 256 threads wait" : "shared memory of the block";
  write(pen, view, says, box.x + 0.6 * text, box.y + 1.2 * text, { weight: 600, colour: waits ? view.hues.barrier : view.ink, most: box.w - text });
  for (const name of ["As", "Bs"]) {
    const [rows, columns] = scene.states.shapes[name], at = where[name];
    drawSquare(pen, view, at, rows, columns, view.hues.shared, 0);
    for (const [element, part] of heldAt(scene.states, view.at, name)) fill(pen, elementBox(where, scene.states, name, element), view.hues.shared, part);
    outline(pen, { x: at.x, y: at.y, w: columns * at.cell, h: rows * at.cell }, view.ink, 1.2);
    write(pen, view, name, at.x, at.y - 0.3 * text, { size: 0.92 });
  }
}

/** The elements that a shared tile holds: each with 1, or with OLD when every thread has read it and the next tile may overwrite it. */
const OLD = 0.35;
export function heldAt(states, at, name) {
  const { step, done } = moment(at), held = new Map(), steps = states.steps.slice(0, step + 1);
  steps.forEach(({ kind, tiled }, i) => {
    const before = states.steps[i - 1];
    if (before?.kind === "barrier" && before.k > before.tile * states.shapes.As[1]) for (const element of held.keys()) held.set(element, OLD);
    const stored = kind === "load" ? tiled.touch[name] : undefined;
    stored?.forEach((element, thread) => { if (i < step || arrived(thread, done) >= 1) held.set(element, 1); });
  });
  return held;
}
const delayOf = thread => 0.6 * Math.floor(thread / 32) / WARPS;
const arrived = (thread, done) => clamp((done - delayOf(thread)) / 0.4);

/** What every thread of the block has on its way from memory to shared memory at this moment. */
function drawMoving(pen, view, where, { touch }) {
  const { states } = view.scene, { done } = view.now, [from, to] = Object.keys(touch), mark = Math.max(2, 0.62 * where.A.cell);
  touch[from].forEach((element, thread) => {
    const t = arrived(thread, done);
    if (t <= 0 || t >= 1) return;
    const box = between(elementBox(where, states, from, element), elementBox(where, states, to, touch[to][thread]), ease(t)), [x, y] = middle(box);
    fill(pen, { x: x - mark / 2, y: y - mark / 2, w: mark, h: mark }, view.hues.now, 0.75);
  });
}

/** The elements that the block touches in this step, and those of the watched thread with a line to where they go. */
function drawTouched(pen, view, where, part, kind) {
  const { states } = view.scene, watched = view.watched, seen = { A: view.hues.now, B: view.hues.now, As: view.hues.multiply, Bs: view.hues.multiply };
  for (const [name, elements] of Object.entries(part.touch)) {
    if (kind !== "load") for (const element of new Set(elements)) if (seen[name]) fill(pen, elementBox(where, states, name, element), seen[name], 0.85, 0.5);
  }
  const boxes = Object.entries(part.touch).map(([name, elements]) => elementBox(where, states, name, elements[watched]));
  const ends = kind === "multiply" ? boxes.map(box => [box, elementBox(where, states, "C", watched)]) : kind === "load" ? [boxes] : [];
  ends.forEach(([a, b], i) => drawLine(pen, view, middle(a), middle(b), kind === "multiply" && part.touch.As ? 0.5 - i : 0));
  for (const box of boxes) drawWatched(pen, view, box);
}
function drawLine(pen, view, [x1, y1], [x2, y2], bend) {              // bend: lines from As and Bs take different ways, else one may hide the other
  for (const [colour, wide] of [[view.ink, 3.6], [view.hues.watch, 1.8]]) {
    pen.strokeStyle = colour;
    pen.lineWidth = wide;
    pen.beginPath();
    pen.moveTo(x1, y1);
    pen.quadraticCurveTo((x1 + x2) / 2 - 0.3 * bend * (x2 - x1), (y1 + y2) / 2 + bend * (y2 - y1), x2, y2);
    pen.stroke();
  }
}
function drawWatched(pen, view, box) {
  const grow = { x: box.x - 2, y: box.y - 2, w: Math.max(7, box.w) + 4, h: Math.max(7, box.h) + 4 };
  fill(pen, grow, view.hues.watch);
  outline(pen, grow, view.dark ? "#000" : view.ink, 1.4);
}

/** What stands beside the row of A and the column of B before the first step, shorter where the matrix is: who needs them. */
const NEEDED = { A: ["16 threads need this row", "16 threads need it", "16 threads"], B: ["16 threads need this column", "16 threads need it", "16 threads"] };

/** The row of A and the column of B that the watched thread needs, outlined from the beginning. */
function drawNeeded(pen, view, where) {
  const { states } = view.scene, [row, column] = place(states, "C", view.watched);
  const A = { ...cellBox(where.A, row, 0, states.shapes.A[1]) }, B = { ...cellBox(where.B, 0, column), h: states.shapes.B[0] * where.B.cell };
  for (const box of [A, B]) { outline(pen, box, view.paper, 4); outline(pen, box, view.ink, 2); }
  if (view.at > 0) return;
  const [x, y] = middle(A), [across, down] = middle(B);
  drawNote(pen, view, NEEDED.A, x, row > 7 ? A.y - 1.2 * view.text : A.y + A.h + 1.6 * view.text, A.w);
  pen.save();
  pen.translate(column > 7 ? across - 1.4 * view.text : across + 1.8 * view.text, down);
  pen.rotate(-Math.PI / 2);
  drawNote(pen, view, NEEDED.B, 0, 0, B.h);
  pen.restore();
}
function drawNote(pen, view, forms, x, y, most) {
  pen.font = `600 ${view.text}px ${view.fontFamily}`;
  const words = forms.find(words => pen.measureText(words).width + 8 <= most);
  if (!words) return;
  const wide = pen.measureText(words).width;
  fill(pen, { x: x - wide / 2 - 4, y: y - 1.05 * view.text, w: wide + 8, h: 1.4 * view.text }, view.paper, 0.9);
  write(pen, view, words, x, y, { weight: 600, align: "center" });
}

function drawStrip(pen, view, { side, strip }) {
  const { states, steps } = view.scene, wide = strip.w / steps, { text, hues } = view;
  states.steps.forEach((step, i) => {
    const box = { x: strip.x + i * wide, y: strip.y, w: wide, h: strip.h }, part = step[side];
    if (step.kind === "barrier" && part) fill(pen, { ...box, y: box.y - 0.25 * text, h: box.h + 0.5 * text }, hues.barrier, 1, 0.8);
    const loads = part && Object.keys(part.sectors).length, halves = loads && step.kind === "multiply";
    if (loads) fill(pen, { ...box, h: halves ? box.h / 2 : box.h }, hues.now, 1, 0.4);
    if (step.kind === "multiply") fill(pen, { ...box, y: halves ? box.y + box.h / 2 : box.y, h: halves ? box.h / 2 : box.h }, hues.multiply, 1, 0.4);
  });
  outline(pen, strip, view.ink, 0.8, 0.5);
  const x = strip.x + view.at * wide;
  fill(pen, { x: x - 1.5, y: strip.y - 0.45 * text, w: 3, h: strip.h + 0.9 * text }, view.ink);
  drawKey(pen, view, strip, [["loads", hues.now], ["multiplies", hues.multiply], ...(side === "tiled" ? [["barriers", hues.barrier]] : [])]);
}
function drawKey(pen, view, strip, entries) {
  let x = strip.x;
  const y = strip.y - 0.65 * view.text;
  for (const [words, colour] of entries) {
    fill(pen, { x, y: y - 0.68 * view.text, w: 0.7 * view.text, h: 0.7 * view.text }, colour);
    write(pen, view, words, x + 0.95 * view.text, y, { size: 0.92 });
    x += pen.measureText(words).width + 2 * view.text;
  }
}

function drawSide(pen, view, where) {
  const { scene, text, now } = view, { states } = scene, step = now.step < 0 ? null : states.steps[now.step], part = step?.[where.side];
  const { times } = drawCounter(pen, view, where);
  if (where.side === "tiled") drawShared(pen, view, where); else drawLegend(pen, view, where);
  for (const name of ["A", "B"]) drawMatrix(pen, view, where, name, times[name]);
  const [rows, columns] = states.shapes.C, multiplied = states.steps.slice(0, Math.max(0, now.step)).filter(s => s.kind === "multiply").length + (step?.kind === "multiply" ? now.done : 0);
  drawSquare(pen, view, where.C, rows, columns, view.hues.multiply, 0.62 * multiplied / states.shapes.A[1]);
  drawNeeded(pen, view, where);
  write(pen, view, "A", where.A.x, where.A.y - 0.35 * text, { weight: 700 });
  write(pen, view, "B", where.B.x - 0.5 * text, where.B.y + 0.9 * text, { weight: 700, align: "right" });
  write(pen, view, "C", where.C.x + columns * where.C.cell, where.C.y + rows * where.C.cell + 1.05 * text, { weight: 700, align: "right" });
  if (part && step.kind !== "barrier") {
    drawTouched(pen, view, where, part, step.kind);
    if (now.done < 1 && step.kind === "load") drawMoving(pen, view, where, part);
  }
  drawWatched(pen, view, elementBox(where, states, "C", view.watched));
  drawStrip(pen, view, where);
}

function draw(pen, view) {
  const hues = HUES[view.dark ? "dark" : "light"], where = layout(view);
  const more = { ...view, text: textOf(view), now: moment(view.at), watched: watchedIn(view), hues: { ...hues, barOf: side => heat(side === "naive" ? 7 : 2, view.dark) } };
  for (const side of SIDES) drawSide(pen, more, where[side]);
}
const watchedIn = ({ hover, values, scene }) => (hover?.pick ?? values).row * scene.states.shapes.C[1] + (hover?.pick ?? values).column;

// ---- words ---------------------------------------------------------------------------------------------------------------------------
const grown = (view, side) => { const { step } = moment(view.at), part = view.scene.states.steps[step][side]; return Object.values(part?.sectors ?? {}).flat(2).length; };

const BARRIERS = ["Tiled: the first barrier. No thread reads As or Bs before all 256 threads have stored their elements.",
  "Tiled: the second barrier. No thread stores an element of the second tiles before all 256 threads have read the first ones.",
  "Tiled: the first barrier again. Now As and Bs hold the second tiles, and no thread reads them before all 256 threads have stored theirs.",
  "Tiled: the second barrier again. No tile follows, so that nothing could be overwritten here. The barrier stands in the loop, and the last round comes through it, too."];

export function says(view) {
  const { scene, values } = view, { step } = moment(view.at), { row, column } = values;
  if (step < 0) return `Both blocks compute the same 16 × 16 elements of C, and thread (${column}, ${row}) needs row ${row} of A and column ${column} of B. How many times fewer sectors will the tiled kernel load? Predict, then play.`;
  const { kind, tile, k } = scene.states.steps[step];
  if (kind === "load") { const [name] = Object.keys(scene.states.steps[step].tiled.touch); return `Tiled: each of the 256 threads loads one element of ${name} and stores it in ${name}s, ${grown(view, "tiled")} more sectors. This is the ${tile ? "second" : "first"} tile of ${name}. Naive: nothing here. It loads while it multiplies.`; }
  if (kind === "barrier") return BARRIERS[2 * tile + (k > tile * 16)];
  if (kind === "multiply") return `k = ${k}. Naive: column ${k} of A and row ${k} of B come from global memory, ${grown(view, "naive")} more sectors. Tiled: the same numbers come from shared memory, ${grown(view, "tiled") || "no"} sectors.`;
  const often = side => Math.max(...scene[side].times.A);
  return `Naive: ${scene.naive.sectors.toLocaleString("en")} sectors, each one loaded ${often("naive")} times. Tiled: ${scene.tiled.sectors}, each loaded ${often("tiled") === 1 ? "once" : `${often("tiled")} times`}. That is ${scene.answer} times fewer. Why ${often("naive")}?`;
}

function when(view) {
  const { step } = moment(view.at);
  if (step < 0) return "before the first step";
  const { kind, k } = view.scene.states.steps[step];
  return `step ${step + 1} of ${view.scene.steps}: ${kind === "multiply" ? `k = ${k}` : kind}`;
}

function describes(view) {
  const [naive, tiled] = SIDES.map(side => loaded(view.scene.states, side, view.at));
  return `${says(view)} So far: naive ${naive.sectors} sectors in ${naive.requests} requests, tiled ${tiled.sectors} in ${tiled.requests}.`;
}

function hit(view, x, y) {
  const where = layout(view), { states } = view.scene;
  for (const side of SIDES) for (const name of ["C", "A", "B"]) {
    const at = where[side][name], [rows, columns] = states.shapes[name], row = Math.floor((y - at.y) / at.cell), column = Math.floor((x - at.x) / at.cell);
    if (row < 0 || column < 0 || row >= rows || column >= columns) continue;
    if (name === "C") return { pick: { row, column }, text: `C[${row}][${column}]: click to watch it` };
    const first = column - column % FLOATS, times = loaded(states, side, view.at).times[name][(row * columns + first) / FLOATS];
    return { text: `${name}[${row}][${first}] to [${first + FLOATS - 1}], one sector: loaded ${times === 1 ? "once" : plural(times, "time")} so far` };
  }
  return null;
}

// ---- the explorable ------------------------------------------------------------------------------------------------------------------
export const picture = {
  title: "One block of the naive kernel and one of the tiled kernel",
  ask: { label: "Your prediction", unit: "times fewer" },
  jump: "Next barrier",
  order: ["says", "player", "picture", "controls"],           // what to do and Play are on the first screen of a lesson
  height: (width, text, narrow) => (narrow ? 2 * Math.round(0.72 * width + 7 * text) : clamp(0.48 * width, 390, 490)),
  controls: () => ["row", "column"].map(key => ({ kind: "range", key, label: `Watch ${key}`, name: `${key} of C that the watched thread computes`,
    min: 0, max: 15, says: values => `${values[key]}` })),
  scene: sceneOf, draw, says, when, describes, hit,
};
export default explorable(picture);
