// Answers of the server: kept for a while, asked for once, and with errors that are sentences.

const KEPT = 300;
const kept = new Map();

/** An answer that is not one: `message` is a sentence for the reader. */
class Refusal extends Error {
  constructor(message, status, again = 0) {
    super(message);
    this.status = status;
    this.again = again; // seconds after which to ask again
  }
}

/** The address of an endpoint with its parameters; empty ones are left out. */
export function address(path, params = {}) {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(params)) {
    for (const one of Array.isArray(value) ? value : [value]) {
      if (one !== null && one !== undefined && one !== "") query.append(name, one);
    }
  }
  const text = query.toString();
  return `/api/${path}${text ? `?${text}` : ""}`;
}

async function answer(url, options, take) {
  let response;
  try {
    response = await fetch(url, { credentials: "same-origin", ...options });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Refusal("The server does not answer. Is `diln explore` still running?", 0);
  }
  if (response.ok) return take(response);
  const said = await response.json().catch(() => null);
  throw new Refusal(sentence(said, response.status), response.status, Number(response.headers.get("Retry-After") ?? 0));
}

function sentence(said, status) {
  if (typeof said?.error === "string") return said.error;
  if (status === 401 || status === 403) return "The server asks for its token: open the address that it printed.";
  if (status === 503 || status === 429) return "The server is busy. Try again in a moment.";
  return `The server could not answer (status ${status}).`;
}

function keep(url, make) {
  if (!kept.has(url)) {
    const promise = make();
    promise.catch(() => kept.delete(url));
    kept.set(url, promise);
    if (kept.size > KEPT) kept.delete(kept.keys().next().value);
  }
  return kept.get(url);
}

/** JSON of an endpoint, kept until something is edited. */
export function get(path, params) {
  const url = address(path, params);
  return keep(url, () => answer(url, {}, (response) => response.json()));
}

/** Bytes of an endpoint and its header X-Total. */
export function bytes(path, params) {
  const url = address(path, params);
  const take = async (response) => ({
    buffer: await response.arrayBuffer(), total: Number(response.headers.get("X-Total") ?? 0),
  });
  return keep(url, () => answer(url, {}, take));
}

/** JSON of an endpoint that is told something; `signal` gives it up. */
export function post(path, body, signal) {
  const options = { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body), signal };
  return answer(`/api/${path}`, options, (response) => response.json());
}

/** Forget what is kept, but for some addresses: topics were renamed, merged or hidden. */
export function forget(but = null) {
  for (const url of [...kept.keys()]) if (!but?.test(url)) kept.delete(url);
}
