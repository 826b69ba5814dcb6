// Matrix: how topics go together, all with all, in the order of themes.
import { get } from "app/api.js";
import { choice, frame, select } from "app/frame.js";
import { many, ONE_CHAIN } from "app/format.js";
import { empty } from "app/wait.js";
import { createMatrix } from "diln/matrix.js";

const SIZES = [20, 50, 100, 200, 400, 800];
const FIRST = 50;

export function create(host, app) {
  const total = app.book.topics.length;
  let size = Math.min(FIRST, total);
  const sizes = SIZES.filter((one) => one < total).concat(Math.min(total, 800));
  const take = (text) => {
    size = Number(text);
    view.again();
  };
  const view = frame(host, app, {
    title: "Matrix",
    controls: total > SIZES[0] ? [choice("Largest topics", sizes.map((one) => [String(one), String(one)]), String(size), take)] : [],
    key: (state) => [state.themes],
    load: async (state) => (app.book.has("pairs") && total > 1 ? get("matrix", { n: Math.max(2, size), n_themes: state.themes }) : null),
    make(inner, matrix) {
      if (matrix === null) return inner.append(empty(nothing(app))), null;
      return createMatrix(inner, { matrix, topics: app.book.topics, themes: app.book.themes }, { onSelect: select(app) });
    },
    note: (matrix) => (matrix ? said(app, matrix, total) : ""),
  });
  return view;
}

function nothing(app) {
  if (app.book.topics.length < 2) return "A matrix needs at least two topics.";
  return "Topics of this kind of model have no places, so nothing is known of which go together. Fit a DILN or a CTM.";
}

function said(app, matrix, total) {
  const n = matrix.order.length;
  const cut = n < total ? `Showing the ${n} largest of ${many(total, "topic")}. ` : "";
  return `${cut}Each cell: how many times as often as by chance two topics are in one document. ${app.book.has("sure") ? "Pairs that are not sure are marked." : ONE_CHAIN}`;
}
