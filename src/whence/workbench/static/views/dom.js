// What every view shares: elements whose text is only ever text, numbers in words, and characters made visible.

export const range = (count) => Array.from({ length: count }, (_, number) => number);

// An element: `on…` are listeners, `style` is an object, `text` is text, the rest are attributes; false and null are left out.
export function make(tag, given = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(given)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (name === "style") Object.assign(made.style, value);
    else if (name === "text") made.textContent = value;
    else if (name === "value") made.value = value;
    else made.setAttribute(name, value === true ? "" : String(value));
  }
  made.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return made;
}

export const button = (text, press, given = {}) => make("button", { type: "button", text, onclick: press, ...given });

export function toggle(text, pressed, change, given = {}) {
  const made = button(text, () => {
    const now = made.getAttribute("aria-pressed") !== "true";
    made.setAttribute("aria-pressed", String(now));
    change(now);
  }, { "aria-pressed": String(Boolean(pressed)), ...given });
  return made;
}

// A labelled choice; options are [value, text].
export function choice(label, options, value, change, given = {}) {
  const select = make("select", { "aria-label": label, onchange: () => change(select.value), ...given },
    options.map(([key, text]) => make("option", { value: key, text })));
  select.value = value;
  return make("label", { class: "field" }, make("span", { text: label }), select);
}

export function replaceChildren(place, ...children) {
  place.replaceChildren(...children.flat().filter((child) => child !== null && child !== undefined));
  return place;
}

const UNSEEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}]|(?! )\p{Zs}/gu;

// Invisible characters, and those that change the direction of writing, as ‹U+200B›; the same rule as figures/token_shading.py.
export const visible = (text) =>
  text.replace(UNSEEN, (one) => `‹U+${one.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}›`);

// A token isolated, so that one written from right to left does not move its neighbours.
export const isolated = (text, given = {}) => make("bdi", { text: visible(text), ...given });

const tidy = (value) => String(Number(value)).replace("-", "−");
export const number = (value, digits = 3) => (Number.isFinite(value) ? tidy(value.toPrecision(digits)) : "–");
export const percent = (share) => (Number.isFinite(share) ? `${tidy((100 * share).toPrecision(share > 0.1 ? 3 : 2))}\u00a0%` : "–");

// Among several elements only one is a stop of the Tab key; arrows go to the others, `columns` of them in a row.
export function roving(place, members, columns = 1) {
  members.forEach((one, at) => (one.tabIndex = at ? -1 : 0));
  place.addEventListener("focusin", (event) => {
    if (members.includes(event.target)) members.forEach((one) => (one.tabIndex = one === event.target ? 0 : -1));
  });
  place.addEventListener("keydown", (event) => {
    const from = members.indexOf(event.target);
    const step = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: columns, ArrowUp: -columns }[event.key];
    const to = { Home: 0, End: members.length - 1 }[event.key] ?? (step === undefined ? undefined : from + step);
    if (from < 0 || to === undefined) return;
    event.preventDefault();
    if (to >= 0 && to < members.length) members[to].focus();
  });
}
