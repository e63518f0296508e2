// One head of two looks: both matrices, and their difference where they are of the same tokens.

import { make, number, replaceChildren } from "../views/dom.js";
import { Focus } from "../views/focus.js";
import { tableOf } from "../views/head_view.js";
import { matrix } from "../views/matrix.js";
import { difference, largest } from "../views/weights.js";

function pane(title, weights, tokens, focus, room) {
  const made = make("div", { class: "pane" }, make("h3", { text: title }));
  return { made, picture: matrix(made, { weights, tokens, focus, room, tell: () => {}, name: title }) };
}

// [{title, weights, tokens}] side by side; the difference (second minus first) is added if `aligned` gives both in one shape.
// Returns what is saved of it.
export function pairView(place, sides, aligned, name) {
  const focus = new Focus(), wide = place.clientWidth || 1100, room = Math.max(260, wide / (aligned && wide > 1000 ? 3 : 2) - 20);
  const all = aligned ? [...sides, { title: `difference: ${sides[1].title} − ${sides[0].title}`, weights: difference(aligned.a, aligned.b), tokens: aligned.tokens }] : sides;
  const panes = all.map(({ title, weights, tokens }) => pane(title, weights, tokens, aligned?.same === false ? new Focus() : focus, room));
  const apart = aligned ? `The largest difference of a weight is ${number(largest(all[2].weights.values))}.` : "";
  replaceChildren(place, make("p", { class: "quiet", text: apart }), make("div", { class: "panes" }, panes.map((one) => one.made)));
  place.onkeydown = (event) => event.key === "Escape" && focus.release();
  return () => ({ name: `whence-${name}`, title: name, about: sides.map((side) => side.title).join(" and "), pictures: [panes.at(-1).picture, ...panes.slice(0, -1).map((one) => one.picture)], tables: [...all].reverse().map(tableOf) });
}
