// What an audit found, beside what it found it about: a badge, the effect and its interval, a sentence.

import { make, number } from "./dom.js";

const CLASSES = { yes: "yes", no: "no", undecided: "undecided" };

export const badge = (verdict) => make("span", { class: `badge ${CLASSES[String(verdict).split(/[ ,]/)[0].toLowerCase()] ?? "not-asked"}`, text: verdict });

const interval = ({ effect, low, high, unit }) => (Number.isFinite(effect) ? `${number(effect)}${Number.isFinite(low) ? ` [${number(low)}, ${number(high)}]` : ""}${unit ? ` ${unit}` : ""}` : "");

// A line about one head: its own finding, or else what was found of the whole model.
export function verdictLine(verdict, all) {
  if (verdict) {
    return make("p", { class: "verdict" }, verdict.verdict ? badge(verdict.verdict) : null,
      make("span", { text: ` ${verdict.sentence ?? ""} ` }), make("span", { class: "quiet", text: interval(verdict) }));
  }
  if (all?.overall) return make("p", { class: "verdict" }, badge(all.overall.answer), make("span", { text: ` ${all.overall.sentence ?? ""}` }), make("span", { class: "quiet", text: " (of the whole model; this head was not measured alone)" }));
  return null;
}
