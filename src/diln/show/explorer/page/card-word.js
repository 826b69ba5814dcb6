// The card of a word: the topics that use it.
import { get } from "app/api.js";
import { h, link } from "app/dom.js";
import { many, percent } from "app/format.js";
import { note, section, shareRows } from "app/parts.js";

const SHOWN = 15;
const LEAST = 0.001; // of the word; topics with less are not listed

export const wordCard = {
  load: (app, { word }) => get(`words/${encodeURIComponent(word)}`, { n: 200 }).catch((error) => {
    if (error.status === 404) return [];
    throw error;
  }),
  draw(app, { word }, found) {
    const topics = found.filter((one) => one.share >= LEAST);
    const head = [h("p", { class: "eyebrow" }, "Word"), h("h2", {}, word)];
    const documents = app.book.has("text") ? link(app.store, { view: "documents", word, document: null }, "Documents with this word", { class: "more" }) : null;
    if (!topics.length) return [...head, h("p", {}, "The model does not know this word."), documents].filter(Boolean);
    const best = topics[0];
    return [
      ...head,
      h("p", {}, `When this word is met, it is of the topic “${best.label}” in ${percent(best.share)} of cases.`),
      section("Topics that use it", shareRows(app, topics.slice(0, SHOWN).map((one) => ({ id: one.topic, share: one.share }))),
        note(topics.length > SHOWN ? `Showing ${SHOWN} of ${many(topics.length, "topic")}.` : "Other topics have less than 0.1% of it each.")),
      documents,
    ].filter(Boolean);
  },
};
