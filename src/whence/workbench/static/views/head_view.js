// One head: who looks at whom, as text, lines and matrix. Point at a token to ask about it, click to lock it, Escape to let go.

import { make, percent, range, replaceChildren, toggle, visible } from "./dom.js";
import { arcs } from "./arcs.js";
import { Focus } from "./focus.js";
import { matrix } from "./matrix.js";
import { clearShade, shade, strip } from "./strip.js";
import { column, largest, received, row, showing, sinks, strongest } from "./weights.js";

const ARCS = 460; // pixels that lines with their tokens take, and a gap

// Which queries and keys are shown; a text of special tokens alone is shown whole.
export function shown(weights, tokens, { special, sinks: withoutSinks }) {
  const resting = withoutSinks ? new Set(sinks(weights)) : new Set();
  const some = (all, least) => (least.length ? least : all);
  const queries = range(weights.queries), keys = range(weights.keys);
  return {
    queries: some(queries, queries.filter((at) => !(special && tokens.queries[at].special))),
    keys: some(keys, keys.filter((at) => !(special && tokens.keys[at].special) && !resting.has(at))),
  };
}

const quoted = (token) => `“${visible(token.text)}”`;
const most3 = (values, tokens) => strongest(values, 3).filter((at) => Math.abs(values[at]) > 0.005).map((at) => `${quoted(tokens[at])} (${percent(values[at])})`).join(", ");

// What is asked about as rows of numbers: where it looks, and who looks at it; either null where the token is not on that side.
function answers(view, asked) {
  const here = asked.side === "query" ? view.kept.queries[asked.at] : view.kept.keys[asked.at];
  const query = asked.side === "query" ? asked.at : view.shared ? view.kept.queries.indexOf(here) : -1;
  const key = asked.side === "key" ? asked.at : view.shared ? view.kept.keys.indexOf(here) : -1;
  const token = asked.side === "query" ? view.tokens.queries[asked.at] : view.tokens.keys[asked.at];
  return { token, looks: query < 0 ? null : row(view.weights, query), looked: key < 0 ? null : column(view.weights, key) };
}

function sentence(view, focus) {
  if (!focus.now) return "Point at a token to see where it looks and who looks at it; click to lock it. With the keyboard: Tab, arrows, Enter.";
  const { token, looks, looked } = answers(view, focus.now);
  const words = [];
  if (looks) words.push(`${quoted(token)} looks mostly at ${most3(looks, view.tokens.keys) || "nothing that is shown"}.`);
  if (looked) words.push(`It is looked at mostly by ${most3(looked, view.tokens.queries) || "nothing that is shown"}.`);
  return words.join(" ");
}

function strips(place, view, focus) {
  const line = (label) => place.appendChild(make("div", { class: "strip-line" }, make("span", { class: "strip-label", text: label })));
  const looks = strip(line(view.shared ? "where it looks" : "keys"), view.tokens.keys, view.shared ? "key" : "key", focus, "tokens that are looked at");
  const looked = strip(line(view.shared ? "who looks at it" : "queries"), view.tokens.queries, "query", focus, "tokens that look");
  const overall = received(view.weights);
  const redraw = () => {
    const asked = focus.now ? answers(view, focus.now) : { looks: overall, looked: null };
    looks(asked.looks, asked.looks && largest(asked.looks));
    looked(asked.looked, asked.looked && largest(asked.looked));
  };
  focus.listen(redraw);
  redraw();
}

function lockLine(place, view, focus) {
  const line = place.appendChild(make("p", { class: "said", role: "status" }));
  const redraw = () => replaceChildren(line,
    focus.locked ? make("button", { type: "button", class: "lock", text: `locked: ${visible(answers(view, focus.locked).token.text)} ✕`, title: "let go (Escape)", onclick: () => focus.release() }) : null,
    make("span", { text: sentence(view, focus) }));
  focus.listen(redraw);
  redraw();
}

function switches(view, options, changed) {
  const one = (key, text, title) => toggle(text, options[key], (now) => changed({ ...options, [key]: now }), { title });
  const as = (key, text) => toggle(text, options.as === key, () => changed({ ...options, as: key }));
  return make("div", { class: "bar", role: "group", "aria-label": "what is shown of this head" },
    one("special", "hide special tokens", "leave out [CLS], [SEP] and the like"),
    view.weights.queries >= 4 ? one("sinks", "hide sinks", "leave out keys with a mean weight above 0.3 (Gu et al. 2025)") : null,
    make("span", { class: "gap" }), as("both", "lines and matrix"), as("arcs", "lines"), as("matrix", "matrix"));
}

// Draws a head. Returns which token is asked about and of how many, and what export needs: the pictures and the numbers.
export function headView(place, { weights, tokens, shared, name, options, changed }) {
  const kept = shown(weights, tokens, options);
  const view = {
    kept, shared, whole: weights, weights: showing(weights, kept),
    tokens: { queries: kept.queries.map((at) => tokens.queries[at]), keys: kept.keys.map((at) => tokens.keys[at]) },
  };
  const focus = new Focus(), wide = place.clientWidth || 900, beside = options.as === "both" && wide > ARCS + 420;
  const left = make("div", { class: "pane" }), right = make("div", { class: "pane" });
  replaceChildren(place, switches({ weights }, options, changed));
  lockLine(place, view, focus);
  strips(place, view, focus);
  place.append(make("div", { class: "panes" }, options.as === "matrix" ? null : left, options.as === "arcs" ? null : right));
  const paintToken = (one, near, most) => (near > 0 ? shade(one, near, most) : clearShade(one));
  const pictures = {};
  if (options.as !== "matrix") pictures.arcs = arcs(left, { ...view, focus, paintToken });
  if (options.as !== "arcs") pictures.matrix = matrix(right, { ...view, focus, tell: () => {}, room: beside ? wide - ARCS : wide - 10, name: `matrix of ${name}` });
  place.onkeydown = (event) => event.key === "Escape" && focus.release();
  return { focus, size: { query: kept.queries.length, key: kept.keys.length }, pictures, rows: () => tableOf(view) };
}

// The numbers as rows of a table: the first row and column are tokens.
export function tableOf({ weights, tokens }) {
  const head = ["query \\ key", ...tokens.keys.map((token) => token.text)];
  return [head, ...tokens.queries.map((token, at) => [token.text, ...Array.from(row(weights, at))])];
}
