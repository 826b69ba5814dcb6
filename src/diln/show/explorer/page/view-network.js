// Network: which topics attract and which avoid each other.
import { get } from "app/api.js";
import { h } from "app/dom.js";
import { choice, frame, select, toggleButton } from "app/frame.js";
import { count, many, ONE_CHAIN } from "app/format.js";
import { empty } from "app/wait.js";
import { createNetwork } from "diln/network.js";

const SIZES = [20, 50, 100, 200];

export function create(host, app) {
  let n = 20;
  let unsure = false;
  let kind = "both";
  const sizes = choice("Strongest", SIZES.map((one) => [String(one), String(one)]), String(n), (text) => {
    n = Number(text);
    view.again();
  });
  const kinds = choice("Pairs", [["both", "all"], ["positive", "that attract"], ["negative", "that avoid"]], kind, (value) => {
    kind = value;
    view.again();
  });
  const all = toggleButton("Also unsure pairs", false, (on) => {
    unsure = on;
    view.again();
  });
  const lone = h("strong", {});
  let drawn = null;
  const tell = ({ topic }) => {
    lone.textContent = drawn && topic !== null && !among(drawn, topic) ? " The selected topic is in none of the pairs shown." : "";
  };
  const possible = app.book.has("pairs") && app.book.topics.length > 1;
  const view = frame(host, app, {
    title: "Network",
    controls: possible ? [kinds, sizes, ...(app.book.has("sure") ? [all] : [])] : [],
    key: (state) => [state.themes],
    load: async (state) => {
      if (!possible) return { pairs: null };
      const [pairs, map] = await Promise.all([get("pairs", { n, unsure }), get("map", { n: state.themes }).catch(() => null)]);
      const left = { both: {}, positive: { negative: [] }, negative: { positive: [] } }[kind];
      return { pairs: { ...pairs, ...left }, map };
    },
    make(inner, { pairs, map }) {
      const nothing = why(app, pairs);
      if (nothing) return inner.append(empty(nothing)), null;
      const { topics, themes } = app.book;
      return createNetwork(inner, { topics, pairs, themes, map: map ?? undefined }, { onSelect: select(app), unsure });
    },
    note: ({ pairs }) => {
      drawn = pairs;
      tell(app.store.state);
      return pairs ? [said(app, pairs, unsure), lone] : "";
    },
  });
  return {
    ...view,
    update(state, names) {
      view.update(state, names);
      tell(state);
    },
  };
}

/** Why there is nothing to draw; null if there is. */
function why(app, pairs) {
  if (app.book.topics.length < 2) return "A network needs at least two topics.";
  if (!pairs) return "Topics of this kind of model have no places, so nothing is known of which go together. Fit a DILN or a CTM.";
  if (pairs.positive.length || pairs.negative.length) return null;
  return app.book.has("sure") ? "No such pair of topics is sure. Switch on “Also unsure pairs” to see the others." : "No such pair of topics.";
}

const among = (pairs, topic) => [...pairs.positive, ...pairs.negative].some((one) => one.first === topic || one.second === topic);

function said(app, pairs, unsure) {
  const shown = pairs.positive.length + pairs.negative.length;
  const [total, noun] = app.book.has("sure") && !unsure ? [pairs.n_sure ?? shown, "sure pair"] : [pairs.n_pairs, "pair"];
  const kinds = `${count(pairs.positive.length)} that attract (solid), ${count(pairs.negative.length)} that avoid each other (dashed)`;
  return `Showing ${count(shown)} of ${many(total, noun)}: ${kinds}. ${app.book.has("sure") ? "" : ONE_CHAIN}`;
}
