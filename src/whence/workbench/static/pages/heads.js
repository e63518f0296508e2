// The heads of a look: the map of all of them, by a summary or as thumbnails, and the one that is chosen.

import { choice, make, range, replaceChildren, toggle } from "../views/dom.js";
import { headMap, SUMMARIES } from "../views/head_map.js";
import { headView } from "../views/head_view.js";
import { poolView } from "../views/pool_view.js";
import { verdictLine } from "../views/verdicts.js";
import { attempt, card, tools } from "./shell.js";
import { state } from "./state.js";

const KINDS = { self: "self-attention", causal: "causal self-attention", cross: "cross-attention", pool: "attention that sums up" };
const title = (stack) => `${KINDS[stack.kind] ?? stack.kind} (${stack.layers} × ${Math.max(...stack.heads)})`;

// One map and one head; what is chosen is in the address.
export class Heads {
  constructor(look, { verdicts = null, page = null, combine = true } = {}) {
    Object.assign(this, { look, verdicts, page, combine });
    this.map = card("Heads");
    this.view = card("Head");
    this.read();
    tools(this.map, () => ({ name: `whence-heads-${this.stack.id}`, title: "Heads", about: this.look.text, pictures: [this.drawn.picture()], tables: [this.drawn.rows()] }));
    this.drawMap();
    this.drawHead();
  }

  read() {
    this.stack = this.look.stack(state.get("stack", this.look.first));
    this.layer = Math.min(Number(state.get("layer", String(this.stack.layers - 1))), this.stack.layers - 1);
    this.heads = state.list("heads").map(Number).filter((head) => head < this.stack.heads[this.layer]);
    if (!this.heads.length) this.heads = [0];
    this.options = { special: state.flag("special"), sinks: state.flag("sinks"), as: state.get("as", "both") };
  }

  get elements() {
    return [this.map.card, this.view.card];
  }

  choose(layer, head, event) {
    const together = this.combine && (event.ctrlKey || event.metaKey || event.shiftKey || state.flag("combine")) && layer === this.layer;
    const others = this.heads.filter((one) => one !== head);
    this.heads = !together ? [head] : this.heads.includes(head) && others.length ? others : [...others, head].sort((a, b) => a - b);
    this.layer = layer;
    state.set({ stack: this.stack.id, layer, heads: this.heads });
    this.drawn.choose(layer, this.heads);
    this.drawHead();
  }

  drawMap() {
    const { stack, look } = this, summaries = look.known(stack);
    const wanted = state.get("by", "entropy"), by = summaries.includes(wanted) || wanted === "thumbnails" ? wanted : summaries[0];
    const stacks = look.stacks.length > 1 ? choice("Attention", look.stacks.map((one) => [one.id, title(one)]), stack.id, (id) => {
      state.set({ stack: id, layer: null, heads: null, lock: null });
      this.read();
      this.drawMap();
      this.drawHead();
    }) : make("span", { class: "quiet", text: title(stack) });
    const colours = choice("Show", [...summaries.map((name) => [name, SUMMARIES[name]?.[0] ?? name]), ["thumbnails", "All heads, small"]], by, (name) => {
      state.set({ by: name });
      this.colour(name);
    }, { name: "by" });
    const several = this.combine && Math.max(...stack.heads) > 1 ? toggle("combine heads", state.flag("combine"), (now) => state.set({ combine: now }), { title: "a click adds a head of the same layer; their mean is shown" }) : null;
    const everyone = this.combine && Math.max(...stack.heads) > 1 ? make("button", { type: "button", text: "mean of the layer", onclick: () => this.wholeLayer() }) : null;
    this.map.body.classList.toggle("small", by !== "thumbnails");
    replaceChildren(this.map.body, make("div", { class: "bar" }, stacks, colours, several, everyone));
    this.drawn = headMap(this.map.body, { heads: stack.heads, name: `layers and heads of ${title(stack)}`, verdicts: this.verdicts?.heads?.[stack.id], open: (...chosen) => this.choose(...chosen) });
    this.drawn.choose(this.layer, this.heads);
    this.colour(by);
  }

  wholeLayer() {
    this.heads = range(this.stack.heads[this.layer]);
    state.set({ stack: this.stack.id, layer: this.layer, heads: this.heads });
    this.drawn.choose(this.layer, this.heads);
    this.drawHead();
  }

  colour(name) {
    const { stack, look, drawn } = this;
    return attempt(this.map.body, async () => {
      if (name === "thumbnails") {
        drawn.thumbnails(await look.thumbnails(stack));
      } else drawn.colourBy(name, await look.summary(stack, name));
    });
  }

  name() {
    const many = this.heads.length > 1, all = many && this.heads.length === this.stack.heads[this.layer];
    const heads = all ? "mean of all heads" : many ? `mean of heads ${this.heads.join(", ")}` : `head ${this.heads[0]}`;
    return `${this.stack.layers > 1 ? `layer ${this.layer}, ` : ""}${heads}`.replace(/^./, (letter) => letter.toUpperCase());
  }

  async drawHead() {
    const { stack, layer, heads, look } = this, turn = (this.turn = Symbol("turn"));
    await attempt(this.view.body, async () => {
      const weights = await look.weights(stack, layer, heads);
      const outer = await this.outerWeights();
      if (turn !== this.turn) return; // another head was chosen meanwhile
      this.view.head.firstChild.textContent = this.name();
      this.showHead(weights, outer);
    });
  }

  // A HAN's sentences have weights of their own, which are shown beside the words within them.
  async outerWeights() {
    if (this.stack.query_axis !== "sentences") return null;
    const sentences = this.look.stacks.find((one) => one.key_axis === "sentences" && one.query_axis !== "sentences");
    return sentences ? Array.from((await this.look.weights(sentences, 0, [0])).values) : null;
  }

  showHead(weights, outer) {
    const { stack, look } = this, tokens = look.tokensOf(stack), verdict = this.heads.length === 1 ? this.verdicts?.heads?.[stack.id]?.[this.layer]?.[this.heads[0]] : null;
    const place = make("div"), pools = stack.kind === "pool" && (weights.queries === 1 || outer);
    const within = outer && sentencesOf(weights), keys = outer ? tokens.keys.map((token, at) => ({ ...token, segment: within[at] })) : tokens.keys;
    const changed = (options) => {
      this.options = options;
      state.set({ lock: null, special: options.special, sinks: options.sinks, as: options.as === "both" ? null : options.as });
      this.showHead(weights, outer);
    };
    replaceChildren(this.view.body, verdictLine(verdict, this.verdicts), place);
    const shared = stack.query_axis === stack.key_axis, common = { weights, name: this.name(), options: this.options, changed };
    this.shown = pools ? poolView(place, { ...common, tokens: keys, outer, bySegment: Boolean(outer) }) : headView(place, { ...common, tokens, shared });
    tools(this.view, () => this.files());
    this.keepLock(this.shown);
  }

  // The token that is locked is in the address, and stays when another head is chosen.
  keepLock({ focus, size }) {
    const [side, at] = state.get("lock").split(":");
    if (Number(at) < size[side]) focus.lock(side, Number(at));
    focus.listen((_, locked) => state.set({ lock: locked && `${locked.side}:${locked.at}` }));
  }

  files() {
    const name = `whence-${this.stack.id}-${this.layer}-${this.heads.length > 1 ? "mean" : this.heads[0]}`;
    const pictures = ["matrix", "arcs", "bars"].map((kind) => this.shown.pictures[kind]).filter(Boolean);
    return { name, title: `${this.name()}: attention weights`, about: this.look.text, pictures, tables: [this.shown.rows()], page: this.page && (() => this.page(this)) };
  }
}

// The sentence that a token is in: the row that has weight on it; a token without weight goes with the one before, or the first.
function sentencesOf(weights) {
  const rows = range(weights.queries);
  const found = range(weights.keys).map((key) => rows.findIndex((query) => weights.values[query * weights.keys + key] > 0));
  return found.reduce((all, one) => [...all, one < 0 ? (all.at(-1) ?? 0) : one], []);
}
