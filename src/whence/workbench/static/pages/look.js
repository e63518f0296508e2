// Look: a text, the prediction, token scores by several methods, the heads, and the flow of attention.

import { make, replaceChildren } from "../views/dom.js";
import { embedded, get, text } from "./api.js";
import { examplesLike } from "./find.js";
import { flowCard } from "./flow_card.js";
import { Heads } from "./heads.js";
import { inputForm, requested } from "./input.js";
import { predictionCard } from "./prediction_card.js";
import { scoresCard } from "./scores_card.js";
import { attempt, shell } from "./shell.js";
import { Look } from "./source.js";
import { INPUT, state } from "./state.js";

const main = document.getElementById("main"), results = document.getElementById("results");
let last = null;

async function verdictsOf(model) {
  try {
    return await get(`/verdicts?model=${encodeURIComponent(model)}`);
  } catch {
    return null; // no audit of this model in the folder
  }
}

// The page itself, with what is seen, as one file that needs no server.
const standalone = (look) => async (heads) => {
  const chosen = heads.heads.map((head) => `${heads.stack.id}/${heads.layer}/${head}`).join(",");
  return text(`/standalone/${look.id}?view=look&heads=${encodeURIComponent(chosen)}`);
};

function onwards(look) {
  return make("p", { class: "bar onwards" },
    make("a", { class: "button", href: state.link("/change", [...INPUT, "stack", "layer", "heads"]), text: "change this attention →", onclick: (event) => (event.currentTarget.href = state.link("/change", [...INPUT, "stack", "layer", "heads"])) }),
    make("a", { class: "button", href: state.link("/compare", INPUT, { b_text: look.text, b_model: look.model }), text: "compare with another text →" }));
}

async function show(request, info) {
  last?.abort();
  const mine = (last = new AbortController());
  await attempt(main, async () => {
    const look = await Look.open(request, mine.signal);
    const verdicts = await verdictsOf(look.model);
    if (mine.signal.aborted) return;
    const heads = look.stacks.length ? new Heads(look, { verdicts, page: embedded ? null : standalone(look) }) : null;
    const [map, view] = heads ? heads.elements : [];
    replaceChildren(results, make("div", { class: "columns" }, predictionCard(look), map), scoresCard(look, info),
      view, heads ? examplesLike(look, heads, info) : null, heads ? flowCard(look) : null, embedded ? null : onwards(look));
  });
}

async function start() {
  shell();
  const info = await attempt(main, () => get("/info"));
  if (!info) return;
  if (embedded) {
    document.getElementById("input").remove();
    await show({}, info);
    return;
  }
  inputForm(document.getElementById("input"), info, (request) => show(request, info));
  const request = requested(info);
  if (request) await show(request, info);
}

start();
