// What every page has: the way to the others, light or dark, a link to what is seen, and a place for errors.

import { button, make, replaceChildren } from "../views/dom.js";
import { theme } from "../views/colours.js";
import { exportBar, fullScreen } from "../views/exporting.js";
import { embedded } from "./api.js";
import { INPUT, state } from "./state.js";

const PAGES = { "/": "Look", "/change": "Change", "/compare": "Compare", "/audit": "Audit", "/explore": "Explorer" };

function stored(name) {
  try {
    return localStorage.getItem(name);
  } catch {
    return null; // a sandboxed frame has no storage
  }
}

function setTheme(name) {
  document.documentElement.dataset.theme = name;
  try {
    localStorage.setItem("whence-theme", name);
  } catch {
    return; // not kept then
  }
}

function themeSwitch() {
  const words = () => (theme() === "dark" ? "light" : "dark");
  const made = button(words(), () => {
    setTheme(theme() === "dark" ? "light" : "dark");
    made.textContent = words();
    globalThis.dispatchEvent(new Event("whence-theme"));
  }, { class: "plain", "aria-label": "switch between light and dark" });
  return made;
}

function copyLink() {
  const made = button("copy link", async () => {
    await navigator.clipboard.writeText(location.href).then(() => (made.textContent = "copied"), () => (made.textContent = "the address bar has the link"));
    setTimeout(() => (made.textContent = "copy link"), 2500);
  }, { class: "plain", title: "a link that restores this view" });
  return made;
}

function ways() {
  const links = Object.entries(PAGES).map(([page, text]) => make("a", { text, "data-page": page, "aria-current": location.pathname === page ? "page" : null }));
  const update = () => links.forEach((link) => link.setAttribute("href", state.link(link.dataset.page, INPUT)));
  globalThis.addEventListener("whence-state", update);
  update();
  return make("nav", { "aria-label": "pages" }, links);
}

const saved = stored("whence-theme");
if (saved) document.documentElement.dataset.theme = saved;

export function shell() {
  const head = embedded ? [make("strong", { text: "Whence" }), themeSwitch()] : [make("a", { class: "brand", href: "/", text: "Whence" }), ways(), make("span", { class: "gap" }), copyLink(), themeSwitch()];
  document.body.prepend(make("a", { class: "skip", href: "#main", text: "to the content" }), make("header", { class: "top" }, head));
}

// A sentence at the top of a place; an empty one takes it away.
const places = () => document.getElementById("problem");

export function problem(error) {
  if (error?.name === "AbortError") return;
  replaceChildren(places(), error ? make("p", { class: "problem", role: "alert", text: error.message ?? String(error) }) : null);
}

// Runs what a press asks for; while it runs the place is marked busy, and an error becomes a sentence.
export async function attempt(place, work) {
  problem(null);
  place?.setAttribute("aria-busy", "true");
  try {
    return await work();
  } catch (error) {
    problem(error);
    if (!(error instanceof Error) || error instanceof TypeError || error instanceof ReferenceError) console.error(error);
    return undefined;
  } finally {
    place?.removeAttribute("aria-busy");
  }
}

// A card with a heading, where a part of a page lives.
export function card(title, ...children) {
  const head = make("div", { class: "card-head" }, make("h2", { text: title })), body = make("div", { class: "card-body" }, children);
  return { card: make("section", { class: "card", "aria-label": title }, head, body), head, body };
}

// The buttons of a card: those that save it (`given` as in exportBar), and one that shows it on the whole screen.
export function tools(made, given) {
  made.head.querySelector(".card-tools")?.remove();
  made.head.append(make("span", { class: "card-tools" }, exportBar(given), fullScreen(made.card)));
}
