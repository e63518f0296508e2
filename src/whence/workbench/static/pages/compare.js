// Compare: two texts (one word replaced), or two models on one text, side by side, with maps of their difference.

import { make, number, replaceChildren } from "../views/dom.js";
import { headMap } from "../views/head_map.js";
import { get, post } from "./api.js";
import { inputForm, requested } from "./input.js";
import { pairView } from "./pair.js";
import { predictionCard } from "./prediction_card.js";
import { showing } from "../views/weights.js";
import { attempt, card, shell, tools } from "./shell.js";
import { Look } from "./source.js";
import { state } from "./state.js";

const main = document.getElementById("main"), results = document.getElementById("results");
const opened = { a: null, b: null };

// Both matrices on the tokens that the two have in common, if there are any.
function alignedWeights(pair, [a, b], tokens) {
  if (!pair.queries?.length || !pair.keys?.length) return null;
  const part = (weights, side) => showing(weights, { queries: pair.queries.map((one) => one[side]), keys: pair.keys.map((one) => one[side]) });
  const named = (list, kind) => list.map(([first, second]) => {
    const [x, y] = [tokens[0][kind][first], tokens[1][kind][second]];
    return x.text === y.text ? x : { ...x, text: `${x.text}/${y.text}` };
  });
  return { a: part(a, 0), b: part(b, 1), same: false, tokens: { queries: named(pair.queries, "queries"), keys: named(pair.keys, "keys") } };
}

class Comparison {
  constructor(a, b, answer, stack) {
    Object.assign(this, { a, b, answer, stack, map: card("Difference of each head"), pair: card("Head") });
    const predictions = make("div", { class: "columns even" }, predictionCard(a, "Prediction of A"), predictionCard(b, "Prediction of B"));
    replaceChildren(results, predictions, this.map.card, this.pair.card);
    this.drawMap();
    this.open(Math.min(Number(state.get("layer", "0")), stack.layers - 1), Number(state.list("heads")[0] ?? this.furthest()));
  }

  furthest() {
    const row = this.answer.differences[Number(state.get("layer", "0"))] ?? this.answer.differences[0];
    return row.indexOf(Math.max(...row));
  }

  drawMap() {
    const { answer, stack } = this;
    if (answer.tvd !== undefined && answer.tvd !== null) this.map.body.append(make("p", { class: "quiet", text: `The predictions differ by ${number(answer.tvd)} (total variation).` }));
    const [both, all] = [answer.aligned.keys.length, this.a.tokensOf(stack).keys.length];
    this.map.body.append(make("p", { class: "quiet", text: `${both} of ${all} tokens of A stand for one of B; differences are of these.` }));
    for (const note of answer.notes ?? []) this.map.body.append(make("p", { class: "quiet", text: note }));
    this.drawn = headMap(this.map.body, { heads: answer.differences.map((layer) => layer.length), name: "difference of each head", open: (layer, head) => this.open(layer, head) });
    this.drawn.colourBy("difference", answer.differences);
    tools(this.map, () => ({ name: "whence-differences", title: `Difference of each head (${stack.id})`, about: `${this.a.text} / ${this.b.text}`, pictures: [this.drawn.picture()], tables: [this.drawn.rows()] }));
  }

  open(layer, head) {
    state.set({ layer: String(layer), heads: String(head) });
    this.drawn.choose(layer, [head]);
    this.pair.head.firstChild.textContent = `Layer ${layer}, head ${head}`;
    attempt(this.pair.body, async () => {
      const stacks = [this.a.stack(this.stack.id), this.b.stack(this.stack.id)], tokens = [this.a.tokensOf(stacks[0]), this.b.tokensOf(stacks[1])];
      const weights = await Promise.all([this.a.weights(stacks[0], layer, [head]), this.b.weights(stacks[1], layer, [head])]);
      const sides = ["A", "B"].map((title, at) => ({ title, weights: weights[at], tokens: tokens[at] }));
      tools(this.pair, pairView(this.pair.body, sides, alignedWeights(this.answer.aligned, weights, tokens), `compare-${layer}-${head}`));
    });
  }
}

async function compare() {
  if (!opened.a || !opened.b) return;
  await attempt(main, async () => {
    const stack = opened.a.stack(state.get("stack"));
    const answer = await post("/compare", { a: opened.a.id, b: opened.b.id, stack: stack.id });
    new Comparison(opened.a, opened.b, answer, stack);
  });
}

const open = (side) => (request) => attempt(main, async () => {
  opened[side] = await Look.open(request);
  await compare();
});

async function start() {
  shell();
  const info = await attempt(main, () => get("/info"));
  if (!info) return;
  const [a, b] = [card("A"), card("B")];
  document.getElementById("input").append(make("div", { class: "columns even" }, a.card, b.card));
  inputForm(a.body, info, open("a"), { submit: "Open A" });
  inputForm(b.body, info, open("b"), { prefix: "b_", submit: "Open B" });
  const [first, second] = [requested(info), requested(info, "b_")];
  if (first) await open("a")(first);
  if (second) await open("b")(second);
}

start();
