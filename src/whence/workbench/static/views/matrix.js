// The weights of one head as a matrix: a row is a query, a column a key. One block of pixels, so that 512 tokens cost nothing.

import { make, visible } from "./dom.js";
import { onTheme, palette, pixels } from "./colours.js";
import { legend } from "./legend.js";
import { CanvasPen } from "./pen.js";
import { largest } from "./weights.js";

const LABEL = 92; // room for a token's name beside the matrix
const clip = (text, most = 13) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);

export function layoutMatrix(weights, room) {
  const count = Math.max(weights.queries, weights.keys);
  const cell = Math.max(2, Math.min(24, Math.floor((room - LABEL) / count)));
  const labelled = cell >= 9, margin = labelled ? LABEL : 14;
  return { cell, labelled, margin, width: margin + cell * weights.keys + 1, height: margin + cell * weights.queries + 1 };
}

function nameTokens(pen, tokens, { cell, margin }, inks) {
  const size = Math.min(12, cell - 1);
  const name = (token) => clip(visible(token.text));
  tokens.queries.forEach((token, at) => pen.text(margin - 5, margin + (at + 0.5) * cell, name(token), { fill: inks.ink, size, align: "right" }));
  tokens.keys.forEach((token, at) => pen.text(margin + (at + 0.5) * cell, margin - 5, name(token), { fill: inks.ink, size, turn: -90 }));
}

// The whole picture, on either paper.
export function drawMatrix(pen, { weights, tokens, layout, most, ground }) {
  const inks = palette(ground), { cell, margin, width, height } = layout;
  pen.rect(0, 0, width, height, inks.ground);
  pen.pixels(margin, margin, cell * weights.keys, cell * weights.queries, weights.keys, weights.queries, pixels(weights.values, most, ground));
  pen.line(margin, margin - 0.5, width, margin - 0.5, inks.quiet, 0.5);
  pen.line(margin - 0.5, margin, margin - 0.5, height, inks.quiet, 0.5);
  if (layout.labelled) nameTokens(pen, tokens, layout, inks);
  else {
    pen.text(width / 2, 7, "keys →", { fill: inks.quiet, size: 10, align: "center" });
    pen.text(7, height / 2, "← queries", { fill: inks.quiet, size: 10, align: "center", turn: -90 });
  }
}

// The row and column that are asked about, framed.
function drawAsked(pen, { weights, layout }, focus) {
  const { cell, margin } = layout, inks = palette();
  pen.context.clearRect(0, 0, layout.width, layout.height);
  const asked = focus.now;
  if (!asked) return;
  const across = asked.side === "query";
  const [x, y] = across ? [margin, margin + asked.at * cell] : [margin + asked.at * cell, margin];
  const [wide, high] = across ? [weights.keys * cell, cell] : [cell, weights.queries * cell];
  pen.frame(x, y, wide, high, focus.locked ? inks.mark : inks.ink);
}

const within = (layout, weights, event, canvas) => {
  const box = canvas.getBoundingClientRect();
  const key = Math.floor((event.clientX - box.left - layout.margin) / layout.cell), query = Math.floor((event.clientY - box.top - layout.margin) / layout.cell);
  if (key >= weights.keys || query >= weights.queries || (key < 0 && query < 0)) return null;
  if (key < 0) return { side: "query", at: query };
  return query < 0 ? { side: "key", at: key } : { side: "query", at: query, key };
};

// Pointing at a row, or at the name of a column; a click locks it. `tell(query, key)` hears which cell it is.
function listenTo(canvas, picture, focus, tell) {
  let waiting = 0;
  canvas.addEventListener("pointermove", (event) => {
    cancelAnimationFrame(waiting);
    const found = within(picture.layout, picture.weights, event, canvas);
    waiting = requestAnimationFrame(() => (found ? (focus.point(found.side, found.at), tell(found)) : focus.leave()));
  });
  canvas.addEventListener("pointerleave", () => (cancelAnimationFrame(waiting), focus.leave()));
  canvas.addEventListener("click", (event) => {
    const found = within(picture.layout, picture.weights, event, canvas);
    if (found) focus.lock(found.side, found.at);
  });
}

// Draws the matrix into an element. Returns {draw(pen), width, height} for export.
export function matrix(place, { weights, tokens, focus, tell, room, name }) {
  const most = largest(weights.values), signed = weights.values.some((value) => value < 0);
  const picture = { weights, tokens, most, layout: layoutMatrix(weights, room) };
  const [base, over] = ["base", "over"].map((kind) => make("canvas", { class: kind, "aria-hidden": "true" }));
  const stage = make("div", { class: "stage", role: "img", "aria-label": name, style: { width: `${picture.layout.width}px`, height: `${picture.layout.height}px` } }, base, over);
  const box = place.appendChild(make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": name }, stage));
  const key = place.appendChild(make("div"));
  const repaint = () => {
    drawMatrix(new CanvasPen(base, picture.layout.width, picture.layout.height), picture);
    key.replaceChildren(legend(signed ? -most : 0, most));
  };
  const above = new CanvasPen(over, picture.layout.width, picture.layout.height);
  repaint();
  onTheme(() => box.isConnected && repaint());
  focus.listen(() => drawAsked(above, picture, focus));
  listenTo(over, picture, focus, tell);
  return { ...picture.layout, draw: (pen, ground) => drawMatrix(pen, { ...picture, ground }) };
}
