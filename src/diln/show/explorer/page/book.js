// What every view needs to know of the model: its topics, its themes, and how they are called.
import { forget, get, post } from "app/api.js";
import { h, link } from "app/dom.js";
import { themeColour } from "diln/colour.js";

const NAMELESS = /^\/api\/(map|matrix|shares|labels)\b/; // answers without names of topics and themes

export class Book {
  constructor() {
    this.model = null;
    this.topics = [];
    this.byId = new Map();
    this.names = {}; // of all topics, small ones too, which the list has not
    this.themes = null;
    this.titles = new Map(); // of documents that were opened
    this.themeById = new Map();
    this.themeOfTopic = new Map();
  }

  /** Read the model, its topics and its themes. */
  async open(n) {
    this.model = await get("model");
    if (this.model.ready !== false) await this.refresh(n);
  }

  /** Read topics and themes again: after an edit, or for another number of themes. */
  async refresh(n) {
    const [topics, names, themes, edits] = await Promise.all([
      get("topics"), get("names").catch(() => ({})), get("themes", { n }).catch(() => null), get("edits").catch(() => null),
    ]);
    this.names = names;
    this.edits = edits;
    this.topics = topics;
    this.byId = new Map(this.topics.map((one) => [one.id, one]));
    this.themes = themes;
    this.themeById = new Map((themes?.themes ?? []).map((one) => [one.id, one]));
    this.themeOfTopic = new Map();
    for (const one of themes?.themes ?? []) for (const id of one.topics) this.themeOfTopic.set(id, one.id);
  }

  /** Send an edit, and read again what it changed. */
  async edit(action, n) {
    const told = await post("edits", action);
    forget(action.action === "rename" ? NAMELESS : null);
    try {
      this.model = await get("model");
      await this.refresh(n);
    } catch (error) {
      throw new Error(`The change is saved, but the page could not follow: ${error.message} Load the page again.`);
    }
    return told;
  }

  /** Topics that the user has hidden. */
  get hidden() {
    return this.edits?.hidden ?? [];
  }

  /** Whether there is a rename, merge or hiding to take back. */
  get canUndo() {
    return Boolean(this.edits?.changes?.length);
  }

  /** A document with its text, its topics and its neighbours. */
  async document(row) {
    const found = await get(`documents/${row}`);
    this.titles.set(row, found.title || found.id || `document ${row}`);
    return found;
  }

  has(name) {
    return Boolean(this.model?.has?.[name]);
  }

  themeOf(topic) {
    return this.themeOfTopic.get(topic) ?? null;
  }

  name(topic) {
    return this.byId.get(topic)?.label ?? this.names[topic] ?? `topic ${topic}`;
  }

  themeName(theme) {
    return this.themeById.get(theme)?.label ?? `theme ${theme}`;
  }
}

/** A dot of a theme's colour; the text beside it says the rest. */
export function dot(theme) {
  return h("span", { class: "dot", "aria-hidden": "true", css: theme === null ? {} : { "--dot": themeColour(theme) } });
}

/** A link that selects a topic. */
export function topicLink(app, id, props = {}) {
  const text = [dot(app.book.themeOf(id)), h("span", { class: "name" }, app.book.name(id)), h("span", { class: "id" }, `${id}`)];
  return link(app.store, { topic: id }, text, { class: "topic-link", "data-topic": id, title: `Topic ${id}`, ...props });
}

/** A link that selects a theme. */
export function themeLink(app, id) {
  const text = [dot(id), h("span", { class: "name" }, app.book.themeName(id))];
  return link(app.store, { theme: id, topic: null }, text, { class: "topic-link theme-link", "data-theme-id": id });
}

/** A link that selects a word. */
export function wordLink(app, term) {
  return link(app.store, { word: term }, term, { class: "word-link" });
}
