// The card of a theme: its topics, its words, when it is met, typical documents.
import { get } from "app/api.js";
import { dot, wordLink } from "app/book.js";
import { h, link } from "app/dom.js";
import { count, many, percent } from "app/format.js";
import { editTools } from "app/edits.js";
import { documentItem, facts, note, section, shareRows, sparkline } from "app/parts.js";
import { themeColour, themeMark } from "diln/colour.js";

const SHOWN = 25;

export const themeCard = {
  async load(app, { theme, themes }) {
    const hush = (promise) => promise.catch(() => null);
    const [trends, listing] = await Promise.all([
      app.book.has("dates") ? hush(get("trends", { by: "theme", ids: theme, n_themes: themes })) : null,
      app.book.has("index") ? hush(get("documents", { theme, n_themes: themes, n: 5 })) : null,
    ]);
    return { trends, listing };
  },
  draw(app, { theme }, { trends, listing }) {
    const one = app.book.themeById.get(theme);
    if (!one) return [h("h2", {}, "No such theme"), h("p", {}, `There are ${many(app.book.themes?.n ?? 0, "theme")} now.`)];
    const topics = one.topics.map((id) => app.book.byId.get(id)).filter(Boolean);
    const series = trends?.series?.find((each) => each.id === theme);
    return [
      h("p", { class: "eyebrow" }, `Theme ${themeMark(theme)}, one of ${app.book.themes.n}`),
      h("h2", {}, dot(theme), one.label),
      facts([
        ["of all words", percent(one.share)],
        ["documents", (one.n_docs ?? null) === null ? null : count(one.n_docs), "Documents whose theme it is"],
        ["topics", count(one.topics.length)],
      ]),
      editTools(app, one, "theme"),
      section("Words", h("p", { class: "word-cloud" }, one.words.flatMap((term, i) => [i ? ", " : "", wordLink(app, term)]))),
      section("Topics", shareRows(app, topics.slice(0, SHOWN)),
        topics.length > SHOWN ? note(`Showing ${SHOWN} of ${many(topics.length, "topic")}. `, link(app.store, { view: "topics" }, "All of them")) : null),
      series ? section("Over time", sparkline(series, trends.periods, themeColour(theme)), trends.mix ? note(trends.mix.sentence) : null) : null,
      listing?.documents?.length ? documentsPart(app, theme, listing) : null,
    ].filter(Boolean);
  },
};

function documentsPart(app, theme, { documents, total }) {
  const all = link(app.store, { view: "documents", theme, document: null }, `All ${many(total, "document")}`, { class: "more" });
  return section("Documents", h("ol", { class: "docs" }, documents.map((each) => documentItem(app, each, each.share ? `${percent(each.share)} of it` : null))), all);
}
