// The key to a scale of colours: from the least to the largest, in steps.

import { make, number } from "./dom.js";
import { colour, css } from "./colours.js";

export function legend(least, most) {
  const shares = least < 0 ? [-1, -0.75, -0.5, -0.25, 0, 0.25, 0.5, 0.75, 1] : [0, 0.25, 0.5, 0.75, 1];
  const steps = shares.map((share) => make("i", { style: { backgroundColor: css(colour(share)) } }));
  return make("p", { class: "legend" }, make("span", { text: number(least) }), steps, make("span", { text: number(most) }));
}
