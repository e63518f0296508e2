// What to look at: a model, a text (and a second, or a target text), and which prediction is explained, and against which.

import { button, choice, make, replaceChildren } from "../views/dom.js";
import { get, query } from "./api.js";
import { state } from "./state.js";

const LABELS = { text: "Text", pair: "Second text", target_text: "Target text" };
const HINTS = { target_text: "leave empty: the model writes it", pair: "for models that read two texts" };

function textField(name, prefix) {
  const area = make("textarea", { id: `${prefix}${name}`, name, rows: name === "text" ? 2 : 1, placeholder: HINTS[name] ?? "type a text", spellcheck: "false", dir: "auto", value: state.get(prefix + name) });
  return { area, label: make("label", { class: "field wide" }, make("span", { text: LABELS[name] }), area) };
}

// A class is chosen where there are few; a word is typed where the classes are a vocabulary.
function classField(label, name, classes, prefix, empty) {
  const value = state.get(prefix + name);
  if (classes.length && classes.length <= 50) return choice(label, [["", empty], ...classes.map((one) => [one, one])], value, () => {}, { name });
  return make("label", { class: "field" }, make("span", { text: label }), make("input", { name, value, placeholder: empty, size: 14 }));
}

const PAGE = 10;

// A page of the user's table, to pick a row from.
export function examplePicker(data, choose) {
  const place = make("div", { class: "picker" });
  const filter = make("input", { type: "search", placeholder: "filter the table", "aria-label": "filter the table" });
  const rows = make("ul", { class: "rows" }), count = make("span", { class: "quiet", role: "status" });
  let offset = 0;
  const show = async () => {
    const page = await get(`/examples${query({ offset, limit: PAGE, filter: filter.value })}`);
    offset = Math.max(0, Math.min(offset, Math.floor((page.total - 1) / PAGE) * PAGE));
    count.textContent = page.total ? `${offset + 1}–${Math.min(offset + PAGE, page.total)} of ${page.total}` : "no row has that";
    replaceChildren(rows, page.rows.map((row) => make("li", {}, button("", () => choose(row), { class: "plain" }, ))));
    page.rows.forEach((row, at) => rows.children[at].firstChild.append(make("bdi", { text: row.text }), row.label ? make("span", { class: "quiet", text: ` ${row.label}` }) : ""));
  };
  const turn = (by) => ((offset = Math.max(0, offset + by)), show().catch(tell));
  const tell = (error) => replaceChildren(rows, make("li", { class: "problem", text: error.message }));
  filter.addEventListener("input", () => ((offset = 0), show().catch(tell)));
  place.append(make("div", { class: "bar" }, filter, button("‹", () => turn(-PAGE), { "aria-label": "previous rows" }), button("›", () => turn(PAGE), { "aria-label": "next rows" }), count), rows);
  const details = make("details", { ontoggle: () => details.open && show().catch(tell) }, make("summary", { text: `pick from ${data.name} (${data.rows} rows)` }), place);
  return details;
}

// The form. `go(request)` is called on submit; `prefix` tells two forms of one page apart in the address.
export function inputForm(place, info, go, { prefix = "", submit = "Look", picker = true } = {}) {
  const chosen = () => info.models.find((one) => one.id === state.get(`${prefix}model`)) ?? info.models[0];
  const draw = () => {
    const model = chosen(), extra = model.writes ? ["target_text"] : model.pair || model.task === "sequence-classification" ? ["pair"] : [];
    const texts = ["text", ...extra].map((name) => textField(name, prefix));
    const models = info.models.length > 1 ? choice("Model", info.models.map((one) => [one.id, one.name]), model.id, (value) => {
      state.set({ [`${prefix}model`]: value });
      draw();
    }, { name: "model" }) : null;
    const form = make("form", { class: "input", onsubmit: (event) => (event.preventDefault(), send(form, model, go, prefix)) },
      models, texts.map(({ label }) => label),
      make("div", { class: "bar" }, classField("Explain", "target", model.classes ?? [], prefix, "the prediction"),
        classField("against", "against", model.classes ?? [], prefix, "all others"), make("button", { type: "submit", class: "main", text: submit })));
    texts[0].area.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) form.requestSubmit();
    });
    const pick = (row) => {
      texts[0].area.value = row.text;
      if (texts[1] && row.pair) texts[1].area.value = row.pair;
      form.requestSubmit();
    };
    replaceChildren(place, form, info.data && picker ? examplePicker(info.data, pick) : null);
  };
  draw();
}

function send(form, model, go, prefix) {
  const given = Object.fromEntries(new FormData(form));
  const request = { model: model.id, ...given };
  state.set(Object.fromEntries(["model", "text", "pair", "target_text", "target", "against"].map((name) => [prefix + name, request[name] ?? null])));
  go(request);
}

// What the address asks for, if it has a text.
export function requested(info, prefix = "") {
  const names = ["text", "pair", "target_text", "target", "against", "at"];
  if (!state.get(`${prefix}text`)) return null;
  return { model: state.get(`${prefix}model`, info.models[0].id), ...Object.fromEntries(names.map((name) => [name, state.get(prefix + name)])) };
}
