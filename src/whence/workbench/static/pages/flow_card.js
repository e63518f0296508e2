// The flow of attention through all layers, drawn when it is opened.

import { make } from "../views/dom.js";
import { flowPicture } from "../views/flow_picture.js";
import { draw } from "../flow/flow.js";
import { post } from "./api.js";
import { attempt, card, tools } from "./shell.js";
import { state } from "./state.js";

export function flowCard(look) {
  const made = card("Flow of attention"), place = make("figure", { class: "flow" });
  const details = make("details", { ontoggle: () => {
    state.set({ flow: details.open });
    if (!details.open || place.hasChildNodes()) return;
    attempt(place, async () => {
      const data = await post("/flow", { id: look.id });
      draw(place, data);
      tools(made, () => {
        const drawn = flowPicture(data);
        return { name: "whence-flow", title: data.words.heading, about: look.text, pictures: [drawn], tables: [drawn.rows()] };
      });
    });
  } }, make("summary", { text: "draw how the prediction reads the tokens through all layers" }), place);
  details.open = state.flag("flow");
  made.body.append(details);
  return made.card;
}
