// Bars: the words of a topic, and shares by label.
//
//   createWords(host, data, options) -> {update, resize, destroy, table, svg, setData}
//   data    {words: [Word], topic?: TopicInfo, relevance?: 0..1}
//   options onSelect({word}), onHover({word} | null), onRelevance(value): shows a slider and asks for other words
//   update(state)  {word}
//
//   createGroups(host, data, options) -> the same
//   data    {groups: Groups, topics?: [TopicInfo], themes?: Themes}
//   options onSelect({label} | {label, topic} | {label, theme}), onHover, most (labels shown at most, 40)
//   update(state)  {label, topic, theme}
//   One topic or theme: a bar for each label, with its interval. Several: a row each, a column for each label.
//   A triangle marks differences that are more than chance: up for more than elsewhere, down for less.
//   Keys: arrows move, Enter selects, Escape clears.

import { themeColour } from "diln/colour.js";
import { clamp, digits, linear, percent } from "diln/scale.js";
import { el, fit, html, measure, set, standalone, table } from "diln/svg.js";
import { openStage } from "diln/view.js";

const ROW = 24;

export function createWords(host, data, options = {}) {
  let words;
  let state = {};
  let cursor = -1;
  const stage = openStage(host, { kind: "words", height: () => 8 + ROW * Math.max(1, words?.length ?? 1) + 4, draw,
    key });
  const svg = el("svg", { "aria-hidden": "true" });
  stage.node.append(svg);
  const slider = options.onRelevance ? html("input", { type: "range", min: "0", max: "1", step: "0.1" }) : null;
  const shown = html("output", { class: "hidden-text" });
  if (slider) {
    slider.addEventListener("input", () => {
      shown.textContent = slider.value;
      options.onRelevance(Number(slider.value));
    });
    host.prepend(html("label", { class: "row note words-relevance" }, html("span", {}, "telling words"), slider,
      html("span", {}, "frequent words"), shown));
    slider.setAttribute("aria-label", "Relevance: from telling words to frequent words");
  }
  const row = (event) => {
    const box = stage.node.getBoundingClientRect();
    const at = Math.floor((event.clientY - box.top - 8) / ROW);
    return at >= 0 && at < words.length ? at : -1;
  };
  stage.node.addEventListener("pointermove", (event) => point(row(event)));
  stage.node.addEventListener("pointerleave", () => point(-1));
  stage.node.addEventListener("click", (event) => { if (row(event) >= 0) options.onSelect?.(
    { word: words[row(event)].term }); });

  const elsewhere = (word) => (word.lift > 0 ? word.probability / word.lift : null);
  function load() {
    words = data.words ?? [];
    cursor = -1;
    if (slider) slider.value = String(data.relevance ?? 0.6);
  }

  function draw() {
    stage.measure();
    stage.empty(words.length === 0 ? "There are no words to show." : null);
    if (words.length === 0) return;
    const name = data.topic?.label;
    stage.label(`The ${words.length} words${name ? ` of ${name}` : ""} that come first: ${words.slice(0, 5).map((word) => word.term).join(", ")}. Bars compare this topic with the whole corpus.`);
    set(svg, { width: stage.width, height: stage.height, viewBox: `0 0 ${stage.width} ${stage.height}` });
    const left = Math.min(stage.width * 0.4, Math.max(...words.map((word) => measure(word.term, 13, 600))) + 14);
    const most = Math.max(...words.map((word) => Math.max(word.probability, elsewhere(word) ?? 0)), 1e-12);
    const x = linear([0, most], [left, stage.width - 62]);
    const colour = themeColour(data.topic?.theme ?? null);
    svg.replaceChildren(...words.map((word, at) => bar(word, at, left, x, data.topic ? colour : "var(--accent)")));
    stage.below.replaceChildren(html("div", { class: "view-legend" },
      html("span", { class: "item" }, html("span",
        { style: { width: "18px", height: "10px", background: data.topic ? colour
        : "var(--accent)" } }), "in this topic"),
      html("span", { class: "item" }, html("span",
        { style: { width: "18px", height: "3px", background: "var(--ink)" } }), "in the whole corpus")));
  }

  function bar(word, at, left, x, colour) {
    const y = 8 + at * ROW;
    const mine = word.term === state.word;
    const whole = elsewhere(word);
    return el(
      "g", {}, mine || at === cursor ? el("rect", { x: 0, y: y - 1, width: stage.width, height: ROW - 1, rx: 4,
        fill: "var(--faint)" }) : null,
      el("text", { x: left - 10, y: y + 15, "text-anchor": "end", "font-size": 13, "font-weight": mine ? 650 : 400,
        fill: "var(--ink)" }, fit(word.term, left - 12, 13, mine ? 650 : 400)),
      el("rect", { x: left, y: y + 4, width: Math.max(1, x(word.probability) - left), height: 12, fill: colour,
        "fill-opacity": 0.85 }),
      whole === null ? null : el("rect", { x: left, y: y + 16.5, width: Math.max(1, x(whole) - left), height: 2.5,
        fill: "var(--ink)", "fill-opacity": 0.75 }),
      el("text", { x: stage.width - 4, y: y + 15, "text-anchor": "end", "font-size": 12, fill: "var(--soft)" },
        percent(word.probability)),
    );
  }

  const told = (word) => `${word.term}: ${percent(word.probability)} of this topic, ${elsewhere(word) === null ? "" : `${percent(elsewhere(word))} of the corpus, `}${digits(word.lift)} times as often`;
  function point(at) {
    if (at === cursor) return;
    cursor = at;
    stage.tip(at >= 0 ? told(words[at]) : null, stage.width / 2, 8 + at * ROW);
    options.onHover?.(at >= 0 ? { word: words[at].term } : null);
    draw();
  }

  function key(event) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (words.length === 0) return false;
    if (step) {
      point(clamp(cursor + step, 0, words.length - 1));
      stage.say(told(words[cursor]));
    } else if ((event.key === "Enter" || event.key === " ")
      && cursor >= 0) options.onSelect?.({ word: words[cursor].term });
    else if (event.key === "Escape") {
      point(-1);
      options.onSelect?.({ word: null });
    } else return false;
    return true;
  }

  load();
  draw();
  return {
    update(next) {
      state = next;
      draw();
    },
    resize: draw,
    destroy: () => stage.close(),
    table: () => table("Words of the topic", ["Word", ["In the topic", percent], ["In the corpus", percent],
      ["Lift", digits], ["Relevance", digits]], words.map((word) =>
      [word.term, word.probability, elsewhere(word), word.lift, word.relevance])),
    svg: () => (words.length ? standalone(svg) : null),
    setData(next) {
      data = next;
      load();
      draw();
    },
  };
}

export { createGroups } from "diln/groups.js";
