// Trends: topics or themes over time and by label; a span of time or a label chosen here holds everywhere.
import { get } from "app/api.js";
import { h, link } from "app/dom.js";
import { viewHead } from "app/parts.js";
import { choice, frame, select } from "app/frame.js";
import { count, many } from "app/format.js";
import { empty } from "app/wait.js";
import { createGroups } from "diln/bars.js";
import { createTrends } from "diln/trends.js";

const SHOWN = 12;
const LABELS = 9; // that fit side by side
const PERIODS = [["auto", "automatic"], ["year", "years"], ["quarter", "quarters"], ["month", "months"], ["week", "weeks"], ["day", "days"]];

/** Which series a state asks for: its topic, the topics of its theme, those of its word, or the largest. */
function wanted(app, state) {
  const by = state.by ?? (state.topic !== null || state.theme !== null || !app.book.themes ? "topic" : "theme");
  if (by === "theme") return { by, ids: null, total: app.book.themes?.n ?? 0 };
  let ids = app.book.topics.map((one) => one.id);
  if (state.theme !== null) ids = ids.filter((id) => app.book.themeOf(id) === state.theme);
  if (app.weights && state.word) ids = [...ids].sort((a, b) => (app.weights.get(b) ?? 0) - (app.weights.get(a) ?? 0));
  const total = ids.length;
  const topic = state.topic !== null ? [state.topic] : [];
  return { by, ids: [...new Set([...topic, ...ids.slice(0, SHOWN)])].slice(0, SHOWN), total };
}

export function create(host, app) {
  const time = h("div", {});
  const labels = h("div", {});
  host.replaceChildren(time, labels);
  const parts = [];
  const has = (name) => app.book.has(name) && app.book.has("index");
  if (has("dates")) parts.push(overTime(time, app));
  if (has("labels")) parts.push(byLabel(labels, app));
  if (!parts.length) host.replaceChildren(viewHead("Trends"), empty("The documents have neither dates nor labels, so there are no trends."));
  return {
    update: (state, names) => parts.forEach((part) => part.update(state, names)),
    picture: () => parts.map((part) => part.picture()).find(Boolean) ?? null,
    destroy: () => parts.forEach((part) => part.destroy()),
  };
}

const KINDS = [["", "automatic"], ["theme", "themes"], ["topic", "topics"]];

const bySwitch = ({ store }) => choice("Show", KINDS, store.state.by ?? "", (value) => store.set({ by: value || null }));

function periodSwitch({ store }) {
  return choice("In", PERIODS, store.state.granularity ?? "auto", (value) => store.set({ granularity: value === "auto" ? null : value }));
}

const MIXES = [["", "all together"], ["constant", "held constant"], ["each", "each alone"]];
const ALONE = 6; // labels whose trends are drawn below each other

function mixSwitch({ store }) {
  return choice("Labels", MIXES, store.state.mix ?? "", (value) => store.set({ mix: value || null }));
}

/** How labels are to be treated; one that is selected is alone already. */
const mixOf = (state) => (state.label === null && MIXES.some(([key]) => key && key === state.mix) ? state.mix : "");

function overTime(host, app) {
  const mix = mixSwitch(app);
  const drawn = frame(host, app, {
    title: "Over time",
    controls: [bySwitch(app), periodSwitch(app), ...(app.book.has("labels") ? [mix] : [])],
    key: (state) => [wanted(app, state), state.granularity, state.label, state.themes, mixOf(state)],
    load: async (state) => {
      const { by, ids, total } = wanted(app, state);
      const { granularity, label, themes } = state;
      const mix = mixOf(state);
      const asked = { by, ids: ids?.join(","), granularity, n_themes: themes };
      const trends = mix === "each" ? await get("trends/labels", { ...asked, n: ALONE })
        : await get("trends", { ...asked, label, standardise: mix === "constant" || undefined });
      return { trends, total, mix };
    },
    make(inner, { trends, mix }) {
      if (trends.periods.length < 2) return inner.append(empty("All documents are of one period: there is nothing to follow. Choose a shorter one.")), null;
      const { topics, themes } = app.book;
      const options = { onSelect: chosen(select(app)) };
      if (mix === "each") return inclusive(stacked(inner, app, trends, options));
      return inclusive(createTrends(inner, { trends, topics, themes }, options));
    },
    note: ({ trends, total, mix }) => (mix === "each" ? alone(trends, total) : said(app, trends, total)),
  });
  const update = (state, names) => {
    const select = mix.querySelector("select");
    select.value = mixOf(state); // a link or the way back may have chosen it, or a label that is selected
    select.disabled = state.label !== null;
    drawn.update(state, names);
  };
  return { ...drawn, update };
}

/** The trends of each label below each other, as one drawing. */
function stacked(host, app, found, options) {
  const { topics, themes } = app.book;
  const shown = found.labels.map((label, at) => [label, found.trends[at]]);
  const parts = shown.map(([label, trends], at) => {
    const inner = h("div", {});
    host.append(h("h3", { class: "part-title" }, label), inner);
    return createTrends(inner, { trends, topics, themes }, { ...options, layout: "lines", legend: at === shown.length - 1, height: 220 });
  });
  const each = (act) => () => parts.forEach(act);
  return {
    update: (state) => parts.forEach((part) => part.update(state)),
    resize: each((part) => part.resize()),
    destroy: each((part) => part.destroy()),
    table: () => h("div", {}, shown.map(([label], at) => h("section", {}, h("h3", {}, label), parts[at].table()))),
    svg: () => parts[0]?.svg() ?? null,
  };
}

function alone(found, total) {
  const drawn = found.trends.length;
  const cut = drawn < found.n_labels ? `Showing ${drawn} of ${many(found.n_labels, "label")}, those with most documents. ` : "";
  const shown = found.trends[0]?.series.length ?? 0;
  const least = found.trends[0]?.min_documents;
  return [cut, shown < total ? `Showing ${shown} of ${many(total, found.by)}. ` : "", `A gap is where a label has fewer than ${many(least, "document")}.`];
}

/** The day so many days after another, "2017-03-01". */
function shifted(day, by) {
  const time = Date.parse(`${day.slice(0, 10)}T00:00:00Z`);
  return Number.isNaN(time) ? day : new Date(time + by * 86400000).toISOString().slice(0, 10);
}

/** Spans end with their last day here and in requests; in the drawing, with the day after it. */
const chosen = (select) => (partial) => select(partial.until ? { ...partial, until: shifted(partial.until, -1) } : partial);

function inclusive(drawing) {
  const update = (state) => drawing.update({ ...state, until: state.until && whole(state.until) });
  return { ...drawing, update };
}

/** The day after a day, a month or a year. */
function whole(until) {
  const [year, month, day] = until.split("-").map(Number);
  if (day) return shifted(until, 1);
  return new Date(Date.UTC(month ? year : year + 1, month || 0, 1)).toISOString().slice(0, 10);
}

function said(app, trends, total) {
  const shown = trends.series.length;
  const cut = shown < total ? `Showing ${shown} of ${many(total, trends.by)}. ` : "";
  const docs = trends.n_docs.reduce((sum, one) => sum + one, 0);
  const having = trends.standardised ? "have a date and a label, as if every period had the same mix of labels" : "have a date";
  const told = `${cut}Shares of all words of ${many(docs, "document")} that ${having}. ${trends.notes.join(" ")} `;
  return trends.mix ? [warned(app, trends.mix), told] : [told];
}

/** What to know before a change is taken for one of topics, and what to do. */
function warned(app, mix) {
  const way = (value, text) => link(app.store, { mix: value }, text);
  return h("strong", { class: "warning" }, `${mix.sentence} `,
    h("span", {}, "Hold the mix ", way("constant", "constant"), ", or show ", way("each", "each label alone"), ". "));
}

/** The labels with most documents, and the one that is selected. */
function largest(labels, selected) {
  const sorted = [...labels].sort((a, b) => b.n_docs - a.n_docs);
  if (sorted.length <= LABELS) return sorted;
  const some = sorted.slice(0, LABELS);
  const mine = sorted.find((one) => one.name === selected);
  return mine && !some.includes(mine) ? [...some.slice(0, -1), mine] : some;
}

function byLabel(host, app) {
  return frame(host, app, {
    title: "By label",
    controls: app.book.has("dates") ? [] : [bySwitch(app)],
    key: (state) => [wanted(app, state), state.themes, state.label],
    load: async (state) => {
      const { by, ids, total } = wanted(app, state);
      const groups = await get("groups", { by, ids: ids?.join(","), n_themes: state.themes });
      const labels = largest(groups.labels, state.label);
      return { groups: { ...groups, labels }, labels: groups.labels.length, total, shown: ids?.length ?? total };
    },
    make(inner, { groups }) {
      if (groups.labels.length < 2) return inner.append(empty("All documents bear one label: there is nothing to compare.")), null;
      return createGroups(inner, { groups, topics: app.book.topics, themes: app.book.themes }, { onSelect: select(app) });
    },
    note: ({ groups, labels, total, shown }) => [
      shown < total ? `Showing ${count(shown)} of ${many(total, groups.by)}. ` : "",
      groups.labels.length < labels ? `Showing the ${groups.labels.length} largest of ${many(labels, "label")}. ` : "",
    ],
  });
}
