// Which lines and dots of a flow are drawn, and how dark: numbers only, nothing of a page.

const SEEN = 0.047; // the faintest line but for the .003 that each has
export const BINS = 25;
export const range = (count) => Array.from({ length: count }, (_, number) => number);

// A flow as it is computed with: sizes, and typed arrays of shares.
export function prepared(given) {
  const shares = (parts) => new Float32Array(parts).map((part) => part / given.unit);
  const weights = given.weights.map((layer) => layer.map(shares));
  return { ...given, weights, size: given.tokens.length, depth: weights.length, heads: weights[0].length };
}

// Of each level and token of a head: the share of what is there that arrives at `token` (weights followed upwards).
export function reach(flow, head, token) {
  const levels = [new Float32Array(flow.size)];
  levels[0][token] = 1;
  for (let level = 0; level < flow.depth; level++) {
    const lower = levels[level], upper = new Float32Array(flow.size), rows = flow.weights[level][head];
    for (let query = 0, at = 0; query < flow.size; query++) {
      let sum = 0;
      for (let key = 0; key < flow.size; key++, at++) sum += rows[at] * lower[key];
      upper[query] = sum;
    }
    levels.push(upper);
  }
  return levels;
}

// The lines of a head that carry `least` or more, as visit(level, query, key, amount); with shares, what arrives at a token.
export function lines(flow, head, share, least, visit) {
  for (let level = 0; level < flow.depth; level++) {
    const rows = flow.weights[level][head], above = flow.nodes[level + 1][head];
    for (let query = 0; query < flow.size; query++) {
      if (above[query] < least) continue;
      for (let key = 0, at = query * flow.size; key < flow.size; key++, at++) {
        const amount = above[query] * rows[at] * (share ? share[level][key] : 1);
        if (amount >= least) visit(level, query, key, amount);
      }
    }
  }
}

// What is drawn of some heads, or of what arrives at a token through them, on the scale of that token.
export function chosen({ flow, layout, shade }, heads, token) {
  const { x, y, labels, prediction, top } = layout;
  const whole = token === null && heads.length === flow.heads;
  const most = token === null ? shade.dot : Math.max(...heads.map((head) => flow.nodes[0][head][token]), 1e-9);
  const line = token === null ? shade.line : most, seen = line * SEEN ** (1 / shade.power);
  const dark = (amount, darkest) => 0.997 * Math.min(amount / darkest, 1) ** shade.power + 0.003;
  const [strokes, dots] = [0, 1].map(() => range(BINS + 1).map(() => [])); // numbers in a row, by darkness
  const stroke = (alpha, a, b, c, d) => strokes[Math.round(alpha * BINS)].push(a, b, c, d);
  for (const head of heads) {
    const share = token === null ? null : reach(flow, head, token);
    lines(flow, head, share, whole ? shade.least : seen, (level, query, key, amount) =>
      stroke(dark(amount, line), x[head][query], y[level + 1], x[head][key], y[level]));
    for (let at = 0; at < flow.size; at++) {
      const here = (level) => flow.nodes[level][head][at] * (share ? share[level][at] : 1);
      const [below, above] = [here(0), here(flow.depth)];
      for (let level = 0; level <= flow.depth; level++) {
        dots[Math.round(dark(here(level), most) * BINS)].push(x[head][at], y[level]);
      }
      if (above >= (whole ? shade.above : seen)) stroke(dark(above, most), ...prediction, x[head][at], y[flow.depth]);
      if (below >= (whole ? shade.below : seen)) stroke(dark(below, most), x[head][at], y[0], labels[at][0], top - 3);
    }
  }
  dots[BINS].push(...prediction);
  return { strokes, dots, whole };
}
