// The flow of attention, to be asked: point at a head for its lines, at a token for the paths to it.
// Used as it is by pages, notebooks and the workbench: draw(element, data), data by `as_data` in flow_html.py.
// Two canvases: the whole picture is drawn once; what is asked for is drawn over it, and the whole pales by opacity.

import { BINS, chosen, prepared, range } from "./flow_paths.js";

const BLUE = "#0072B2", PALE = "#ececec";
const percent = (share) => `${Number((100 * share).toPrecision(2))}\u00a0%`;
const short = (score) => String(Number(score.toPrecision(3)));

// Lines of equal darkness in one path, one pixel wide, and small dots as squares: many times quicker without a graphics card.
function paint(context, layout, { strokes, dots, whole }) {
  Object.assign(context, { strokeStyle: BLUE, lineWidth: 1 });
  strokes.forEach((ends, bin) => {
    context.globalAlpha = bin / BINS;
    context.beginPath();
    for (let at = 0; at < ends.length; at += 4) {
      context.moveTo(ends[at], ends[at + 1]);
      context.lineTo(ends[at + 2], ends[at + 3]);
    }
    context.stroke();
  });
  const fill = (places, radius, style) => {
    Object.assign(context, style);
    for (let at = 0; at < places.length; at += 2) {
      const [x, y] = [places[at], places[at + 1]];
      if (radius < 1.6) context.fillRect(x - radius, y - radius, 2 * radius, 2 * radius);
      else (context.beginPath(), context.arc(x, y, radius, 0, 7), context.fill());
    }
  };
  if (whole) dots.forEach((places) => fill(places, layout.radius, { fillStyle: PALE, globalAlpha: 1 }));
  dots.forEach((places, bin) => {
    const radius = layout.radius + Math.max(layout.dark - layout.radius, 0) * (bin / BINS);
    if (bin) fill(places, radius, { fillStyle: BLUE, globalAlpha: bin / BINS });
  });
}

function element(parent, tag, text, properties = {}, style = {}) {
  const made = Object.assign(document.createElement(tag), properties);
  made.textContent = text;
  Object.assign(made.style, style);
  return parent.appendChild(made);
}

function canvas(stage, layout, className) {
  const scale = Math.min(globalThis.devicePixelRatio || 1, 2);
  const made = element(stage, "canvas", "", { className, width: layout.width * scale, height: layout.height * scale });
  made.setAttribute("aria-hidden", "true");
  const context = made.getContext("2d");
  context.scale(scale, scale);
  return context;
}

// Buttons that are one stop of the Tab key; arrows go from one to the next.
function toolbar(stage, label, count, make) {
  const bar = element(stage, "div", "");
  bar.setAttribute("role", "toolbar");
  bar.setAttribute("aria-label", label);
  const buttons = range(count).map((number) => {
    const { text, name, style, ...properties } = make(number);
    const made = element(bar, "button", text, { type: "button", tabIndex: number ? -1 : 0, ...properties }, style);
    made.setAttribute("aria-label", name);
    made.setAttribute("aria-pressed", "false");
    return made;
  });
  bar.addEventListener("keydown", (event) => {
    const from = buttons.indexOf(event.target);
    const to = { ArrowRight: from + 1, ArrowDown: from + 1, ArrowLeft: from - 1, ArrowUp: from - 1, Home: 0, End: -1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    buttons.at(to % count).focus();
  });
  bar.addEventListener("focusin", (event) => buttons.forEach((one) => (one.tabIndex = one === event.target ? 0 : -1)));
  return buttons;
}

function names(stage, { flow, layout, words }) {
  const row = (text, top, style) => element(stage, "span", text, { className: "row" }, { top: `${top}px`, ...style });
  layout.y.forEach((y, level) => row(level ? `layer ${level - 1}` : "input", y));
  row("tokens", layout.top + 9);
  row("prediction", layout.prediction[1] - 14, { left: `${layout.prediction[0]}px`, transform: "translate(-50%, -50%)" });
  const heads = toolbar(stage, "heads", flow.heads, (head) => ({
    text: words.heads[head], name: `head ${head}`, className: "head",
    style: { left: `${(layout.x[head][0] + layout.x[head].at(-1)) / 2}px`, top: `${layout.y[flow.depth] - 8}px` },
  }));
  const tokens = toolbar(stage, "tokens", flow.size, (token) => ({
    text: layout.labels[token][1], className: layout.upright ? "token upright" : "token",
    name: `${layout.labels[token][2]}, token ${token + 1} of ${flow.size}, score ${short(flow.scores[token])}`,
    title: `${layout.labels[token][2]}: ${short(flow.scores[token])}`,
    style: { left: `${layout.labels[token][0]}px`, top: `${layout.top}px`, color: words.inks[token] },
  }));
  return { heads, tokens };
}

// The same for those who do not see it, or want the numbers; made when first opened.
function table(place, { flow, layout }) {
  const details = element(place, "details", "");
  element(details, "summary", "The same as a table: what arrives at each token, by head");
  details.addEventListener("toggle", () => {
    const body = element(details, "table", ""), top = element(body, "tr", "");
    const columns = ["token", "score", ...range(flow.heads).map((head) => `head ${head}`)];
    columns.forEach((name) => element(top, "th", name, { scope: "col" }));
    layout.labels.forEach(([, , whole], token) => {
      const row = element(body, "tr", "");
      element(row, "th", whole, { scope: "row" });
      element(row, "td", short(flow.scores[token]));
      flow.nodes[0].forEach((head) => element(row, "td", percent(head[token])));
    });
  }, { once: true });
}

// The head in whose column a point lies, and what is told of the dot that is near.
function nearest({ flow, layout }, x, y) {
  const closest = (places, at) => range(places.length).reduce((a, b) => (Math.abs(places[b] - at) < Math.abs(places[a] - at) ? b : a));
  const row = layout.y[0] - layout.y[1], level = closest(layout.y, y);
  if (Math.abs(layout.y[level] - y) > row / 2) return null;
  const head = closest(layout.x.map((one) => (one[0] + one.at(-1)) / 2), x), token = closest(layout.x[head], x);
  if (Math.hypot(layout.x[head][token] - x, layout.y[level] - y) > 9) return { head, told: "" };
  const arrived = percent(flow.nodes[level][head][token]), where = level ? `layer ${level - 1}` : "the input";
  return { head, told: ` At ${where}, ${arrived} of it has arrived at “${layout.labels[token][2]}”.` };
}

// What is asked for, in a sentence.
function tell({ flow, layout }, head, token) {
  const name = (at) => `“${layout.labels[at][2]}”`;
  if (head === null && token === null) return "Point at a head to see its lines, or at a token to see the paths to it; click to keep it, Escape to let go. With the keyboard: Tab and arrows.";
  if (token === null) {
    const row = flow.nodes[0][head], best = range(flow.size).sort((a, b) => row[b] - row[a]).slice(0, 3);
    return `Head ${head}: its attention arrives mostly at ${best.map((at) => `${name(at)} (${percent(row[at])})`).join(", ")}.`;
  }
  const by = flow.nodes[0].map((row) => row[token]), best = by.indexOf(Math.max(...by));
  if (head !== null) return `Paths through head ${head} to ${name(token)}: ${percent(by[head])} of this head's attention arrives there.`;
  const mean = by.reduce((sum, one) => sum + one, 0) / flow.heads;
  return `Paths to ${name(token)}: ${percent(mean)} of all attention arrives there, most of it by head ${best} (${percent(by[best])} of that head's).`;
}

// What is pointed at is asked for while it is; what is clicked stays until it is clicked again, or Escape.
function listen(place, stage, picture, { heads, tokens }, ask) {
  const kept = { head: null, token: null };
  const rest = () => ask(kept.head, kept.token);
  for (const [kind, buttons] of Object.entries({ head: heads, token: tokens })) {
    const press = (one) => {
      kept[kind] = one;
      buttons.forEach((button, at) => button.setAttribute("aria-pressed", String(at === one)));
    };
    buttons.forEach((button, one) => {
      const show = () => (kind === "head" ? ask(one, kept.token) : ask(kept.head, one));
      for (const event of ["pointerenter", "focus"]) button.addEventListener(event, show);
      for (const event of ["pointerleave", "blur"]) button.addEventListener(event, rest);
      button.addEventListener("click", () => (kept[kind] === one ? (press(null), rest()) : (press(one), show())));
    });
    place.addEventListener("keydown", (event) => event.key === "Escape" && (press(null), rest()));
  }
  let waiting = 0;
  stage.addEventListener("pointermove", (event) => {
    cancelAnimationFrame(waiting);
    if (event.target.closest("button")) return;
    const box = stage.getBoundingClientRect(), at = nearest(picture, event.clientX - box.left, event.clientY - box.top);
    waiting = requestAnimationFrame(() => (at ? ask(at.head, kept.token, at.told) : rest()));
  });
  stage.addEventListener("pointerleave", () => (cancelAnimationFrame(waiting), rest()));
  rest();
}

// Draws a flow into an element. Returns ask(head, token): either may be null.
export function draw(place, data) {
  const { layout, words, shade } = data, flow = prepared(data.flow);
  const picture = { flow, layout, shade, words }, everything = range(flow.heads);
  place.classList.add("whence-flow");
  place.setAttribute("role", "figure");
  place.setAttribute("aria-label", `${words.heading}. ${words.short}`);
  const size = { width: `${layout.width}px`, height: `${layout.height}px` };
  const stage = element(element(place, "div", "", { className: "scroll" }), "div", "", { className: "stage" }, size);
  const base = canvas(stage, layout, "base"), over = canvas(stage, layout, "over");
  const buttons = names(stage, picture);
  const said = element(place, "p", "", { className: "said" });
  said.setAttribute("role", "status");
  let asked = "";
  const ask = (head, token, more = "") => {
    said.textContent = tell(picture, head, token) + more;
    if (asked === `${head} ${token}`) return;
    asked = `${head} ${token}`;
    const some = head !== null || token !== null;
    stage.classList.toggle("asked", some);
    over.clearRect(0, 0, layout.width, layout.height);
    if (some) paint(over, layout, { ...chosen(picture, head === null ? everything : [head], token), whole: false });
    buttons.heads.forEach((button, one) => button.classList.toggle("near", one === head));
    buttons.tokens.forEach((button, one) => button.classList.toggle("near", one === token));
  };
  paint(base, layout, chosen(picture, everything, null));
  listen(place, stage, picture, buttons, ask);
  for (const text of [words.how, words.scales]) element(place, "figcaption", text);
  table(place, picture);
  return ask;
}
