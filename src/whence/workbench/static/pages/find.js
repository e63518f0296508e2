// Where in the corpus the chosen head does this: texts in which a token that is typed gets, or gives, most of the weight.

import { choice, make, percent, replaceChildren, visible } from "../views/dom.js";
import { tablePicture } from "../views/table_picture.js";
import { post } from "./api.js";
import { attempt, card, tools } from "./shell.js";
import { state } from "./state.js";

const PATTERNS = { token: "the tokens typed here", previous: "the token before it", special: "special tokens", itself: "itself" };

// A text that was found, with a link that opens it with this head.
function hit(row, heads) {
  const link = state.link("/", ["model", "by", "as"], { text: row.text, pair: row.pair, stack: heads.stack.id, layer: String(heads.layer), heads: String(heads.heads[0]) });
  const told = row.query_text ? ` “${visible(row.query_text)}” → “${visible(row.key_text)}”` : ` “${visible(row.key_text)}”`;
  return make("li", {}, make("span", { class: "figure", text: `${percent(row.weight)} ` }), make("a", { href: link }, make("bdi", { text: visible(row.text) })), make("span", { class: "quiet", text: told }));
}

const cells = (rows) => [["weight", "from", "to", "text"], ...rows.map((row) => [row.weight, row.query_text, row.key_text, row.text])];

export function examplesLike(look, heads, info) {
  if (!info.data) return null;
  const made = card("Find this in the table"), list = make("ol", { class: "rows found" }), asked = state.json("find", {});
  const word = (name, label) => make("label", { class: "field" }, make("span", { text: label }), make("input", { name, size: 12, placeholder: "any token", value: asked[name] ?? "" }));
  const search = ({ pattern, from, to }) => attempt(list, async () => {
    const where = { stack: heads.stack.id, layer: heads.layer, head: heads.heads[0] };
    const { rows } = await post("/find", { model: look.model, ...where, pattern, query: from || null, key: to || null });
    replaceChildren(list, rows.length ? rows.map((row) => hit(row, heads)) : make("li", { text: "No text has that." }));
    if (rows.length) tools(made, () => ({ name: "whence-found", title: `Texts in which ${heads.name().toLowerCase()} looks to ${PATTERNS[pattern]}`, about: `${info.data.name}, strongest first`, pictures: [tablePicture(cells(rows))], tables: [cells(rows)] }));
  });
  const form = make("form", { class: "bar", onsubmit: (event) => {
    event.preventDefault();
    const given = Object.fromEntries(new FormData(form));
    state.set({ find: given });
    search(given);
  } }, choice("This head looks from a token to", Object.entries(PATTERNS), asked.pattern ?? "token", () => {}, { name: "pattern" }), word("from", "from"), word("to", "to"), make("button", { type: "submit", text: "search the table" }));
  made.body.append(make("p", { class: "quiet", text: "Texts of the table in which the chosen head puts most weight there, strongest first." }), form, list);
  if (asked.pattern in PATTERNS) search(asked);
  return made.card;
}
