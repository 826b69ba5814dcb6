// Compare: which topics a second model shares with this one.
import { get } from "app/api.js";
import { frame, select } from "app/frame.js";
import { many } from "app/format.js";
import { createMatch } from "diln/match.js";

export function create(host, app) {
  return frame(host, app, {
    title: "Compare",
    load: () => get("compare"),
    make(inner, found) {
      const choose = select(app);
      const names = [app.book.model.name ?? "this model", found.name ?? "the other"];
      return createMatch(inner, { matching: found, topics: app.book.topics, others: found.topics, themes: app.book.themes, names }, {
        onSelect: ({ other, ...partial }) => (other === undefined ? choose(partial) : null),
      });
    },
    note: (found) => `${many(app.book.topics.length, "topic")} here, ${many(found.topics.length, "topic")} there. Topics match when their words do.`,
  });
}
