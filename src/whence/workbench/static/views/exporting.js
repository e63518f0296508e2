// A view as a file: SVG and PNG of its picture, CSV of its numbers, and one HTML page with both.

import { button, make, number, visible } from "./dom.js";
import { CanvasPen, SvgPen } from "./pen.js";

const quote = (cell) => (/[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell);
// A text that a spreadsheet would take for a formula is marked as text.
const field = (cell) => (typeof cell === "number" ? String(cell) : quote(/^[=+@\t\r]|^-[^\d.]/.test(cell) ? `'${cell}` : cell));
export const asCsv = (rows) => rows.map((cells) => cells.map(field).join(",")).join("\r\n") + "\r\n";

// A picture draws itself with a pen; one that the server drew is {svg}, its text.
export function asSvg(picture, title) {
  if (picture.svg) return picture.svg;
  const pen = new SvgPen(picture.width, picture.height, title);
  picture.draw(pen, "light");
  return pen.toString();
}

const MOST = 16000; // pixels that a canvas may be high or wide

const dataAddress = (svg) => `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;

async function drawnSvg(canvas, svg) {
  const image = make("img", { src: dataAddress(svg), alt: "" });
  await image.decode();
  const scale = Math.min(2, MOST / image.width, MOST / image.height);
  Object.assign(canvas, { width: Math.ceil(image.width * scale), height: Math.ceil(image.height * scale) });
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
}

export async function asPng(picture) {
  const canvas = document.createElement("canvas");
  if (picture.svg) await drawnSvg(canvas, picture.svg);
  else picture.draw(new CanvasPen(canvas, picture.width, picture.height, Math.min(2, MOST / picture.width, MOST / picture.height)), "light");
  return new Promise((done) => canvas.toBlob(done, "image/png"));
}

const STYLE = "body{font:15px/1.5 system-ui,sans-serif;margin:1.5rem;color:#1d1d1f;background:#fff}table{border-collapse:collapse}td,th{border-bottom:1px solid #ddd;padding:.2rem .6rem;text-align:left}svg{max-width:100%;height:auto}";

// One page that needs nothing else: pictures, then each table of numbers. Made of elements, so that text stays text.
export function asPage(title, about, pictures, tables) {
  const page = document.implementation.createHTMLDocument(title);
  const policy = { "http-equiv": "Content-Security-Policy", content: "default-src 'none'; style-src 'unsafe-inline'; img-src data:" };
  page.head.prepend(make("meta", { charset: "utf-8" }), make("meta", policy));
  const cells = (row, tag) => row.map((cell) => make(tag, { text: typeof cell === "number" ? number(cell, 5) : visible(String(cell)) }));
  page.body.append(make("h1", { text: title }), make("p", { text: about }));
  for (const picture of pictures) {
    const pen = picture.svg ? null : new SvgPen(picture.width, picture.height, title);
    if (pen) picture.draw(pen, "light");
    page.body.append(make("figure", {}, pen ? pen.root : make("img", { src: dataAddress(picture.svg), alt: title })));
  }
  for (const rows of tables) {
    page.body.append(make("table", {}, make("tr", {}, cells(rows[0], "th")), rows.slice(1).map((row) => make("tr", {}, cells(row, "td")))));
  }
  const made = page.documentElement.outerHTML.replace("</head>", `<style>${STYLE}</style></head>`); // as an element, the policy of this page would refuse it
  return `<!DOCTYPE html>\n${made}\n`;
}

export function save(name, content, type) {
  const address = URL.createObjectURL(content instanceof Blob ? content : new Blob([content], { type }));
  const link = make("a", { href: address, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), 10000);
}

// Buttons that save a view; `given()` is {name, title, about, pictures, tables, page?, csv?} when pressed: `page` and `csv`
// are there where the server has more than the tables shown.
export function exportBar(given) {
  const first = (files) => files.pictures[0];
  const kinds = {
    SVG: (files) => save(`${files.name}.svg`, asSvg(first(files), files.title), "image/svg+xml"),
    PNG: async (files) => save(`${files.name}.png`, await asPng(first(files)), "image/png"),
    CSV: async (files) => save(`${files.name}.csv`, files.csv ? await files.csv() : asCsv(files.tables[0]), "text/csv"),
    HTML: async (files) => save(`${files.name}.html`, files.page ? await files.page() : asPage(files.title, files.about, files.pictures, files.tables), "text/html"),
  };
  return make("span", { class: "export", role: "group", "aria-label": "save this view" }, make("span", { class: "quiet", text: "save as" }),
    Object.entries(kinds).map(([kind, press]) => button(kind, async () => press(await given()), { "data-save": kind.toLowerCase() })));
}

// A button that shows an element on the whole screen.
export const fullScreen = (place) => button("full screen", () => (document.fullscreenElement ? document.exitFullscreen() : place.requestFullscreen()));
