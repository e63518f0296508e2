// Where in the corpus the chosen head does this: texts in which a token that is typed gets, or gives, most of the weight.

import { choice, make, percent, replaceChildren, visible } from "../views/dom.js";
import { post } from "./api.js";
import { attempt, card } from "./shell.js";
import { state } from "./state.js";

// The texts that were found, each with a link that opens it with this head.
function hit(row, heads) {
  const link = state.link("/", ["model", "by", "as"], { text: row.text, pair: row.pair, stack: heads.stack.id, layer: String(heads.layer), heads: String(heads.heads[0]) });
  const told = [row.query_text ?? row.query, row.key_text ?? row.key].every((one) => typeof one === "string") ? ` “${visible(row.query_text ?? row.query)}” → “${visible(row.key_text ?? row.key)}”` : "";
  return make("li", {}, make("span", { class: "figure", text: `${percent(row.weight ?? row.score)} ` }), make("a", { href: link }, make("bdi", { text: visible(row.text) })), make("span", { class: "quiet", text: told }));
}

export function examplesLike(look, heads, info) {
  if (!info.data) return null;
  const made = card("Find this in the table"), rows = make("ol", { class: "rows found" });
  const word = (name, label) => make("label", { class: "field" }, make("span", { text: label }), make("input", { name, size: 12, placeholder: "any token" }));
  const patterns = choice("This head looks from a token to", [["token", "the tokens typed here"], ["previous", "the token before it"], ["special", "special tokens"], ["itself", "itself"]], "token", () => {}, { name: "pattern" });
  const form = make("form", { class: "bar", onsubmit: (event) => {
    event.preventDefault();
    const { pattern, from, to } = Object.fromEntries(new FormData(form));
    attempt(rows, async () => {
      const answer = await post("/find", { model: look.model, stack: heads.stack.id, layer: heads.layer, head: heads.heads[0], pattern, query: from || null, key: to || null });
      replaceChildren(rows, answer.rows.length ? answer.rows.map((row) => hit(row, heads)) : make("li", { text: "No text has that." }));
    });
  } }, patterns, word("from", "from"), word("to", "to"), make("button", { type: "submit", text: "search the table" }));
  made.body.append(make("p", { class: "quiet", text: "Texts of the table in which the chosen head puts most weight there, strongest first." }), form, rows);
  return made.card;
}
