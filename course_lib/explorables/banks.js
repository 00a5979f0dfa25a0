// Lesson 06: a tile of shared memory, coloured by bank; one warp's access to it, and what each bank hands out, wavefront by wavefront.
// Data: banks.py, from a trace of the running kernel. Computed here: the bank of a word and the place of an element, held to that trace.
import { clamp, ease, explorable, lerp, plural } from "./stage.js";

const BANKS = 32, PADS = 8;

export const bankOf = word => word % BANKS;

/** The word of shared memory that holds element [row][column] of the array. */
export const wordAt = (state, row, column) => state.base + row * state.pitch + (state.swizzled ? column ^ row : column);

const keyOf = values => [values.kernel, values.tile, ...(values.kernel === "transpose_swizzled" ? [] : [values.pad])].join("|");

/** What one position of the controls shows: the access that is chosen, and how long it takes. */
export function sceneOf(values, states) {
  const state = states[keyOf(values)], access = state.accesses[values.access];
  const words = access.words.map(([word, row, column, wavefront, lanes]) => ({ word, row, column, wavefront, lanes, bank: bankOf(word) }));
  const wavefronts = Math.max(...words.map(w => w.wavefront));
  return { kernel: values.kernel, state, access, words, wavefronts, load: values.access === "load", steps: 1 + wavefronts, answer: wavefronts, tile: state.rows,
    seconds: step => (step === 0 ? 1.5 : clamp(5 / wavefronts, 0.18, 0.9)) };
}

/** An access of several words per lane is served in groups of lanes, one after the other: which lanes, in which wavefronts, and whether an earlier
 *  group has had the same words. Empty where all lanes are served together. */
export function groupsOf({ access, words }) {
  const size = access.width > 4 ? 128 / access.width : 0, groups = [];
  for (let first = 0; size && first < 32; first += size) {
    const own = words.filter(w => w.lanes.some(lane => lane >= first && lane < first + size)), wavefronts = own.map(w => w.wavefront);
    const before = new Set(words.filter(w => w.wavefront < Math.min(...wavefronts)).map(w => w.word));
    groups.push({ first, last: first + size - 1, from: Math.min(...wavefronts), to: Math.max(...wavefronts), again: own.every(w => before.has(w.word)) });
  }
  return groups;
}

// ---- where things are ------------------------------------------------------------------------------------------------------------
export function layout({ width, height, text, narrow, scene }) {
  const head = Math.round(2.9 * text), margin = Math.round(1.9 * text), columns = scene.tile + (scene.state.swizzled ? 0 : PADS), foot = Math.round(1.5 * text);
  const tileHigh = narrow ? Infinity : height - head - foot, tileWide = (narrow ? width : 0.47 * width) - margin;
  const cell = Math.min(tileWide / columns, tileHigh / scene.tile);
  const tile = { x: margin, y: head, cell, width: cell * columns, height: cell * scene.tile };
  const gap = narrow ? 0 : Math.max(2 * text, 0.035 * width), left = narrow ? 2 : tile.x + tile.width + gap;
  const slot = Math.min((width - left - 4) / BANKS, 2.4 * text), top = narrow ? tile.y + tile.height + foot + head : head;
  const lane = Math.min(slot, 1.7 * text), lanes = height - lane - Math.round(1.75 * text);
  const bottom = lanes - Math.round(3.1 * text);
  return { tile, text, banks: { x: left, y: top, slot, width: slot * BANKS, bottom, height: bottom - top, level: (bottom - top) / 32 }, lanes: { y: lanes, size: lane } };
}
const inTile = (where, column, row) => ({ x: where.tile.x + column * where.tile.cell, y: where.tile.y + row * where.tile.cell, w: where.tile.cell - 1, h: where.tile.cell - 1 });
const inBank = (where, bank, level) => ({ x: where.banks.x + bank * where.banks.slot + 1, y: where.banks.bottom - (level + 1) * where.banks.level, w: where.banks.slot - 2, h: where.banks.level - 1 });
function inMemory(where, scene, word) {
  const lines = Math.ceil(scene.tile * (scene.tile + PADS) / BANKS), line = Math.floor((word.word - scene.state.base) / BANKS);
  const high = where.banks.height / lines;
  return { ...inBank(where, word.bank, 0), y: where.banks.y + line * high, h: Math.min(high - 1, where.banks.slot) };
}
function inLane(where, scene, lane, word) {                  // a lane of a 64- or 128-bit access has two or four parts
  const parts = scene.access.width / 4, high = where.lanes.size / parts, part = (word.column % parts);
  return { x: where.banks.x + lane * where.banks.slot + 1, y: where.lanes.y + part * high, w: where.banks.slot - 2, h: high - (parts > 1 ? 0.5 : 1) };
}
const between = (a, b, t) => ({ x: lerp(a.x, b.x, t), y: lerp(a.y, b.y, t), w: lerp(a.w, b.w, t), h: lerp(a.h, b.h, t) });

/** Where a word is drawn at a moment: one box, or one for each lane that gets it (or gives it). */
export function boxes(where, scene, word, at) {
  const cell = inTile(where, word.column, word.row), lanes = word.lanes.map(lane => inLane(where, scene, lane, word));
  const [sources, sinks] = scene.load ? [[cell], lanes] : [lanes, [cell]];
  if (at < 1) {
    const delay = 0.25 * word.row / scene.tile, fly = ease(clamp((at - delay) / 0.4)), fall = clamp((at - delay - 0.42) / 0.33);
    const memory = inMemory(where, scene, word), pile = inBank(where, word.bank, word.wavefront - 1);
    if (!scene.load) return sources.map(source => between(source, pile, ease(clamp((at - delay) / 0.75))));
    return sources.map(source => (fall > 0 ? between(memory, pile, fall * fall) : between(source, memory, fly)));
  }
  const done = Math.floor(at - 1 + 1e-6), part = ease(clamp(at - 1 - done));
  if (word.wavefront <= done) return sinks;
  const now = inBank(where, word.bank, word.wavefront - 1 - done);
  return word.wavefront === done + 1 ? sinks.map(sink => between(now, sink, part)) : [{ ...now, y: now.y + part * where.banks.level }];
}

// ---- colours -----------------------------------------------------------------------------------------------------------------------
// Dark to bright, so that the order of the banks is seen without colour vision; the jump from 31 to 0 is the edge that shears.
// On dark paper the dark end is brighter.
const ramp = (...stops) => Array.from({ length: BANKS }, (_, bank) => {
  const rgb = stops.map(hex => [1, 3, 5].map(i => parseInt(hex.slice(i, i + 2), 16)));
  const at = bank / (BANKS - 1) * (rgb.length - 1), low = Math.min(Math.floor(at), rgb.length - 2);
  return `rgb(${rgb[low].map((c, i) => Math.round(lerp(c, rgb[low + 1][i], at - low))).join(" ")})`;
});
const ON_LIGHT = ramp("#46327e", "#365c8d", "#277f8e", "#1fa187", "#4ac16d", "#a0da39", "#fde725");
const ON_DARK = ramp("#8f7ae6", "#6f9be0", "#4fb0c6", "#42c3a0", "#6dd67e", "#b4e64c", "#fff23d");
const DARK_BANKS = 14;                 // of ON_LIGHT: white digits can be read on these, black ones on the others
const coloursOf = ({ dark }) => (dark ? ON_DARK : ON_LIGHT);

// ---- drawing -----------------------------------------------------------------------------------------------------------------------
function write(pen, view, words, x, y, { size = 1, align = "left", weight = 400, alpha = 1 } = {}) {
  pen.globalAlpha = alpha;
  pen.fillStyle = view.ink;
  pen.textAlign = align;
  pen.font = `${weight} ${Math.round(size * view.text)}px ${view.fontFamily}`;
  pen.fillText(words, x, y);
  pen.globalAlpha = 1;
}

/** The first of some texts, from long to short, that fits. */
function longest(pen, view, texts, room, weight = 400) {
  pen.font = `${weight} ${Math.round(view.text)}px ${view.fontFamily}`;
  return texts.find(words => pen.measureText(words).width <= room) ?? "";
}

function fill(pen, box, colour, alpha = 1) {
  pen.globalAlpha = alpha;
  pen.fillStyle = colour;
  pen.fillRect(box.x, box.y, box.w, box.h);
  pen.globalAlpha = 1;
}

function outline(pen, box, colour, wide, grow = 0) {
  pen.strokeStyle = colour;
  pen.lineWidth = wide;
  pen.strokeRect(box.x - grow, box.y - grow, box.w + 2 * grow, box.h + 2 * grow);
}

/** The whole tile. `smooth.pad` slides each row's colours by row × PAD: the tile shears. A swizzle mixes the columns of each row. */
function drawTile(pen, view, where) {
  const { scene, smooth, hover, dark } = view, { tile } = scene, pad = smooth.pad, wide = tile + pad;
  pen.save();
  pen.beginPath();
  pen.rect(where.tile.x, where.tile.y, wide * where.tile.cell, where.tile.height);
  pen.clip();
  for (let row = 0; row < tile; ++row) {
    const first = row * wide, from = Math.floor(first), cells = Math.ceil(wide) + 1;
    for (let i = 0; i <= cells; ++i) {
      const word = scene.state.base + from + i, physical = from + i - first;
      const column = scene.state.swizzled && i < tile ? i ^ row : physical;
      const faint = hover && hover.bank !== bankOf(word) ? 0.16 : column > tile - 0.5 ? 0.35 : dark ? 0.75 : 0.78;
      fill(pen, inTile(where, column, row), coloursOf(view)[bankOf(word)], faint);
    }
  }
  pen.restore();
  if (pad > 0.02) {
    const x = where.tile.x + tile * where.tile.cell;
    pen.setLineDash([4, 3]);
    outline(pen, { x, y: where.tile.y - 1, w: pad * where.tile.cell, h: where.tile.height + 1 }, view.ink, 1.2);
    pen.setLineDash([]);
    write(pen, view, `PAD ${view.values.pad}`, x + 2, where.tile.y + where.tile.height + 1.2 * view.text, { weight: 600 });
  }
}

function drawLabels(pen, view, where) {
  const { scene, values, text } = view, { tile, state } = scene, { banks } = where;
  const size = values.pad ? `${tile} + ${values.pad}` : tile;
  const heading = ({ x, y }, title, below, end) => {
    write(pen, view, title, x, y - 1.9 * text, { weight: 600 });
    write(pen, view, longest(pen, view, below, end - x), x, y - 0.65 * text);
  };
  const beside = view.narrow ? view.width : banks.x - text;
  const colours = state.swizzled ? "each element in the colour of the bank it is stored in" : "each word in the colour of its bank";
  const below = digitsOf(view, where) ? [`${colours}; number = bank`, "number and colour = bank"] : [colours, "coloured by bank"];
  heading(where.tile, state.swizzled ? "the matrix's tile" : `${state.array}[${tile}][${size}]`, below, beside);
  heading(banks, "32 banks of shared memory", ["each bank serves one word per wavefront", "one word per wavefront each"], view.width);
  for (const row of [0, tile / 2, tile - 1]) write(pen, view, row, where.tile.x - 5, where.tile.y + (row + 0.5) * where.tile.cell + 0.35 * text, { size: 0.86, align: "right" });
  const every = banks.slot < 1.1 * text ? 4 : banks.slot < 1.3 * text ? 2 : 1;
  for (let bank = 0; bank < BANKS; ++bank) if (bank % every === 0 && (every === 1 || bank < BANKS - 2) || bank === BANKS - 1) write(pen, view, bank, banks.x + (bank + 0.5) * banks.slot, banks.bottom + 1.75 * text, { size: 0.86, align: "center" });
  const doing = !scene.load ? "each gives a word" : view.at < scene.steps ? "each waits for its word" : "each has its word";
  const caption = ["the warp's 32 lanes", "32 lanes"].map(who => `${who}: ${doing}`);
  write(pen, view, longest(pen, view, [...caption, doing], view.width - banks.x), banks.x, where.lanes.y + where.lanes.size + 1.15 * text);
}

function drawBanks(pen, view, where) {
  const { scene, at, hover } = view, { banks } = where, served = at > 1 && at < scene.steps ? Math.ceil(at - 1 - 1e-6) : 0;
  const busy = new Set(scene.words.filter(w => w.wavefront === served).map(w => w.bank));
  for (let bank = 0; bank < BANKS; ++bank) {
    const tube = { x: banks.x + bank * banks.slot + 1, y: banks.y, w: banks.slot - 2, h: banks.height };
    fill(pen, tube, coloursOf(view)[bank], hover ? (hover.bank === bank ? 0.6 : 0.08) : view.dark ? 0.26 : 0.2);
    fill(pen, { ...tube, y: banks.bottom + 2, h: 0.4 * view.text }, coloursOf(view)[bank], busy.has(bank) || !served ? 1 : 0.22);
    outline(pen, { ...tube, y: where.lanes.y, h: where.lanes.size - 1 }, view.ink, 0.6);
  }
  if (at >= 1) drawCounter(pen, view, where);
  const finished = clamp(at - scene.steps + 1);           // in the end: how many words each bank has served
  for (const word of finished > 0 ? scene.words : []) fill(pen, inBank(where, word.bank, word.wavefront - 1), coloursOf(view)[word.bank], 0.8 * finished);
  const ghosts = clamp(Math.min(4 * at, 1 - at));        // not at 0: where the words lie is half the answer
  if (ghosts > 0) for (const word of scene.words) {
    pen.globalAlpha = ghosts;
    const box = inMemory(where, scene, word);
    fill(pen, box, coloursOf(view)[word.bank], ghosts);
    pen.globalAlpha = ghosts;
    outline(pen, box, view.ink, Math.min(1.2, box.h / 6));
    pen.globalAlpha = 1;
  }
}

/** Beside the piles: whose words these are, where the lanes are served in groups. Below: a frame around the group that is served now. */
function drawGroups(pen, view, where) {
  const { scene, at, text } = view, { banks, lanes } = where, used = new Set(scene.words.map(w => w.bank)), ended = at >= scene.steps;
  let gap = [0, 0];                                         // the widest run of banks without words
  for (let from = 0; from < BANKS; ++from) {
    let to = from;
    while (to < BANKS && !used.has(to)) ++to;
    if (to - from > gap[1] - gap[0]) gap = [from, to];
  }
  for (const { first, last, from, to, again } of groupsOf(scene)) {
    const gone = ended ? 0 : at - 1, bottom = banks.bottom - Math.max(0, from - 1 - gone) * banks.level, top = banks.bottom - (to - gone) * banks.level;
    if (!ended && at > from && at <= to + 1) outline(pen, { x: banks.x + first * banks.slot, y: lanes.y - 1, w: (last + 1 - first) * banks.slot, h: lanes.size + 1 }, view.ink, 2.4, 1);
    if (bottom - top < 0.9 * text) continue;
    const x = banks.x + gap[0] * banks.slot + 0.5 * text, room = (gap[1] - gap[0]) * banks.slot - 1.2 * text, who = `lanes ${first} to ${last}`;
    const words = longest(pen, view, again ? [`${who}: the same words again`, `${who}: again`, `${first} to ${last}: again`] : [who], room);
    if (!words) continue;
    pen.strokeStyle = view.ink;
    pen.lineWidth = 1.4;
    pen.beginPath();
    for (const [i, [px, py]] of [[x, top + 1.5], [x - 4, top + 1.5], [x - 4, bottom - 1.5], [x, bottom - 1.5]].entries()) pen[i ? "lineTo" : "moveTo"](px, py);
    pen.stroke();
    write(pen, view, words, x + 3, (top + bottom) / 2 + 0.35 * text);
  }
}

function drawCounter(pen, view, where) {
  const wavefronts = Math.floor(view.at - 1 + 1e-6), right = where.banks.x + where.banks.width - 0.6 * view.text;
  write(pen, view, wavefronts, right, where.banks.y + 4.2 * view.text, { size: 4, align: "right", weight: 700, alpha: 0.85 });
  write(pen, view, wavefronts === 1 ? "wavefront" : "wavefronts", right, where.banks.y + 5.6 * view.text, { size: 1.15, align: "right", weight: 600 });
}

/** Words that are on their way. While a control settles, each goes from where it was to where it now is. */
function drawWords(pen, view, where) {
  const { scene, before, at, turn } = view, then = layout({ ...view, scene: before }), moved = turn < 1 && before !== scene && before.words.length === scene.words.length;
  if (at === 0 && scene.load) return;                       // they are still where `drawAsked` has framed them
  scene.words.forEach((word, i) => {
    let drawn = boxes(where, scene, word, at);
    if (moved) {
      const old = boxes(then, before, before.words[i], at);
      drawn = drawn.map((box, n) => between(old[n] ?? old[0], box, ease(turn)));
    }
    for (const box of drawn) {
      fill(pen, box, coloursOf(view)[word.bank]);
      outline(pen, box, view.ink, Math.min(1.3, box.h / 9));
    }
  });
}

/** How large the numbers in the tile are, or 0 where there is no room for them. */
function digitsOf({ text }, { tile }) {
  const digits = Math.min(0.5 * tile.cell, text);            // two bold ones are 1.4 times as wide as high
  return digits < 0.65 * text ? 0 : digits;
}

/** The words of the access, each with the number of its bank where there is room, one frame around each run of neighbours, and their row or column. */
function drawAsked(pen, view, where) {
  const { scene, hover, text, turn } = view, asked = new Map(scene.words.map(w => [`${w.row},${w.column}`, w]));
  for (const { row, column, bank } of asked.values()) if (!hover || hover.bank === bank) fill(pen, inTile(where, column, row), coloursOf(view)[bank], turn ** 6);
  const thick = clamp(where.tile.cell / 5, 1.4, 2.6), out = 0.5 + thick / 2;           // around the words, not over them
  for (const [colour, wide] of [[view.paper, thick + 2], [view.ink, thick]]) {
    pen.strokeStyle = colour;
    pen.lineWidth = wide;
    pen.lineCap = "square";
    pen.beginPath();
    for (const { row, column } of asked.values()) {
      const { x, y, w, h } = inTile(where, column, row), [l, t, r, b] = [x - out, y - out, x + w + out, y + h + out];
      for (const [down, right, x1, y1, x2, y2] of [[-1, 0, l, t, r, t], [1, 0, l, b, r, b], [0, -1, l, t, l, b], [0, 1, r, t, r, b]])
        if (!asked.has(`${row + down},${column + right}`)) { pen.moveTo(x1, y1); pen.lineTo(x2, y2); }
    }
    pen.stroke();
  }
  const [name, which] = sideOf(scene), middle = which.reduce((a, b) => a + b) / which.length + 0.5, { tile } = where;
  const digits = digitsOf(view, where);
  if (digits) for (const { row, column, bank } of asked.values()) {
    const { x, y, w, h } = inTile(where, column, row);
    write(pen, { ...view, ink: bank < DARK_BANKS && !view.dark ? "#fff" : "#000" }, bank, x + w / 2, y + h / 2 + 0.36 * digits, { size: digits / text, align: "center", weight: 600 });
  }
  if (name === "column") {
    const room = (view.values.pad ? tile.x + scene.tile * tile.cell : view.narrow ? view.width : where.banks.x) - tile.x - 0.6 * text;
    const short = `column${which.length > 1 ? "s" : ""} ${listed(which)}`, words = longest(pen, view, captions(scene, short), room, 600);
    write(pen, view, words, words === short ? Math.max(tile.x, tile.x + middle * tile.cell - 2 * text) : tile.x, tile.y + tile.height + 1.2 * text, { weight: 600 });
  }
}

function draw(pen, view) {
  const where = layout(view);
  drawTile(pen, view, where);
  drawAsked(pen, view, where);
  drawBanks(pen, view, where);
  drawLabels(pen, view, where);
  drawWords(pen, view, where);
  if (view.at >= 1) drawGroups(pen, view, where);
}

// ---- words ---------------------------------------------------------------------------------------------------------------------------
const listed = numbers => [`${numbers[0]}`, `${numbers[0]} and ${numbers[1]}`][numbers.length - 1] ?? `${numbers[0]} to ${numbers.at(-1)}`;   // neighbours

function sideOf({ words, tile }) {                            // ["column", [5]]: which columns, or rows, a warp goes through
  const [columns, rows] = ["column", "row"].map(name => [name, [...new Set(words.map(w => w[name]))].sort((a, b) => a - b)]);
  return columns[1].length < tile ? columns : rows;
}

/** What is said of a column below the tile, from long to short: "column 5: words 5, 37, 69, …, 997". Of several columns only their numbers. */
export function captions({ state, words }, short) {
  const numbers = [...new Set(words.map(w => w.word - state.base))].sort((a, b) => a - b), rows = new Set(words.map(w => w.row));
  if (numbers.length > rows.size) return [short];
  return [3, 2].map(first => `${short}: words ${numbers.slice(0, first).join(", ")}, …, ${numbers.at(-1)}`).concat(short);
}

/** What the warp does, without the answer: "In line 29 of transpose, the 32 lanes of a warp read column 5 of tile." */
export function question({ scene }) {
  const { state, access, load } = scene, [name, which] = sideOf(scene);
  const wide = access.width > 4 ? `, ${access.width === 16 ? "four" : "two"} words per lane with one instruction` : "";
  const whose = state.swizzled ? "the matrix's tile" : state.array;           // its columns are no columns of the array
  return `In line ${access.line} of ${scene.kernel}, the 32 lanes of a warp ${load ? "read" : "write"} ${name}${which.length > 1 ? "s" : ""} ${listed(which)} of ${whose}${wide}.`;
}

/** The answer: how many wavefronts, and why. */
export function answer({ scene }) {
  const { words, wavefronts, access } = scene, used = new Set(words.map(w => w.bank)).size, least = Math.ceil(words.length / BANKS);
  const different = new Set(words.map(w => w.word)).size;     // two phases may want the same word
  const meet = `Its ${different} words lie in ${different === used ? `${used} different banks` : plural(used, "bank")}.`;
  const again = words.length > different ? " Two of these groups want each word, so it is served twice." : "";
  const phases = access.width > 4 ? ` ${access.width === 16 ? "Eight" : "Sixteen"} lanes are served at a time.${again}` : "";
  return `${plural(wavefronts, "wavefront")}. ${meet}${phases}${wavefronts > least ? ` Without bank conflicts it would take ${wavefronts > 1 && least === 1 ? "one" : least}.` : " There is no bank conflict."}`;
}

function says(view, step) {
  if (step === 0) return `${question(view)} How many wavefronts will it take? Predict, then play.`;
  if (step === 1) return `${question(view)} The words wait at their banks.`;
  if (step < view.scene.steps) {
    const group = groupsOf(view.scene).find(({ from, to }) => step - 1 >= from && step - 1 <= to);
    const whom = group ? ` to lanes ${group.first} to ${group.last}${group.again ? ", which an earlier group has had" : ""}` : "";
    return `${question(view)} Wavefront ${step - 1}: ${plural(view.scene.words.filter(w => w.wavefront === step - 1).length, "bank")} of 32 served a word${whom}.`;
  }
  return `${question(view)} ${answer(view)}`;
}

const when = (view, step) => (step === 0 ? "before the access" : step === 1 ? "the words wait at their banks" : `wavefront ${step - 1}`);

function describes(view, step) {
  const { state, tile } = view.scene;
  const rows = state.swizzled ? `element (i, j) is stored in column j XOR i` : `each row is ${state.pitch} words long`;
  return `A tile of ${tile} by ${tile} words in shared memory; ${rows}. ${says(view, step)}`;
}

/** Where an element is, as C names the word that holds it. */
export function placeOf(state, row, column) {
  const { array, base, pitch, swizzled } = state, word = wordAt(state, row, column), at = word - base;
  const [name, verb] = [`${array}[${Math.floor(at / pitch)}][${at % pitch}]`, swizzled ? `element (${row}, ${column}) is stored in ` : ""];
  return `${verb}${name}${swizzled ? "," : " is"} word ${at} of ${array}: bank ${bankOf(word)}`;
}

function hit(view, x, y) {
  const where = layout(view), { state, tile } = view.scene, { banks } = where;
  const column = Math.floor((x - where.tile.x) / where.tile.cell), row = Math.floor((y - where.tile.y) / where.tile.cell);
  if (row >= 0 && row < tile && column >= 0 && column < state.pitch) {
    const word = column < tile ? wordAt(state, row, column) : state.base + row * state.pitch + column, bank = bankOf(word);
    return { bank, text: column < tile ? placeOf(state, row, column) : `padding: bank ${bank}` };
  }
  const bank = Math.floor((x - banks.x) / banks.slot);
  return bank >= 0 && bank < BANKS && y > banks.y && y < banks.bottom + 2 * view.text ? { bank, text: `bank ${bank}` } : null;
}

// ---- the explorable ------------------------------------------------------------------------------------------------------------------
export const picture = {
  title: "A tile of shared memory and its 32 banks",
  ask: { label: "Your prediction", unit: "wavefronts" },
  order: ["says", "player", "controls", "picture"],
  height: (width, text, narrow) => (narrow ? Math.round(0.8 * width) + 21 * text + 90 : clamp(Math.max(0.3 * width, Math.min(0.41 * width, 370)), 290, 600)),
  controls: states => [
    { kind: "lines", key: "access", label: "Which line of the kernel to look at", lines: values => states[keyOf(values)].lines },
    ...(Object.values(states).some(state => state.swizzled) ? [] : [
      { kind: "range", key: "pad", label: "PAD", name: "PAD: unused words at the end of each row", min: 0, max: PADS,
        says: values => `PAD ${values.pad}: ${values.tile + values.pad} words per row` }]),
  ],
  numbers: values => ({ pad: values.pad }),
  scene: sceneOf, draw, says, when, describes, hit,
};
export default explorable(picture);
