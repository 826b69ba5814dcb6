// The explorer: opens the model, and has the header, the tabs, the view and the card follow one state.
import { forget } from "app/api.js";
import { Book } from "app/book.js";
import { cardPanel } from "app/card.js";
import { hold, savingLine } from "app/edits.js";
import { drawChips, told } from "app/filters.js";
import { header } from "app/header.js";
import { shortcuts } from "app/shortcuts.js";
import { Store } from "app/state.js";
import { drawTabs, TITLES, views } from "app/tabs.js";
import { failure } from "app/wait.js";
import { weights } from "app/weights.js";

const at = (id) => document.getElementById(id);
const book = new Book();
const bookCalls = new Set();
const app = {
  book,
  store: new Store((topic) => book.themeOf(topic)),
  current: null,
  weights: null,
  help: () => {},
  onBook: (call) => bookCalls.add(call),
  announce: (text) => { at("live").textContent = text; },
  focusView,
  drawChips: () => drawChips(at("chips"), app),
  edit,
  reopen,
};
let shown = null;
let opening = 0; // counts views that were opened, so that only the last one stays
let weighing = 0;
let saving = false;
const line = savingLine(document.body);

/** Change the model's labels, merges or hidden topics, and have everything follow; one change at a time. */
async function edit(action, sentence) {
  if (saving) return;
  saving = true;
  line.begins();
  hold(true);
  document.documentElement.dataset.saving = "true";
  try {
    await book.edit(action, app.store.state.themes);
    const { topic } = app.store.state;
    const gone = topic !== null && (action.action === "hide" ? action.topic === topic : !(topic in book.names));
    if (gone) app.store.set({ topic: null }, { replace: true });
    bookChanged();
    line.ends(sentence);
  } catch (error) {
    line.fails(error.message);
    throw error;
  } finally {
    saving = false;
    hold(false);
    delete document.documentElement.dataset.saving;
  }
}

function bookChanged() {
  for (const call of bookCalls) call();
  app.current?.destroy?.();
  shown = null;
  draw(app.store.state, new Set(["book"]));
}

/** Move the focus where a choice is seen: to the view after a change of view, else to the card. */
function focusView(change) {
  if (change.view || "document" in change) at("view").focus({ preventScroll: true });
  else at("card").focus({ preventScroll: true });
}

async function showView(wanted) {
  const view = views(app).includes(wanted) ? wanted : views(app)[0];
  if (shown === view) return;
  shown = view;
  const mine = ++opening;
  app.current?.destroy?.();
  app.current = null;
  const host = at("view");
  host.className = `main main-${view}`;
  try {
    const { create } = await import(`app/view-${view}.js`);
    if (mine !== opening) return;
    host.replaceChildren();
    app.current = create(host, app);
  } catch (error) {
    console.error(error);
    if (mine === opening) host.replaceChildren(failure(new Error("This view could not be opened."), () => location.reload()));
  }
}

async function draw(state, names) {
  drawTabs(at("tabs"), app);
  app.drawChips();
  app.card.update(state, names);
  document.title = `${TITLES[state.view]} · ${book.model.name ?? "diln"}`;
  if (names.has("view")) app.announce(`${TITLES[state.view]}: ${told(app)}`);
  else if (!names.has("book")) app.announce(`Selected: ${told(app)}`);
  await showView(state.view);
  const mine = ++weighing;
  app.current?.update(app.store.state, names);
  const found = await weights(state);
  if (mine !== weighing) return;
  if (found !== app.weights) {
    app.weights = found;
    app.current?.update(app.store.state, new Set(["weights"]));
  }
}

async function follow(state, names) {
  if (names.has("themes")) {
    try {
      await book.refresh(state.themes);
    } catch (error) {
      app.announce(error.message);
      return;
    }
    bookChanged();
    return;
  }
  await draw(state, names);
}

/** Begin again: a fit has ended, and there is a model now. */
async function reopen() {
  forget();
  app.current?.destroy?.();
  shown = null;
  await start();
}

async function start() {
  bookCalls.clear();
  try {
    await book.open(app.store.state.themes);
  } catch (error) {
    at("view").replaceChildren(failure(error, start));
    return;
  }
  app.card = cardPanel(at("card"), app);
  app.help = app.keys ??= shortcuts(app);
  header(at("header"), app);
  app.store.followers.clear();
  app.store.follow(follow);
  await draw(app.store.state, new Set(["view"]));
  document.documentElement.dataset.ready = "true";
}

start();
