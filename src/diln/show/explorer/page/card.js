// The panel at the side (a sheet at the bottom on phones): the card of what was selected last.
import { button, h } from "app/dom.js";
import { corpusCard } from "app/card-corpus.js";
import { labelCard } from "app/card-label.js";
import { themeCard } from "app/card-theme.js";
import { topicCard } from "app/card-topic.js";
import { wordCard } from "app/card-word.js";
import { Panel } from "app/wait.js";

const CARDS = { topic: topicCard, theme: themeCard, word: wordCard, label: labelCard };

/** Which card a state asks for. */
function kindOf(state) {
  if (state.card && state[state.card] !== null && CARDS[state.card]) return state.card;
  return ["topic", "theme", "word", "label"].find((kind) => state[kind] !== null) ?? "corpus";
}

export function cardPanel(host, app) {
  const body = h("div", { class: "side-body" });
  const grip = button("", () => fold(!host.classList.contains("open")), { class: "grip", "aria-controls": "card" });
  const panel = new Panel(body, "Reading the card");
  let key = "";
  const fold = (open) => {
    host.classList.toggle("open", open);
    grip.setAttribute("aria-expanded", String(open));
  };
  const title = (text) => {
    grip.textContent = text;
    grip.setAttribute("aria-label", `Card: ${text}`);
  };
  host.replaceChildren(grip, body);
  fold(false);

  return {
    update(state, names) {
      const kind = kindOf(state);
      const next = JSON.stringify([kind, state[kind], kind === "topic" ? state.other : null, kind === "corpus" ? 0 : state.themes]);
      if (next === key && !names.has("book")) return;
      const moved = next !== key;
      key = next;
      const make = CARDS[kind] ?? corpusCard;
      title(kind === "corpus" ? "The corpus" : named(app, kind, state));
      panel.show(() => make.load(app, state), (found) => {
        body.replaceChildren(...make.draw(app, state, found));
        if (moved) body.scrollTop = host.scrollTop = 0;
      }, { calm: true });
    },
  };
}

function named({ book }, kind, state) {
  if (kind === "topic") return `Topic: ${book.name(state.topic)}`;
  if (kind === "theme") return `Theme: ${book.themeName(state.theme)}`;
  return `${kind === "word" ? "Word" : "Label"}: ${state[kind]}`;
}
