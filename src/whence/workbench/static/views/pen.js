// One drawing, two papers: a canvas on the page, and SVG for export. Both know rectangles, lines, text and blocks of pixels.

const SANS = "DejaVu Sans, Noto Sans, sans-serif";

export class CanvasPen {
  constructor(canvas, width, height, scale = Math.min(globalThis.devicePixelRatio || 1, 2)) {
    Object.assign(canvas, { width: Math.ceil(width * scale), height: Math.ceil(height * scale) });
    Object.assign(canvas.style, { width: `${width}px`, height: `${height}px` });
    this.context = canvas.getContext("2d");
    this.context.scale(scale, scale);
  }

  rect(x, y, width, height, fill) {
    this.context.fillStyle = fill;
    this.context.fillRect(x, y, width, height);
  }

  frame(x, y, width, height, stroke) {
    Object.assign(this.context, { strokeStyle: stroke, lineWidth: 2, globalAlpha: 1 });
    this.context.strokeRect(x, y, width, height);
  }

  line(x1, y1, x2, y2, stroke, alpha = 1, width = 1) {
    Object.assign(this.context, { strokeStyle: stroke, globalAlpha: alpha, lineWidth: width });
    this.context.beginPath();
    this.context.moveTo(x1, y1);
    this.context.lineTo(x2, y2);
    this.context.stroke();
    this.context.globalAlpha = 1;
  }

  text(x, y, words, { fill, size = 12, align = "left", turn = 0 }) {
    const { context } = this;
    context.save();
    context.translate(x, y);
    context.rotate((turn * Math.PI) / 180);
    Object.assign(context, { fillStyle: fill, font: `${size}px ${SANS}`, textAlign: align, textBaseline: "middle" });
    context.fillText(words, 0, 0);
    context.restore();
  }

  pixels(x, y, width, height, columns, rows, data) {
    this.context.imageSmoothingEnabled = false;
    this.context.drawImage(block(columns, rows, data), x, y, width, height);
  }
}

function block(columns, rows, data) {
  const made = Object.assign(document.createElement("canvas"), { width: columns, height: rows });
  made.getContext("2d").putImageData(new ImageData(data, columns, rows), 0, 0);
  return made;
}

const NAMESPACE = "http://www.w3.org/2000/svg";
const ANCHOR = { left: "start", right: "end", center: "middle" };
const short = (value) => (typeof value === "number" ? Math.round(value * 100) / 100 : value);

export class SvgPen {
  constructor(width, height, title) {
    this.root = document.createElementNS(NAMESPACE, "svg");
    this.write(this.root, { width, height, viewBox: `0 0 ${width} ${height}`, "font-family": SANS });
    this.root.appendChild(document.createElementNS(NAMESPACE, "title")).textContent = title;
  }

  write(made, attributes) {
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, short(value));
    return made;
  }

  add(tag, attributes) {
    return this.root.appendChild(this.write(document.createElementNS(NAMESPACE, tag), attributes));
  }

  rect(x, y, width, height, fill) {
    this.add("rect", { x, y, width, height, fill });
  }

  frame(x, y, width, height, stroke) {
    this.add("rect", { x, y, width, height, stroke, fill: "none", "stroke-width": 2 });
  }

  line(x1, y1, x2, y2, stroke, alpha = 1, width = 1) {
    this.add("line", { x1, y1, x2, y2, stroke, "stroke-opacity": alpha, "stroke-width": width });
  }

  text(x, y, words, { fill, size = 12, align = "left", turn = 0 }) {
    const place = `translate(${short(x)} ${short(y)}) rotate(${turn})`;
    this.add("text", { transform: place, fill, "font-size": size, "text-anchor": ANCHOR[align], "dominant-baseline": "central" }).textContent = words;
  }

  pixels(x, y, width, height, columns, rows, data) {
    const href = block(columns, rows, data).toDataURL("image/png");
    this.add("image", { x, y, width, height, href, preserveAspectRatio: "none", "image-rendering": "pixelated" });
  }

  toString() {
    return new XMLSerializer().serializeToString(this.root);
  }
}
