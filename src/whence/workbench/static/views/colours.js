// Colours of weights and scores: blue for, vermilion against (distinct to the colour-blind), on a light or a dark ground.

const BLUE = { light: [0, 114, 178], dark: [86, 180, 233] };
const VERMILION = { light: [213, 94, 0], dark: [255, 140, 70] };
const GROUND = { light: [255, 255, 255], dark: [22, 22, 26] };
const INK = { light: "#1d1d1f", dark: "#ececf0" };
const QUIET = { light: "#5c5c61", dark: "#a9a9b2" };

const preferred = () => globalThis.matchMedia?.("(prefers-color-scheme: dark)").matches;
export const theme = () => document.documentElement.dataset.theme || (preferred() ? "dark" : "light");
export const palette = (name = theme()) => ({ ground: `rgb(${GROUND[name]})`, ink: INK[name], quiet: QUIET[name], line: `rgb(${BLUE[name]})`, mark: `rgb(${VERMILION[name]})` });

const mixed = (from, to, share) => from.map((part, at) => Math.round(part + (to[at] - part) * share));

// The colour of a share from −1 to 1 as [red, green, blue]: none at zero, vermilion below it.
export function colour(share, name = theme()) {
  const bound = Math.max(-1, Math.min(1, Number.isFinite(share) ? share : 0));
  return mixed(GROUND[name], bound < 0 ? VERMILION[name] : BLUE[name], Math.abs(bound));
}

export const css = (parts) => `rgb(${parts[0]}, ${parts[1]}, ${parts[2]})`;

// Ink that is legible on a colour (relative luminance, WCAG 2.2).
export function inkOn(parts) {
  const [red, green, blue] = parts.map((part) => (part / 255 <= 0.04045 ? part / 3294.6 : ((part / 255 + 0.055) / 1.055) ** 2.4));
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue > 0.18 ? "#000" : "#fff";
}

// Small weights are seen as well: the depth of a weight is its root, as a share of the largest.
export const depth = (weight, most) => (most > 0 ? Math.sign(weight) * Math.sqrt(Math.min(Math.abs(weight) / most, 1)) : 0);

// Pixels [red, green, blue, alpha] of some numbers, each relative to the largest; `deep` turns a share into a depth.
export function pixels(values, most, name = theme(), deep = depth) {
  const table = Array.from({ length: 511 }, (_, at) => colour((at - 255) / 255, name));
  const made = new Uint8ClampedArray(values.length * 4);
  for (let at = 0; at < values.length; at++) {
    const [red, green, blue] = table[Math.round(deep(values[at], most) * 255) + 255];
    made.set([red, green, blue, 255], at * 4);
  }
  return made;
}

// Calls again when the ground changes, by the page's switch or the system's.
export function onTheme(redraw) {
  globalThis.addEventListener?.("whence-theme", redraw);
  globalThis.matchMedia?.("(prefers-color-scheme: dark)").addEventListener("change", redraw);
}
