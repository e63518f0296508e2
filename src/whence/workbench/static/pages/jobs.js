// Long work on the server: its progress as it comes (server-sent events), and a button that stops it.

import { button, make, replaceChildren } from "../views/dom.js";
import { address, remove } from "./api.js";

// Follows a job in a place until it ends; resolves with its result, or rejects with its error. Null if it was stopped.
export function follow(place, job, { label, stopWords = "stop", progress = () => {} }) {
  const bar = make("progress", { max: 1, "aria-label": label }), words = make("span", { class: "quiet", role: "status", text: "waiting for the model…" });
  const stop = button(stopWords, () => remove(`/jobs/${encodeURIComponent(job)}`).catch((error) => (words.textContent = error.message)));
  const lines = make("ol", { class: "log", "aria-label": `${label}: messages` });
  replaceChildren(place, make("div", { class: "job" }, bar, words, stop), lines);
  return new Promise((done, fail) => {
    const source = new EventSource(address(`/jobs/${encodeURIComponent(job)}/events`));
    const end = (finish, value) => {
      source.close();
      stop.remove();
      finish(value);
    };
    source.addEventListener("progress", (event) => {
      const told = JSON.parse(event.data);
      if (Number.isFinite(told.total) && told.total > 0) bar.value = told.done / told.total;
      words.textContent = told.message ?? told.stage ?? (told.total ? `${told.done} of ${told.total}` : "");
      progress(told);
    });
    source.addEventListener("message", (event) => {
      const told = JSON.parse(event.data);
      lines.append(make("li", { text: told.message ?? told.text ?? "" }));
    });
    source.addEventListener("result", (event) => end((value) => ((bar.value = 1), (words.textContent = "done"), done(value)), JSON.parse(event.data)));
    source.addEventListener("cancelled", () => end((value) => ((words.textContent = "stopped"), done(value)), null));
    source.addEventListener("error", (event) => {
      if (event.data) end(fail, new Error(JSON.parse(event.data).error));
      else if (source.readyState === EventSource.CLOSED) end(fail, new Error("The server closed the connection before the work was done."));
    });
  });
}
