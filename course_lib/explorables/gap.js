// Lesson 15: the speed of kernels in percent of the library's, over N. One curve after another; a line for reading moves along N.
// Data: gap.py, recorded shares. Nothing is computed here but places on the canvas.
import { clamp, explorable, lerp } from "./stage.js";

const EPS = 1e-6, MOST = 145, LINES = [0, 50, 100];
const HUES = { light: ["#6b6b6b", "#d55e00", "#0072b2", "#a4508b", "#00805f", "#8a6d00"], dark: ["#b0b0b0", "#ff9248", "#5cb8f0", "#e79acb", "#3fd0a4", "#e6c64d"] };
const TICKS = [256, 512, 768, 1024, 1536, 2048, 8192];

export const percent = share => `${Math.round(share)} %`;
/** How many curves are complete at a moment, and which part of the next one is drawn. The first one is there from the beginning. */
export function drawn(at, curves) {
  const whole = Math.min(curves, 1 + Math.floor(at + EPS));
  return { whole, part: whole < curves ? clamp(at + 1 - whole) : 0 };
}
/** Whether the share of a curve at a size can be seen at a moment. */
export function seen(scene, curve, n, at) {
  const { whole, part } = drawn(at, scene.curves.length);
  return curve < whole || curve === whole && n <= part * (scene.sizes.length - 1) + EPS && part > 0;
}

/** The highest share of the axis, in percent: the library's, and more once the last curve comes, the only one that exceeds it. */
export const most = (at, curves) => lerp(110, MOST, clamp(at + 2 - curves));

export function sceneOf(values, states) {
  const { curves, sizes, asked, at } = states;
  return { states, curves, sizes, n: values.n, steps: curves.length - 1, keeps: true, seconds: () => 3.2, answer: Math.round(curves[asked].share[at]) };
}

// ---- where things are --------------------------------------------------------------------------------------------------------------
export function layout(view) {
  const { width, height, narrow, scene } = view, text = Math.min(view.text, width / (narrow ? 28 : 56), height / (narrow ? 40 : 25));
  const rows = scene.curves.length, list = narrow ? { x: 0, w: width, row: 2.9 * text } : { w: Math.min(0.42 * width, 27 * text), row: 3.1 * text };
  const left = 4.5 * text, top = 2.6 * text, foot = 2.9 * text, high = narrow ? height - rows * list.row - 2.4 * text : height;
  const plot = { x: left, y: top, w: (narrow ? width : width - list.w - 2.2 * text) - left - 1.2 * text, h: high - top - foot };
  if (narrow) list.y = high + 1.4 * text;
  else Object.assign(list, { x: width - list.w, y: Math.max(top, (height - rows * list.row) / 2) });
  const gap = plot.w / (scene.sizes.length - 1), highest = most(view.at ?? 0, scene.curves.length);
  return { text, plot, list, xOf: n => plot.x + n * gap, yOf: share => plot.y + plot.h * (1 - clamp(share, 0, highest) / highest) };
}

// ---- drawing -----------------------------------------------------------------------------------------------------------------------
function write(pen, view, words, x, y, { size = 1, align = "left", weight = 400, colour = view.ink, most } = {}) {
  pen.fillStyle = colour;
  pen.textAlign = align;
  pen.font = `${weight} ${Math.round(size * view.text)}px ${view.fontFamily}`;
  pen.fillText(words, x, y, ...(most === undefined ? [] : [most]));
}
function stroke(pen, colour, width, points) {
  pen.strokeStyle = colour;
  pen.lineWidth = width;
  pen.beginPath();
  points.forEach(([x, y], i) => (i ? pen.lineTo(x, y) : pen.moveTo(x, y)));
  pen.stroke();
}
/** A mark of its own for each curve, so that nobody needs to see colours. */
function mark(pen, curve, x, y, r, colour, paper) {
  const sides = [0, 3, 4, 4, 3, 0][curve], turn = [0, -Math.PI / 2, Math.PI / 4, 0, Math.PI / 2, 0][curve];
  pen.beginPath();
  if (!sides) pen.arc(x, y, r, 0, 2 * Math.PI);
  for (let i = 0; i < sides; ++i) pen.lineTo(x + 1.25 * r * Math.cos(turn + 2 * Math.PI * i / sides), y + 1.25 * r * Math.sin(turn + 2 * Math.PI * i / sides));
  pen.closePath();
  pen.fillStyle = curve === 5 ? paper : colour;
  pen.fill();
  pen.strokeStyle = colour;
  pen.lineWidth = 1.5;
  pen.stroke();
}

function drawFrame(pen, view, where) {
  const { text, narrow, scene } = view, { plot, xOf, yOf } = where;
  for (const line of LINES) {
    pen.globalAlpha = line === 100 ? 1 : 0.18;
    stroke(pen, view.ink, line === 100 ? 2 : 1, [[plot.x, yOf(line)], [plot.x + plot.w, yOf(line)]]);
    pen.globalAlpha = 1;
    write(pen, view, percent(line), plot.x - 0.5 * text, yOf(line) + 0.35 * text, { align: "right", size: 0.96, weight: line === 100 ? 700 : 400 });
  }
  write(pen, view, "cuBLAS", xOf(0) + 0.4 * text, yOf(100) + 1.2 * text, { weight: 600 });
  scene.sizes.forEach((N, n) => {
    stroke(pen, view.ink, 1, [[xOf(n), plot.y + plot.h], [xOf(n), plot.y + plot.h + 4]]);
    if (TICKS.includes(N)) write(pen, view, String(N), xOf(n), plot.y + plot.h + 1.3 * text, { align: "center", size: 0.96 });
  });
  write(pen, view, narrow ? `N: ${scene.sizes.length} sizes, side by side` : `N, rows and columns of the matrices: the ${scene.sizes.length} recorded sizes side by side`, plot.x + plot.w / 2, plot.y + plot.h + 2.6 * text, { align: "center", size: 0.96, most: plot.w });
}

/** The points of a curve that are on show; the last one lies between two sizes while the curve grows. */
export function points(scene, curve, at) {
  const { whole, part } = drawn(at, scene.curves.length), last = scene.sizes.length - 1, { share } = scene.curves[curve];
  const until = curve < whole ? last : curve === whole ? part * last : 0;
  if (curve > whole || curve === whole && part <= 0) return [];
  const found = share.slice(0, Math.floor(until + EPS) + 1).map((value, n) => [n, value]), rest = until - Math.floor(until + EPS);
  if (rest > EPS) { const [n, value] = found.at(-1); found.push([until, value + rest * (share[n + 1] - value)]); }
  return found;
}

function drawCurves(pen, view, { xOf, yOf, text }) {
  const { scene, at } = view, { whole, part } = drawn(at, scene.curves.length), now = part > 0 ? whole : whole - 1;
  scene.curves.forEach((_, curve) => {
    const found = points(scene, curve, at).map(([n, value]) => [xOf(n), yOf(value), n]), strong = curve === now;
    if (!found.length) return;
    pen.globalAlpha = strong ? 1 : 0.75;
    stroke(pen, view.hues[curve], strong ? 3.2 : 1.5, found);
    const { low, high } = scene.curves[curve];
    for (const [x, , n] of found) if (strong && Number.isInteger(n)) stroke(pen, view.hues[curve], 1.2, [[x, yOf(low[n])], [x, yOf(high[n])]]);
    for (const [x, y, n] of found) if (Number.isInteger(n)) mark(pen, curve, x, y, (strong ? 0.3 : 0.22) * text, view.hues[curve], view.paper);
    pen.globalAlpha = 1;
  });
}

/** The line for reading, and beside the picture the shares at its N. */
function drawReading(pen, view, where) {
  const { text, scene, at, smooth } = view, { plot, list, xOf, yOf } = where, x = xOf(smooth.n), { n } = scene;
  pen.setLineDash([5, 4]);
  stroke(pen, view.ink, 1.2, [[x, plot.y], [x, plot.y + plot.h]]);
  pen.setLineDash([]);
  const half = 2.8 * text;
  write(pen, view, `N = ${scene.sizes[n]}`, clamp(x, plot.x + half, plot.x + plot.w + 1.2 * text - half), plot.y - 0.8 * text, { align: "center", weight: 700, size: 1.1 });
  scene.curves.forEach((curve, i) => {
    const y = list.y + i * list.row, shown = seen(scene, i, n, at), { whole, part } = drawn(at, scene.curves.length), begun = i < whole || i === whole && part > 0;
    if (shown) mark(pen, i, x, yOf(curve.share[n]), 0.42 * text, view.hues[i], view.paper);
    mark(pen, i, list.x + 0.7 * text, y + 0.75 * text, 0.38 * text, view.hues[i], view.paper);
    write(pen, view, begun ? `${curve.name}: ${curve.idea}` : curve.name, list.x + 1.7 * text, y + 1.1 * text, { weight: i === whole - (part > 0 ? 0 : 1) ? 700 : 400, most: list.w - 1.9 * text });
    const bar = { x: list.x + 1.7 * text, y: y + 1.45 * text, w: list.w - 7 * text, h: 0.75 * text };
    pen.globalAlpha = 0.14;
    pen.fillStyle = view.ink;
    pen.fillRect(bar.x, bar.y, bar.w, bar.h);
    pen.globalAlpha = 1;
    pen.fillStyle = view.hues[i];
    if (shown) pen.fillRect(bar.x, bar.y, bar.w * curve.share[n] / MOST, bar.h);
    pen.fillStyle = view.ink;
    const library = bar.x + bar.w * 100 / MOST;
    pen.fillRect(library - 1, bar.y - 2, 2, bar.h + 4);
    if (i === scene.curves.length - 1) write(pen, view, "100 %: cuBLAS", library, bar.y + bar.h + 1.2 * text, { align: "center", size: 0.96, weight: 600 });
    write(pen, view, shown ? percent(curve.share[n]) : "?", list.x + list.w - 0.3 * text, bar.y + 0.72 * text, { align: "right", weight: 700, size: 1.05 });
  });
}

export function draw(pen, given) {
  const where = layout(given), view = { ...given, text: where.text, hues: HUES[given.dark ? "dark" : "light"] };
  drawFrame(pen, view, where);
  drawCurves(pen, view, where);
  drawReading(pen, view, where);
}

// ---- words -------------------------------------------------------------------------------------------------------------------------
const shareOf = ({ curves, n }, i) => percent(curves[i].share[n]).replace(" %", " % of cuBLAS");
export function says(view, step) {
  const { scene } = view, N = scene.sizes[scene.n], { curves, states } = scene;
  if (step <= 0) return `At N = ${N} the kernel of lesson 08 reaches ${shareOf(scene, 0)}. The next kernel loads four words at a time. How many percent of cuBLAS does it reach at N = ${scene.sizes[states.at]}? Predict, then play.`;
  const { name, idea, share } = curves[step], before = curves[step - 1].share[scene.n], now = share[scene.n], change = Math.round(now) - Math.round(before);
  const moved = change ? `${Math.abs(change)} points ${change > 0 ? "more" : "less"} than the one before` : "as much as the one before";
  return `${name[0].toUpperCase()}${name.slice(1)} (${idea}): ${shareOf(scene, step)} at N = ${N}, ${moved}. Over all sizes it goes from ${percent(Math.min(...share))} to ${percent(Math.max(...share))}.`;
}
const when = (view, step) => (step <= 0 ? "lesson 08's kernel alone" : `kernel ${step + 1} of ${view.scene.curves.length}`);
export function describes(view, step) {
  const { scene } = view, read = scene.curves.slice(0, step + 1).map(({ name, share }) => `${name} ${percent(share[scene.n])}`);
  return `${says(view, step)} Read at N = ${scene.sizes[scene.n]}, in percent of cuBLAS: ${read.join(", ")}.`;
}

function hit(view, x, y) {
  const { plot, xOf } = layout(view), { sizes } = view.scene, n = Math.round((x - plot.x) / (xOf(1) - xOf(0)));
  if (n < 0 || n >= sizes.length || y < plot.y || y > plot.y + plot.h) return null;
  return { text: `N = ${sizes[n]}: click to read it`, pick: { n } };
}

// ---- the explorable ----------------------------------------------------------------------------------------------------------------
export const picture = {
  title: "How close each kernel comes to the library",
  ask: { label: "Your prediction", unit: "% of cuBLAS" },
  order: ["says", "player", "controls", "picture"],
  height: (width, text, narrow) => (narrow ? Math.round(0.5 * width + 26 * text) : clamp(0.34 * width, 370, 430)),
  controls: states => [{ kind: "range", key: "n", label: "N", name: "N: rows and columns of the matrices", min: 0, max: states.sizes.length - 1, says: values => String(states.sizes[values.n]) }],
  scene: sceneOf, draw, says, when, describes, hit,
};
export default explorable(picture);
