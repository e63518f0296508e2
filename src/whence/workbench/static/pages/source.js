// A text that was looked at: its tokens and stacks, and its weights, fetched head by head and kept.

import { decoded } from "../views/weights.js";
import { get, octets, post } from "./api.js";

const KEPT = 64; // matrices; each of 512 tokens is a megabyte

export class Look {
  constructor(answer) {
    Object.assign(this, answer);
    this.kept = new Map();
  }

  static async open(request, signal) {
    const body = Object.fromEntries(Object.entries(request).filter(([, value]) => value !== "" && value !== null && value !== undefined));
    return new Look(await post("/look", { text: "", ...body }, signal));
  }

  stack(id) {
    return this.stacks.find((one) => one.id === id) ?? this.stacks[0];
  }

  // The stack that is shown first: what a decoder reads from its source, else the first.
  get first() {
    return (this.stacks.find((one) => one.kind === "cross") ?? this.stacks[0]).id;
  }

  tokensOf(stack) {
    return { queries: this.axes[stack.query_axis], keys: this.axes[stack.key_axis] };
  }

  // Those of one head, or the mean of several; a stack without heads has one.
  async weights(stack, layer, heads, signal) {
    const all = heads.length === stack.heads[layer] && heads.length > 1;
    const which = heads.length === 1 ? `${heads[0]}?dtype=uint8` : `mean?dtype=uint8${all ? "" : `&heads=${heads.join(",")}`}`;
    const path = `/weights/${this.id}/${stack.id}/${layer}/${which}`;
    if (!this.kept.has(path)) {
      const { buffer, shape, scale } = await octets(path, signal);
      if (this.kept.size >= KEPT) this.kept.delete(this.kept.keys().next().value);
      this.kept.set(path, decoded(buffer, { dtype: "uint8", shape, scale }));
    }
    return this.kept.get(path);
  }

  async thumbnails(stack, size = 24) {
    const { buffer, shape } = await octets(`/thumbnails/${this.id}/${stack.id}?size=${size}`);
    return { bytes: new Uint8Array(buffer), high: shape.at(-2), wide: shape.at(-1) };
  }

  // Summaries that came with the look, and slow ones that are computed when asked for.
  async summary(stack, name) {
    if (this.summaries[stack.id]?.[name]) return this.summaries[stack.id][name];
    this.slow ??= get(`/summaries/${this.id}`);
    const slow = await this.slow;
    if (!slow[name]?.[stack.id]) throw new Error(slow.errors?.[name] ?? "This is not defined for this kind of attention.");
    return slow[name][stack.id];
  }

  known(stack) {
    const here = this.summaries[stack.id] ?? {};
    return [...Object.keys(here).filter((name) => here[name]?.every((layer) => layer !== null)), "sink_share", "importance"];
  }
}
