// The flow of attention through all layers, drawn when it is opened.

import { make } from "../views/dom.js";
import { draw } from "../flow/flow.js";
import { post } from "./api.js";
import { attempt, card } from "./shell.js";
import { state } from "./state.js";

export function flowCard(look) {
  const made = card("Flow of attention"), place = make("figure", { class: "flow" });
  const details = make("details", { ontoggle: () => {
    state.set({ flow: details.open });
    if (!details.open || place.hasChildNodes()) return;
    attempt(place, async () => draw(place, await post("/flow", { id: look.id })));
  } }, make("summary", { text: "draw how the prediction reads the tokens through all layers" }), place);
  details.open = state.flag("flow");
  made.body.append(details);
  return made.card;
}
