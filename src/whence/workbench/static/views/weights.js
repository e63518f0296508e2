// Attention weights as numbers: read from bytes, with keys left out, and combined. Nothing of a page.

// The weights of one head, [query key], from bytes of float16, or of uint8 of which `scale` is one.
export function decoded(buffer, { dtype, shape, scale = 1 }) {
  const [queries, keys] = shape;
  const values = dtype === "float16" ? halves(new Uint16Array(buffer)) : Float32Array.from(new Uint8Array(buffer), (part) => part * scale);
  return { queries, keys, values };
}

function half(bits) {
  const sign = bits & 0x8000 ? -1 : 1, exponent = (bits >> 10) & 31, fraction = bits & 1023;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  if (exponent === 31) return fraction ? NaN : sign * Infinity;
  return sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
}

const halves = (bits) => Float32Array.from(bits, half);

export const row = (matrix, query) => matrix.values.subarray(query * matrix.keys, (query + 1) * matrix.keys);

export const column = (matrix, key) => Float32Array.from({ length: matrix.queries }, (_, query) => matrix.values[query * matrix.keys + key]);

// The weight that each key receives, averaged over the queries that may look at it: a causal head's later keys are not less liked.
export function received(matrix) {
  const sums = new Float64Array(matrix.keys), seen = new Float64Array(matrix.keys);
  for (let at = 0; at < matrix.values.length; at++) {
    sums[at % matrix.keys] += matrix.values[at];
    seen[at % matrix.keys] += matrix.values[at] > 0;
  }
  return Array.from(sums, (sum, key) => sum / Math.max(seen[key], 1));
}

const SINK = 0.3; // ε of Gu et al. 2025

// Keys whose mean weight is above ε, whatever they contribute; too few queries have none.
export const sinks = (matrix) => (matrix.queries < 4 ? [] : received(matrix).flatMap((share, key) => (share > SINK ? [key] : [])));

// The same weights with some keys and queries left out (their numbers in `keys` and `queries` of the answer).
export function showing(matrix, { keys, queries }) {
  const values = new Float32Array(keys.length * queries.length);
  queries.forEach((query, at) => keys.forEach((key, to) => (values[at * keys.length + to] = matrix.values[query * matrix.keys + key])));
  return { queries: queries.length, keys: keys.length, values };
}

export function mean(matrices) {
  const values = new Float32Array(matrices[0].values.length);
  for (const matrix of matrices) matrix.values.forEach((value, at) => (values[at] += value / matrices.length));
  return { ...matrices[0], values };
}

// b − a, of the same shape.
export const difference = (a, b) => ({ ...a, values: b.values.map((value, at) => value - a.values[at]) });

export const largest = (values) => values.reduce((most, value) => Math.max(most, Math.abs(value)), 0);

// The indices of the largest few, largest first.
export function strongest(values, count) {
  return Array.from(values.keys()).sort((a, b) => values[b] - values[a]).slice(0, count);
}

// The least weight of the `count` largest: what is drawn when not all can be.
export function floorOf(values, count) {
  if (values.length <= count) return 0;
  const bins = new Uint32Array(1001), most = largest(values) || 1;
  for (const value of values) bins[Math.floor((Math.abs(value) / most) * 1000)]++;
  let left = count, bin = 1000;
  while (bin > 0 && left - bins[bin] >= 0) left -= bins[bin--];
  return (most * (bin + 1)) / 1000;
}
