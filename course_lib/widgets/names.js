// Names and values for the controls of ipywidgets, which a screen reader would otherwise call "2" where the slider shows "BM 16".
// Lives unseen in each of the course's boxes and looks after its neighbours; ipywidgets itself changes nothing but what is written here.
const PLAYS = { "fa-play": "Play", "fa-pause": "Pause", "fa-stop": "Stop, and back to the first step", "fa-retweet": "Repeat" };

const put = (target, name, value) => { if (value && target.getAttribute(name) !== value) target.setAttribute(name, value); };
const meaning = label => (label?.title && label.title !== "null" ? label.title : label?.textContent.trim());

function nameSlider(slider) {
  const name = meaning(slider.querySelector(".widget-label")), readout = slider.querySelector(".widget-readout");
  for (const handle of slider.querySelectorAll("[role=slider]")) {
    put(handle, "aria-label", name);
    put(handle, "aria-valuetext", readout?.textContent);
  }
  if (readout) put(readout, "tabindex", "-1");            // one stop of the Tab key per slider; a click still reaches it
}

function nameButtons(group) {
  put(group, "role", "group");
  put(group, "aria-label", meaning(group.querySelector(".widget-label")));
  for (const button of group.querySelectorAll("button")) put(button, "aria-pressed", String(button.classList.contains("mod-active")));
}

function namePlayer(button) {
  const icon = Object.keys(PLAYS).find(name => button.querySelector(`.${name}`));
  put(button, "aria-label", PLAYS[icon]);
  put(button, "title", PLAYS[icon]);
}

/** A field of a number belongs to the question above it; so do the buttons of a question with options. */
function nameQuestion(part) {
  const asked = part.closest(".widget-vbox")?.querySelector(".widget-html-content");
  if (!asked) return;
  asked.id ||= `wbw-asked-${Math.random().toString(36).slice(2)}`;         // each box has this module for itself: a counter would repeat
  put(part, part.matches("input") ? "aria-describedby" : "aria-labelledby", asked.id);
}

export function nameAll(root) {
  root.querySelectorAll(".widget-slider").forEach(nameSlider);
  root.querySelectorAll(".widget-toggle-buttons").forEach(nameButtons);
  root.querySelectorAll(".widget-play button").forEach(namePlayer);
  root.querySelectorAll("input.widget-input").forEach(nameQuestion);
  if (root.matches(".wbw-quiz")) for (const box of root.querySelectorAll(":scope > .widget-vbox")) { put(box, "role", "group"); nameQuestion(box); }
}

function render({ el }) {
  let watcher = null, stopped = false;
  const begin = () => {
    const root = el.closest(".wbw-box");
    if (stopped) return;
    if (!root) { requestAnimationFrame(begin); return; }  // the page has not taken the box in yet
    watcher = new MutationObserver(() => nameAll(root));
    watcher.observe(root, { subtree: true, childList: true, characterData: true, attributes: true, attributeFilter: ["aria-valuetext", "class", "title"] });
    nameAll(root);
  };
  begin();
  return () => { stopped = true; watcher?.disconnect(); };
}
export default { render };
