// What is seen is written in the address, so that a link restores it. Values are short texts; lists are joined by commas.

import { embedded } from "./api.js";

const LONG = 6000; // characters; what is longer goes behind the #, which is not sent to the server
const written = () => (location.hash.includes("=") ? location.hash.slice(1) : location.search);
const values = new URLSearchParams(embedded ? (embedded.state ?? {}) : written());
const joined = (page, parts) => (String(parts) ? `${page}${String(parts).length > LONG ? "#" : "?"}${parts}` : page);

export const state = {
  get: (name, otherwise = "") => values.get(name) ?? otherwise,
  list: (name) => (values.get(name) ? values.get(name).split(",") : []),
  flag: (name) => values.get(name) === "1",
  json(name, otherwise) {
    try {
      return JSON.parse(values.get(name) ?? "null") ?? otherwise;
    } catch {
      return otherwise; // a link that was cut off
    }
  },

  // Null, "" and false are left out of the address.
  set(changes) {
    for (const [name, value] of Object.entries(changes)) {
      if (value === null || value === undefined || value === "" || value === false || (Array.isArray(value) && !value.length)) values.delete(name);
      else values.set(name, value === true ? "1" : typeof value === "object" && !Array.isArray(value) ? JSON.stringify(value) : String(value));
    }
    if (!embedded) history.replaceState(null, "", joined(location.pathname, values));
    globalThis.dispatchEvent(new Event("whence-state"));
  },

  // The address of another page with some of these values.
  link(page, names, more = {}) {
    const some = new URLSearchParams(names.filter((name) => values.has(name)).map((name) => [name, values.get(name)]));
    for (const [name, value] of Object.entries(more)) if (value !== null && value !== undefined && value !== "") some.set(name, value);
    return joined(page, some);
  },
};

export const INPUT = ["model", "text", "pair", "target_text", "target", "against", "at"];
