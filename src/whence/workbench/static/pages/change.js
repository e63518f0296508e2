// Change: replace attention weights, and see the prediction and the token scores move. Each edit can be undone.

import { button, choice, make, number, range, replaceChildren, visible } from "../views/dom.js";
import { drawPrediction, predictionView } from "../views/prediction.js";
import { adversaryCard } from "./adversary.js";
import { get, post } from "./api.js";
import { describe, editForm } from "./edit_form.js";
import { inputForm, requested } from "./input.js";
import { movedCard } from "./moved.js";
import { pairView } from "./pair.js";
import { rowEditor } from "./row_editor.js";
import { attempt, card, problem, shell, tools } from "./shell.js";
import { Look } from "./source.js";
import { state } from "./state.js";

const main = document.getElementById("main"), results = document.getElementById("results");

class Change {
  constructor(look, info) {
    Object.assign(this, { look, info, edits: state.json("edits", []), undone: [] });
    this.parts = { edit: card("Change attention"), row: card("Drag one row's weights"), list: card("Edits"), outcome: card("Before and after"), moved: make("div"), pair: card("The weights, before and after"), code: card("As Python") };
    editForm(this.parts.edit.body, look, info.overrides, { apply: (edit) => this.add(edit), fail: problem });
    const adversary = adversaryCard(look, (edits) => this.addAll(edits));
    const { edit, row, list, outcome, moved, pair, code } = this.parts;
    replaceChildren(results, make("div", { class: "columns even" }, make("div", {}, edit.card, list.card, adversary), make("div", {}, outcome.card, moved)), row.card, pair.card, code.card);
    this.chooseHead();
    this.update();
  }

  // Which head is dragged and drawn.
  chooseHead() {
    const { look } = this;
    this.stack = look.stack(state.get("stack"));
    this.layer = Math.min(Number(state.get("layer", String(this.stack.layers - 1))), this.stack.layers - 1);
    this.head = Math.min(Number(state.list("heads")[0] ?? 0), this.stack.heads[this.layer] - 1);
  }

  headChoice() {
    const set = (changes) => {
      state.set(changes);
      this.chooseHead();
      this.drawRow();
      this.drawPair();
    };
    const { stack } = this, some = (count) => range(count).map((one) => [String(one), String(one)]);
    return make("div", { class: "bar" },
      this.look.stacks.length > 1 ? choice("Attention", this.look.stacks.map((one) => [one.id, one.id]), stack.id, (id) => set({ stack: id, layer: null, heads: null })) : null,
      choice("Layer", some(stack.layers), String(this.layer), (layer) => set({ layer }), { name: "row-layer" }), choice("Head", some(stack.heads[this.layer]), String(this.head), (heads) => set({ heads }), { name: "row-head" }));
  }

  add(edit) {
    this.addAll([edit]);
  }

  addAll(edits) {
    this.edits = [...this.edits, ...edits];
    this.undone = [];
    return this.update();
  }

  // A row that is dragged again replaces what it was dragged to before.
  drag(query, weights) {
    const edit = { stack: this.stack.id, layers: [this.layer], heads: [this.head], override: "row", options: { query, weights } };
    const last = this.edits.at(-1), same = last?.override === "row" && last.stack === edit.stack && last.layers[0] === this.layer && last.heads?.[0] === this.head && last.options.query === query;
    if (same) this.edits = this.edits.slice(0, -1);
    this.add(edit);
  }

  list() {
    const { list } = this.parts, change = (edits, undone) => (Object.assign(this, { edits, undone }), this.update());
    const items = this.edits.map((edit, at) => make("li", {}, make("span", { text: `${visible(describe(edit, this.look))} ` }), button("✕", () => change(this.edits.filter((_, one) => one !== at), this.undone), { "aria-label": `remove edit ${at + 1}` })));
    replaceChildren(list.body, items.length ? make("ol", { class: "edits" }, items) : make("p", { class: "quiet", text: "Nothing is changed yet." }),
      make("div", { class: "bar" }, button("↶ undo", () => change(this.edits.slice(0, -1), [...this.undone, this.edits.at(-1)]), { disabled: !items.length }),
        button("↷ redo", () => change([...this.edits, this.undone.at(-1)], this.undone.slice(0, -1)), { disabled: !this.undone.length }), button("undo all", () => change([], []), { disabled: !items.length })));
  }

  async update() {
    state.set({ edits: this.edits.length ? JSON.stringify(this.edits) : null });
    this.list();
    const turn = (this.turn = Symbol("turn"));
    await attempt(this.parts.outcome.body, async () => {
      const answer = await post("/change", { id: this.look.id, edits: this.edits, methods: state.list("methods").length ? state.list("methods").slice(0, 3) : ["raw_attention", "gradient_x_input"] });
      if (turn !== this.turn) return;
      this.answer = answer;
      this.draw(answer);
    });
  }

  draw({ before, after, tvd, jsd, python }) {
    const { outcome, moved, code } = this.parts, table = make("div");
    if (before.prediction) predictionView(table, before.prediction, this.edits.length ? after.prediction : null);
    replaceChildren(outcome.body, make("p", {}, make("span", { class: "big" }, make("span", { text: `TVD ${number(tvd)} `, "data-exact": tvd, id: "tvd" })), make("span", { class: "big" }, make("span", { text: `JSD ${number(jsd)} nats`, "data-exact": jsd, id: "jsd" }))),
      make("p", { class: "quiet", text: "Distances between the two predictions: total variation, and Jensen–Shannon divergence." }), table);
    tools(outcome, () => {
      const drawn = drawPrediction(before.prediction, after.prediction);
      return { name: "whence-change", title: "Prediction before and after", about: `${this.look.text} – ${this.edits.map((edit) => describe(edit, this.look)).join("; ")}`, pictures: [drawn], tables: [drawn.rows()] };
    });
    replaceChildren(moved, movedCard(this.look, this.answer));
    const copy = button("copy as Python", () => navigator.clipboard.writeText(python).then(() => (copy.textContent = "copied"), () => (copy.textContent = "select the text below")));
    replaceChildren(code.body, copy, make("pre", { tabindex: "0", id: "python", text: python }));
    this.after = new Look({ ...this.look, id: after.id, prediction: after.prediction });
    this.drawRow();
    this.drawPair();
  }

  drawRow() {
    attempt(this.parts.row.body, async () => {
      const { stack, layer, head } = this, weights = await this.after.weights(stack, layer, [head]);
      const before = await this.look.weights(stack, layer, [head]), place = make("div");
      const causal = stack.kind === "causal", permitted = (query, key) => !causal || key <= query || before.values[query * before.keys + key] > 0;
      replaceChildren(this.parts.row.body, this.headChoice(), make("p", { class: "quiet", text: "Drag a weight, or use the arrow keys: the other weights share what is left. What is let go is applied." }), place);
      rowEditor(place, { weights, tokens: this.look.tokensOf(stack), permitted, first: Number(state.get("row", "1")), choose: (query) => state.set({ row: String(query) }), apply: (query, values) => this.drag(query, values) });
    });
  }

  drawPair() {
    attempt(this.parts.pair.body, async () => {
      const { stack, layer, head } = this, tokens = this.look.tokensOf(stack);
      const [a, b] = await Promise.all([this.look.weights(stack, layer, [head]), this.after.weights(stack, layer, [head])]);
      tools(this.parts.pair, pairView(this.parts.pair.body, [{ title: "before", weights: a, tokens }, { title: "after", weights: b, tokens }], { a, b, tokens }, `change-${layer}-${head}`));
    });
  }
}

async function start() {
  shell();
  const info = await attempt(main, () => get("/info"));
  if (!info) return;
  const open = (request) => attempt(main, async () => new Change(await Look.open(request), info));
  inputForm(document.getElementById("input"), info, (request) => (state.set({ edits: null }), open(request)), { submit: "Open" });
  const request = requested(info);
  if (request) await open(request);
}

start();
