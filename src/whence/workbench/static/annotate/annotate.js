// The annotation page: one item at a time; the next one is asked for only when the answer is on the server's disk.

import { drawInstructions, drawItem, element, markedWords } from "./drawing.js";
import { getItem, getStudy, saveAnswer } from "./requests.js";
import { Timer } from "./timer.js";

const VIEWS = ["item", "instructions", "paused", "done"];
const at = (id) => document.getElementById(id);
const timer = new Timer();
let study = null;
let item = null;
let view = "";
let busy = false;

function show(name) {
  view = name;
  VIEWS.forEach((one) => { at(one).hidden = one !== name; });
  const working = name === "item";
  at("answers").hidden = !working;
  at("skip").hidden = !working;
  at("back").hidden = name === "instructions" || name === "paused";
  at("start").hidden = working || name === "done";
  at("start").firstChild.textContent = name === "paused" ? "Resume " : study.answered ? "Continue " : "Start ";
  if (working) timer.go(); else timer.pause();
  at(name).focus();
}

function progress(state) {
  Object.assign(study, { total: state.total, answered: state.answered, next: state.next });
  const place = item && view === "item" ? `Item ${item.number + 1} of ${study.total} · ` : "";
  at("count").textContent = `${place}${study.answered} of ${study.total} answered`;
  Object.assign(at("progress"), { max: study.total, value: study.answered });
}

async function guarded(work) {
  if (busy) return;
  busy = true;
  at("error").hidden = true;
  try {
    await work();
  } catch (error) {
    at("error").textContent = error.message;
    at("error").hidden = false;
  } finally {
    busy = false;
  }
}

async function open(number) {
  if (number === null) {
    item = null;
    show("done");
    progress(study);
    return;
  }
  item = await getItem(number);
  at("item").replaceChildren(...drawItem(item));
  at("item").scrollTop = 0;
  at("back").disabled = number === 0;
  for (const button of at("answers").children) button.classList.toggle("given", button.dataset.answer === item.given?.answer);
  at("skip").classList.toggle("given", item.given?.answer === "skip");
  show("item");
  timer.restart();
  progress(item);
}

function after(number) {
  const following = number + 1 < study.total ? number + 1 : null;
  return item.given && following !== null ? following : study.next;
}

function answer(value) {
  if (view !== "item") return;
  guarded(async () => {
    const marked = value === "marked" ? markedWords(at("item")) : [];
    if (value === "marked" && !marked.length) throw new Error("No word is marked. Mark one, or skip the item.");
    Object.assign(study, await saveAnswer({ item: item.id, answer: value, marked, seconds: timer.seconds() }));
    await open(after(item.number));
  });
}

const back = () => guarded(() => open(item ? Math.max(0, item.number - 1) : study.total - 1));
const start = () => guarded(async () => (item ? show("item") : open(study.next)));
const toggle = (name) => { if (!busy) show(view === name ? (item ? "item" : study.next === null ? "done" : "instructions") : name); };

function move(step) {
  const all = [...at("item").querySelectorAll(".word")];
  const now = all.indexOf(document.activeElement);
  all[Math.min(all.length - 1, Math.max(0, now + step))]?.focus();
}

function pressed(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || !study) return;
  const marking = view === "item" && !item.panels.length;
  const chosen = Object.entries(study.choices).find(([, key]) => key === event.key.toLowerCase());
  const actions = {
    s: () => answer("skip"),
    b: () => (at("back").hidden || at("back").disabled ? null : back()),
    p: () => toggle("paused"),
    "?": () => toggle("instructions"),
    Enter: () => (view === "item" ? (marking ? answer("marked") : null) : at("start").hidden ? null : start()),
    ArrowRight: () => (marking ? move(1) : null),
    ArrowLeft: () => (marking ? move(-1) : null),
  };
  const action = chosen ? () => answer(chosen[0]) : actions[event.key.length === 1 ? event.key.toLowerCase() : event.key];
  if (!action || (event.key === "Enter" && document.activeElement?.tagName === "BUTTON" && !marking)) return;
  event.preventDefault();
  action();
}

function addButtons() {
  const choices = Object.keys(study.choices).length ? study.choices : { marked: "Enter" };
  const named = { yes: "Yes", no: "No", first: "First", second: "Second", same: "Equally good", marked: "Save" };
  for (const [value, key] of Object.entries(choices)) {
    const button = element("button", `${named[value] ?? value} `);
    button.type = "button";
    button.dataset.answer = value;
    button.append(element("kbd", key));
    button.addEventListener("click", () => answer(value));
    at("answers").append(button);
  }
}

guarded(async () => {
  study = await getStudy();
  document.title = `Annotate – ${study.annotator}`;
  at("question").textContent = study.question;
  at("instructions").replaceChildren(...drawInstructions(study));
  addButtons();
  at("back").addEventListener("click", back);
  at("skip").addEventListener("click", () => answer("skip"));
  at("start").addEventListener("click", start);
  at("help").addEventListener("click", () => toggle("instructions"));
  at("pause").addEventListener("click", () => toggle("paused"));
  document.addEventListener("keydown", pressed);
  show(study.next === null ? "done" : "instructions");
  progress(study);
});
