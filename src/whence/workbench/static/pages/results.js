// The results in the folder: each with its verdict, its figure, and the data of both as CSV.

import { make, number, visible } from "../views/dom.js";
import { exportBar } from "../views/exporting.js";
import { tablePicture } from "../views/table_picture.js";
import { badge } from "../views/verdicts.js";
import { address, get, text } from "./api.js";
import { card, tools } from "./shell.js";

const path = (key, name) => `/results/${encodeURIComponent(key)}/${name}`;
const answer = (result) => (result.verdict ? (result.verdict.verdict ?? result.verdict) : "");
const sentence = (result) => result.verdict?.sentence ?? result.error ?? "";

const effect = ({ label, value, low, high, unit }) => `${label}: ${number(value)}${Number.isFinite(low) ? ` [${number(low)}, ${number(high)}]` : ""}${unit ? ` ${unit}` : ""}`;

// A result as files: its figure, its whole table as CSV, and a page of the figure, the verdict and its effects.
async function files(result) {
  const effects = [["", "value", "low", "high", "unit"], ...(result.effects ?? []).map((one) => [one.label, one.value, one.low ?? "", one.high ?? "", one.unit ?? ""])];
  const svg = await text(path(result.key, "figure.svg"));
  return { name: `whence-${result.experiment}`, title: `${result.experiment}: ${answer(result)}`, about: sentence(result), pictures: [{ svg }], tables: [effects], csv: () => text(path(result.key, "table.csv")) };
}

function line(result) {
  const figure = make("details", { ontoggle: () => {
    if (figure.open && figure.children.length === 1) figure.append(make("img", { class: "result", src: address(path(result.key, "figure.svg")), alt: `figure of ${result.experiment}` }));
  } }, make("summary", { text: "figure" }));
  return make("tr", {}, make("th", { scope: "row", text: result.experiment }), make("td", {}, result.verdict ? badge(answer(result)) : "–"),
    make("td", { class: "text-cell" }, make("span", { text: visible(sentence(result)) }), make("ul", { class: "effects quiet" }, (result.effects ?? []).slice(0, 6).map((one) => make("li", { text: visible(effect(one)) }))), figure),
    make("td", {}, exportBar(() => files(result))));
}

// Those of one audit.
export async function resultsCard(audit) {
  const made = card("Results"), all = (await get("/results")).results, results = all.filter((one) => one.audit === audit);
  made.body.append(results.length ? make("div", { class: "table-scroll" }, make("table", {}, make("caption", { class: "unseen", text: "results" }),
    make("thead", {}, make("tr", {}, ["experiment", "verdict", "what was found", "files"].map((text) => make("th", { scope: "col", text })))), make("tbody", {}, results.map(line)))) : make("p", { class: "quiet", text: "None yet." }));
  const cells = [["experiment", "verdict", "what was found"], ...results.map((one) => [one.experiment, answer(one), sentence(one)])];
  if (results.length) tools(made, () => ({ name: "whence-results", title: `Results of ${audit}`, about: "", pictures: [tablePicture(cells)], tables: [cells] }));
  return made.card;
}
