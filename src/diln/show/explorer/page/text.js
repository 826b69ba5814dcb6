// A text whose words are coloured by topic: in the colour of its theme, which has the letter that it has everywhere;
// topics of one theme differ by their lines.
import { themeLink, topicLink } from "app/book.js";
import { button, h } from "app/dom.js";
import { count, many, percent } from "app/format.js";
import { toggleButton } from "app/frame.js";
import { bar, number } from "app/parts.js";
import { themeColour, themeMark } from "diln/colour.js";

const FIRST = 5; // topics of the legend, until one asks for all
const TOPICS = 10; // that have the colours of their themes; the others share one
const LINES = ["solid", "dashed", "dotted", "double", "wavy"];
const PIECES = 12000; // of a text that are drawn at a time

/** A text's topics by share, then by words; the first have the colour of their theme, and a line of their own in it. */
function keys(app, reading) {
  const tally = new Map();
  for (const token of reading.tokens) if (token.topic !== null) tally.set(token.topic, (tally.get(token.topic) ?? 0) + 1);
  const shares = new Map((reading.topics ?? []).map((one) => [one.id, one.share]));
  const ids = [...tally].sort((a, b) => (shares.get(b[0]) ?? 0) - (shares.get(a[0]) ?? 0) || b[1] - a[1]).map(([id]) => id);
  const looks = new Map();
  const used = new Map(); // lines, by theme
  for (const [rank, id] of ids.entries()) {
    const theme = app.book.themeOf(id);
    const line = used.get(theme) ?? 0;
    used.set(theme, line + 1);
    const plain = rank >= TOPICS || theme === null;
    looks.set(id, { theme, tone: plain ? "var(--none)" : themeColour(theme), stroke: LINES[line % LINES.length] });
  }
  return { ids, tally, shares, looks };
}

const styleOf = ({ tone, stroke }) => ({ "--tone": tone, "--stroke": stroke });

/** {node, legend, follow(state)}: a text, what its colours mean, and how it follows the selection. */
export function colouredText(app, reading) {
  const key = keys(app, reading);
  const node = h("div", { class: "coloured on", tabindex: "0", role: "group", "aria-label": "Text, each word with its topic. Arrow keys go from word to word." });
  const tip = h("div", { class: "word-tip", hidden: true, "aria-hidden": "true" });
  const body = h("p", { class: "text", lang: "" });
  const rest = h("p", { class: "note" });
  node.append(body, rest, tip);
  let drawn = 0;

  const more = () => {
    const next = reading.tokens.slice(drawn, drawn + PIECES);
    body.append(...pieces(next, key));
    drawn += next.length;
    const left = reading.tokens.length - drawn;
    rest.replaceChildren(...(left > 0 ? [`Showing ${percent(drawn / reading.tokens.length)} of the text. `, button("Show more", more)] : []));
  };
  more();

  const point = (word) => {
    node.querySelectorAll(".word.at").forEach((one) => one.classList.remove("at"));
    tip.hidden = !word;
    if (!word) return;
    word.classList.add("at");
    const id = Number(word.dataset.topic);
    tip.textContent = `${app.book.name(id)} (topic ${id})`;
    tip.style.left = `${Math.max(0, Math.min(word.offsetLeft, node.clientWidth - tip.offsetWidth - 8))}px`;
    tip.style.top = `${word.offsetTop + word.offsetHeight + 4}px`;
  };
  node.addEventListener("pointerover", (event) => point(event.target.closest(".word")));
  node.addEventListener("pointerleave", () => point(null));
  node.addEventListener("blur", () => point(null));
  node.addEventListener("click", (event) => {
    const word = event.target.closest(".word");
    if (word) app.store.set({ topic: Number(word.dataset.topic) });
  });
  node.addEventListener("keydown", (event) => walk(event, node, point, app));

  const rows = new Map();
  const legend = legendOf(app, reading, key, rows, node);
  const follow = ({ topic }) => {
    node.classList.toggle("picked", topic !== null && key.looks.has(topic));
    node.querySelectorAll(".word.same").forEach((one) => one.classList.remove("same"));
    if (topic !== null) node.querySelectorAll(`.word[data-topic="${topic}"]`).forEach((one) => one.classList.add("same"));
    for (const [id, row] of rows) row.toggleAttribute("data-picked", id === topic);
  };
  return { node, legend, follow };
}

/** Words with a topic as elements, all between them as text. */
function pieces(tokens, key) {
  const nodes = [];
  let plain = "";
  for (const { text, topic } of tokens) {
    if (topic === null) {
      plain += text;
      continue;
    }
    if (plain) nodes.push(plain);
    plain = "";
    nodes.push(h("span", { class: "word", "data-topic": topic, css: styleOf(key.looks.get(topic)) }, text));
  }
  if (plain) nodes.push(plain);
  return nodes;
}

function walk(event, node, point, app) {
  const by = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
  const words = [...node.querySelectorAll(".word")];
  const now = words.findIndex((one) => one.classList.contains("at"));
  if (event.key === "Enter" && now >= 0) app.store.set({ topic: Number(words[now].dataset.topic) });
  else if (by && words.length && event.target === node) {
    const next = words[(now + by + words.length) % words.length];
    point(next);
    next.scrollIntoView({ block: "nearest" });
    app.announce(`${next.textContent}: ${app.book.name(Number(next.dataset.topic))}`);
  } else return;
  event.preventDefault();
}

function legendOf(app, reading, key, rows, node) {
  const ids = key.ids.slice(0, TOPICS);
  const most = Math.max(...key.shares.values(), 1e-12);
  for (const id of ids) rows.set(id, legendRow(app, key, id, most, node));
  const list = h("ol", { class: "legend" }, [...rows.values()].slice(0, FIRST));
  const colours = toggleButton("Colour words", true, (on) => node.classList.toggle("on", on));
  const all = button(`Show ${ids.length - FIRST} more`, () => {
    list.replaceChildren(...rows.values());
    all.remove();
  }, { class: "plain" });
  const total = `${many(key.ids.length, "topic")} in this text${key.ids.length > ids.length ? `, the first ${ids.length} in the colours of their themes` : ""}. `;
  const known = `${many(reading.n_known ?? 0, "word")} known to the model${reading.n_unknown ? `, ${count(reading.n_unknown)} not` : ""}. `;
  return h("section", { class: "part legend-part" }, h("div", { class: "view-head" }, h("h3", {}, "Topics of this text"), colours), themesOf(app, ids, key), list,
    h("p", { class: "note" }, total, known, ids.length > FIRST ? all : null));
}

/** The themes of these topics, with their letters, colours and names. */
function themesOf(app, ids, key) {
  const themes = [...new Set(ids.map((id) => key.looks.get(id).theme))].filter((theme) => theme !== null).sort((a, b) => a - b);
  return themes.length ? h("ul", { class: "legend-themes", "aria-label": "Themes of these topics" }, themes.map((theme) => h("li", {},
    h("b", { "aria-hidden": "true" }, themeMark(theme)), themeLink(app, theme)))) : null;
}

/** A topic of the text: its theme's letter in its colour and line, its share, its words. Pointing at it lights its words up. */
function legendRow(app, key, id, most, node) {
  const look = key.looks.get(id);
  const share = key.shares.get(id);
  return h("li", { on: { pointerenter: () => glow(node, id), pointerleave: () => glow(node, null) } },
    h("span", { class: "key word", css: styleOf(look), "aria-hidden": "true" }, themeMark(look.theme) || "–"),
    topicLink(app, id), bar(share ?? 0, most, look.tone), h("span", { class: "number", title: "Share of the document, as the model estimates it" }, share === undefined ? "" : percent(share)), number(many(key.tally.get(id), "word")));
}

function glow(node, id) {
  node.classList.toggle("glowing", id !== null);
  node.querySelectorAll(".word.glow").forEach((one) => one.classList.remove("glow"));
  if (id !== null) node.querySelectorAll(`.word[data-topic="${id}"]`).forEach((one) => one.classList.add("glow"));
}
