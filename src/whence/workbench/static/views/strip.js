// Tokens in reading order as buttons, shaded by numbers: the text beside a matrix, and the words that a summary attends to.

import { isolated, make, roving, visible } from "./dom.js";
import { colour, css, depth, inkOn, onTheme } from "./colours.js";
import { same } from "./focus.js";

export function shade(element, value, most) {
  const parts = colour(depth(value, most));
  element.style.backgroundColor = css(parts);
  element.style.color = inkOn(parts);
}

export function clearShade(element) {
  element.style.backgroundColor = element.style.color = "";
}

function tokenButton(token, at, side, focus) {
  return make("button", {
    type: "button", class: token.special ? "token special" : "token", title: visible(token.text), "aria-pressed": "false",
    onpointerenter: () => focus.point(side, at), onpointerleave: () => focus.leave(),
    onfocus: () => focus.point(side, at), onblur: () => focus.leave(), onclick: () => focus.lock(side, at),
  }, isolated(token.text));
}

// A line of tokens of one side. Returns paint(values, most), values null for none.
export function strip(place, tokens, side, focus, label) {
  const buttons = tokens.map((token, at) => tokenButton(token, at, side, focus));
  const bar = place.appendChild(make("div", { class: "strip", role: "toolbar", "aria-label": label }, buttons));
  roving(bar, buttons);
  let last = [null, 1];
  const paint = (values, most) => {
    last = [values, most];
    buttons.forEach((one, at) => (values ? shade(one, values[at], most) : clearShade(one)));
  };
  focus.listen((now, locked) => buttons.forEach((one, at) => {
    one.classList.toggle("near", same(now, side, at));
    one.setAttribute("aria-pressed", String(same(locked, side, at)));
  }));
  onTheme(() => paint(...last));
  return paint;
}
