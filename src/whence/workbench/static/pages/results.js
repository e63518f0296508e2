// The results in the folder: each with its verdict, its figure, and the data of both as CSV.

import { make, number, visible } from "../views/dom.js";
import { badge } from "../views/verdicts.js";
import { address, get } from "./api.js";
import { card } from "./shell.js";

const file = (key, name) => address(`/results/${encodeURIComponent(key)}/${name}`);

const effect = ({ label, value, low, high, unit }) => `${label}: ${number(value)}${Number.isFinite(low) ? ` [${number(low)}, ${number(high)}]` : ""}${unit ? ` ${unit}` : ""}`;

function line(result) {
  const figure = make("details", { ontoggle: () => {
    if (figure.open && figure.children.length === 1) figure.append(make("img", { class: "result", src: file(result.key, "figure.svg"), alt: `figure of ${result.experiment}` }));
  } }, make("summary", { text: "figure" }));
  return make("tr", {}, make("th", { scope: "row", text: result.experiment }), make("td", {}, result.verdict ? badge(result.verdict.verdict ?? result.verdict) : "–"),
    make("td", { class: "text-cell" }, make("span", { text: visible(result.verdict?.sentence ?? result.error ?? "") }), make("ul", { class: "effects quiet" }, (result.effects ?? []).slice(0, 6).map((one) => make("li", { text: visible(effect(one)) }))), figure),
    make("td", {}, make("a", { href: file(result.key, "table.csv"), download: `${result.experiment}.csv`, text: "CSV" })));
}

// Those of one audit.
export async function resultsCard(audit) {
  const made = card("Results"), all = (await get("/results")).results, results = all.filter((one) => one.audit === audit);
  made.body.append(results.length ? make("div", { class: "table-scroll" }, make("table", {}, make("caption", { class: "unseen", text: "results" }),
    make("thead", {}, make("tr", {}, ["experiment", "verdict", "", "data"].map((text) => make("th", { scope: "col", text })))), make("tbody", {}, results.map(line)))) : make("p", { class: "quiet", text: "None yet." }));
  return made.card;
}
