// Which tokens' scores a change has moved, method by method.

import { isolated, make, number } from "../views/dom.js";
import { drawScores } from "../views/scores.js";
import { card, tools } from "./shell.js";

const FEW = 8;

// The tokens whose score moved most, as shares of the largest score before: [token, before, after, change].
export function moves(tokens, before, after) {
  const rows = tokens.map((token, at) => [token.text, before[at], after[at], after[at] - before[at]]);
  return rows.filter((one) => Number.isFinite(one[3]) && Math.abs(one[3]) > 1e-9).sort((a, b) => Math.abs(b[3]) - Math.abs(a[3]));
}

export function movedCard(look, { scores_before: before, scores_after: after, errors = {} }) {
  const made = card("Scores that moved"), methods = Object.keys(before ?? {}).filter((method) => after?.[method]);
  const signed = (value) => (value > 0 ? `+${number(value)}` : number(value));
  for (const method of methods) {
    const rows = moves(look.tokens, before[method], after[method]);
    const cells = ([token, ...values]) => make("tr", {}, make("th", { scope: "row" }, isolated(token)), values.map((value, at) => make("td", { class: "figure", text: at === 2 ? signed(value) : number(value) })));
    made.body.append(rows.length ? make("table", { "data-moved": method }, make("caption", { text: `${method}: ${rows.length} of ${look.tokens.length} tokens moved` }),
      make("thead", {}, make("tr", {}, ["token", "before", "after", "change"].map((text) => make("th", { scope: "col", text })))), make("tbody", {}, rows.slice(0, FEW).map(cells))) : make("p", { class: "quiet", text: `${method}: no score moved.` }));
  }
  for (const [method, text] of Object.entries(errors)) made.body.append(make("p", { class: "quiet", text: `${method}: ${text}` }));
  const both = Object.fromEntries(methods.flatMap((method) => [[`${method}, before`, before[method]], [`${method}, after`, after[method]]]));
  tools(made, () => {
    const drawn = drawScores({ tokens: look.tokens, scores: both, order: Object.keys(both) });
    return { name: "whence-moved", title: "Scores before and after", about: look.text, pictures: [drawn], tables: [drawn.rows()] };
  });
  return made.card;
}
