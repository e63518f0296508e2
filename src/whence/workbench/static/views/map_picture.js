// The map of heads as a picture for export: coloured squares, or thumbnails.

import { css, palette } from "./colours.js";

const CELL = 30, LEFT = 40, TOP = 34;

// `cells` are [{layer, head, parts, block}], parts a colour, block {data, wide, high} the pixels of a thumbnail.
export function mapPicture(cells, title) {
  const wide = LEFT + CELL * (1 + Math.max(...cells.map((one) => one.head))) + 4, high = TOP + CELL * (1 + Math.max(...cells.map((one) => one.layer))) + 4;
  return {
    width: Math.max(wide, 220), height: high,
    draw(pen, ground) {
      const inks = palette(ground), named = { fill: inks.ink, size: 11, align: "center" };
      pen.rect(0, 0, Math.max(wide, 220), high, inks.ground);
      pen.text(LEFT, 9, `${title} (layers downwards, heads to the right)`, { fill: inks.quiet, size: 10 });
      for (const { layer, head, parts, block } of cells) {
        const [x, y] = [LEFT + head * CELL, TOP + layer * CELL];
        if (!head) pen.text(LEFT - 14, y + CELL / 2, String(layer), named);
        if (!layer) pen.text(x + CELL / 2, TOP - 9, String(head), named);
        if (block) pen.pixels(x, y, CELL - 2, CELL - 2, block.wide, block.high, block.data(ground));
        else pen.rect(x, y, CELL - 2, CELL - 2, css(parts(ground)));
      }
    },
  };
}
