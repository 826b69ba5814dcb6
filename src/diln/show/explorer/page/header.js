// The header: what model this is, search, number of themes, light or dark, export, help.
import { button, h } from "app/dom.js";
import { many } from "app/format.js";
import { exportMenu } from "app/exports.js";
import { searchBox } from "app/search.js";

const LOOKS = ["system", "light", "dark"];

export function header(host, app) {
  const { model } = app.book;
  const facts = h("p", {});
  const draw = () => {
    const sizes = [model.documents && many(model.documents, "document"), many(app.book.topics.length, "topic")];
    facts.textContent = (model.ready === false ? ["being fitted"] : sizes.filter(Boolean)).join(" · ");
  };
  app.onBook(draw);
  draw();
  const name = h("h1", {}, h("span", { class: "mark" }, "diln"), " ", h("span", { class: "model" }, model.name ?? "model"));
  const help = button("?", () => app.help(), {
    class: "button round", "aria-label": "Help and keyboard shortcuts", title: "Help and keyboard shortcuts (?)",
  });
  host.replaceChildren(...[
    h("div", { class: "brand" }, name, facts),
    model.ready === false ? null : searchBox(app),
    h("div", { class: "tools" }, themesControl(app), lookButton(), exportMenu(app), help),
  ].filter(Boolean));
}

/** How many themes: one fewer, one more, or as many as the model suggests. */
function themesControl(app) {
  const out = h("output", { "aria-live": "off" });
  const now = () => app.book.themes?.n ?? 0;
  const most = () => Math.max(1, app.book.topics.length);
  const step = (by) => () => app.store.set({ themes: Math.min(most(), Math.max(1, now() + by)) });
  const less = button("−", step(-1), { "aria-label": "Fewer themes", title: "Fewer themes" });
  const more = button("+", step(1), { "aria-label": "More themes", title: "More themes" });
  const auto = button("auto", () => app.store.set({ themes: null }), { title: "As many themes as the model suggests" });
  const node = h("div", { class: "stepper", role: "group", "aria-label": "Number of themes" }, less, out, more, auto);
  const draw = () => {
    const known = app.book.themes !== null;
    node.hidden = !known;
    out.textContent = many(now(), "theme");
    less.disabled = now() <= 1;
    more.disabled = now() >= most();
    auto.setAttribute("aria-pressed", String(app.store.state.themes === null));
  };
  app.onBook(draw);
  draw();
  return node;
}

/** Light, dark, or what the system has; kept for the next visit. */
function lookButton() {
  let look = LOOKS.includes(localStorage.getItem("diln-look")) ? localStorage.getItem("diln-look") : "system";
  const node = button("", () => take(LOOKS[(LOOKS.indexOf(look) + 1) % 3]), { class: "button round look" });
  const take = (next) => {
    look = next;
    localStorage.setItem("diln-look", look);
    if (look === "system") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = look;
    node.textContent = { system: "◐", light: "☀", dark: "☾" }[look];
    const told = `Colours: ${look}. Change to ${LOOKS[(LOOKS.indexOf(look) + 1) % 3]}.`;
    node.setAttribute("aria-label", told);
    node.title = told;
    dispatchEvent(new Event("diln-look"));
  };
  take(look);
  return node;
}
