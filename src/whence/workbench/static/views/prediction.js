// The prediction: classes with their probabilities as bars; with a second prediction, before and after.

import { make, number, percent, visible } from "./dom.js";
import { palette } from "./colours.js";

const FEW = 8; // classes shown at once; a vocabulary has thousands

const points = (change) => `${change > 0 ? "+" : change < 0 ? "−" : "±"}${number(Math.abs(100 * change))}\u00a0points`;

function bar(share, kind) {
  return make("span", { class: `bar-track ${kind}` }, make("i", { style: { width: `${100 * Math.max(0, Math.min(1, share))}%` } }));
}

// The classes with the largest probability before or after, largest first.
export function leading(before, after = null) {
  const score = (at) => Math.max(before.probabilities[at], after ? after.probabilities[at] : 0);
  return [...before.classes.keys()].sort((a, b) => score(b) - score(a)).slice(0, FEW);
}

// A model of values predicts one number, which is no probability.
function valueView(place, before, after) {
  const words = [before, after].filter(Boolean).map((one) => number(one.probabilities[0], 4)).join(" → ");
  place.replaceChildren(make("p", { class: "big", text: `predicted value ${words}` }));
}

export function predictionView(place, before, after = null) {
  if (before.valued) return valueView(place, before, after);
  const rows = leading(before, after).map((at) => make("tr", { class: before.classes[at] === (after ?? before).predicted ? "predicted" : null },
    make("th", { scope: "row" }, make("bdi", { text: visible(before.classes[at]) })),
    make("td", { class: "bars" }, bar(before.probabilities[at], after ? "was" : ""), after ? bar(after.probabilities[at], "") : null),
    make("td", { class: "figure", text: percent(before.probabilities[at]), "data-exact": before.probabilities[at] }),
    after ? make("td", { class: "figure", text: percent(after.probabilities[at]), "data-exact": after.probabilities[at] }) : null,
    after ? make("td", { class: "figure", text: points(after.probabilities[at] - before.probabilities[at]) }) : null));
  const heads = ["class", "", after ? "before" : "probability", ...(after ? ["after", "change"] : [])];
  const left = before.classes.length - rows.length;
  return place.replaceChildren(make("table", { class: "prediction" },
    make("caption", { class: "unseen", text: after ? "probabilities before and after" : "probabilities of the classes" }),
    make("thead", {}, make("tr", {}, heads.map((text) => make("th", { scope: "col", text })))), make("tbody", {}, rows)),
  ...(left > 0 ? [make("p", { class: "quiet", text: `and ${left} other classes with less` })] : []));
}

// The same for export.
export function drawPrediction(before, after = null) {
  const classes = leading(before, after), step = after ? 40 : 24;
  return {
    width: 560, height: step * classes.length + 10,
    draw(pen, ground) {
      const inks = palette(ground);
      pen.rect(0, 0, 560, step * classes.length + 10, inks.ground);
      classes.forEach((at, line) => {
        const y = 16 + line * step;
        pen.text(130, y, visible(before.classes[at]).slice(0, 20), { fill: inks.ink, align: "right" });
        [before, after].filter(Boolean).forEach((one, turn) => {
          pen.rect(140, y - 8 + 17 * turn, 300 * one.probabilities[at], 13, turn || !after ? inks.line : inks.quiet);
          pen.text(450, y - 1 + 17 * turn, percent(one.probabilities[at]), { fill: inks.ink });
        });
      });
    },
    rows: () => [["class", "probability", ...(after ? ["after"] : [])], ...before.classes.map((name, at) => [name, before.probabilities[at], ...(after ? [after.probabilities[at]] : [])])],
  };
}
