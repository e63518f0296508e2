// Attention that sums a text up in one row: the words shaded, and the strongest as bars. Words may lie within sentences.

import { make, number, percent, replaceChildren, toggle, visible, range } from "./dom.js";
import { palette } from "./colours.js";
import { Focus } from "./focus.js";
import { strip } from "./strip.js";
import { largest, strongest } from "./weights.js";

const FEW = 12;

function bars(tokens, values) {
  const most = largest(values) || 1;
  const line = (at) => make("tr", {}, make("th", { scope: "row" }, make("bdi", { text: visible(tokens[at].text) })),
    make("td", { class: "bars" }, make("span", { class: "bar-track" }, make("i", { style: { width: `${(100 * Math.abs(values[at])) / most}%` } }))),
    make("td", { class: "figure", text: percent(values[at]) }));
  return make("table", { class: "prediction" }, make("caption", { text: "The strongest weights" }), make("tbody", {}, strongest(values, FEW).map(line)));
}

// The groups of tokens: one for each segment where there are several, else one.
function groups(tokens, kept, bySegment) {
  if (!bySegment) return [kept];
  return [...new Set(kept.map((at) => tokens[at].segment))].sort((a, b) => a - b).map((segment) => kept.filter((at) => tokens[at].segment === segment));
}

// `outer` are the weights of the groups themselves (a HAN's sentences), if there are any.
export function poolView(place, { weights, tokens, name, options, changed, outer, bySegment }) {
  const values = range(weights.keys).map((key) => range(weights.queries).reduce((sum, query) => sum + weights.values[query * weights.keys + key], 0));
  const all = range(tokens.length), words = all.filter((at) => !tokens[at].special);
  const kept = options.special && words.length ? words : all;
  const focus = new Focus(), said = make("p", { class: "said", role: "status" });
  const body = make("div", { class: "pool", role: "group", "aria-label": name });
  const flat = [];
  groups(tokens, kept, bySegment).forEach((group) => {
    const at = tokens[group[0]].segment;
    const line = body.appendChild(make("div", { class: outer ? "strip-line sentence" : "strip-line" }));
    if (outer) {
      line.append(make("span", { class: "strip-label", text: `sentence ${at + 1}: ${percent(outer[at])}` }),
        make("span", { class: "bar-track" }, make("i", { style: { width: `${100 * outer[at]}%` } })));
    }
    const start = flat.length, shifted = { point: (side, to) => focus.point(side, start + to), leave: () => focus.leave(), lock: (side, to) => focus.lock(side, start + to),
      listen: (hear) => focus.listen((now, locked) => hear(now && { ...now, at: now.at - start }, locked && { ...locked, at: locked.at - start })) };
    strip(line, group.map((token) => tokens[token]), "key", shifted, outer ? `words of sentence ${at + 1}` : "words")(group.map((token) => values[token]), largest(outer ? group.map((token) => values[token]) : kept.map((token) => values[token])));
    flat.push(...group);
  });
  const tell = () => {
    const asked = focus.now && flat[focus.now.at];
    said.textContent = focus.now ? `“${visible(tokens[asked].text)}” has ${percent(values[asked])} of the weight${focus.locked ? " (locked; Escape lets go)" : ""}.` : "Point at a word for its weight.";
  };
  focus.listen(tell);
  tell();
  replaceChildren(place, make("div", { class: "bar", role: "group", "aria-label": "what is shown" },
    toggle("hide special tokens", options.special, (now) => changed({ ...options, special: now }))), said, body, bars(kept.map((at) => tokens[at]), kept.map((at) => values[at])));
  place.onkeydown = (event) => event.key === "Escape" && focus.release();
  return { focus, size: { key: kept.length }, pictures: { bars: drawBars(kept.map((at) => tokens[at]), kept.map((at) => values[at])) }, rows: () => [["token", "weight"], ...kept.map((at) => [tokens[at].text, values[at]])] };
}

// All weights as columns, for export.
function drawBars(tokens, values) {
  const step = 20, most = largest(values) || 1, width = 40 + step * tokens.length, high = 240;
  return {
    width, height: high,
    draw(pen, ground) {
      const inks = palette(ground);
      pen.rect(0, 0, width, high, inks.ground);
      tokens.forEach((token, at) => {
        const tall = (130 * Math.abs(values[at])) / most;
        pen.rect(20 + at * step, 140 - tall, step - 4, tall, inks.line);
        pen.text(20 + (at + 0.4) * step, 148, visible(token.text).slice(0, 12), { fill: inks.ink, size: 11, align: "right", turn: -90 });
      });
      pen.text(6, 10, number(most), { fill: inks.quiet, size: 10 });
    },
  };
}
