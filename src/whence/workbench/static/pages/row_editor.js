// One row's weights to be dragged: a slider for each key; the others share the rest as they did before.

import { choice, isolated, make, percent, range, replaceChildren, visible } from "../views/dom.js";
import { row, strongest } from "../views/weights.js";

const MOST = 60; // sliders at once, the strongest keys; the others keep their share of the rest

// The row with one weight set: the others are scaled so that all sum to one.
export function withWeight(weights, at, value) {
  const rest = weights.reduce((sum, one, key) => (key === at ? sum : sum + one), 0), left = 1 - value;
  if (rest > 0) return weights.map((one, key) => (key === at ? value : (one * left) / rest));
  const others = weights.length - 1;
  return weights.map((_, key) => (key === at ? value : others ? left / others : 0));
}

const exact = (weights) => {
  const kept = weights.map((one) => Math.round(one * 1e6) / 1e6), sum = kept.reduce((a, b) => a + b, 0);
  return sum > 0 ? kept.map((one) => one / sum) : kept;
};

// Draws the editor of a head; `apply(query, weights)` is called when a slider is let go, `choose(query)` when another row is chosen.
export function rowEditor(place, { weights, tokens, permitted, first, choose, apply }) {
  let query = Math.min(first, weights.queries - 1), values = [];
  const body = make("div", { class: "row-editor", role: "group", "aria-label": "weights of this row" });
  const sliders = () => {
    values = Array.from(row(weights, query));
    const keys = strongest(values, MOST).sort((a, b) => a - b).filter((key) => permitted(query, key));
    const parts = keys.map((key) => {
      const input = make("input", { type: "range", min: 0, max: 1, step: 0.01, value: values[key], "aria-label": `weight of ${visible(tokens.keys[key].text)}`, "data-key": key });
      const told = make("output", { text: percent(values[key]) });
      input.addEventListener("input", () => {
        values = withWeight(values, key, Number(input.value));
        parts.forEach((one) => one.update());
      });
      input.addEventListener("change", () => apply(query, exact(values)));
      const update = () => {
        input.value = values[key];
        told.textContent = percent(values[key]);
      };
      return { update, made: make("label", { class: "slider" }, isolated(tokens.keys[key].text), input, told) };
    });
    replaceChildren(body, parts.map((one) => one.made));
  };
  const rows = range(weights.queries).map((at) => [String(at), `${at}: ${visible(tokens.queries[at].text)}`]);
  replaceChildren(place, make("div", { class: "bar" }, choice("Row (query)", rows, String(query), (value) => ((query = Number(value)), choose(query), sliders()), { name: "query" })), body);
  sliders();
}
