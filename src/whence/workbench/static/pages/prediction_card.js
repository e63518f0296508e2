// The prediction of a look, with what is explained of it.

import { make } from "../views/dom.js";
import { drawPrediction, predictionView } from "../views/prediction.js";
import { card, tools } from "./shell.js";

export function predictionCard(look, title = "Prediction") {
  const made = card(title), { prediction } = look;
  if (!prediction) {
    made.body.append(make("p", { class: "quiet", text: "This model predicts nothing that has a name: it has no head for a task." }));
    return made.card;
  }
  const table = make("div");
  predictionView(table, prediction);
  made.body.append(table, ...[prediction.where, prediction.explained?.sentence, ...(look.notes ?? [])].filter(Boolean).map((text) => make("p", { class: "quiet", text })));
  tools(made, () => {
    const drawn = drawPrediction(prediction);
    return { name: "whence-prediction", title: "Prediction", about: look.text, pictures: [drawn], tables: [drawn.rows()] };
  });
  return made.card;
}
