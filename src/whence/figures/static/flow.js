// The flow of attention, to be asked: point at a head for its lines, at a token for the paths to it.
// Used as it is by pages, notebooks and the workbench: draw(element, data), data made by whence.figures.flow_html.
// Two canvases: the whole picture is drawn once; what is asked for is drawn over it, and the whole pales by opacity.

const BLUE = "#0072B2", PALE = "#ececec", BINS = 25;

// What of the attention that arrives at (head, token) goes along each line above it: weights followed upwards.
export function reach(flow, head, token) {
  const { depth, size, weights } = flow;
  const levels = [new Float32Array(size)];
  levels[0][token] = 1;
  for (let level = 0; level < depth; level++) {
    const lower = levels[level], upper = new Float32Array(size), rows = weights[level][head];
    for (let query = 0, at = 0; query < size; query++) {
      let sum = 0;
      for (let key = 0; key < size; key++, at++) sum += rows[at] * lower[key];
      upper[query] = sum / flow.unit;
    }
    levels.push(upper);
  }
  return levels; // of each level and token: the share of what is there that arrives at the token
}

// All lines of these heads with their amounts; with a token, only what arrives at it. visit(level, head, query, key, amount)
export function amounts(flow, heads, token, least, visit) {
  const { depth, size, weights, nodes } = flow;
  for (const head of heads) {
    const share = token === null ? null : reach(flow, head, token);
    for (let level = 0; level < depth; level++) {
      const rows = weights[level][head], above = nodes[level + 1][head];
      for (let query = 0; query < size; query++) {
        const arrived = above[query] / flow.unit;
        if (above[query] < least) continue;
        for (let key = 0, at = query * size; key < size; key++, at++) {
          const amount = arrived * rows[at] * (share ? share[level][key] : 1);
          if (amount >= least) visit(level, head, query, key, amount);
        }
      }
    }
  }
}

const range = (count) => Array.from({ length: count }, (_, number) => number);
const percent = (share) => `${Number((100 * share).toPrecision(2))} %`;
const alphaOf = (amount, darkest, power) => 0.997 * Math.min(amount / darkest, 1) ** power + 0.003;

// Strokes of equal darkness in one path: thousands of lines are some twenty calls.
class Pen {
  constructor(context, width) {
    Object.assign(this, { context, width, bins: range(BINS + 1).map(() => []) });
  }
  line(alpha, x, y, toX, toY) {
    this.bins[Math.round(alpha * BINS)].push(x, y, toX, toY);
  }
  draw() {
    const { context } = this;
    context.strokeStyle = BLUE;
    context.lineWidth = this.width;
    this.bins.forEach((ends, bin) => {
      if (!bin || !ends.length) return;
      context.globalAlpha = bin / BINS;
      context.beginPath();
      for (let at = 0; at < ends.length; at += 4) {
        context.moveTo(ends[at], ends[at + 1]);
        context.lineTo(ends[at + 2], ends[at + 3]);
      }
      context.stroke();
    });
    context.globalAlpha = 1;
  }
}

function dots(context, layout, points) {
  for (const [x, y, alpha] of points) {
    context.globalAlpha = alpha;
    context.beginPath();
    context.arc(x, y, layout.radius + Math.max(layout.dark - layout.radius, 0) * alpha, 0, 7);
    context.fill();
  }
  context.globalAlpha = 1;
}

// Lines and dots of some heads; with a token, only what arrives at it, on a scale of its own.
function paint(context, { flow, layout, shade }, heads, token, width) {
  const asked = token !== null, base = heads.length === flow.heads && !asked;
  const most = asked ? Math.max(...heads.map((head) => flow.nodes[0][head][token]), 1e-9) : shade.dot;
  const line = asked ? most : shade.line;
  const least = base ? shade.least : line * (0.047 / 0.997) ** (1 / shade.power);
  const pen = new Pen(context, width);
  const { x, y, labels } = layout, top = flow.depth, points = [];
  const dark = (amount) => alphaOf(amount, most, shade.power);
  for (const head of heads) {
    const share = asked ? reach(flow, head, token) : null;
    range(flow.size).forEach((at) => {
      const here = (level) => flow.nodes[level][head][at] * (share ? share[level][at] : 1);
      for (let level = 0; level <= top; level++) points.push([x[head][at], y[level], dark(here(level))]);
      const [begins, ends] = [here(top), here(0)];
      if (begins >= (base ? shade.above : least)) pen.line(dark(begins), ...layout.answer, x[head][at], y[top]);
      if (ends >= (base ? shade.below : least)) pen.line(dark(ends), x[head][at], y[0], labels[at][0], layout.top - 3);
    });
  }
  amounts(flow, heads, token, least, (level, head, query, key, amount) =>
    pen.line(alphaOf(amount, line, shade.power), x[head][query], y[level + 1], x[head][key], y[level]));
  pen.draw();
  context.fillStyle = PALE;
  if (base) dots(context, { radius: layout.radius, dark: 0 }, points.map(([a, b]) => [a, b, 1]));
  context.fillStyle = BLUE;
  dots(context, layout, points.filter((point) => point[2] > 0.02));
  dots(context, layout, [[...layout.answer, 1]]);
}

function canvas(stage, layout, name) {
  const made = stage.appendChild(document.createElement("canvas"));
  const scale = Math.min(globalThis.devicePixelRatio || 1, 2);
  made.className = name;
  made.width = layout.width * scale;
  made.height = layout.height * scale;
  made.setAttribute("aria-hidden", "true");
  const context = made.getContext("2d");
  context.scale(scale, scale);
  return context;
}

function element(parent, tag, text, properties = {}) {
  const made = Object.assign(document.createElement(tag), properties);
  made.textContent = text;
  return parent.appendChild(made);
}

// A row of buttons that is one stop of the Tab key; arrows go from one to the next.
function toolbar(stage, label, names, place) {
  const bar = element(stage, "div", "");
  bar.setAttribute("role", "toolbar");
  bar.setAttribute("aria-label", label);
  const buttons = names.map((name, number) => {
    const made = element(bar, "button", name, { type: "button", tabIndex: number ? -1 : 0 });
    made.setAttribute("aria-pressed", "false");
    place(made, number);
    return made;
  });
  bar.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    const from = buttons.indexOf(event.target);
    if (from < 0 || !(step || event.key === "Home" || event.key === "End")) return;
    event.preventDefault();
    const to = event.key === "Home" ? 0 : event.key === "End" ? buttons.length - 1 : from + step;
    buttons[(to + buttons.length) % buttons.length].focus();
  });
  bar.addEventListener("focusin", (event) => buttons.forEach((one) => (one.tabIndex = one === event.target ? 0 : -1)));
  return buttons;
}

function table(parent, { flow, layout }) {
  const details = element(parent, "details", "");
  element(details, "summary", "The same as a table: what arrives at each token, by head");
  details.addEventListener("toggle", () => {
    if (details.children.length > 1) return; // made when first opened
    const body = element(details, "table", "");
    const head = element(body, "tr", "");
    ["token", "score", ...range(flow.heads).map((one) => `head ${one + 1}`)].forEach((name) => {
      element(head, "th", name).scope = "col";
    });
    layout.labels.forEach(([, , whole], token) => {
      const row = element(body, "tr", "");
      element(row, "th", whole).scope = "row";
      element(row, "td", String(Number(flow.scores[token].toPrecision(3))));
      range(flow.heads).forEach((one) => element(row, "td", percent(flow.nodes[0][one][token])));
    });
  });
}

// Draws a flow into an element; returns { ask(head, token) }, with null for neither.
export function draw(place, data) {
  const { layout, words, shade } = data;
  const given = data.flow, size = given.tokens.length;
  const flow = { ...given, size, depth: given.weights.length, heads: given.weights[0].length };
  const picture = { flow, layout, shade };
  place.classList.add("whence-flow");
  place.setAttribute("aria-label", `${words.heading}. ${words.short}`);
  const stage = element(element(place, "div", "", { className: "scroll" }), "div", "", { className: "stage" });
  Object.assign(stage.style, { width: `${layout.width}px`, height: `${layout.height}px` });
  const base = canvas(stage, layout, "base"), over = canvas(stage, layout, "over");
  paint(base, picture, range(flow.heads), null, 1.1);

  layout.y.forEach((y, level) => {
    element(stage, "span", level ? `layer ${level}` : "input", { className: "row" }).style.top = `${y}px`;
  });
  element(stage, "span", "tokens", { className: "row" }).style.top = `${layout.top + 9}px`;
  const answer = element(stage, "span", "answer", { className: "row" });
  Object.assign(answer.style, { left: `${layout.answer[0] - 22}px`, top: `${layout.answer[1] - 14}px`, color: "#222" });
  const middle = (head) => (layout.x[head][0] + layout.x[head][size - 1]) / 2;
  const heads = toolbar(stage, "heads", words.heads, (made, head) => {
    made.className = "head";
    made.setAttribute("aria-label", `head ${head + 1}`);
    Object.assign(made.style, { left: `${middle(head)}px`, top: `${layout.y[flow.depth] - 8}px` });
  });
  const tokens = toolbar(stage, "tokens", layout.labels.map((label) => label[1]), (made, token) => {
    const [x, , whole] = layout.labels[token];
    made.className = layout.upright ? "token upright" : "token";
    made.title = `${whole}: ${Number(flow.scores[token].toPrecision(3))}`;
    Object.assign(made.style, { left: `${x}px`, top: `${layout.top}px`, color: words.inks[token] });
  });
  const said = element(place, "p", "", { className: "said" });
  said.setAttribute("role", "status");

  const pinned = { head: null, token: null };
  function ask(head, token, more = "") {
    over.clearRect(0, 0, layout.width, layout.height);
    const some = head !== null || token !== null;
    stage.classList.toggle("asked", some);
    if (some) paint(over, picture, head === null ? range(flow.heads) : [head], token, 1.5);
    heads.forEach((made, one) => made.classList.toggle("near", one === head));
    tokens.forEach((made, one) => made.classList.toggle("near", one === token));
    said.textContent = tell(picture, head, token) + more;
  }
  const rest = () => ask(pinned.head, pinned.token);
  const kinds = [["head", heads, (one) => ask(one, pinned.token)], ["token", tokens, (one) => ask(pinned.head, one)]];
  for (const [kind, buttons, show] of kinds) {
    buttons.forEach((made, one) => {
      for (const event of ["pointerenter", "focus"]) made.addEventListener(event, () => show(one));
      for (const event of ["pointerleave", "blur"]) made.addEventListener(event, rest);
      made.addEventListener("click", () => {
        pinned[kind] = pinned[kind] === one ? null : one;
        buttons.forEach((other, at) => other.setAttribute("aria-pressed", String(at === pinned[kind])));
        if (pinned[kind] === null) rest(); else show(one);
      });
    });
  }
  place.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    pinned.head = pinned.token = null;
    [...heads, ...tokens].forEach((made) => made.setAttribute("aria-pressed", "false"));
    rest();
  });
  let waiting = null, shown = "";
  stage.addEventListener("pointermove", (event) => {
    if (event.target.tagName === "BUTTON") return void (shown = "");
    const box = stage.getBoundingClientRect();
    const at = nearest(picture, event.clientX - box.left, event.clientY - box.top);
    if (at.name === shown) return;
    shown = at.name;
    cancelAnimationFrame(waiting);
    waiting = requestAnimationFrame(() => (at.name ? ask(at.head, pinned.token, at.told) : rest()));
  });
  stage.addEventListener("pointerleave", () => {
    shown = "";
    cancelAnimationFrame(waiting);
    rest();
  });
  rest();
  for (const text of [words.how, words.scales]) element(place, "figcaption", text);
  table(place, picture);
  return { ask };
}

// The head in whose column a point lies, and what is told of the dot that is near.
function nearest({ flow, layout }, x, y) {
  const row = flow.depth > 0 ? layout.y[0] - layout.y[1] : 0;
  if (y < layout.y[flow.depth] - row / 2 || y > layout.y[0] + row / 2) return { name: "" };
  const far = (head) => Math.abs(x - (layout.x[head][0] + layout.x[head][flow.size - 1]) / 2);
  const head = range(flow.heads).reduce((best, one) => (far(one) < far(best) ? one : best));
  const pitch = flow.size > 1 ? layout.x[head][1] - layout.x[head][0] : 1;
  const token = Math.min(Math.max(Math.round((x - layout.x[head][0]) / pitch), 0), flow.size - 1);
  const level = Math.min(Math.max(Math.round((layout.y[0] - y) / (row || 1)), 0), flow.depth);
  const close = Math.abs(y - layout.y[level]) <= 9 && Math.abs(x - layout.x[head][token]) <= 9;
  if (!close) return { head, name: `${head}`, told: "" };
  const told = ` At ${level ? `layer ${level}` : "the input"}, “${layout.labels[token][2]}” has ${percent(flow.nodes[level][head][token])}.`;
  return { head, name: `${head} ${level} ${token}`, told };
}

// What is asked for, in a sentence.
function tell({ flow, layout }, head, token) {
  if (token === null && head === null) {
    return "Point at a head to see its lines, or at a token to see the paths to it; click to keep it, Escape to let go. With the keyboard: Tab and arrows.";
  }
  const arrived = (at) => range(flow.heads).map((one) => flow.nodes[0][one][at]);
  if (head === null) {
    const by = arrived(token), best = by.indexOf(Math.max(...by));
    return `Paths to “${layout.labels[token][2]}”: ${percent(by.reduce((a, b) => a + b, 0) / flow.heads)} of all attention arrives there, most of it by head ${best + 1} (${percent(by[best])} of that head's).`;
  }
  if (token === null) {
    const row = flow.nodes[0][head];
    const best = range(flow.size).sort((a, b) => row[b] - row[a]).slice(0, 3);
    return `Head ${head + 1}: its attention arrives mostly at ${best.map((at) => `“${layout.labels[at][2]}” (${percent(row[at])})`).join(", ")}.`;
  }
  return `Paths through head ${head + 1} to “${layout.labels[token][2]}”: ${percent(flow.nodes[0][head][token])} of this head's attention arrives there.`;
}
