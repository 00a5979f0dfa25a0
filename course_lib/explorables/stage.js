// What every explorable shares: controls, player, keyboard, full screen, themes. docs/explorables.md says how to write one.
//
// The picture owns no time and no state. It is a function of a view: { scene, values, smooth, at, … }. `at` runs from 0 to scene.steps.
const SETTLE_MS = 700;                       // in which a picture follows a control, where it names no time of its own (`settle`)
const GRACE_MS = 2000;                       // after Space in the question: a press of Play that was on its way does not pause
const NARROW = 700;                          // pixels: a telephone, or half a window
const REVEAL_MS = 3000;                      // a picture that is new scrolls itself into the window, and never moves a page that is being read
const PROJECTED = [28 / 1080, 15, 64];       // the type on a full screen: a share of its height, so that a browser's zoom changes nothing
const ICONS = { play: "M3 1l10 7-10 7z", pause: "M3 1h4v14H3zM9 1h4v14H9z", back: "M13 1L5 8l8 7zM2 1h2v14H2z", step: "M3 1l8 7-8 7zM12 1h2v14h-2z",
  jump: "M2 1l6 7-6 7zM8 1l6 7-6 7z", rewind: "M14 1L8 8l6 7zM8 1L2 8l6 7z", full: "M1 1h5v2H3v3H1zM10 1h5v5h-2V3h-3zM1 10h2v3h3v2H1zM13 10h2v5h-5v-2h3z" };

export const clamp = (x, low = 0, high = 1) => Math.min(high, Math.max(low, x));
export const ease = t => (t < 0.5 ? 4 * t ** 3 : 1 - (2 - 2 * t) ** 3 / 2);
export const lerp = (a, b, t) => a + (b - a) * t;
export const plural = (n, one, many = `${one}s`) => `${n} ${n === 1 ? one : many}`;

/** Make the module's default export of a picture: what anywidget calls, and what `mount` calls on a page without a kernel. */
export const explorable = picture => ({ render: ({ model, el }) => new Stage(picture, model, el).close });

/** Show an explorable on a page without a kernel. `data` is what the page holds: {states, values}. */
export function mount(module, data, el) {
  const now = { ...data };
  return module.render({ el, model: { get: name => now[name], set: (name, value) => { now[name] = value; }, save_changes() {}, on() {}, off() {} } });
}

/** Read a number as readers write it, or give NaN: 8.5, 8,5, 1,024, 262 144, 17/2. The rule for commas is that of widgets/numbers.py. */
export function numberOf(text) {
  const parts = text.trim().split("/").map(part => {
    let digits = part.trim().replace(/(\d)[ \u00a0\u202f_'’](?=\d{3}(\D|$))/g, "$1");
    const decimal = Math.max(digits.lastIndexOf(","), digits.lastIndexOf("."));
    if (/^-?[1-9]\d{0,2}(,\d{3})+$/.test(digits) || /^-?[1-9]\d{0,2}(\.\d{3}){2,}$/.test(digits)) digits = digits.replace(/[,.]/g, "");
    else if (decimal >= 0) digits = `${digits.slice(0, decimal).replace(digits[decimal] === "," ? /\.(?=\d{3})/g : /,(?=\d{3})/g, "")}.${digits.slice(decimal + 1)}`;
    return /^-?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(digits) ? Number(digits) : NaN;
  });
  return parts.length > 2 ? NaN : parts.reduce((above, below) => above / below);
}

/** Say what a prediction was worth; where the text could be read otherwise, say how it was read. What is counted is right only when it is exact; any other number may be rounded. One within a fifth is near. */
export function judged(text, answer) {
  const value = numberOf(text), plain = /^-?\d+(\.\d+)?$/.test(text.trim());
  if (!Number.isFinite(value)) return `You wrote "${text.trim()}", which is not a number: write something like 8.5 or 17/2.`;
  const off = Math.abs(value - answer), right = off <= (Number.isInteger(answer) ? 0 : 0.005 * Math.abs(answer)), near = off <= 0.2 * Math.abs(answer);
  const it = (Number.isInteger(answer) ? answer : Number(answer.toPrecision(3))).toLocaleString("en"), verdict = right ? ": right." : near ? `: nearly, it is ${it}.` : `; it is ${it}.`;
  return `You said ${text.trim()}${plain ? "" : `, understood as ${Number(value.toPrecision(6))}`}${verdict}`;
}
const put = (target, name, value) => { if (target.getAttribute(name) !== value) target.setAttribute(name, value); };

export function element(tag, attributes = {}, parent = null, text = null) {
  const made = document.createElement(tag);
  if (/^(input|button|canvas)$/.test(tag)) made.dataset.lmSuppressShortcuts = "true";      // JupyterLab leaves these their keys
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  if (text !== null) made.textContent = text;
  parent?.appendChild(made);
  return made;
}

// ---- controls: each returns a function that shows the current values -----------------------------------------------------------
function choiceControl(stage, control, parent) {
  const group = element("fieldset", { class: "wbw-choice" }, parent);
  element("legend", {}, group, control.label);
  const radios = control.options.map(([value, text]) => {
    const label = element("label", {}, group);
    const radio = element("input", { type: "radio", name: `${control.key}-${stage.id}` }, label);
    element("span", {}, label, text);
    radio.addEventListener("change", () => stage.set(control.key, value));
    return [radio, value];
  });
  return values => radios.forEach(([radio, value]) => { radio.checked = values[control.key] === value; });
}

function rangeControl(stage, control, parent) {
  const label = element("label", { class: "wbw-range" }, parent);
  element("span", {}, label, control.label);
  const slider = element("input", { type: "range", min: control.min, max: control.max, step: control.step ?? 1, "aria-label": control.name }, label);
  const output = element("output", { "aria-hidden": "true" }, label);
  slider.addEventListener("input", () => stage.set(control.key, Number(slider.value)));
  return values => {
    if (control.most) slider.max = control.most(values);
    slider.value = values[control.key];
    slider.disabled = control.enabled ? !control.enabled(values) : false;
    output.textContent = control.says(values);
    slider.setAttribute("aria-valuetext", output.textContent);
  };
}

/** Lines of the kernel. A line with a value can be chosen; it is a radio button that looks like code. */
function linesControl(stage, control, parent) {
  const group = element("fieldset", { class: "wbw-lines" }, parent);
  let shown = "";
  return values => {
    const lines = control.lines(values), text = JSON.stringify(lines);
    if (text !== shown) {
      group.replaceChildren();
      element("legend", {}, group, control.label);
      for (const line of lines) {
        const row = element(line.value === undefined ? "div" : "label", {}, group);
        if (line.value !== undefined) {
          const radio = element("input", { type: "radio", name: `${control.key}-${stage.id}`, value: line.value }, row);
          radio.addEventListener("change", () => stage.set(control.key, line.value));
        }
        element("b", {}, row, String(line.number));
        const code = element("code", {}, row), at = line.mark ? line.text.indexOf(line.mark) : -1;
        code.append(at < 0 ? line.text : line.text.slice(0, at));
        if (at >= 0) { element("mark", {}, code, line.mark); code.append(line.text.slice(at + line.mark.length)); }
      }
      shown = text;
    }
    for (const radio of group.querySelectorAll("input")) radio.checked = radio.value === values[control.key];
  };
}
const CONTROLS = { choice: choiceControl, range: rangeControl, lines: linesControl };

class Stage {
  constructor(picture, model, el) {
    Object.assign(this, { picture, model, id: Math.random().toString(36).slice(2), at: 0, goal: null, playing: false, ended: false, changed: -Infinity, begun: -Infinity, hover: null });
    this.states = model.get("states");
    this.values = { ...model.get("values") };
    this.smooth = this.from = this.numbers();
    this.still = matchMedia("(prefers-reduced-motion: reduce)");
    this.build(el);
    this.listen();
    this.rescene();
    this.close = () => { this.closed = true; cancelAnimationFrame(this.frame); this.watchers.forEach(stop => stop()); };
  }

  build(el) {
    this.root = element("section", { class: "wbw", "aria-label": this.picture.title }, el);
    this.root.stage = this;                  // for the browser's console, and for tests
    const top = element("div", { class: "wbw-controls" }, this.root);
    this.shows = this.picture.controls(this.states).map(control => CONTROLS[control.kind](this, control, top));
    this.holder = element("div", { class: "wbw-picture" }, this.root);
    this.canvas = element("canvas", { tabindex: 0, role: "img" }, this.holder);
    this.tip = element("div", { class: "wbw-tip", hidden: "" }, this.holder);
    this.pen = this.canvas.getContext("2d");
    this.says = element("p", { class: "wbw-says", role: "status", "aria-live": "polite" }, this.root);
    const bar = element("div", { class: "wbw-player" }, this.root);
    this.play = this.button(bar, "play", "Play", "Space", () => this.toggle());
    this.button(bar, "back", "Back", "ArrowLeft", () => this.step(-1));
    this.button(bar, "step", "Step", "ArrowRight", () => this.step(1));
    if (this.picture.jump) this.jumper = this.button(bar, this.picture.jumpIcon ?? "jump", this.picture.jump, "b", () => this.jump());
    this.scrub = element("input", { type: "range", min: 0, max: 1000, step: 1, value: 0, "aria-label": "Time" }, bar);
    this.scrub.addEventListener("input", () => this.seek(this.scrub.value / 1000 * this.scene.steps));
    if (this.picture.ask) {
      const label = element("label", { class: "wbw-ask" }, bar);
      element("span", {}, label, this.picture.ask.label);
      this.guess = element("input", { type: "text", inputmode: "decimal", autocomplete: "off", size: 8 }, label);
      this.unit = element("span", {}, label, this.picture.ask.unit);
      this.guess.addEventListener("input", () => this.tell());
    }
    this.fills = this.button(bar, "full", "Full screen", "f", () => this.fullScreen());
    const parts = { controls: top, picture: this.holder, says: this.says, player: bar };
    for (const name of this.picture.order ?? []) this.root.append(parts[name]);
  }

  button(parent, icon, text, key, act) {
    const made = element("button", { type: "button", "aria-keyshortcuts": key, title: `${text} (key: ${key})` }, parent);
    made.innerHTML = `<svg viewBox="0 0 16 16" aria-hidden="true"><path d="${ICONS[icon]}"/></svg><span></span>`;
    made.lastChild.textContent = text;
    made.addEventListener("click", act);
    return made;
  }

  listen() {
    const watch = (target, type, act) => { target.addEventListener(type, act); return () => target.removeEventListener(type, act); };
    const redraw = () => this.resize();
    const size = new ResizeObserver(redraw);
    const theme = new MutationObserver(redraw);
    size.observe(this.holder);
    theme.observe(document.body, { attributes: true });
    const born = performance.now(), seen = new IntersectionObserver(([{ boundingClientRect: box, isIntersecting, intersectionRatio }]) => {
      if (performance.now() - born > REVEAL_MS) seen.disconnect();
      else if (box.height) {                 // 0: not laid out yet
        seen.disconnect();
        if (isIntersecting && intersectionRatio < 0.995) this.root.scrollIntoView({ block: "nearest" });     // the text above leaves it a part of the window
      }
    });
    seen.observe(this.root);
    const follow = () => {                   // Python, or another view of the same widget, has moved a control
      const values = this.model.get("values");
      if (JSON.stringify(values) !== JSON.stringify(this.values)) { this.values = { ...values }; this.rescene(); }
    };
    this.model.on("change:values", follow);
    this.watchers = [() => this.model.off("change:values", follow), () => size.disconnect(), () => theme.disconnect(), () => seen.disconnect(),
      watch(matchMedia("(prefers-color-scheme: dark)"), "change", redraw),
      watch(document, "fullscreenchange", () => this.projector(document.fullscreenElement === this.root))];
    this.root.addEventListener("keydown", event => this.key(event));
    this.guess?.addEventListener("change", () => this.tell());
    this.root.addEventListener("click", event => this.clicked(event));
    this.canvas.addEventListener("pointermove", event => this.point(event));
    this.canvas.addEventListener("pointerleave", () => this.point(null));
    this.canvas.addEventListener("pointerdown", event => { this.canvas.focus(); this.point(event); this.pick(); });
  }

  // ---- values ------------------------------------------------------------------------------------------------------------------
  numbers() {                                // what moves smoothly
    const own = Object.entries(this.values).filter(([, value]) => typeof value === "number");
    return { ...Object.fromEntries(own), ...this.picture.numbers?.(this.values, this.states) };
  }

  set(key, value) {
    this.values = { ...this.values, [key]: value, ...this.picture.takes?.(key, this.states) };       // what else this control sets
    this.model.set("values", this.values);
    this.model.save_changes();
    this.rescene();
  }

  rescene() {
    this.before = this.scene;
    this.scene = this.picture.scene(this.values, this.states, this.before, this.at);
    const { rest = 0, begin = this.at < rest ? 0 : rest } = this.scene, { keeps: wish } = this.scene;
    const keeps = typeof wish === "function" ? wish(this.before) : wish;       // the control changes what is looked at, not what happens
    Object.assign(this, { from: { ...this.smooth }, changed: performance.now() }, keeps ? {} : { playing: false, goal: null, ended: false, at: begin });
    if (this.guess && !keeps) this.guess.value = "";
    if (this.unit) this.unit.textContent = this.scene.unit ?? this.picture.ask.unit;
    this.shows.forEach(show => show(this.values));
    this.resize();
  }

  // ---- time --------------------------------------------------------------------------------------------------------------------
  toggle() {
    if (this.playing && performance.now() - this.begun < GRACE_MS) return;
    if (!this.playing && this.at >= this.scene.steps) this.at = 0;
    this.playing = !this.playing;
    this.noted = false;                      // what to press next is said no more
    this.goal = this.last = null;
    this.unhover();
    this.wake();
  }
  /** Play because a prediction is written down; what plays already plays on. */
  begin() {
    if (!this.playing) this.toggle();
    this.begun = performance.now();
  }
  step(by) {
    this.seek(by > 0 ? Math.floor((this.goal ?? this.at) + 1e-6) + 1 : Math.ceil((this.goal ?? this.at) - 1e-6) - 1, true);
  }

  /** Go to the next of the scene's marks, after the last one to the first. */
  jump() { if (this.mark()) this.seek(this.mark().step, true); }
  mark() {
    const marks = this.scene.marks ?? [];
    return marks.find(({ step }) => step > (this.goal ?? this.at) + 1e-6) ?? marks[0];
  }

  seek(at, smoothly = false) {
    this.playing = this.noted = false;
    if (at === 0) this.ended = false;        // Home asks the question anew
    this.goal = smoothly && !this.still.matches ? clamp(at, 0, this.scene.steps) : null;
    if (this.goal === null) this.at = clamp(this.still.matches ? Math.round(at) : at, 0, this.scene.steps);
    if (!this.frame) this.last = null;       // a picture that moves already goes on
    this.wake();
  }

  wake() { this.frame ??= requestAnimationFrame(time => this.tick(time)); }
  tick(time) {
    this.frame = null;
    if (this.closed) return;
    const passed = Math.min(100, time - (this.last ?? time)) / 1000;
    this.last = time;
    if (this.playing || this.goal !== null) this.advance(passed);
    this.ended ||= this.at >= this.scene.steps;
    this.tell();                             // screen readers hear of it when the player rests
    const turn = this.still.matches ? 1 : clamp((performance.now() - this.changed) / (this.picture.settle ?? SETTLE_MS));
    this.smooth = Object.fromEntries(Object.entries(this.numbers()).map(([k, v]) => [k, lerp(this.from[k] ?? v, v, ease(turn))]));
    this.pen.clearRect(0, 0, this.width, this.height);
    this.picture.draw(this.pen, this.view(turn));
    if (this.playing || this.goal !== null || turn < 1) this.wake();
  }

  advance(passed) {
    const pause = this.scene.pauses?.find(step => step > this.at + 1e-6);       // where what plays stops by itself, once
    const to = this.goal ?? pause ?? this.scene.steps, hurry = this.goal === null ? 1 : Math.max(1, Math.abs(to - this.at));     // many steps at once
    const by = hurry * passed / this.scene.seconds(Math.floor(Math.min(this.at, to)));
    this.at = to > this.at ? Math.min(to, this.at + by) : Math.max(to, this.at - 3 * by);
    if (this.at === to) { Object.assign(this, { playing: false, goal: null }); this.unhover(); }
  }

  // ---- what is seen and said ---------------------------------------------------------------------------------------------------
  view(turn = 1) {
    const at = this.still.matches ? Math.floor(this.at + 1e-6) : this.at;
    return { scene: this.scene, before: this.before ?? this.scene, turn, values: this.values, smooth: this.smooth, at, ended: this.ended, hover: this.playing ? null : this.hover,
      width: this.width, height: this.height, text: this.text, narrow: this.width < NARROW, ...this.theme };
  }

  tell() {
    const view = this.view(), step = Math.floor(this.at + 1e-6);
    const wrote = this.guess?.value.trim(), unread = wrote && document.activeElement !== this.guess && !Number.isFinite(numberOf(wrote));
    const guess = step >= (this.scene.told ?? this.scene.steps) || unread ? wrote : "";      // what is no number is said at once, not when the answer is told
    const words = this.picture.says(view, step) + (guess ? ` ${judged(guess, this.scene.answer)}` : this.noted && wrote ? ` You say ${wrote}. Space plays, → goes one step.` : "");
    put(this.says, "aria-live", this.playing ? "off" : "polite");
    if (this.says.textContent !== words) this.says.textContent = words;
    put(this.canvas, "aria-label", `${this.picture.title}. ${this.picture.describes(view, step)} Keys: space plays, arrows step, f fills the screen.`);
    put(this.scrub, "aria-valuetext", this.picture.when(view, step));
    this.scrub.value = Math.round(1000 * this.at / this.scene.steps);
    const name = this.playing ? "Pause" : this.at >= this.scene.steps ? "Again" : "Play";
    put(this.play.querySelector("path"), "d", this.playing ? ICONS.pause : ICONS.play);
    if (this.jumper) put(this.jumper, "title", `To the ${this.mark()?.label} (key: b)`);
    if (this.play.lastChild.textContent !== name) this.play.lastChild.textContent = name;
  }

  resize() {
    const projected = this.root.classList.contains("wbw-projector"), wide = this.holder.clientWidth;
    if (!wide) return;
    this.text = projected ? clamp(Math.round(PROJECTED[0] * window.innerHeight), PROJECTED[1], PROJECTED[2]) : wide < 480 ? 12 : 14;
    this.width = wide;
    this.height = projected ? this.holder.clientHeight : this.picture.height(wide, this.text, wide < NARROW, this.states);
    this.holder.style.height = projected ? "" : `${this.height}px`;
    const dots = window.devicePixelRatio || 1;
    this.canvas.width = Math.round(wide * dots);
    this.canvas.height = Math.round(this.height * dots);
    this.pen.setTransform(dots, 0, 0, dots, 0, 0);
    const { color, backgroundColor, fontFamily } = getComputedStyle(this.root);
    const [red, green, blue] = (backgroundColor.match(/[\d.]+/g) ?? [255, 255, 255]).map(Number), dark = 2 * red + 7 * green + blue < 1000;
    this.root.classList.toggle("wbw-dark", dark);
    this.theme = { ink: color, paper: backgroundColor, dark, fontFamily };
    cancelAnimationFrame(this.frame);
    this.tick(performance.now());
  }

  // ---- pointer, keys, full screen ----------------------------------------------------------------------------------------------
  point(event) {
    const box = this.canvas.getBoundingClientRect();
    this.hover = event && this.picture.hit ? this.picture.hit(this.view(), event.clientX - box.left, event.clientY - box.top) : null;
    this.tip.hidden = !this.hover || this.playing;
    if (!this.tip.hidden) {
      this.tip.textContent = this.hover.text;
      const y = event.clientY - box.top, below = y + 18, high = this.tip.offsetHeight;              // below the pointer, else above it
      const left = clamp(event.clientX - box.left - 20, 0, Math.max(0, this.width - this.tip.offsetWidth));
      const top = below + high <= this.height ? below : Math.max(0, y - high - 10);
      Object.assign(this.tip.style, { left: `${left}px`, top: `${top}px` });
    }
    this.wake();
  }

  /** A mouse that has pressed a button or a switch gives the keys to the picture: Space plays. (A click made by a key has the detail 0, and leaves the focus.) */
  clicked(event) {
    const pressed = event.detail > 0 && (event.target.closest("button") ?? event.target.closest("label")?.querySelector("[type=radio]"));
    if (pressed) setTimeout(() => this.canvas.focus({ preventScroll: true }));                      // after the browser has given it to the switch
  }

  unhover() { this.hover = null; this.tip.hidden = true; }       // a mouse that rests on the picture changes nothing in what plays

  pick() {                                   // a click on what stands for a value of the controls
    for (const [key, value] of Object.entries(this.hover?.pick ?? {})) this.set(key, value);
  }

  /** Give the focus to the picture's cell in the notebook, or to the `next` one, where the keys are JupyterLab's; return that cell, or null outside JupyterLab. */
  release(next = false) {
    const own = this.root.closest(".jp-Cell"), after = next ? own?.nextElementSibling : null, cell = after?.matches(".jp-Cell") ? after : own;
    if (cell && !cell.hasAttribute("tabindex")) cell.tabIndex = -1;
    cell?.focus({ preventScroll: true });
    return cell;
  }

  /** Escape leaves the full screen, or else the picture, and selects its cell; Shift+Enter runs the next cell, so that the picture stays as it is. Return whether the key was one of these. */
  leaves(event) {
    const runs = event.key === "Enter" && event.shiftKey, full = document.fullscreenElement || this.root.classList.contains("wbw-fixed");
    if (!runs && event.key !== "Escape" || !full && !this.root.closest(".jp-Cell")) return false;
    this.gone = full && runs;                // JupyterLab has gone on by the time that the screen is left
    const { key, code, keyCode, shiftKey } = event, go = () => {
      const cell = this.release(runs);
      if (runs) cell?.dispatchEvent(new KeyboardEvent("keydown", { key, code, keyCode, shiftKey, bubbles: true, cancelable: true }));
    };
    if (runs && document.fullscreenElement) document.addEventListener("fullscreenchange", () => setTimeout(go, 50), { once: true });
    else if (runs) setTimeout(go, 0);        // JupyterLab learns of the cell that has the focus when this event is over
    else go();
    if (full) this.fullScreen(false);
    event.preventDefault();
    event.stopPropagation();
    return true;
  }

  /** Ctrl, Alt or Command with a key is the notebook's, which looks at no key that is pressed in a picture: offer it a copy. */
  offer(event) {
    const { target, key, code, keyCode, shiftKey, ctrlKey, altKey, metaKey } = event, around = this.root.closest(".jp-Cell, .jp-Notebook");
    if (!around || target === this.guess || !(ctrlKey || altKey || metaKey) || /^(Control|Alt|Meta|Shift|AltGraph)$/.test(key)) return;
    const copy = new KeyboardEvent("keydown", { key, code, keyCode, shiftKey, ctrlKey, altKey, metaKey, bubbles: true, cancelable: true });
    if (!around.dispatchEvent(copy)) event.preventDefault();
  }

  key(event) {
    if (this.leaves(event)) return;
    this.offer(event);
    const { target, key } = event, presses = target.matches("button") && key === " ", idle = target.type === "range" || target.type === "radio" && target.checked;
    const own = target !== this.scrub && target.matches("input") && !(idle && key === " ");      // a slider and a switch that is on have no use for Space
    const guessed = target === this.guess && (key === "Enter" || key === " ");       // Enter writes a number down; Space wants to see it, too
    if (guessed) this.canvas.focus();
    this.noted = guessed && key === "Enter";
    if (event.ctrlKey || event.metaKey || event.altKey || !guessed && own && (key !== "f" || target === this.guess) || presses) return;
    const acts = { " ": () => this.toggle(), ArrowRight: () => this.step(1), ArrowLeft: () => this.step(-1), Home: () => this.seek(0),
      End: () => this.seek(this.scene.steps), f: () => this.fullScreen() };
    if (this.jumper) acts.b = () => this.jump();
    Object.assign(acts, { PageDown: acts.ArrowRight, PageUp: acts.ArrowLeft });      // what a lecturer's remote control sends
    if (guessed) Object.assign(acts, { Enter: () => this.tell(), " ": () => this.begin() });
    if (!acts[key]) return;
    event.preventDefault();
    event.stopPropagation();
    this.unhover();
    acts[key]();
  }

  async fullScreen(stays = true) {
    this.canvas.focus();                     // so that Space plays, whatever button was pressed
    this.stays = stays;                      // whoever leaves by `f` or by the button goes on with the picture
    if (document.fullscreenElement) return document.exitFullscreen();
    const fixed = this.root.classList.contains("wbw-fixed");
    try { if (fixed) throw 0; await this.root.requestFullscreen(); } catch {      // not allowed here: fill the window instead
      this.root.classList.toggle("wbw-fixed", !fixed);
      this.projector(!fixed);
    }
  }

  projector(on) {
    if (on === this.root.classList.contains("wbw-full")) return;         // it was another picture
    this.root.classList.toggle("wbw-full", on);
    this.fills.lastChild.textContent = on ? "Leave" : "Full screen";
    put(this.fills, "title", `${on ? "Leave full screen" : "Full screen"} (key: f)`);
    this.root.classList.toggle("wbw-projector", on && window.innerWidth >= 800);         // on a telephone nothing grows
    if (!on && this.stays) this.canvas.focus({ preventScroll: true });
    else if (!on && !this.gone) this.release();
    this.gone = this.stays = false;
    this.resize();
  }
}
