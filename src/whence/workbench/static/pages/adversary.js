// The search for an adversary: attention as different as can be that leaves the prediction as it was (Jain & Wallace 2019).

import { choice, make, number, range, replaceChildren } from "../views/dom.js";
import { post } from "./api.js";
import { follow } from "./jobs.js";
import { attempt, card } from "./shell.js";

export function adversaryCard(look, impose) {
  const made = card("Search for an adversary"), progress = make("div"), found = make("div");
  const epsilon = make("input", { type: "number", name: "epsilon", min: 0.001, max: 0.5, step: "any", value: 0.01 });
  const place = choice("Where", [["", "where the prediction is read from"], ...look.stacks.flatMap((stack) => range(stack.layers).map((layer) => [`${stack.id}/${layer}`, `${stack.id}, layer ${layer}`]))], "", () => {}, { name: "where" });
  const where = () => {
    const [stack, layer] = place.querySelector("select").value.split("/");
    return stack ? { stack, layer: Number(layer) } : {};
  };
  const tell = (words) => replaceChildren(found, make("p", { class: "quiet", text: words }));
  const search = () => attempt(made.body, async () => {
    const { job } = await post("/adversary", { id: look.id, epsilon: Number(epsilon.value), ...where() });
    const result = await follow(progress, job, { label: "search for an adversary" });
    if (!result) return;
    tell(result.sentence ?? `Attention that differs by ${number(result.jsd)} nats (JSD) keeps the prediction within ${number(result.tvd)}.`);
    if (result.edits?.length) await impose(result.edits);
  });
  const form = make("form", { class: "bar", onsubmit: (event) => (event.preventDefault(), search()) },
    place, make("label", { class: "field" }, make("span", { text: "the prediction may change by at most ε =" }), epsilon), make("button", { type: "submit", text: "search" }));
  made.body.append(make("p", { class: "quiet", text: "The same prediction from the most different attention that can be found; what is found is added to the edits." }), form, progress, found);
  return made.card;
}
