// Documents: search and filters, a list in pages, and one document as a text.
import { get } from "app/api.js";
import { button, h, later, table } from "app/dom.js";
import { openDocument } from "app/document.js";
import { documentsLink } from "app/exports.js";
import { filters } from "app/filters.js";
import { count, percent, window } from "app/format.js";
import { documentItem, viewHead } from "app/parts.js";
import { empty, Panel } from "app/wait.js";

const PAGE = 20;

export function create(host, app) {
  if (!app.book.has("index")) {
    host.replaceChildren(viewHead("Documents"), empty("The documents of this model are not here. To see them: diln explore MODEL --corpus DIR."));
    return { update() {}, destroy() {} };
  }
  const list = h("div", { class: "results" });
  const reader = h("article", { class: "reader", hidden: true, "aria-label": "Document" });
  const head = viewHead("Documents");
  const form = searchForm(app);
  const shell = h("div", {}, head, form.node, list);
  host.replaceChildren(shell, reader);
  const panel = new Panel(list, "Searching");
  const reading = new Panel(reader, "Opening the document");
  let key = "", open = null, came = null, top = 0;

  const draw = (state, found) => {
    const { documents, total } = found;
    const offset = state.offset ?? 0;
    came = found;
    head.querySelector(".controls").replaceChildren(documentsLink(app));
    const said = h("p", { class: "note", role: "status" }, window(offset, documents.length, total));
    const item = (one) => documentItem(app, one, one.share ? `${percent(one.share)} of what is selected` : null);
    const rows = h("ol", { class: "docs wide", start: offset + 1 }, documents.map(item));
    const nothing = empty("No document fits. Take off a filter, or search for other words.");
    const turn = pager(app, offset, documents.length, total, shell);
    list.replaceChildren(...[said, documents.length ? rows : nothing, turn].filter(Boolean));
  };

  const show = (state) => {
    const wants = JSON.stringify([filters(state), state.offset]);
    const inText = state.document !== null;
    if (inText && reader.hidden) top = host.scrollTop;
    shell.hidden = inText;
    reader.hidden = !inText;
    form.update(state);
    if (inText) {
      if (open !== state.document) {
        open = state.document;
        reading.show(() => app.book.document(open), (found) => openDocument(reader, app, found));
      } else reader.dispatchEvent(new CustomEvent("follow"));
      return;
    }
    if (open !== null) {
      host.scrollTop = top;
      list.querySelector(`[data-row="${open}"] a`)?.focus({ preventScroll: true });
    }
    open = null;
    if (wants === key) return;
    key = wants;
    const ask = () => get("documents", { ...filters(state), offset: state.offset, n: PAGE });
    panel.show(ask, (found) => draw(state, found), { calm: true });
  };

  return {
    update: (state) => show(state),
    picture: () => came && { table: () => asTable(app, came.documents) },
    destroy() {
      panel.stop();
      reading.stop();
    },
  };
}

/** Words to search for, a label and two dates; topic and theme come from the chips. */
function searchForm(app) {
  const { store, book } = app;
  const input = h("input", {
    id: "q", type: "search", "aria-label": "Search in the texts", disabled: !book.has("text"),
    placeholder: book.has("text") ? "Words in the text; “several words” for a phrase" : "",
  });
  const go = () => store.set({ q: input.value.trim() || null, document: null });
  input.addEventListener("input", later(() => input.value.trim().length !== 1 && go(), 350));
  const select = (name, first, options, take) => {
    const node = h("select", { "aria-label": name, on: { change: () => store.set(take(node.value)) } }, h("option", { value: "" }, first), options);
    return node;
  };
  const number = (value) => (value === "" ? null : Number(value));
  const label = select("Label", "All labels", [], (value) => ({ label: value || null }));
  const date = (name, text) => h("input", {
    type: "date", "aria-label": text, title: text, on: { change: (event) => store.set({ [name]: event.target.value || null }) },
  });
  const [since, until] = [date("since", "From this day"), date("until", "To this day")];
  const named = (text, input) => h("label", { class: "choice" }, h("span", {}, text), input);
  const topics = book.topics.map((one) => h("option", { value: one.id }, `${one.label} (${one.id})`));
  const themes = (book.themes?.themes ?? []).map((one) => h("option", { value: one.id }, one.label));
  const topic = select("Topic", "All topics", topics, (value) => ({ topic: number(value) }));
  const theme = select("Theme", "All themes", themes, (value) => ({ theme: number(value) }));
  if (book.has("labels")) {
    get("labels").then(({ labels }) => {
      label.append(...labels.map((one) => h("option", { value: one.name }, `${one.name} (${count(one.n_docs)})`)));
      label.value = store.state.label ?? "";
    }).catch(() => { label.hidden = true; });
  }
  const submit = (event) => {
    event.preventDefault();
    go();
  };
  const node = h("form", { class: "filter-form", role: "search", "aria-label": "Search documents", on: { submit } },
    input, theme, topic, book.has("labels") ? label : null, ...(book.has("dates") ? [named("from", since), named("to", until)] : []));
  return {
    node,
    update(state) {
      if (document.activeElement !== input) input.value = state.q ?? "";
      since.value = (state.since ?? "").slice(0, 10);
      until.value = (state.until ?? "").slice(0, 10);
      theme.value = state.theme ?? "";
      topic.value = state.topic ?? "";
      label.value = state.label ?? "";
    },
  };
}

function pager(app, offset, shown, total, shell) {
  if (total <= shown && offset === 0) return null;
  const go = (next) => () => {
    app.store.set({ offset: Math.max(0, next) || null });
    shell.scrollIntoView({ block: "start" });
  };
  return h("nav", { class: "pager", "aria-label": "Pages" },
    button("Previous", go(offset - PAGE), { disabled: offset === 0 }),
    h("span", {}, `Page ${count(Math.floor(offset / PAGE) + 1)} of ${count(Math.max(1, Math.ceil(total / PAGE)))}`),
    button("Next", go(offset + PAGE), { disabled: offset + shown >= total }));
}

function asTable(app, documents) {
  const best = (one) => one.topics?.map((topic) => `${app.book.name(topic.id)} ${percent(topic.share)}`).join("; ") ?? "";
  const row = (one) => [one.row, one.id, one.title, one.date, one.label, one.n_tokens, best(one)];
  return table("Documents", ["row", "id", "title", "date", "label", "words", "topics"], documents.map(row));
}
