// The card of a topic: its words, its share, when and where it is met, what it goes with, and what one can do with it.
import { get } from "app/api.js";
import { dot, themeLink, topicLink, wordLink } from "app/book.js";
import { editTools } from "app/edits.js";
import { h, later, link } from "app/dom.js";
import { count, ONE_CHAIN, percent, sureness, times, together } from "app/format.js";
import { labelRows } from "app/card-label.js";
import { bar, documentItem, facts, note, number, section, sparkline } from "app/parts.js";
import { themeColour } from "diln/colour.js";

const RELEVANCE = 0.6;
let relevance = RELEVANCE; // kept from card to card

export const topicCard = {
  load: (app, state) => get(`topics/${state.topic}`),
  draw(app, state, found) {
    const one = found;
    const theme = app.book.themeOf(one.id);
    const colour = themeColour(theme);
    return [
      h("p", { class: "eyebrow" }, `Topic ${one.id}`, theme === null ? null : [" in ", themeLink(app, theme)]),
      h("h2", {}, dot(theme), one.label),
      unlisted(app, one),
      one.named ? h("p", { class: "note" }, `Your name for: ${one.words.slice(0, 6).join(", ")}`) : null,
      facts(known(app, one)),
      editTools(app, one),
      pairBox(app, state, found),
      section("Words", words(app, one, found.all_words ?? [])),
      trendPart(found.trend, colour),
      friendsPart(app, one, found),
      groupsPart(app, found.groups),
      typicalPart(app, one, found.typical),
    ].filter(Boolean);
  },
};

/** Why the lists do not have it, if they do not. */
function unlisted({ book }, one) {
  if (book.byId.has(one.id)) return null;
  return note(book.hidden.includes(one.id) ? "Hidden: it is in no list and no picture." : "Not listed: it holds less than one word in 500.");
}

function known(app, one) {
  const { model } = app.book;
  return [
    ["of all words", percent(one.share)],
    ["documents with ≥ 10%", (one.n_docs ?? null) === null ? null : count(one.n_docs), "Documents with at least a tenth of it"],
    ["coherence", one.coherence?.toFixed(2), "NPMI of its ten most probable words: -1 never together, 1 always"],
    one.found !== null && one.found !== undefined
      ? ["chains found it", `${one.found} of ${one.n_chains ?? model.n_chains}`, "Chains of the fit in which this topic turned up"]
      : null,
    one.merged?.length ? ["merged in", one.merged.join(", "), "Topics that you merged into this one"] : null,
  ];
}

/** Words by relevance: at 1 the most probable, towards 0 those that are telling. */
function words(app, one, first) {
  const list = h("ol", { class: "words" });
  const out = h("output", { for: "relevance" }, relevance.toFixed(1));
  const draw = (rows) => {
    const most = Math.max(...rows.map((row) => row.probability), 1e-12);
    const told = (row) => `${percent(row.probability)} of the topic's words, ${times(row.lift)} times as often as elsewhere`;
    list.replaceChildren(...rows.map((row) => h("li", { title: told(row) },
      wordLink(app, row.term), bar(row.probability, most), number(percent(row.probability)))));
  };
  const ask = later(async () => {
    try {
      const found = await get(`topics/${one.id}/words`, { relevance, n: 20 });
      draw(found);
    } catch (error) {
      app.announce(error.message);
    }
  }, 60);
  const slide = (event) => {
    relevance = Number(event.target.value);
    out.textContent = relevance.toFixed(1);
    event.target.setAttribute("aria-valuetext", said(relevance));
    ask();
  };
  const slider = h("input", {
    id: "relevance", type: "range", min: 0, max: 1, step: 0.1, value: relevance, "aria-valuetext": said(relevance), on: { input: slide },
  });
  draw(first.slice(0, 20));
  if (relevance !== RELEVANCE) ask();
  const end = (text) => h("span", { class: "end" }, text);
  const label = h("label", { for: "relevance" }, "Relevance ", out);
  return [h("div", { class: "slider" }, label, end("telling"), slider, end("frequent")), list];
}

const said = (value) => `${value.toFixed(1)}, ${value < 0.35 ? "words that are telling" : value > 0.85 ? "words that are frequent" : "telling and frequent words"}`;

function trendPart(trend, colour) {
  const series = trend?.series?.[0];
  return series ? section("Over time", sparkline(series, trend.periods, colour), trend.mix ? note(trend.mix.sentence) : null) : null;
}

function friendsPart(app, one, found) {
  const [friends, rivals] = [found.friends ?? [], found.rivals ?? []];
  if (!app.book.has("pairs")) return null;
  const surely = app.book.has("sure") ? "surely " : "";
  return section("Goes with, and avoids",
    friends.length ? pairList(app, one, friends, "Friends", "friend") : note(`No topic that it ${surely}goes with.`),
    rivals.length ? pairList(app, one, rivals, "Rivals", "rival") : note(`No topic that it ${surely}avoids.`),
    app.book.has("sure") ? null : note(ONE_CHAIN));
}

function pairList(app, one, pairs, title, kind) {
  return h("div", { class: `pairs ${kind}` }, h("h4", {}, title), h("ul", {}, pairs.map((pair) => {
    const other = pair.first === one.id ? pair.second : pair.first;
    return h("li", { "data-sure": String(pair.sure) },
      topicLink(app, other),
      h("p", {}, together(pair), ". ", link(app.store, { view: "documents", topic: one.id, other, document: null }, "Documents with both")));
  })));
}

/** The pair that was chosen in the matrix or the network. */
function pairBox(app, state, found) {
  if (state.other === null) return null;
  const pairs = [...(found.friends ?? []), ...(found.rivals ?? [])];
  const pair = pairs.find((one) => one.first === state.other || one.second === state.other);
  const range = (pair?.low ?? null) !== null;
  return h("div", { class: "pair-box" }, h("p", {}, "Together with ", topicLink(app, state.other), pair ? `: ${together(pair)}.` : "."),
    range ? note(`Lift ${times(pair.lift)}, in another chain ${times(pair.low)} to ${times(pair.high)}; ${sureness(pair)}.`) : null,
    link(app.store, { view: "documents", document: null }, "Documents with both"));
}

function groupsPart(app, groups) {
  const cells = groups?.cells ?? [];
  return cells.length ? section("By label", labelRows(app, cells, groups.labels)) : null;
}

function typicalPart(app, one, typical) {
  if (!typical?.length) {
    return app.book.has("text") ? null : section("Typical documents", note("The corpus is not here, so no document can be shown."));
  }
  const quoted = (sentences) => h("blockquote", { class: "doc-text" }, sentences.map((text) => h("p", {}, text)));
  const item = ({ document: each, sentences }) => documentItem(app, each, each.share ? `${percent(each.share)} of it` : null, sentences?.length ? quoted(sentences) : null);
  return section("Typical documents", h("ol", { class: "docs" }, typical.map(item)),
    link(app.store, { view: "documents", topic: one.id, document: null }, "All its documents", { class: "more" }));
}
