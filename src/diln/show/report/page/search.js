// Search among the topics and the documents that the page lists: it reads the page itself, so it needs no server.
//
//   openSearch(form): the form has an input, a status and a list
//   index(main) -> [{href, title, about, text, weight}]; find(entries, query) -> those with every word of the query

const MOST = 30;

const folded = (text) => text.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase();
const textOf = (node) => (node ? node.textContent.replace(/\s+/g, " ").trim() : "");

export function index(main) {
  const entries = [];
  for (const card of main.querySelectorAll("article.topic")) {
    const title = textOf(card.querySelector("h4 bdi"));
    const number = card.id.replace("topic-", "");
    const words = [...new Set([...card.querySelectorAll(".bars bdi")].map(textOf))].join(", ");
    entries.push(entry(`#${card.id}`, `${number} ${title}`, `Topic: ${words}`, 2, `topic ${number}`));
    for (const item of card.querySelectorAll(".documents > li")) {
      const said = [...item.querySelectorAll("q")].map(textOf).join(" ");
      entries.push(entry(`#${item.id}`, textOf(item.querySelector("cite")), `Document, listed under ${number} ${title}`, 1, said));
    }
  }
  for (const card of main.querySelectorAll("article.theme")) {
    entries.push(entry(`#${card.id}`, textOf(card.querySelector("h3 a")), `Theme: ${textOf(card.querySelector(".words"))}`, 3));
  }
  return entries;
}

function entry(href, title, about, weight, more = "") {
  return { href, title, about, weight, head: folded(title), text: folded(`${title} ${about} ${more}`) };
}

export function find(entries, query) {
  const words = folded(query).split(/[^\p{L}\p{N}]+/u).filter(Boolean);
  if (!words.length) return [];
  const start = (text, word) => {
    const at = text.indexOf(word);
    return at >= 0 && (at === 0 || !/[\p{L}\p{N}]/u.test(text[at - 1]) || text.search(new RegExp(`(?<![\\p{L}\\p{N}])${word}`, "u")) >= 0);
  };
  const scored = [];
  for (const one of entries) {
    if (!words.every((word) => one.text.includes(word))) continue;
    const score = words.reduce((sum, word) => sum + (start(one.head, word) ? 4 : 0) + (start(one.text, word) ? 2 : 0), 0);
    scored.push([score + one.weight, one]);
  }
  return scored.sort((one, two) => two[0] - one[0]).map(([, one]) => one);
}

export function openSearch(form, main) {
  const input = form.querySelector("input");
  const panel = form.querySelector(".results");
  const status = panel.querySelector("p");
  const list = panel.querySelector("ol");
  let entries = null;

  const close = () => { panel.hidden = true; };
  const links = () => [...list.querySelectorAll("a")];

  function show() {
    const query = input.value.trim();
    if (!query) return close();
    entries ??= index(main);
    const found = find(entries, query);
    const shown = found.slice(0, MOST);
    status.textContent = !found.length ? `Nothing here has “${query}”`
      : found.length > shown.length ? `Showing ${shown.length} of ${found.length.toLocaleString("en-US")}`
      : `${found.length} found`;
    list.replaceChildren(...shown.map((one) => {
      const link = document.createElement("a");
      link.href = one.href;
      const title = document.createElement("bdi");
      title.textContent = one.title;
      const about = document.createElement("small");
      about.textContent = one.about.length > 130 ? `${one.about.slice(0, 129)}…` : one.about;
      link.append(title, about);
      const item = document.createElement("li");
      item.append(link);
      return item;
    }));
    panel.hidden = false;
  }

  input.addEventListener("input", show);
  input.addEventListener("focus", show);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const first = links()[0];
    if (first && !panel.hidden) first.click();
  });
  list.addEventListener("click", (event) => { if (event.target.closest("a")) close(); });
  form.addEventListener("keydown", (event) => {
    const all = [input, ...links()];
    const at = all.indexOf(document.activeElement);
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (event.key === "Escape") {
      close();
      input.focus({ preventScroll: true });
      close();
    } else if (step && at >= 0 && !panel.hidden) {
      event.preventDefault();
      all[Math.min(all.length - 1, Math.max(0, at + step))].focus();
    }
  });
  document.addEventListener("click", (event) => { if (!form.contains(event.target)) close(); });
  document.addEventListener("keydown", (event) => {
    if (event.key === "/" && !event.ctrlKey && !event.metaKey && !/INPUT|TEXTAREA|SELECT/.test(document.activeElement.tagName)) {
      event.preventDefault();
      input.focus();
    }
  });
}
