// Layers × heads: a cell for each head, coloured by a summary or showing a thumbnail of its weights. Arrows move, Enter opens.

import { make, number, range, roving, replaceChildren } from "./dom.js";
import { colour, css, inkOn, onTheme, pixels } from "./colours.js";
import { legend } from "./legend.js";
import { mapPicture } from "./map_picture.js";

const WRAP = 24; // more heads than this (DiSAN's features) are shown in several rows

// What colours mean: [title, what a value is].
export const SUMMARIES = {
  entropy: ["Entropy", "mean entropy of its rows in nats: 0 looks at one token, large values at many alike"],
  special_share: ["Special tokens", "share of the weight on special tokens such as [CLS] and [SEP]"],
  largest: ["Largest weight", "largest weight of a row, averaged"],
  previous: ["Previous token", "weight on the token before"],
  distance: ["Distance", "mean distance between a token and what it looks at, in tokens"],
  sink_share: ["Sink share", "share of the weight on sinks: much weight, little contributed (Gu et al. 2025)"],
  importance: ["Importance", "share of the prediction's dependence on this head (Michel et al. 2019)"],
  difference: ["Difference", "how far the weights of the two differ (total variation)"],
};

const span = (values) => {
  const known = values.flat().filter(Number.isFinite);
  return known.length ? [Math.min(...known), Math.max(...known)] : [0, 0];
};

// The share of the scale: signed values around zero, else between least and most.
const share = (value, [least, most]) => {
  if (least < 0) return value / (Math.max(-least, most) || 1);
  return most > least ? (value - least) / (most - least) : 0;
};

const finding = (verdict) => (verdict ? `; ${verdict.sentence ?? verdict.verdict ?? ""}` : "");

function fill(cell, value, ends, plain) {
  const parts = colour(0.9 * share(value, ends));
  cell.style.backgroundColor = css(parts);
  cell.style.color = inkOn(parts);
  cell.textContent = plain || !Number.isFinite(value) ? "" : value.toFixed(2).replace(/^(-?)0\./, "$1.").replace("-", "−");
}

// Bytes are roots of weights already.
const rootPixels = (data, ground) => pixels(data, 255, ground, (value) => value / 255);

function thumbnail(cell, data, { wide, high }) {
  const canvas = make("canvas", { width: wide, height: high, "aria-hidden": "true" });
  canvas.getContext("2d").putImageData(new ImageData(rootPixels(data), wide, high), 0, 0);
  replaceChildren(cell, canvas);
}

// The cells, layer by layer, each {layer, head, cell}.
function grid(place, { heads, name, open }) {
  const cells = [];
  const columns = Math.min(Math.max(...heads), WRAP);
  const table = place.appendChild(make("div", { class: "head-map", role: "grid", "aria-label": name }));
  if (columns > 1) table.append(make("div", { class: "map-row map-top", "aria-hidden": "true" }, make("span"), range(columns).map((head) => make("span", { text: Math.max(...heads) > WRAP ? "" : head }))));
  heads.forEach((count, layer) => {
    const row = make("div", { class: "map-row", role: "row" }, make("span", { role: "rowheader", text: `${layer}`, title: `layer ${layer}` }));
    range(count).forEach((head) => {
      const cell = make("button", { type: "button", role: "gridcell", class: "map-cell", onclick: (event) => open(layer, head, event) });
      cells.push({ layer, head, cell });
      row.append(cell);
    });
    row.style.gridTemplateColumns = `2.2em repeat(${columns}, minmax(0, 3.4rem))`;
    if (count > WRAP) row.classList.add("wrapped");
    table.append(row);
  });
  if (table.firstChild.classList.contains("map-top")) table.firstChild.style.gridTemplateColumns = `2.2em repeat(${columns}, minmax(0, 3.4rem))`;
  roving(table, cells.map(({ cell }) => cell), columns);
  return cells;
}

// Draws the map. Returns {colourBy(summary, values), thumbnails({bytes, wide, high}), choose(layer, heads), picture(), rows()}.
export function headMap(place, { heads, name, verdicts, open }) {
  const cells = grid(place, { heads, name, open });
  const caption = place.appendChild(make("div", { class: "map-caption" }));
  const told = ({ layer, head }) => finding(verdicts?.[layer]?.[head]);
  const label = (one, words) => {
    one.cell.setAttribute("aria-label", `layer ${one.layer}, head ${one.head}${words}${told(one)}`);
    one.cell.title = `layer ${one.layer}, head ${one.head}${words}${told(one)}`;
    one.cell.classList.toggle("needed", String(verdicts?.[one.layer]?.[one.head]?.verdict).startsWith("yes"));
  };
  let again = () => {}, drawn = [], numbers = [];
  const map = {
    picture: () => mapPicture(drawn, name),
    rows: () => numbers,
    colourBy(summary, values) {
      const [title, about] = SUMMARIES[summary] ?? [summary, ""], ends = span(values);
      again = () => {
        cells.forEach((one) => {
          const value = values[one.layer]?.[one.head];
          label(one, `: ${title.toLowerCase()} ${number(value)}`);
          fill(one.cell, value, ends, Math.max(...heads) > 16);
        });
        const most = ends[0] < 0 ? Math.max(-ends[0], ends[1]) : ends[1];
        replaceChildren(caption, legend(ends[0] < 0 ? -most : ends[0], most), make("p", { class: "quiet", text: `${title}: ${about}` }));
      };
      again();
      drawn = cells.map(({ layer, head }) => ({ layer, head, parts: (ground) => colour(0.9 * share(values[layer]?.[head], ends), ground) }));
      numbers = [["layer", "head", summary], ...cells.map(({ layer, head }) => [layer, head, values[layer]?.[head] ?? ""])];
    },
    thumbnails({ bytes, wide, high }) {
      const block = (at) => bytes.subarray(at * wide * high, (at + 1) * wide * high);
      again = () => cells.forEach((one, at) => {
        label(one, "");
        thumbnail(one.cell, block(at), { wide, high });
      });
      again();
      drawn = cells.map(({ layer, head }, at) => ({ layer, head, block: { wide, high, data: (ground) => rootPixels(block(at), ground) } }));
      const weights = (at, down) => Array.from(block(at).subarray(down * wide, (down + 1) * wide), (root) => (root / 255) ** 2);
      numbers = [["layer", "head", "row", ...range(wide)], ...cells.flatMap(({ layer, head }, at) => range(high).map((down) => [layer, head, down, ...weights(at, down)]))];
      replaceChildren(caption, make("p", { class: "quiet", text: "Each square is a head: queries downwards, keys to the right, the stronger the colour, the larger the weight (the root of the largest weight in each block)." }));
    },
    choose(layer, chosen) {
      cells.forEach((one) => one.cell.setAttribute("aria-selected", String(one.layer === layer && chosen.includes(one.head))));
    },
  };
  onTheme(() => place.isConnected && again());
  return map;
}
