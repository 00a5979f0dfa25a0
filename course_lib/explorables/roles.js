// Lesson 18: one warp copies, two warpgroups multiply. Each stage stands between its two barriers, whose bits flip when a phase ends.
// Data: roles.py, from the simulator's trace of sbgemm_tma. Computed here: what has happened by a given event, held to the trace by tests.
import { clamp, ease, explorable, lerp, plural } from "./stage.js";

const HUES = { light: { copy: "#0072b2", ready: "#8ec9e8", multiply: "#f0a000", wait: "#a3347f", idle: "#6a6a6a", free: "#f2f2f2" },
  dark: { copy: "#56b4e9", ready: "#1f6a96", multiply: "#ffd24d", wait: "#e08fc4", idle: "#a8a8a8", free: "#2b2b2b" } };
const EPS = 1e-6, WHO = [0, 1];

/** When each step's event of a kind happened, by the number of the event. */
function timesOf(events, tiles, wanted, by) {
  const found = Array(tiles).fill(Infinity);
  events.forEach(([kind, who, k], i) => { if (kind === wanted && who === by) found[k] = i + 1; });
  return found;
}
/** A scene begins where the first consumer releases a stage: all stages are in use, and the producer waits for one of them. */
export function sceneOf(values, states) {
  const events = states.at[values.stages], tiles = states.steps, times = (kind, who = -1) => timesOf(events, tiles, kind, who), stalls = times("stall").filter(Number.isFinite);
  return { events, tiles, stages: values.stages, bytes: states.bytes, side: states.tile, steps: events.length, begin: events.findIndex(([kind]) => kind === "release") + 1, seconds: () => 0.7,
    ordered: times("order"), arrived: times("arrive"), begun: WHO.map(who => times("begin", who)), released: WHO.map(who => times("release", who)), stalls, answer: stalls.length };
}
const past = (times, at) => times.filter(time => time <= at + EPS).length;
const ofSlot = (times, slot, stages) => times.filter((_, k) => k % stages === slot);

/** What lies in a stage at a moment: the step, and for each consumer "way", "ready", "multiply" or "released"; or nothing. */
export function inStage(scene, slot, at) {
  for (let tile = slot; tile < scene.tiles; tile += scene.stages) {
    const gone = WHO.map(who => scene.released[who][tile] <= at + EPS);
    if (scene.ordered[tile] > at + EPS || gone.every(Boolean)) continue;
    return { tile, of: WHO.map(who => (gone[who] ? "released" : scene.begun[who][tile] <= at + EPS ? "multiply" : scene.arrived[tile] <= at + EPS ? "ready" : "way")) };
  }
  return null;
}

/** The two barriers of a stage at a moment: phases that are over, the bit, and what the phase that runs still misses. */
export function barriers(scene, slot, at) {
  const { stages } = scene, full = past(ofSlot(scene.arrived, slot, stages), at), gone = WHO.map(who => past(ofSlot(scene.released[who], slot, stages), at)), empty = Math.min(...gone);
  const announced = past(ofSlot(scene.ordered, slot, stages), at) > full;
  return { full: { bit: full % 2, bytes: announced ? scene.bytes : 0, arrivals: announced ? 0 : 1 }, empty: { bit: empty % 2, arrivals: gone.filter(n => n === empty).length } };
}

/** What each role does at a moment: the producer's last order or wait; a consumer's steps under way, and the step for which it waits at `full`. */
export function doing(scene, at) {
  const last = scene.events.slice(0, Math.floor(at + EPS)).filter(([, who]) => who < 0).filter(([kind]) => kind !== "arrive").pop();
  const consumers = WHO.map(who => {
    const next = past(scene.begun[who], at), under = Array.from({ length: next }, (_, k) => k).filter(k => scene.released[who][k] > at + EPS);
    return { under, waits: under.length < 2 && next < scene.tiles && scene.arrived[next] > at + EPS ? next : null };
  });
  return { producer: last ? { kind: last[0], tile: last[2] } : null, consumers };
}

/** What has happened by a moment: steps ordered, steps that both consumers have ended, waits of the producer that have begun. */
export function counted(scene, at) {
  return { ordered: past(scene.ordered, at), done: Math.min(...scene.released.map(times => past(times, at))), waited: past(scene.stalls, at),
    used: Array.from({ length: scene.stages }, (_, slot) => inStage(scene, slot, at)).filter(Boolean).length };
}

// ---- where things are --------------------------------------------------------------------------------------------------------------
export function layout(view) {
  const { width, height, narrow, scene } = view, text = Math.min(view.text, width / (narrow ? 27 : 62), height / (narrow ? 38 : 26)), head = 3 * text, bottom = height - 0.3 * text;
  const part = (from, to, y, h) => ({ x: from * width + 1, y, w: (to - from) * width - 2, h });
  if (narrow) {
    const top = head + 2.4 * text, foot = bottom - 4.6 * text, row = Math.min((foot - top) / scene.stages, 8 * text), h = 0.45 * (row - 0.9 * text), tall = 0.55 * (row - 0.9 * text);
    const stages = Array.from({ length: scene.stages }, (_, slot) => {
      const y = top + slot * row;
      return { box: part(0, 1, y, tall), empty: part(0, 0.49, y + tall + 0.2 * text, h), full: part(0.51, 1, y + tall + 0.2 * text, h) };
    });
    return { text, stages, producer: part(0, 1, head, 2 * text), consumers: WHO.map(who => part(0, 1, top + scene.stages * row + who * 2.3 * text, 2.1 * text)) };
  }
  const row = Math.min((bottom - head) / scene.stages, 8 * text), top = head + (bottom - head - scene.stages * row) / 2, h = row - 0.8 * text, all = scene.stages * row - 0.8 * text;
  const stages = Array.from({ length: scene.stages }, (_, slot) => {
    const y = top + slot * row;
    return { empty: part(0.2, 0.37, y, h), box: part(0.38, 0.62, y, h), full: part(0.63, 0.8, y, h) };
  });
  const producer = part(0, 0.16, top + all / 2 - 3 * text, 6 * text);
  return { text, stages, key: { ...producer, y: producer.y + producer.h + 0.6 * text, h: 4 * text }, producer, consumers: WHO.map(who => part(0.84, 1, top + all * (0.25 + 0.5 * who) - 2.6 * text, 5.2 * text)) };
}

// ---- drawing -----------------------------------------------------------------------------------------------------------------------
function write(pen, view, words, x, y, { size = 1, align = "left", weight = 400, colour = view.ink, most } = {}) {
  pen.fillStyle = colour;
  pen.textAlign = align;
  pen.font = `${weight} ${Math.round(size * view.text)}px ${view.fontFamily}`;
  pen.fillText(words, x, y, ...(most === undefined ? [] : [most]));
  return pen.measureText(words).width;
}
function panel(pen, view, { x, y, w, h }, fill, line = view.ink, wide = 1) {
  pen.beginPath();
  pen.roundRect(x, y, w, h, 0.4 * view.text);
  if (fill) pen.fillStyle = fill, pen.fill();
  pen.strokeStyle = line;
  pen.lineWidth = wide;
  pen.stroke();
}
/** A dashed line: from somebody to the barrier at which they wait. */
function line(pen, view, from, to, colour) {
  pen.save();
  pen.setLineDash([0.4 * view.text, 0.35 * view.text]);
  pen.strokeStyle = colour;
  pen.lineWidth = 2.2;
  pen.beginPath();
  pen.moveTo(...from);
  pen.lineTo(...to);
  pen.stroke();
  pen.restore();
}
const left = r => [r.x, r.y + r.h / 2], right = r => [r.x + r.w, r.y + r.h / 2];

function drawHead(pen, view) {
  const { text, width, scene, at, narrow } = view, now = counted(scene, at), big = `${now.waited}`, first = write(pen, view, big, 0, 2 * text, { size: 1.9, weight: 700 });
  write(pen, view, ` ${now.waited === 1 ? "wait" : "waits"} of the producer`, first + 0.2 * text, 2 * text, { weight: 600, most: width - first });
  if (!narrow) write(pen, view, `tile ${scene.side} × ${scene.side}: ${now.ordered} of ${scene.tiles} steps ordered, ${now.done} multiplied`, width - 2, 2 * text, { weight: 600, align: "right", most: 0.55 * width });
}

/** What the colours of frames and lines mean. */
function drawKey(pen, view) {
  const { text, where: { key }, hues } = view, end = key.x + 1.9 * text;
  ["copy", "multiply", "wait"].forEach((what, i) => {
    const y = key.y + (0.7 + 1.3 * i) * text;
    if (what === "wait") line(pen, view, [key.x, y], [end, y], hues.wait);
    else panel(pen, view, { x: key.x + 0.1 * text, y: y - 0.4 * text, w: 1.7 * text, h: 0.8 * text }, null, hues[what], 2.4);
    write(pen, view, { copy: "copies", multiply: "multiplies", wait: "waits" }[what], end + 0.4 * text, y + 0.35 * text, { size: 0.96, most: key.x + key.w - end - 0.4 * text });
  });
}

/** A barrier: its name, its bit, and what its phase still misses. Its bit is ringed when it has just flipped, and its frame is heavy while somebody waits there. */
function drawBarrier(pen, view, name, r, { bit, missing }, waited, flipped) {
  const { text } = view, side = Math.min(1.9 * text, r.h - 0.6 * text), bx = r.x + r.w - side - 0.4 * text, short = r.h < 3.4 * text, by = short ? r.y + (r.h - side) / 2 : r.y + 0.3 * text;
  panel(pen, view, r, null, waited ? view.hues.wait : view.ink, waited ? 3 : 1);
  panel(pen, view, { x: bx, y: by, w: side, h: side }, bit ? view.ink : view.paper);
  write(pen, view, `${bit}`, bx + side / 2, by + side / 2 + 0.42 * text, { size: 1.2, weight: 700, align: "center", colour: bit ? view.paper : view.ink });
  if (flipped) panel(pen, view, { x: bx - 3, y: by - 3, w: side + 6, h: side + 6 }, null, view.hues.multiply, 3);
  const x = r.x + 0.5 * text, most = (short ? bx : r.x + r.w) - x - 0.3 * text;
  write(pen, view, name, x, r.y + 1.2 * text, { weight: 600, most: bx - x - 2.2 * text });
  write(pen, view, "bit", bx - 0.3 * text, r.y + 1.2 * text, { size: 0.96, align: "right" });
  write(pen, view, missing, x, short ? r.y + r.h - 0.45 * text : by + side + 1.15 * text, { size: 0.96, most });
}

/** A stage: the step that lies there, and what each consumer does with it. */
function drawStage(pen, view, slot) {
  const { text, scene, at, hues } = view, r = view.where.stages[slot].box, held = inStage(scene, slot, at), label = 5.1 * text, x = r.x + label, w = r.w - label - 0.4 * text;
  panel(pen, view, r, null);
  write(pen, view, `stage ${slot}`, r.x + 0.5 * text, r.y + r.h / 2 + (held ? -0.15 : 0.4) * text, { weight: 600, most: label - 0.6 * text });
  if (held) write(pen, view, `step ${held.tile}`, r.x + 0.5 * text, r.y + r.h / 2 + 1.1 * text, { most: label - 0.6 * text });
  const half = (r.h - 0.8 * text) / 2, y = r.y + 0.4 * text, dark = view.dark ? "#fff" : "#000";
  if (!held || held.of[0] === "way" || r.h < 3.4 * text && held.of[0] === held.of[1]) {
    const state = held ? held.of[0] : "free", come = state === "way" ? ease(clamp(at - scene.arrived[held.tile] + 1)) : 1;
    panel(pen, view, { x, y, w, h: 2 * half }, state === "way" ? hues.free : hues[state], hues.idle);
    if (come && state === "way") pen.fillStyle = hues.ready, pen.fillRect(x, y, come * w, 2 * half);
    write(pen, view, { free: "free", way: "copies on their way", ready: "all bytes have come", multiply: "both multiply" }[state], x + w / 2, y + half + 0.35 * text, { align: "center", colour: state === "multiply" ? "#000" : dark, most: w - 0.5 * text });
    return;
  }
  for (const who of WHO) {
    const state = held.of[who], top = y + who * half, words = { ready: "not begun", multiply: "multiplies", released: "released" }[state];
    panel(pen, view, { x, y: top, w, h: half }, hues[state] ?? hues.free, hues.idle);
    write(pen, view, `consumer ${who}: ${words}`, x + w / 2, top + half / 2 + 0.34 * text, { size: 0.93, align: "center", colour: state === "multiply" ? "#000" : dark, most: w - 0.4 * text });
  }
}

function drawRole(pen, view, r, name, lines, busy) {
  const { text, narrow } = view;
  panel(pen, view, r, null, busy, 2.4);
  if (narrow) {
    const w = write(pen, view, `${name}: `, r.x + 0.5 * text, r.y + 0.7 * r.h, { weight: 600 });
    write(pen, view, lines.join(", "), r.x + 0.5 * text + w, r.y + 0.7 * r.h, { most: r.w - w - text });
    return;
  }
  write(pen, view, name, r.x + r.w / 2, r.y + 1.35 * text, { weight: 700, align: "center", most: r.w - 0.6 * text });
  lines.forEach((words, i) => write(pen, view, words, r.x + r.w / 2, r.y + (2.75 + 1.25 * i) * text, { align: "center", most: r.w - 0.6 * text }));
}

/** What a consumer does, in at most two lines. */
function told(under, wait) {
  const found = [under.length ? `multiplies ${under.join(", ")}` : "", wait === null ? "" : `waits at full(${wait})`].filter(Boolean);
  return found.length ? found : ["has nothing to do"];
}
function drawRoles(pen, view) {
  const { scene, at, where, hues, narrow } = view, { producer, consumers } = doing(scene, at), slot = producer && producer.tile % scene.stages, stalled = producer?.kind === "stall", ended = at > scene.ordered.at(-1) + 1 - EPS;
  if (!narrow && stalled) line(pen, view, right(where.producer), left(where.stages[slot].empty), hues.wait);
  drawRole(pen, view, where.producer, "producer", !producer ? ["has not begun"] : ended ? ["has ordered", `all ${scene.tiles} steps`] : stalled ? [`waits at empty(${slot})`, `for step ${producer.tile}`] : [`orders step ${producer.tile}`, `into stage ${slot}`], stalled ? hues.wait : ended ? hues.idle : hues.copy);
  consumers.forEach((one, who) => {
    const r = where.consumers[who], wait = one.waits === null ? null : one.waits % scene.stages;
    if (!narrow && wait !== null) line(pen, view, right(where.stages[wait].full), left(r), hues.wait);
    drawRole(pen, view, r, `consumer ${who}`, told(one.under, wait), one.under.length ? hues.multiply : wait === null ? hues.idle : hues.wait);
  });
  return { stalled: stalled ? slot : null, waits: consumers.map(one => (one.waits === null ? null : one.waits % scene.stages)) };
}

/** What moves on the way to the next event: a step's copies to their stage, or a consumer's arrival to `empty`. */
function drawMoving(pen, view) {
  const { scene, at, where, hues, narrow, text } = view, part = at - Math.floor(at + EPS), next = scene.events[Math.floor(at + EPS)];
  if (part < EPS || !next || !["order", "release"].includes(next[0])) return;
  const [kind, who, k] = next, order = kind === "order", { box, empty } = where.stages[k % scene.stages], t = ease(part);
  const inside = (r, u, v) => [r.x + u * r.w, r.y + v * r.h], from = order ? inside(where.producer, narrow ? 0.5 : 1, 0.5) : inside(box, 0.6, 0.28 + 0.44 * who), to = order ? inside(box, 0.6, 0.5) : inside(empty, 0.6, 0.72);
  const x = lerp(from[0], to[0], t), y = lerp(from[1], to[1], t);
  pen.beginPath();
  pen.arc(x, y, (order ? 0.9 : 0.55) * text, 0, 2 * Math.PI);
  pen.fillStyle = order ? hues.copy : hues.multiply;
  pen.fill();
  pen.strokeStyle = view.ink;
  pen.stroke();
  if (order) write(pen, view, `${k}`, x, y + 0.36 * text, { weight: 700, align: "center", colour: view.dark ? "#000" : "#fff" });
}

export function draw(pen, given) {
  const where = layout(given), view = { ...given, where, text: where.text, hues: HUES[given.dark ? "dark" : "light"] }, { scene, at } = view;
  drawHead(pen, view);
  if (where.key) drawKey(pen, view);
  const waiting = drawRoles(pen, view), last = scene.events[Math.floor(at + EPS) - 1];
  for (let slot = 0; slot < scene.stages; ++slot) {
    const { full, empty } = barriers(scene, slot, at), here = last && last[2] % scene.stages === slot ? last[0] : "", flips = here === "release" && empty.arrivals === 2;
    drawBarrier(pen, view, `empty(${slot})`, where.stages[slot].empty, { bit: empty.bit, missing: `${plural(empty.arrivals, "arrival")} missing` }, waiting.stalled === slot, flips);
    drawStage(pen, view, slot);
    drawBarrier(pen, view, `full(${slot})`, where.stages[slot].full, { bit: full.bit, missing: missing(full) }, waiting.waits.includes(slot), here === "arrive");
  }
  drawMoving(pen, view);
}
const missing = full => (full.bytes ? `${full.bytes.toLocaleString("en")} bytes missing` : `${plural(full.arrivals, "arrival")} missing`);

// ---- words -------------------------------------------------------------------------------------------------------------------------
export function says(view, step) {
  const { scene } = view;
  if (step <= 0) return `Shared memory has room for ${scene.stages} steps, and there are ${scene.tiles} steps. How often will the producer have to wait until a stage is free? Predict, then play.`;
  const [kind, who, k] = scene.events[step - 1], slot = k % scene.stages, before = k - scene.stages, { full, empty } = barriers(scene, slot, step);
  const asks = step === scene.begin && !view.ended ? ` How often will the producer have to wait in all ${scene.tiles} steps? Predict, then play.` : "";
  const end = step < scene.steps ? asks : ` All ${scene.tiles} steps are multiplied. The producer had to wait ${plural(scene.answer, "time")}.`;
  const flip = (name, bit) => `the bit of ${name}(${slot}) flips from ${1 - bit} to ${bit}`;
  if (kind === "order") return `The producer orders the copies of step ${k} into stage ${slot}${before < 0 ? ", which nobody has used yet" : `: both consumers have released step ${before}`}.${end}`;
  if (kind === "stall") return `The producer waits at empty(${slot}): step ${k} belongs into stage ${slot}, and step ${before} still lies there.${end}`;
  if (kind === "arrive") return `All bytes of step ${k} have come, and ${flip("full", full.bit)}.${end}`;
  if (kind === "begin") return `Consumer ${who} begins to multiply step ${k}, which lies in stage ${slot}.${end}`;
  return `Consumer ${who} has multiplied step ${k} and releases stage ${slot}. ${empty.arrivals === 1 ? `Consumer ${1 - who} still needs it.` : `It is the second to do so, and ${flip("empty", empty.bit)}: the stage is free.`}${end}`;
}
const when = (view, step) => (step <= 0 ? "before the first copy" : `event ${step} of ${view.scene.steps}`);
const STATES = { way: "on its way", ready: "arrived", multiply: "in products" }, FOR = { ready: "waiting for", multiply: "in products of", released: "released by" };
export function describes(view, step) {
  const { scene } = view, slots = Array.from({ length: scene.stages }, (_, slot) => slot);
  const lies = one => (one ? `step ${one.tile}, ${one.of[0] === one.of[1] ? STATES[one.of[0]] : WHO.map(who => `${FOR[one.of[who]]} consumer ${who}`).join(", ")}` : "free");
  const bits = slot => { const { full, empty } = barriers(scene, slot, step); return `empty has bit ${empty.bit}, full has bit ${full.bit}`; };
  return `${says(view, step)} ${slots.map(slot => `Stage ${slot}: ${lies(inStage(scene, slot, step))}; ${bits(slot)}`).join(". ")}.`;
}

// ---- the explorable ----------------------------------------------------------------------------------------------------------------
export const picture = {
  title: "A producer and two consumers",
  ask: { label: "Your prediction", unit: "times" },
  order: ["says", "player", "controls", "picture"],
  height: (width, text, narrow) => Math.round((narrow ? 38 : 26) * text),
  controls: () => [{ kind: "range", key: "stages", label: "Stages", name: "Stages: steps whose tiles have room in shared memory", min: 2, max: 4, says: values => plural(values.stages, "stage") }],
  scene: sceneOf, draw, says, when, describes,
};
export default explorable(picture);
