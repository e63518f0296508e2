// Token scores by several methods, one below the other, each on its own scale; methods can be pinned and moved.

import { button, isolated, make, number, replaceChildren, visible } from "./dom.js";
import { colour, css, inkOn, onTheme, palette } from "./colours.js";
import { largest } from "./weights.js";

const signedText = (score, signed) => (signed && score > 0 ? `+${number(score)}` : number(score));

export function scale(scores) {
  const known = scores.filter(Number.isFinite), most = largest(known), signed = known.some((score) => score < 0);
  if (!known.length) return { most: 0, signed, words: "none of the scores is a number" };
  if (!most) return { most, signed, words: "all scores are zero" };
  return { most, signed, words: `${signed ? "blue for, orange against; " : ""}deepest shade = ${signed ? "±" : ""}${number(most)}` };
}

// Linear shades that leave the text legible, as in whence.explain.
const tone = (score, most) => colour(most ? (0.75 * (Number.isFinite(score) ? score : 0)) / most : 0);

function shaded(tokens, scores, { most, signed }) {
  return tokens.map((token, at) => {
    const parts = tone(scores[at], most);
    return isolated(token.text, {
      class: token.special ? "scored special" : "scored", title: `${visible(token.text)}: ${signedText(scores[at], signed)}`,
      style: { backgroundColor: css(parts), color: inkOn(parts) },
    });
  });
}

function line(method, view, at) {
  const { tokens, scores, errors, pinned, order, move, pin, remove } = view;
  const fixed = pinned.includes(method), measured = scores[method] ? scale(scores[method]) : null;
  const tools = make("span", { class: "tools" },
    button(fixed ? "pinned" : "pin", () => pin(method), { "aria-pressed": String(fixed), "aria-label": `pin ${method}`, title: "pinned methods stay on top" }),
    button("↑", () => move(method, -1), { "aria-label": `move ${method} up`, disabled: at === 0 }),
    button("↓", () => move(method, 1), { "aria-label": `move ${method} down`, disabled: at === order.length - 1 }),
    button("✕", () => remove(method), { "aria-label": `remove ${method}` }));
  const body = measured
    ? [make("div", { class: "scored-text" }, shaded(tokens, scores[method], measured)), make("small", { class: "quiet", text: measured.words })]
    : [errors[method] ? make("p", { class: "problem", text: errors[method] }) : make("p", { class: "quiet", text: "being computed…" })];
  return make("tr", { "data-method": method, class: fixed ? "pinned" : null },
    make("th", { scope: "row" }, make("span", { text: method }), tools), make("td", {}, body));
}

// tokens [{text, special}], scores {method: numbers}, errors {method: sentence}, order, pinned, and what to do on a press.
export function scoresView(place, view) {
  const draw = () => replaceChildren(place, make("table", { class: "scores" },
    make("caption", { class: "unseen", text: "scores of the tokens by method" }),
    make("tbody", {}, view.order.map((method, at) => line(method, view, at)))));
  draw();
  if (!place.dataset.themed) onTheme(() => place.isConnected && place.redraw?.());
  place.dataset.themed = "yes";
  place.redraw = draw;
}

// The same for export.
export function drawScores({ tokens, scores, order }) {
  const known = order.filter((method) => scores[method]), step = 26, names = 170;
  const widths = tokens.map((token) => 10 + 7.6 * visible(token.text).length), width = names + widths.reduce((a, b) => a + b, 0) + 10;
  return {
    width, height: step * known.length + 8,
    draw(pen, ground) {
      const inks = palette(ground);
      pen.rect(0, 0, width, step * known.length + 8, inks.ground);
      known.forEach((method, down) => {
        const y = 4 + down * step, { most } = scale(scores[method]);
        pen.text(names - 8, y + 12, method, { fill: inks.ink, align: "right" });
        tokens.reduce((x, token, at) => {
          const parts = colour(most ? (0.75 * scores[method][at]) / most : 0, ground);
          pen.rect(x, y + 1, widths[at] - 2, step - 4, css(parts));
          pen.text(x + widths[at] / 2 - 1, y + 12, visible(token.text), { fill: inkOn(parts), align: "center" });
          return x + widths[at];
        }, names);
      });
    },
    rows: () => [["token", ...known], ...tokens.map((token, at) => [token.text, ...known.map((method) => scores[method][at])])],
  };
}
