// The weights of one head as lines from queries on the left to keys on the right; the stronger, the larger the weight.

import { isolated, make, range, roving, visible } from "./dom.js";
import { onTheme, palette } from "./colours.js";
import { same } from "./focus.js";
import { CanvasPen } from "./pen.js";
import { floorOf, largest } from "./weights.js";

const STEP = 20, WIDE = 190, MOST_LINES = 4000, BINS = 20;

// Lines by darkness: what is asked about, or the strongest of all.
function linesOf({ weights, most, floor }, asked) {
  const bins = range(BINS + 1).map(() => []);
  const visit = (query, key) => {
    const weight = Math.abs(weights.values[query * weights.keys + key]);
    if (weight > 0 && weight >= (asked ? most / 400 : floor)) bins[Math.ceil((weight / most) ** 0.6 * BINS)].push(query, key);
  };
  const queries = asked?.side === "query" ? [asked.at] : range(weights.queries);
  const keys = asked?.side === "key" ? [asked.at] : range(weights.keys);
  for (const query of queries) for (const key of keys) visit(query, key);
  return bins;
}

// Lines of equal darkness are one path on a canvas: many times quicker.
function paint(pen, picture, asked) {
  const { context } = pen, high = picture.height;
  context.clearRect(0, 0, WIDE, high);
  Object.assign(context, { strokeStyle: palette().line, lineWidth: 1.5 });
  linesOf(picture, asked).forEach((ends, bin) => {
    context.globalAlpha = bin / BINS;
    context.beginPath();
    for (let at = 0; at < ends.length; at += 2) {
      context.moveTo(0, (ends[at] + 0.5) * STEP);
      context.lineTo(WIDE, (ends[at + 1] + 0.5) * STEP);
    }
    context.stroke();
  });
}

// The same lines with names, for export on either paper.
function drawArcs(pen, picture, tokens, asked, ground) {
  const inks = palette(ground), side = 110;
  pen.rect(0, 0, WIDE + 2 * side, picture.height, inks.ground);
  linesOf(picture, asked).forEach((ends, bin) => {
    for (let at = 0; at < ends.length; at += 2) pen.line(side, (ends[at] + 0.5) * STEP, side + WIDE, (ends[at + 1] + 0.5) * STEP, inks.line, bin / BINS, 1.5);
  });
  const name = (token, at, x, align) => pen.text(x, (at + 0.5) * STEP, visible(token.text).slice(0, 16), { fill: inks.ink, align });
  tokens.queries.forEach((token, at) => name(token, at, side - 6, "right"));
  tokens.keys.forEach((token, at) => name(token, at, side + WIDE + 6, "left"));
}

function columnOf(tokens, side, focus, label) {
  const buttons = tokens.map((token, at) => make("button", {
    type: "button", class: token.special ? "token special" : "token", "aria-pressed": "false",
    onpointerenter: () => focus.point(side, at), onpointerleave: () => focus.leave(),
    onfocus: () => focus.point(side, at), onblur: () => focus.leave(), onclick: () => focus.lock(side, at),
  }, isolated(token.text)));
  const bar = make("div", { class: `arc-tokens ${side}`, role: "toolbar", "aria-label": label, "aria-orientation": "vertical" }, buttons);
  roving(bar, buttons);
  return { bar, buttons };
}

// How near a token is to what is asked about: its weight as a share of the largest in that row or column.
function nearness({ weights }, asked, side, at) {
  if (!asked || asked.side === side) return 0;
  const [query, key] = side === "key" ? [asked.at, at] : [at, asked.at];
  return Math.abs(weights.values[query * weights.keys + key]);
}

// Draws the lines into an element. Returns {draw(pen), width, height} for export.
export function arcs(place, { weights, tokens, focus, paintToken }) {
  const most = largest(weights.values) || 1, high = STEP * Math.max(weights.queries, weights.keys);
  const picture = { weights, most, floor: floorOf(weights.values, MOST_LINES), height: high };
  const canvas = make("canvas", { "aria-hidden": "true" });
  const left = columnOf(tokens.queries, "query", focus, "queries: the tokens that look");
  const right = columnOf(tokens.keys, "key", focus, "keys: the tokens that are looked at");
  const box = place.appendChild(make("div", { class: "arcs scroll" }, left.bar, canvas, right.bar));
  const pen = new CanvasPen(canvas, WIDE, high, high > 4000 ? 1 : undefined);
  const mark = (buttons, side, now, locked) => buttons.forEach((one, at) => {
    const near = nearness(picture, now, side, at);
    paintToken(one, near, most);
    one.classList.toggle("near", same(now, side, at));
    one.setAttribute("aria-pressed", String(same(locked, side, at)));
  });
  const redraw = () => {
    paint(pen, picture, focus.now);
    mark(left.buttons, "query", focus.now, focus.locked);
    mark(right.buttons, "key", focus.now, focus.locked);
  };
  focus.listen(redraw);
  onTheme(() => box.isConnected && redraw());
  redraw();
  return { width: WIDE + 220, height: high, draw: (paper, ground) => drawArcs(paper, picture, tokens, focus.locked, ground) };
}
