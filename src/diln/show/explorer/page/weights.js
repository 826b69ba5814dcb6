// How much each topic belongs to the word, label or span of time that is selected: what views fade the others by.
import { get } from "app/api.js";

const SHARE = 5; // a topic with a fifth of what the first has of a word belongs to it wholly

/** Map of topic id -> 0..1, or null where nothing of the kind is selected. */
export async function weights(state) {
  const parts = [];
  if (state.word) parts.push(wordWeights(state.word));
  if (state.label || state.since || state.until) parts.push(spanWeights(state));
  if (!parts.length) return null;
  const known = (await Promise.all(parts.map((one) => one.catch(() => null)))).filter(Boolean);
  if (!known.length) return null;
  const joint = new Map();
  for (const id of known[0].keys()) joint.set(id, Math.min(...known.map((one) => one.get(id) ?? 0)));
  return joint;
}

async function wordWeights(word) {
  const found = await get(`words/${encodeURIComponent(word)}`, { n: 200 });
  const most = Math.max(...found.map((one) => one.share), 1e-12);
  return new Map(found.map((one) => [one.topic, Math.min(1, (SHARE * one.share) / most)]));
}

/** A topic that is twice as common among the documents selected as elsewhere has weight 1; as common, 0.5. */
async function spanWeights({ label, since, until }) {
  const found = await get("shares", { label, since, until });
  return new Map(found.topics.map((one) => [one.id, Math.min(1, Math.max(0, one.lift / 2))]));
}
