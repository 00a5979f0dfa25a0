// Lesson 05: one load request. The arrows of 32 lanes land in memory, one lane after another, and each sector lights up when it is first touched.
// The lanes walk with a stride through an array, or, where `values.walk` says how, through a matrix B whose rows have COLUMNS floats and `pad` more.
// Of such a matrix the beginning of each row is drawn, under that of the row above, and left of it the `pad` unused floats before it.
// Computed here: the bytes that each lane asks for, and their sectors. tests/explorables/test_coalescing.py holds them to the simulator.
import { clamp, ease, explorable, lerp, plural } from "./stage.js";

const LANES = 32, SECTOR = 32, LINE = 128, FLOAT = 4, EPS = 1e-6;        // bytes, but for the lanes
const MOST_STRIDE = 16, MOST_OFFSET = 8, COLUMNS = 128, TILE = 16, MOST_PAD = 8;
const STAY = [0, 1, TILE];                                                // lanes whose arrows stay in a picture of B: neighbours, and one with the other ty
const FALL = 13;                                                           // letters' heights from the lanes to memory, at most
const HIGH = { floats: 22.5, wide: 26 };                                   // letters' heights of the picture: up to 4 rows of memory, and up to 16
const SHOWN = 160;                                                         // bytes of each row of B that are drawn: a cache line and a sector
const PIECES = { 2: ["half", "halves"], 4: ["float", "floats"], 8: ["pair of floats", "pairs of floats"], 16: ["group of four floats", "groups of four floats"] };
const EVERY = ["", "", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth", "eleventh", "twelfth", "thirteenth", "fourteenth", "fifteenth", "sixteenth"];

/** Thread and element of B of a lane: a warp is two rows of a block of 16 × 16 threads, with tx from 0 to 15 and two values of ty. */
export function elementOf({ walk }, lane) {
  const tx = lane % TILE, ty = Math.floor(lane / TILE);
  return { tx, ty, row: walk === "along" ? ty : tx, column: walk === "along" ? tx : ty };
}

/** The first byte that a lane asks for. Without a matrix, lane l takes piece l × stride, counted from the offset on. */
export function addressOf(values, lane) {
  const { width, stride, offset, walk, pad } = values;
  if (!walk) return FLOAT * offset + width * stride * lane;
  const { row, column } = elementOf(values, lane);
  return FLOAT * (row * (COLUMNS + pad) + column);
}

/** Whether the hardware refuses the request: a load of 8 or 16 bytes must begin at a multiple of its size. */
export const refused = values => addressOf(values, 0) % values.width !== 0;

/** What the first lanes of a request touch: {sectors, lines: in the order of their first touch, wanted: different bytes}. */
export function touched(values, lanes = LANES, at = lane => addressOf(values, lane)) {
  const sectors = new Set(), lines = new Set(), starts = new Set();
  for (let lane = 0; lane < lanes; ++lane) {
    const address = at(lane);
    sectors.add(Math.floor(address / SECTOR));
    lines.add(Math.floor(address / LINE));
    starts.add(address);
  }
  return { sectors: [...sectors], lines: [...lines], wanted: starts.size * values.width };
}

const HIDE = [{ step: 0, label: "beginning, where no result is shown" }];
export function sceneOf(values) {
  const bad = refused(values), all = touched(values);                      // a refused load is seen to be one at once, at every step
  return { bad, all, steps: LANES, rest: LANES, answer: bad ? 0 : all.sectors.length, marks: HIDE, seconds: step => (bad ? 0.02 : step < 3 ? 0.7 : step < 8 ? 0.3 : 0.14) };
}
const PER_ROW = 512;                                                       // bytes of memory
const rowsOf = values => (values.walk ? TILE : Math.ceil((addressOf(values, LANES - 1) + values.width) / PER_ROW));     // as many as the lanes reach over
const ldbOf = ({ pad }) => FLOAT * (COLUMNS + pad);                      // bytes from one row of B to the next
/** A lane's address while a control settles: of B, that of the nearest element. */
const smoothly = ({ smooth, values }) => lane => (values.walk ? Math.round(smooth[`r${lane}`]) * ldbOf(smooth) + FLOAT * Math.round(smooth[`c${lane}`]) : smooth[`a${lane}`]);

/** Which lanes have landed, and how far the next one is on its way. */
const landed = at => ({ lanes: Math.min(LANES, Math.floor(at + EPS)), part: at - Math.floor(at + EPS) });

// ---- where things are ------------------------------------------------------------------------------------------------------------
const textOf = ({ width, height, text, narrow }) => Math.min(text, width / (narrow ? 28 : 50), height / (narrow ? 30 : 20));
export function layout(view) {
  const { width, height, narrow, smooth } = view, { rows } = smooth, text = textOf(view), side = narrow ? 0 : 14.5 * text, margin = 3.2 * text, { walk } = view.values;
  const wide = width - margin - (narrow ? 2 : side + 2 * text), slot = wide / LANES, perRow = walk ? SHOWN : PER_ROW;
  const foot = 3.2 * text, counters = narrow ? 8 * text : 0;
  const lanes = { x: margin, y: 1.8 * text, w: slot, h: 1.5 * text };
  const room = height - counters - foot - lanes.y - lanes.h, least = walk ? Math.max(0.16 * room, 2.6 * text) : room * (narrow ? 0.2 : 0.38), pitch = Math.min(3.4 * text, (room - least) / rows), deep = pitch * rows;
  const long = wide - (walk ? 1.4 * text : 0), lead = walk ? SECTOR * clamp(smooth.pad) : 0;                 // bytes before each row of B
  const memory = { x: margin, y: lanes.y + lanes.h + Math.min(room - deep, FALL * text), w: long, pitch, high: Math.min(walk ? 0.84 * pitch : 0.72 * pitch, pitch - (walk ? 3 : 4)), perRow, byte: long / perRow, rows, lead, step: walk ? ldbOf(smooth) : perRow };
  const box = narrow ? { x: 2, y: height - counters + 0.4 * text, w: width - 4 } : { x: width - side, y: lanes.y, w: side - 4 };
  return { text, lanes, memory, counters: box, bottom: narrow ? height : memory.y + deep + foot };
}
const laneBox = ({ lanes }, lane) => ({ x: lanes.x + lane * lanes.w, y: lanes.y, w: lanes.w, h: lanes.h });
/** The box of some bytes of a row, counted from its beginning; the row may lie between two others, on its way. */
const boxAt = ({ memory }, row, byte, count) => ({ x: memory.x + (memory.lead + byte) * memory.byte, y: memory.y + row * memory.pitch, w: count * memory.byte, h: memory.high });
export function byteBox(where, first, count) {
  const row = Math.floor((first + EPS) / where.memory.step);
  return boxAt(where, row, first - row * where.memory.step, count);
}
/** All sectors, or cache lines, that are seen: [{ index, box }]. Of B, one that ends in the next row is seen there, and one may be cut off on the right. */
export function piecesOf(where, size) {
  const { rows, perRow, lead, step } = where.memory, found = [];
  for (let row = 0; row < Math.round(rows); ++row) {
    const from = row * step - lead;
    for (let index = Math.max(0, Math.floor((from + EPS) / size)); index * size < from + perRow - EPS; ++index) found.push({ index, box: boxAt(where, row, index * size - row * step, size) });
  }
  return found;
}
const laneSeen = (view, where, lane) => (view.values.walk ? boxAt(where, view.smooth[`r${lane}`], FLOAT * view.smooth[`c${lane}`], view.smooth.width) : byteBox(where, smoothly(view)(lane), view.smooth.width));

// ---- colours ---------------------------------------------------------------------------------------------------------------------
// From dark to bright, or from blue to yellow on a dark page: the order of the lanes is seen without colour vision.
const RAMPS = { light: ["#46327e", "#365c8d", "#277f8e", "#1fa187", "#4ac16d", "#a0da39"], dark: ["#8c7ae6", "#5f9fe8", "#43bccd", "#3fd0a3", "#86e05a", "#e6ee5a"] };
const rgb = hex => [1, 3, 5].map(i => parseInt(hex.slice(i, i + 2), 16));
const coloursOf = ramp => Array.from({ length: LANES }, (_, lane) => {
  const at = lane / (LANES - 1) * (ramp.length - 1), low = Math.min(Math.floor(at), ramp.length - 2);
  return `rgb(${rgb(ramp[low]).map((c, i) => Math.round(lerp(c, rgb(ramp[low + 1])[i], at - low))).join(" ")})`;
});
const COLOURS = { light: coloursOf(RAMPS.light), dark: coloursOf(RAMPS.dark) };
const HUES = { light: { lit: "#f6c177", bad: "#b9321f", wanted: "#365c8d", idle: "#a8a8a8", white: 12 }, dark: { lit: "#8a5614", bad: "#ff8a6b", wanted: "#5f9fe8", idle: "#767676", white: 0 } };

// ---- drawing ---------------------------------------------------------------------------------------------------------------------
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
function outline(pen, { x, y, w, h }, colour, wide, alpha = 1) {
  pen.globalAlpha = alpha;
  pen.strokeStyle = colour;
  pen.lineWidth = wide;
  pen.strokeRect(x, y, w, h);
  pen.globalAlpha = 1;
}

/** Draw within the rows: what goes on beyond them is cut off. */
function within(pen, { memory }, act) {
  pen.save();
  pen.beginPath();
  pen.rect(memory.x - 1.5, memory.y - 4, memory.w + 3, memory.rows * memory.pitch + 4);
  pen.clip();
  act();
  pen.restore();
}
function drawMemory(pen, view, where, now) {
  const { memory } = where, { hues, text, values } = view, sectors = piecesOf(where, SECTOR);
  within(pen, where, () => {
    for (const { index, box } of sectors) if (now.sectors.has(index)) fill(pen, box, hues.lit);
    for (let row = 1; values.walk && row < TILE; ++row) {                  // what belongs to nobody
      for (let i = 1; i <= values.pad; ++i) fill(pen, boxAt(where, row, -FLOAT * i, FLOAT), hues.idle);
    }
    for (const { box } of sectors) outline(pen, box, view.ink, 0.8, 0.3);
  });
  for (let row = 0; row < Math.round(memory.rows); ++row) {
    if (memory.pitch < 1.1 * text && row % (memory.pitch < 0.75 * text ? 4 : 2)) continue;
    const y = memory.y + row * memory.pitch + 0.5 * memory.high + 0.35 * text, name = values.walk ? `row ${row}` : (row * memory.perRow).toLocaleString("en");
    write(pen, view, name, memory.x - 0.4 * text, y, { align: "right", size: 0.9, most: memory.x - 0.4 * text });
    if (values.walk) write(pen, view, "…", memory.x + memory.w + 0.3 * text, y - 0.1 * text);
  }
  const below = memory.y + (Math.round(memory.rows) - 1) * memory.pitch + memory.high + 1.35 * text;
  const grey = values.walk && values.pad ? [`Grey: the ${values.pad > 1 ? plural(values.pad, "unused float") : "unused float"} at the end of the row above.`] : [];
  const captions = [
    ["Box: a sector, 32 bytes. Between two long strokes: a cache line, four sectors.", "Between two long strokes: a cache line."],
    values.walk ? [`The beginning of each row of B. A number: the lane that asks for this float.${grey.map(words => ` ${words}`).join("")}`, grey[0] ?? "The beginning of each row of B."] : ["Each row goes on where the row above ends. Left: the number of its first byte.", "Each row goes on where the row above ends."],
  ];
  pen.font = `400 ${Math.round(text)}px ${view.fontFamily}`;
  captions.forEach((words, i) => write(pen, view, words.find(some => pen.measureText(some).width < memory.w) ?? words.at(-1), memory.x, below + 1.35 * i * text, { most: memory.w }));
}

/** A strong frame around each sector that is touched, and a long stroke where a cache line begins or ends. */
function drawFrames(pen, view, where, now) {
  const over = view.values.walk ? 1.5 : 4;                                  // pixels above and below a strip
  within(pen, where, () => {
    for (const { box: { x, y, w, h } } of piecesOf(where, LINE)) for (const at of [x, x + w]) fill(pen, { x: at - 0.8, y: y - over, w: 1.6, h: h + 2 * over }, view.ink);
    for (const { index, box } of piecesOf(where, SECTOR)) if (now.sectors.has(index)) outline(pen, box, view.ink, 2);
  });
}

/** One lane's arrow; `part` below 1: it is on its way. */
function drawArrow(pen, view, where, lane, part, { faint = false } = {}) {
  const from = laneBox(where, lane), to = laneSeen(view, where, lane), { text, hues } = view;
  const x0 = from.x + from.w / 2, y0 = from.y + from.h, x1 = to.x + to.w / 2, y1 = to.y, x = lerp(x0, x1, part), y = lerp(y0, y1, part);
  const colour = view.scene.bad ? hues.bad : view.colours[lane];
  pen.globalAlpha = faint ? 0.75 : 0.85;
  pen.strokeStyle = colour;
  pen.lineWidth = Math.max(1.2, 0.12 * text);
  pen.setLineDash(faint ? [4, 4] : []);
  const path = new Path2D();
  path.moveTo(x0, y0);
  path.lineTo(x, y);
  if (view.values.walk && !faint) {                                        // it crosses other lanes' floats: a rim tells it from them
    pen.strokeStyle = view.paper;
    pen.lineWidth += 2.4;
    pen.stroke(path);
    pen.strokeStyle = colour;
    pen.lineWidth -= 2.4;
  }
  pen.stroke(path);
  pen.setLineDash([]);
  const angle = Math.atan2(y1 - y0, x1 - x0), head = 0.5 * text;
  pen.fillStyle = colour;
  pen.beginPath();
  pen.moveTo(x, y);
  for (const by of [-0.45, 0.45]) pen.lineTo(x - head * Math.cos(angle + by), y - head * Math.sin(angle + by));
  pen.fill();
  pen.globalAlpha = 1;
}

/** The bytes that a lane asks for. */
function drawWanted(pen, view, where, lane, { faint = false } = {}) {
  const box = laneSeen(view, where, lane), colour = view.scene.bad ? view.hues.bad : view.colours[lane];
  if (!faint) fill(pen, box, colour);
  outline(pen, { ...box, w: Math.max(1.5, box.w) }, faint ? colour : view.paper, faint ? 1.6 : 0.6);
}

/** In a picture of B, the numbers of the lanes in the floats that they ask for, where they can be read. */
function drawNumbers(pen, view, where, lanes) {
  for (let lane = 0; lane < lanes; ++lane) {
    const { x, y, w, h } = laneSeen(view, where, lane), size = Math.min(0.95 * h, 0.76 * w);
    if (size >= 9) write(pen, view, lane, x + w / 2, y + h / 2 + 0.36 * size, { align: "center", size: size / view.text, colour: lane < view.hues.white ? "#fff" : "#000" });
  }
}

function drawLanes(pen, view, where, lanes) {
  const { text, values } = view, { w } = where.lanes, every = w > 1.45 * text ? 1 : w > 0.8 * text ? 4 : 8;
  const title = `The 32 lanes of a warp: each asks for ${values.width} bytes`, what = `${values.width > FLOAT ? "a" : "one"} ${PIECES[values.width][0]}`;
  const said = values.walk ? "The 32 lanes of a warp: two rows of 16 threads" : view.narrow ? title : `${title}, ${what}`;
  write(pen, view, said, where.lanes.x, where.lanes.y - 0.5 * text, { weight: 600, most: view.width - where.lanes.x });
  for (let lane = 0; lane < LANES; ++lane) {
    const box = laneBox(where, lane), on = lane < lanes || view.hover?.lane === lane;
    fill(pen, { ...box, x: box.x + 1, w: box.w - 2 }, view.colours[lane], on ? 1 : 0.28);
    outline(pen, { ...box, x: box.x + 1, w: box.w - 2 }, view.ink, 0.8, 0.6);
    if (values.walk && lane === TILE) fill(pen, { ...box, x: box.x - 1.5, w: 3, y: box.y - 0.3 * text, h: box.h + 0.6 * text }, view.ink);
    if (lane % every === 0 || lane === LANES - 1 && every > 1) write(pen, view, lane, box.x + box.w / 2, box.y + box.h / 2 + 0.35 * text, { align: "center", size: 0.9, weight: 600, colour: on ? (lane < view.hues.white ? "#fff" : "#000") : view.ink });
  }
}

function drawCounters(pen, view, where, now) {
  const { text, scene, narrow } = view, { x, y, w } = where.counters, whole = SECTOR * now.count, most = LANES * SECTOR;
  if (scene.bad) {
    write(pen, view, "refused", x, y + 2.2 * text, { size: 2.2, weight: 700, colour: view.hues.bad, most: w });
    write(pen, view, "misaligned address", x, y + 3.9 * text, { weight: 600, most: w });
    return;
  }
  const number = narrow ? 2.6 : 4;
  write(pen, view, now.count, x, y + 0.9 * number * text, { size: number, weight: 700 });
  const right = narrow ? x + 4.4 * text : x, top = narrow ? y - 1.3 * text : y + 0.9 * number * text;
  write(pen, view, now.count === 1 ? "sector touched" : "sectors touched", right, top + 2 * text, { weight: 600, size: 1.15 });
  write(pen, view, `in ${plural(now.lines.size, "cache line")}`, right, top + 3.6 * text);
  const bar = { x, y: top + (narrow ? 4.6 : 5.4) * text, w, h: 1.1 * text };
  if (whole) fill(pen, { ...bar, w: w * whole / most }, view.hues.lit);
  if (now.wanted) fill(pen, { ...bar, w: w * now.wanted / most }, view.hues.wanted);
  if (whole) outline(pen, { ...bar, w: w * whole / most }, view.ink, 1);
  const said = [`${whole.toLocaleString("en")} bytes touched,`, `${now.wanted} of them wanted`];
  if (narrow) write(pen, view, said.join(" "), x, bar.y + 2.3 * text, { most: w });
  else said.forEach((line, i) => write(pen, view, line, x, bar.y + (2.5 + 1.4 * i) * text, { most: w, weight: i ? 600 : 400 }));
}

/** What has been touched at a moment, as it is drawn: while a control settles, from where the lanes' bytes are on their way. */
function touchedNow(view) {
  const { lanes } = landed(view.at), count = view.scene.bad ? 0 : lanes, drawn = touched(view.smooth, count, smoothly(view)), exact = touched(view.values, count);
  return { sectors: new Set(drawn.sectors), lines: new Set(view.turn < 1 ? drawn.lines : exact.lines), count: exact.sectors.length, wanted: exact.wanted, lanes };
}

function draw(pen, given) {
  const view = { ...given, text: textOf(given), hues: HUES[given.dark ? "dark" : "light"], colours: COLOURS[given.dark ? "dark" : "light"] }, where = layout(view), now = touchedNow(view), { part } = landed(view.at);
  drawMemory(pen, view, where, now);
  drawLanes(pen, view, where, view.scene.bad ? 0 : now.lanes);
  const asked = view.scene.bad ? [] : view.at === 0 ? [0, 1] : view.hover?.lane > now.lanes ? [view.hover.lane] : [];       // dashed: not yet
  if (view.scene.bad) drawArrow(pen, view, where, 0, 1);
  const landing = part > EPS && now.lanes < LANES && !view.scene.bad;
  const stays = lane => !view.values.walk || STAY.includes(lane) || lane === view.hover?.lane || !landing && lane === now.lanes - 1;       // all 32 would hide the rows of B
  const arrows = () => { for (let lane = 0; lane < now.lanes && !view.scene.bad; ++lane) if (stays(lane)) drawArrow(pen, view, where, lane, 1); };
  if (!view.values.walk) arrows();
  for (let lane = 0; lane < (view.scene.bad ? 1 : now.lanes); ++lane) drawWanted(pen, view, where, lane);
  for (const lane of asked) drawWanted(pen, view, where, lane, { faint: true });
  drawFrames(pen, view, where, now);
  if (view.values.walk) {
    arrows();
    drawNumbers(pen, view, where, now.lanes);
  }
  if (landing) drawArrow(pen, view, where, now.lanes, ease(part));
  for (const lane of asked) drawArrow(pen, view, where, lane, 1, { faint: true });
  drawCounters(pen, view, where, now);
}

// ---- words -----------------------------------------------------------------------------------------------------------------------
const bytes = (values, lane) => `bytes ${addressOf(values, lane).toLocaleString("en")} to ${(addressOf(values, lane) + values.width - 1).toLocaleString("en")}`;
const WALKS = { down: "down a column of B", along: "along a row of B" };
const asks = (values, lane) => {
  if (!values.walk) return bytes(values, lane);
  const { row, column } = elementOf(values, lane);
  return `B[${row}][${column}]`;
};
const whoIs = (values, lane) => {
  if (!values.walk) return `lane ${lane}`;
  const { tx, ty } = elementOf(values, lane);
  return `lane ${lane}, thread (${tx}, ${ty}),`;
};
const capital = words => words[0].toUpperCase() + words.slice(1);
function pattern({ width, stride, offset, walk }) {
  if (walk) return `Neighbouring lanes of a warp go ${WALKS[walk]}`;
  const [one, many] = PIECES[width], from = offset ? `, from float ${offset} on` : "";
  if (stride === 0) return `All 32 lanes of a warp ask for the same ${one}${offset ? `, at float ${offset}` : ""}`;
  return stride === 1 ? `The 32 lanes of a warp ask for neighbouring ${many}${from}` : `The 32 lanes of a warp ask for every ${EVERY[stride]} ${one}${from}`;
}

export function says({ scene, values, at }) {
  const lanes = landed(at).lanes;
  if (scene.bad) return `Lane 0 asks for ${values.width} bytes from byte ${addressOf(values, 0)} on. A load of ${values.width} bytes must begin at a multiple of ${values.width}: the GPU stops the kernel and reports a misaligned address.`;
  if (lanes === 0) return `${pattern(values)}: lane 0 ${values.walk ? "asks " : ""}for ${asks(values, 0)}, lane 1 for ${asks(values, 1)}. How many sectors will ${values.walk ? "the 32 lanes" : "they"} touch? Predict, then play.`;
  if (lanes === LANES) {
    const { sectors, lines, wanted } = scene.all, whole = SECTOR * sectors.length;
    return `${pattern(values)}. They touch ${plural(sectors.length, "sector")} in ${plural(lines.length, "cache line")}: ${whole.toLocaleString("en")} bytes, and ${wanted === whole ? "all of them are" : `${wanted} of them are`} wanted.`;
  }
  const sector = Math.floor(addressOf(values, lanes - 1) / SECTOR), before = touched(values, lanes - 1).sectors, so = touched(values, lanes).sectors.length;
  const known = before.includes(sector) ? `which was touched before: still ${plural(so, "sector")}.` : `which nobody touched before: ${plural(so, "sector")} now.`;
  return `${capital(whoIs(values, lanes - 1))} asks for ${asks(values, lanes - 1)}. ${values.walk ? "It lies" : "They lie"} in sector ${sector}, ${known}`;
}

const when = view => { const { lanes } = landed(view.at); return view.scene.bad ? "the load is refused" : lanes === 0 ? "before the first lane" : `${plural(lanes, "lane")} of 32`; };

function describes(view) {
  const { count, lines, wanted } = touchedNow({ ...view, turn: 1, smooth: numbersOf(view.values) });
  return `${says(view)} So far: ${plural(count, "sector")} in ${plural(lines.size, "cache line")}, ${wanted} bytes wanted.`;
}

function hit(view, x, y) {
  const where = layout({ ...view, smooth: numbersOf(view.values) }), { memory, lanes } = where;
  const lane = Math.floor((x - lanes.x) / lanes.w);
  if (lane >= 0 && lane < LANES && y >= lanes.y && y < lanes.y + lanes.h) return { lane, text: `${whoIs(view.values, lane)} asks for ${asks(view.values, lane)}${view.values.walk ? `: ${bytes(view.values, lane)}` : ""}` };
  const row = Math.floor((y - memory.y) / memory.pitch), byte = row * memory.step - memory.lead + (x - memory.x) / memory.byte, first = Math.floor(byte / SECTOR) * SECTOR;
  if (row < 0 || row >= memory.rows || x < memory.x || x >= memory.x + memory.w || byte < 0) return null;
  return { text: `sector ${first / SECTOR}: bytes ${first.toLocaleString("en")} to ${(first + SECTOR - 1).toLocaleString("en")}` };
}

/** What moves smoothly, beside the values: the rows of memory, and where each lane's bytes begin, in memory or in B. */
export function numbersOf(values) {
  const found = { ...values, rows: rowsOf(values) };
  for (let lane = 0; lane < LANES; ++lane) {
    if (values.walk) [found[`r${lane}`], found[`c${lane}`]] = [elementOf(values, lane).row, elementOf(values, lane).column];
    else found[`a${lane}`] = addressOf(values, lane);
  }
  return found;
}

// ---- the explorable --------------------------------------------------------------------------------------------------------------
export const picture = {
  title: "What one warp asks memory for",
  ask: { label: "Your prediction", unit: "sectors" },
  order: ["says", "player", "controls", "picture"],           // what to do, Play and the sliders are on the first screen of a lesson
  height: (width, text, narrow, { walks, wide }) => {
    if (narrow) return Math.round(0.55 * width + 21 * text);
    return walks ? clamp(0.38 * width, 380, 460) : Math.round((wide ? HIGH.wide : HIGH.floats) * text);
  },
  jump: "Hide",                                               // to where no result is shown: what comes next can be predicted again
  jumpIcon: "rewind",
  controls: states => (states.walks ? [                       // a group of buttons comes second, in the column that gives it one line
    ...(states.padded ? [{ kind: "range", key: "pad", label: "ldb", name: "ldb: floats from one row of B to the next", min: 0, max: MOST_PAD,
      says: ({ pad }) => `${COLUMNS} + ${pad} floats` }] : []),
    { kind: "choice", key: "walk", label: "Neighbouring lanes go", options: states.walks.map(walk => [walk, WALKS[walk].replace(" of B", "")]) },
  ] : [
    { kind: "range", key: "stride", label: "Stride", name: "Stride: from the piece of one lane to the piece of the next", min: 0, max: MOST_STRIDE,
      says: ({ stride, width }) => `${stride}: ${stride * width} bytes apart` },
    ...(states.wide ? [{ kind: "choice", key: "width", label: "Each lane loads", options: [[2, "1 half"], [4, "1 float"], [8, "2 floats"], [16, "4 floats"]] }] : []),
    { kind: "range", key: "offset", label: "Offset", name: "Offset: floats before the piece of lane 0", min: 0, max: MOST_OFFSET,
      says: ({ offset }) => `${offset}: lane 0 at byte ${FLOAT * offset}` },
  ]),
  numbers: numbersOf,
  scene: sceneOf, draw, says, when, describes, hit,
};
export default explorable(picture);
