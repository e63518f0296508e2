// Scores of tokens by the methods that were chosen; which, in which order and by words or sub-words is in the address.

import { choice, make, toggle } from "../views/dom.js";
import { drawScores, scoresView } from "../views/scores.js";
import { post } from "./api.js";
import { attempt, card, tools } from "./shell.js";
import { state } from "./state.js";

const FIRST = ["raw_attention", "gradient_x_input", "leave_one_out"];

// Pinned methods first, each kind in the order in which it was chosen.
const ordered = (methods, pinned) => [...methods.filter((one) => pinned.includes(one)), ...methods.filter((one) => !pinned.includes(one))];

export function scoresCard(look, info) {
  const made = card("Token scores"), place = make("div"), known = info.methods.map((one) => one.name);
  const view = {
    tokens: look.tokens, scores: {}, errors: {}, words: state.flag("words"), pinned: state.list("pinned"),
    methods: state.list("methods").length ? state.list("methods") : FIRST.filter((name) => known.includes(name)),
    get order() {
      return ordered(view.methods, view.pinned);
    },
    pin(method) {
      view.pinned = view.pinned.includes(method) ? view.pinned.filter((one) => one !== method) : [...view.pinned, method];
      redraw();
    },
    move(method, by) {
      const order = view.order, from = order.indexOf(method);
      order.splice(from, 1);
      order.splice(from + by, 0, method);
      view.methods = order;
      redraw();
    },
    remove(method) {
      view.methods = view.methods.filter((one) => one !== method);
      redraw();
    },
  };
  const redraw = () => {
    state.set({ methods: view.methods, pinned: view.pinned.filter((one) => view.methods.includes(one)), words: view.words });
    scoresView(place, view);
  };
  const fetchMissing = () => attempt(place, async () => {
    for (const method of view.order.filter((one) => !view.scores[one] && !view.errors[one])) {
      const words = view.words, answer = await post("/scores", { id: look.id, methods: [method], granularity: words ? "words" : "tokens" });
      if (words !== view.words) return;
      Object.assign(view.scores, answer.scores);
      Object.assign(view.errors, answer.errors);
      if (answer.tokens) view.tokens = answer.tokens.map((one) => (typeof one === "string" ? { text: one } : one));
      if (!view.scores[method]) view.errors[method] ??= "this method was not computed";
      scoresView(place, view);
    }
  });
  const add = choice("Add a method", [["", "choose…"], ...info.methods.map(({ name, about }) => [name, `${name}: ${about}`])], "", (name) => {
    add.querySelector("select").value = "";
    if (!name || view.methods.includes(name)) return;
    view.methods = [...view.methods, name];
    redraw();
    fetchMissing();
  }, { name: "add-method", class: "narrow" });
  const words = toggle("whole words", view.words, (now) => {
    Object.assign(view, { words: now, scores: {}, errors: {}, tokens: look.tokens });
    redraw();
    fetchMissing();
  }, { title: "sums of sub-words" });
  made.body.append(make("div", { class: "bar" }, add, words), place);
  tools(made, () => {
    const drawn = drawScores(view);
    return { name: "whence-scores", title: "Token scores", about: look.text, pictures: [drawn], tables: [drawn.rows()] };
  });
  scoresView(place, view);
  fetchMissing();
  return made.card;
}
