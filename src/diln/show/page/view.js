// What all views share: a focusable stage with a summary for screen readers, a tip, a voice, a size.
//
//   openStage(host, {kind, height, draw, key}) -> stage
//     stage.node           the element to draw in (tabindex 0, role "application", aria-label)
//     stage.width, .height its size in pixels; `height` is a number or a function of the width
//     stage.label(text)    summary, for aria-label; stage.say(text) speaks politely
//     stage.tip(text, x, y) shows a tip beside a place; stage.tip(null) hides it
//     stage.below          an element under the stage, for legends
//     stage.empty(text)    a sentence in place of the picture; null brings it back
//     stage.close()        ends listeners and empties the host
//   draw() is called at a new size and when light turns dark (for what canvas has painted);
//   key(event) gets key presses, and returns true for those it has used.

import { onScheme } from "diln/colour.js";
import { clamp } from "diln/scale.js";
import { html } from "diln/svg.js";

let numbers = 0;

export function openStage(host, { kind, height, draw, key, focus }) {
  const tip = html("div", { class: "view-tip", hidden: true });
  const voice = html("div", { class: "hidden-text", "aria-live": "polite" });
  const node = html("div", { class: `view-stage view-${kind}`, tabindex: "0", role: "application",
    "aria-roledescription": kind });
  const below = html("div", { class: "view-below" });
  host.classList.add("view");
  host.replaceChildren(node, below, tip, voice);
  numbers += 1;
  const stage = { node, below, id: `view-${numbers}`, width: 0, height: 0 };

  stage.label = (text) => node.setAttribute("aria-label", text);
  stage.say = (text) => { voice.textContent = text; };
  stage.tip = (text, x = 0, y = 0) => {
    tip.hidden = !text;
    if (!text) return;
    tip.textContent = text;
    const wide = tip.offsetWidth;
    const tall = tip.offsetHeight;
    const top = y - tall - 12 >= 0 ? y - tall - 12 : y + 18;
    tip.style.left = `${clamp(x - wide / 2, 0, Math.max(0, stage.width - wide))}px`;
    tip.style.top = `${top}px`;
  };
  const nothing = html("div", { class: "view-empty", hidden: true });
  node.append(nothing);
  // A sentence in place of the picture; null brings the picture back.
  stage.empty = (text) => {
    nothing.hidden = !text;
    nothing.textContent = text ?? "";
    node.classList.toggle("is-empty", Boolean(text));
    below.hidden = Boolean(text);
    if (text) stage.label(text);
  };
  stage.measure = () => {
    const width = Math.round(host.clientWidth) || 640;
    const tall = Math.max(1, Math.round(typeof height === "function" ? height(width) : height));
    const other = width !== stage.width || tall !== stage.height;
    stage.width = width;
    stage.height = tall;
    node.style.height = `${tall}px`;
    return other;
  };

  const resized = () => { if (host.clientWidth && stage.measure()) draw(); };
  const watch = new ResizeObserver(() => requestAnimationFrame(resized));
  watch.observe(host);
  const unwatch = onScheme(() => draw());
  const pressed = (event) => {
    if (event.target !== node || event.altKey || event.metaKey || event.ctrlKey) return;
    if (key(event)) event.preventDefault();
  };
  node.addEventListener("keydown", pressed);
  if (focus) node.addEventListener("focus", focus);
  node.addEventListener("blur", () => stage.tip(null));

  stage.close = () => {
    watch.disconnect();
    unwatch();
    host.classList.remove("view");
    host.replaceChildren();
  };
  stage.measure();
  return stage;
}

// Topics by id, with a theme each: that of `themes` where these are given, whose number the reader chooses; null for none.
export function topicsById(topics, themes) {
  const home = themes?.topic_theme;
  return new Map((topics ?? []).map((topic) => [topic.id, { ...topic, theme: (home ? home[topic.id] : topic.theme) ?? null }]));
}

export const themeList = (themes) => (Array.isArray(themes) ? themes : (themes && themes.themes) || []);

// Pairs of both signs in one list, the strongest first; only the sure ones where that is known.
export function pairList(pairs, unsure = false) {
  if (!pairs) return [];
  const all = Array.isArray(pairs) ? pairs : [...(pairs.positive ?? []), ...(pairs.negative ?? [])];
  const kept = all.filter((pair) => unsure || pair.sure !== false);
  return kept.sort((one, two) => Math.abs(two.log_lift) - Math.abs(one.log_lift));
}

// Whether a topic belongs to the word, label or span of time that is selected: state.weights is a Map of its id -> 0..1,
// where 0.5 is as much as in all documents; null where nothing of the kind is selected.
const BELONGS = 0.55;

export const belongs = (state, topic) => !state.weights || (state.weights.get(topic) ?? 0) >= BELONGS;
