// A table as a picture, for export: its rows below each other, each column as wide as its longest cell.

import { number, visible } from "./dom.js";
import { palette } from "./colours.js";

const STEP = 22, LONGEST = 60, LETTER = 7.2;
const written = (cell) => {
  const words = typeof cell === "number" ? number(cell) : visible(String(cell ?? ""));
  return words.length > LONGEST ? `${words.slice(0, LONGEST - 1)}…` : words;
};

// `rows` with the names of the columns first.
export function tablePicture(rows) {
  const cells = rows.map((row) => row.map(written));
  const widths = cells[0].map((_, column) => 18 + LETTER * Math.max(...cells.map((row) => row[column].length)));
  const width = 10 + widths.reduce((a, b) => a + b, 0), height = STEP * cells.length + 10;
  return {
    width, height,
    draw(pen, ground) {
      const inks = palette(ground);
      pen.rect(0, 0, width, height, inks.ground);
      cells.forEach((row, down) => {
        const y = 6 + STEP * (down + 0.5);
        row.reduce((x, words, column) => {
          const right = down && typeof rows[down][column] === "number";
          pen.text(right ? x + widths[column] - 14 : x, y, words, { fill: down ? inks.ink : inks.quiet, align: right ? "right" : "left" });
          return x + widths[column];
        }, 10);
        pen.line(6, y + STEP / 2, width - 6, y + STEP / 2, inks.quiet, down ? 0.25 : 0.9);
      });
    },
    rows: () => rows,
  };
}
