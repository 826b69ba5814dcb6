// The report: pictures that are drawn when they come into view, one selection for all of them, search, light and dark.

import { createMap } from "diln/map.js";
import { createMatrix } from "diln/matrix.js";
import { createNetwork } from "diln/network.js";
import { createTrends } from "diln/trends.js";
import { themeColour, themeMark } from "diln/colour.js";
import { tools } from "diln/export.js";
import { count, percent } from "diln/scale.js";
import { html } from "diln/svg.js";
import { openSearch } from "report/search.js";

const data = JSON.parse(document.getElementById("report-data").textContent);
const main = document.getElementById("main");
if (data.matrix?.sure) data.matrix.sure = data.matrix.sure.map((row) => row.map(Boolean));
const topics = new Map(data.topics.map((topic) => [topic.id, topic]));
const themes = new Map((data.themes?.themes ?? []).map((theme) => [theme.id, theme]));
const state = { topic: null, theme: null, word: null, label: null, since: null, until: null, hover: null };
const views = new Map();

// Selection: views ask for it, and all of them follow.

function select(partial) {
  const { topic, theme, since, until } = partial;
  if ("topic" in partial || "theme" in partial) Object.assign(state, { topic: topic ?? null, theme: theme ?? null });
  if ("since" in partial) Object.assign(state, { since, until });
  follow();
  tell();
}

function hover(partial) {
  state.hover = partial;
  follow();
}

function follow() {
  for (const view of views.values()) view.update(state);
}

const panel = document.getElementById("selected");

function tell() {
  const chosen = state.topic !== null ? topics.get(state.topic) : state.theme !== null ? themes.get(state.theme) : null;
  panel.hidden = !chosen;
  if (!chosen) return;
  const isTopic = state.topic !== null;
  const theme = isTopic ? chosen.theme : chosen.id;
  const size = chosen.n_docs === null || chosen.n_docs === undefined ? "" : `, ${count(chosen.n_docs)} documents`;
  const name = isTopic ? `Topic ${chosen.id}` : `Theme ${themeMark(chosen.id)}`;
  panel.style.setProperty("--c", themeColour(theme));
  panel.replaceChildren(
    html("div", {},
      html("p", {}, html("strong", {}, `${name}: `), html("bdi", {}, chosen.label), ` (${percent(chosen.share)} of all words${size})`),
      html("p", {}, chosen.words.join(", ")),
    ),
    html("a", { class: "button", href: isTopic ? `#topic-${chosen.id}` : `#theme-${chosen.id}` }, "To its card"),
    html("button", { type: "button", "aria-label": "Clear the selection", onclick: () => select({ topic: null, theme: null }) }, "✕"),
  );
}

// Pictures

const options = { onSelect: select, onHover: hover, wheel: "focused" };
const height = (width) => Math.round(Math.min(640, Math.max(340, width * 0.68)));
const makers = {
  map: (host) => createMap(host, { map: data.map, topics: data.topics, themes: data.themes, pairs: data.pairs, documents: points(data.documents) }, { ...options, height }),
  network: (host) => createNetwork(host, { topics: data.topics, pairs: strongest(host.dataset.most), themes: data.themes, map: data.map }, { ...options, height }),
  matrix: (host) => createMatrix(host, { matrix: data.matrix, topics: data.topics, themes: data.themes }, options),
  time: (host) => createTrends(host, { trends: trendsOf("themes"), topics: data.topics, themes: data.themes }, options),
};

function strongest(most) {
  const { positive, negative } = data.pairs;
  return { ...data.pairs, positive: positive.slice(0, most), negative: negative.slice(0, most) };
}

function points(packed) {
  if (!packed) return null;
  const bytes = Uint8Array.from(atob(packed.packed), (letter) => letter.charCodeAt(0));
  const numbers = new DataView(bytes.buffer);
  const n = bytes.length / 8;
  const column = (at) => Uint16Array.from({ length: n }, (_, row) => numbers.getUint16(2 * (4 * row + at), true));
  return { x: column(0), y: column(1), theme: column(2), topic: column(3) };
}

function trendsOf(chosen) {
  if (chosen === "themes" && data.theme_trends) return data.theme_trends;
  if (chosen === "held") return data.held_trends;
  const inside = chosen === "themes" ? null : new Set(themes.get(Number(chosen))?.topics);
  const all = data.topic_trends;
  return inside ? { ...all, series: all.series.filter((one) => inside.has(one.id)) } : all;
}

function chooser(name) {
  if (name !== "time" || !data.topic_trends || !data.theme_trends || !themes.size) return null;
  const choices = [...themes.values()].map((theme) => html("option", { value: theme.id }, `Topics of ${themeMark(theme.id)} ${theme.label}`));
  const choice = html("select", {}, html("option", { value: "themes" }, "All themes"),
    data.held_trends ? html("option", { value: "held" }, "All themes, labels held constant") : null, ...choices);
  choice.addEventListener("change", () => {
    views.get("time").setData({ trends: trendsOf(choice.value), topics: data.topics, themes: data.themes });
    views.get("time").update(state);
  });
  return html("label", {}, "Show ", choice);
}

function draw(place) {
  const name = place.dataset.view;
  if (views.has(name)) return;
  const host = html("div");
  const bar = html("div", { class: "live-tools" });
  place.replaceChildren(bar, host);
  const view = makers[name](host);
  views.set(name, view);
  bar.append(chooser(name) ?? html("span"), tools(view, name, host));
  view.update(state);
}

// One picture after the other, and then again to where the address points: pictures above it have moved it.
async function drawAll() {
  let moved = false;
  for (const kind of ["wheel", "touchmove", "keydown"]) addEventListener(kind, () => { moved = true; }, { once: true, passive: true });
  for (const place of document.querySelectorAll(".live[data-view]")) {
    await new Promise((done) => setTimeout(done));
    guarded(place);
  }
  if (location.hash && !moved) document.getElementById(location.hash.slice(1))?.scrollIntoView();
  document.documentElement.dataset.drawn = String(views.size);
}

// A picture that cannot be drawn leaves its still twin in place.
function guarded(place) {
  try {
    draw(place);
  } catch (error) {
    place.closest("figure").classList.add("broken");
    place.remove();
    console.error(error);
  }
}

// Light and dark

const scheme = document.getElementById("scheme");
const dark = () => (document.documentElement.dataset.theme ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";
const named = () => { scheme.textContent = dark() ? "Light" : "Dark"; };
scheme.addEventListener("click", () => { document.documentElement.dataset.theme = dark() ? "light" : "dark"; named(); });
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", named);

// The contents follow the reader; on narrow screens they are folded.

function followContents() {
  const links = new Map([...document.querySelectorAll(".contents a")].map((link) => [link.hash.slice(1), link]));
  const seen = new Set();
  const order = [...links.keys()].map((id) => document.getElementById(id)).filter(Boolean);
  const mark = () => {
    const current = order.filter((section) => seen.has(section)).pop();
    for (const [id, link] of links) {
      if (current && id === current.id) link.setAttribute("aria-current", "true");
      else link.removeAttribute("aria-current");
    }
  };
  const watch = new IntersectionObserver((entries) => {
    for (const one of entries) one.isIntersecting ? seen.add(one.target) : seen.delete(one.target);
    mark();
  }, { rootMargin: "-70px 0px -75% 0px" });
  for (const section of order) watch.observe(section);
}

// A link to a topic also selects it in the pictures.
function followHash() {
  const found = /^#topic-(\d+)$/.exec(location.hash);
  if (found && topics.has(Number(found[1]))) Object.assign(state, { topic: Number(found[1]), theme: null });
  if (found) follow();
}

document.documentElement.classList.add("scripted");
if (matchMedia("(max-width: 1099px)").matches) document.querySelector(".contents details").open = false;
named();
openSearch(document.querySelector("form.search"), main);
drawAll();
followContents();
followHash();
addEventListener("hashchange", followHash);
