// What is seen before an answer, instead of one, and when there is nothing to show.
import { button, h } from "app/dom.js";

const PATIENCE = 160; // milliseconds before a wait is worth telling

export const empty = (text, ...more) => h("div", { class: "state" }, h("p", {}, text), ...more);

export function failure(error, retry) {
  return h("div", { class: "state fault", role: "alert" }, h("p", {}, error.message || "Something went wrong."),
    retry ? button("Try again", retry, { class: "button" }) : null);
}

/** A host that shows an answer when it comes; a later question makes an earlier answer void. */
export class Panel {
  constructor(host, what = "Loading") {
    this.host = host;
    this.what = what;
    this.turn = 0;
  }

  async show(ask, draw, { calm = false } = {}) {
    const turn = ++this.turn;
    const asking = Promise.resolve().then(ask);
    this.host.setAttribute("aria-busy", "true");
    const wait = setTimeout(() => turn === this.turn && this.#loading(calm), PATIENCE);
    try {
      const found = await asking;
      if (turn !== this.turn) return;
      clearTimeout(wait);
      this.host.classList.remove("waiting");
      await draw(found);
    } catch (error) {
      clearTimeout(wait);
      if (turn !== this.turn || error.name === "AbortError") return;
      this.host.classList.remove("waiting");
      const again = () => turn === this.turn && this.show(ask, draw, { calm: true });
      if (error.again) setTimeout(again, 1000 * error.again);
      this.host.replaceChildren(error.again ? empty(error.message) : failure(error, () => this.show(ask, draw)));
      if (!error.status && error.status !== 0) console.error(error);
    } finally {
      if (turn === this.turn) this.host.removeAttribute("aria-busy");
    }
  }

  #loading(calm) {
    if (calm && this.host.childElementCount) this.host.classList.add("waiting");
    else this.host.replaceChildren(h("p", { class: "state" }, `${this.what} …`));
  }

  stop() {
    this.turn += 1;
  }
}
