// The flow of attention as a picture for export, all heads together; the page draws the same with ../flow/flow.js.

import { visible } from "./dom.js";
import { BINS, chosen, prepared, range } from "../flow/flow_paths.js";

const BLUE = "#0072B2", PALE = "#ececec", INK = "#222222", QUIET = "#6b6b6b";

function marks(pen, layout, { strokes, dots }) {
  strokes.forEach((ends, bin) => {
    for (let at = 0; at < ends.length; at += 4) pen.line(ends[at], ends[at + 1], ends[at + 2], ends[at + 3], BLUE, bin / BINS);
  });
  const square = (x, y, radius, fill, alpha) => pen.line(x - radius, y, x + radius, y, fill, alpha, 2 * radius);
  for (const pale of [true, false]) {
    dots.forEach((places, bin) => {
      const radius = pale ? layout.radius : layout.radius + Math.max(layout.dark - layout.radius, 0) * (bin / BINS);
      for (let at = 0; at < places.length; at += 2) if (pale || bin) square(places[at], places[at + 1], radius, pale ? PALE : BLUE, pale ? 1 : bin / BINS);
    });
  }
}

function names(pen, { flow, layout, words }) {
  const quiet = { fill: QUIET };
  layout.y.forEach((y, level) => pen.text(12, y, level ? `layer ${level - 1}` : "input", quiet));
  pen.text(12, layout.top + 9, "tokens", quiet);
  pen.text(layout.prediction[0], layout.prediction[1] - 14, "prediction", { ...quiet, align: "center" });
  range(flow.heads).forEach((head) => pen.text((layout.x[head][0] + layout.x[head].at(-1)) / 2, layout.y[flow.depth] - 16, words.heads[head], { fill: INK, align: "center" }));
  const turn = layout.upright ? { turn: 90, align: "left" } : { align: "center" };
  layout.labels.forEach(([x, text], token) => pen.text(x, layout.top + 8, visible(text), { fill: words.inks[token], ...turn }));
}

export function flowPicture(data) {
  const { layout, words, shade } = data, flow = prepared(data.flow), { width, height } = layout;
  return {
    width, height,
    draw(pen) {
      pen.rect(0, 0, width, height, "#ffffff");
      marks(pen, layout, chosen({ flow, layout, shade }, range(flow.heads), null));
      names(pen, { flow, layout, words });
    },
    rows: () => [["token", "score", ...range(flow.heads).map((head) => `head ${head}`)], ...layout.labels.map(([, , whole], token) => [whole, flow.scores[token], ...flow.nodes[0].map((head) => head[token])])],
  };
}
