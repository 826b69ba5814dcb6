// The card when nothing is selected: the corpus in a few sentences, and its themes to begin with.
import { themeLink, topicLink } from "app/book.js";
import { button, h } from "app/dom.js";
import { undoButton } from "app/edits.js";
import { ONE_CHAIN, percent } from "app/format.js";
import { bar, number, section } from "app/parts.js";
import { themeColour } from "diln/colour.js";

export const corpusCard = {
  load: async () => null,
  draw(app) {
    const { model, themes, topics } = app.book;
    if (model.ready === false) return [h("h2", {}, "A model on its way"), h("p", {}, "The model is being fitted. All other views open by themselves when it is done.")];
    const rows = themes?.themes ?? [];
    const most = Math.max(...rows.map((one) => one.share), 1e-12);
    const sentences = model.sentences ?? [];
    return [
      h("p", { class: "eyebrow" }, "The corpus"), h("h2", {}, model.name ?? "The model"),
      ...sentences.slice(0, 1).map((text) => h("p", {}, text)),
      topics.length ? null : h("p", {}, "Every topic is hidden. Undo, or show one again."),
      rows.length ? section("Themes", h("ol", { class: "shares" }, rows.map((one) => h("li", { title: one.words.join(", ") },
        themeLink(app, one.id), bar(one.share, most, themeColour(one.id)), number(percent(one.share)))))) : null,
      section("In words", sentences.slice(1).map((text) => h("p", {}, text))),
      !sentences.length && app.book.has("pairs") && !app.book.has("sure") ? h("p", { class: "note" }, ONE_CHAIN) : null,
      app.book.has("text") ? null : h("p", { class: "note" }, "The texts of the documents are not here. To read them: diln explore MODEL --corpus DIR."),
      hiddenPart(app),
      app.book.canUndo && !model.read_only ? section("Changes", undoButton(app)) : null,
    ].filter(Boolean);
  },
};

/** Topics that are hidden, with a way back for each. */
function hiddenPart(app) {
  const hidden = app.book.hidden;
  if (!hidden.length) return null;
  const show = (id) => () => app.edit({ action: "show", topic: id }, `${app.book.name(id)} (${id}) is shown again`).catch(() => {});
  const back = (id) => button("Show", show(id), {
    class: "button", "data-show": id, "aria-label": `Show topic ${id}`, disabled: app.book.model.read_only,
  });
  return section("Hidden topics", h("ul", { class: "hidden-topics" }, hidden.map((id) => h("li", {}, topicLink(app, id), back(id)))));
}
