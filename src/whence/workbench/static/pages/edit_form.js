// A change of attention, as a form: where (stack, layers, heads), what replaces the weights, and its numbers.

import { choice, isolated, make, range, replaceChildren, toggle } from "../views/dom.js";
import { state } from "./state.js";

// "0, 2-4" as numbers; empty means all (null).
export function places(text, count) {
  const parts = text.split(/[\s,]+/).filter(Boolean);
  const numbers = parts.flatMap((part) => {
    const [from, to] = part.split("-").map(Number);
    return range((to ?? from) - from + 1).map((step) => from + step);
  });
  const wrong = numbers.find((one) => !Number.isInteger(one) || one < 0 || one >= count);
  if (wrong !== undefined || (parts.length && !numbers.length)) throw new Error(`“${text}” should be numbers from 0 to ${count - 1}, such as “0, 2-3”; leave it empty for all.`);
  return numbers.length ? [...new Set(numbers)] : null;
}

// Buttons for the keys of a stack; a pressed one is chosen.
function tokenChooser(tokens, chosen) {
  return make("div", { class: "strip", role: "group", "aria-label": "tokens" }, tokens.map((token, at) => {
    const one = toggle("", chosen.has(at), (now) => (now ? chosen.add(at) : chosen.delete(at)), { class: "pick" });
    one.append(isolated(token.text));
    return one;
  }));
}

const numberField = (label, name, value, given = {}) => make("label", { class: "field" }, make("span", { text: label }), make("input", { type: "number", name, value, ...given }));

// What an override needs beside its place.
function optionFields(kind, tokens, chosen) {
  if (kind === "permuted" || kind === "random") return [numberField("Seed", "seed", 0, { min: 0, step: 1 })];
  if (kind === "temperature") return [numberField("Temperature", "degrees", 2, { min: 0.01, step: "any" })];
  if (kind === "without" || kind === "only") return [make("p", { class: "quiet", text: kind === "only" ? "Keep the weight of these tokens alone:" : "Take the weight away from these tokens:" }), tokenChooser(tokens.keys, chosen)];
  return [];
}

function readOptions(form, kind, chosen, special) {
  const given = new FormData(form), options = special ? { special: true } : {};
  if (kind === "permuted" || kind === "random") options.seed = Number(given.get("seed"));
  if (kind === "temperature") options.degrees = Number(given.get("degrees"));
  if (kind === "without" || kind === "only") {
    if (!chosen.size) throw new Error("Choose one token or more, by clicking on them.");
    options.tokens = [...chosen].sort((a, b) => a - b);
  }
  return options;
}

// Draws the form; `apply(edit)` gets what was chosen, `fail(error)` what was wrong.
export function editForm(place, look, overrides, { apply, fail }) {
  const known = overrides.filter(({ name }) => name !== "row" && name !== "rows"), chosen = new Set();
  let stack = look.stack(state.get("stack")), special = false, kind = known[0].name;
  const draw = () => {
    const count = Math.max(...stack.heads), fields = make("div", { class: "bar" }, optionFields(kind, look.tokensOf(stack), chosen));
    const stacks = look.stacks.length > 1 ? choice("Attention", look.stacks.map((one) => [one.id, one.id]), stack.id, (id) => ((stack = look.stack(id)), chosen.clear(), draw())) : null;
    const where = (label, name, most) => make("label", { class: "field" }, make("span", { text: label }), make("input", { name, size: 8, placeholder: `all (0–${most - 1})` }));
    const kinds = choice("Make it", known.map(({ name, about }) => [name, `${name}: ${about}`]), kind, (name) => {
      kind = name;
      replaceChildren(fields, optionFields(kind, look.tokensOf(stack), chosen));
    }, { name: "override" });
    const form = make("form", { class: "edit", onsubmit: (event) => {
      event.preventDefault();
      try {
        const given = new FormData(form);
        const layers = places(given.get("layers") ?? "", stack.layers), heads = places(given.get("heads") ?? "", count);
        apply({ stack: stack.id, layers, heads, override: kind, options: readOptions(form, kind, chosen, special) });
      } catch (error) {
        fail(error);
      }
    } }, make("div", { class: "bar" }, stacks, where("Layers", "layers", stack.layers), count > 1 ? where("Heads", "heads", count) : null, kinds), fields,
    make("div", { class: "bar" }, toggle("special tokens too", special, (now) => (special = now), { title: "else [CLS], [SEP] and the like keep their weight" }), make("button", { type: "submit", class: "main", text: "Apply" })));
    replaceChildren(place, form);
  };
  draw();
}

const listed = (numbers, word) => (numbers === null || numbers === undefined ? `all ${word}s` : `${word}${numbers.length > 1 ? "s" : ""} ${numbers.join(", ")}`);

// An edit in words.
export function describe(edit, look) {
  const stack = look.stack(edit.stack), keys = look.tokensOf(stack).keys, { options = {} } = edit;
  const name = (at) => `“${keys[at]?.text ?? at}”`;
  const detail = { permuted: () => ` (seed ${options.seed ?? 0})`, random: () => ` (seed ${options.seed ?? 0})`, temperature: () => ` ${options.degrees}`,
    without: () => ` ${options.tokens.map(name).join(", ")}`, only: () => ` ${options.tokens.map(name).join(", ")}`, row: () => ` of “${look.tokensOf(stack).queries[options.query]?.text}”` }[edit.override]?.() ?? "";
  return `${edit.override}${detail}, ${listed(edit.layers, "layer")}, ${listed(edit.heads, "head")}${look.stacks.length > 1 ? `, ${stack.id}` : ""}${options.special ? ", special tokens too" : ""}`;
}
