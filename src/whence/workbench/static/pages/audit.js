// Audit: start one with a budget, watch its plan and progress, stop and resume it, read its report; and all past ones.

import { button, choice, make, replaceChildren, visible } from "../views/dom.js";
import { tablePicture } from "../views/table_picture.js";
import { badge } from "../views/verdicts.js";
import { address, get, post } from "./api.js";
import { follow } from "./jobs.js";
import { resultsCard } from "./results.js";
import { attempt, card, shell, tools } from "./shell.js";
import { state } from "./state.js";

const main = document.getElementById("main"), results = document.getElementById("results");

// The report in a frame that runs nothing and reaches nothing.
function reportFrame(name) {
  return make("iframe", { class: "report", sandbox: "allow-popups", src: address(`/audits/${encodeURIComponent(name)}/report`), title: `report of ${name}` });
}

class Audits {
  constructor(info) {
    Object.assign(this, { info, start: card("Start an audit"), past: card("Audits in this folder"), report: card("Report"), results: make("div"), progress: make("div") });
    replaceChildren(results, this.start.card, this.past.card, this.report.card, this.results);
    this.report.card.hidden = true;
    this.form();
    this.refresh();
    this.watchRunning();
  }

  form() {
    const { info } = this, budget = make("input", { type: "number", name: "budget", min: 0.05, step: "any", value: 10 });
    const models = choice("Model", info.models.map((one) => [one.id, one.name]), info.models[0].id, () => {}, { name: "model" });
    const [force, heads] = ["force", "heads"].map((name) => make("input", { type: "checkbox", name }));
    const form = make("form", { class: "bar", onsubmit: (event) => {
      event.preventDefault();
      const given = new FormData(form);
      this.run({ model: given.get("model"), budget: Number(given.get("budget")), force: force.checked, skip: given.get("skip").split(/[\s,]+/).filter(Boolean), experiments: heads.checked ? ["representation_erasure"] : [] });
    } }, models, make("label", { class: "field" }, make("span", { text: "Budget in minutes" }), budget),
    make("label", { class: "field", title: "run even if the budget allows fewer than 50 texts" }, force, make("span", { text: "run with too small a budget" })),
    make("label", { class: "field", title: "what is lost without each head; Look shows it beside the head" }, heads, make("span", { text: "measure each head" })),
    make("label", { class: "field", title: "experiments that are not run, such as controls" }, make("span", { text: "Leave out" }), make("input", { name: "skip", size: 12, placeholder: "none" })),
    make("button", { type: "submit", class: "main", text: "Start" }));
    const words = info.data ? `on ${info.data.name} (${info.data.rows} rows). The same audit again resumes where it was stopped.` : "No table is open; start the workbench as: whence serve MODEL DATA";
    this.start.body.append(make("p", { class: "quiet", text: words }), info.data ? form : "", this.progress);
  }

  run(request) {
    return attempt(this.start.body, async () => {
      const { job } = await post("/audits", request);
      await this.watch(job);
    });
  }

  async watch(job) {
    const result = await follow(this.progress, job, { label: "audit", stopWords: "stop (can be resumed)" });
    await this.refresh();
    if (result?.name) this.open(result.name);
  }

  // An audit that was started before this page was opened goes on being watched.
  watchRunning() {
    return attempt(null, async () => {
      const { jobs } = await get("/jobs");
      const running = jobs.find((one) => one.name === "audit" && one.state === "running");
      if (running) await this.watch(running.job);
    });
  }

  refresh() {
    return attempt(this.past.body, async () => {
      const { audits } = await get("/audits");
      this.drawPast(audits);
      const wanted = state.get("audit");
      if (wanted && audits.some((one) => one.name === wanted && one.state === "finished")) this.open(wanted);
    });
  }

  drawPast(audits) {
    if (!audits.length) return replaceChildren(this.past.body, make("p", { class: "quiet", text: "None yet." }));
    const questions = [...new Map(audits.flatMap((one) => one.verdicts.map((verdict) => [verdict.question, verdict.title ?? verdict.question]))).entries()];
    const line = (audit) => make("tr", {}, make("th", { scope: "row" }, button(audit.name, () => this.open(audit.name), { class: "plain", "data-audit": audit.name, disabled: audit.state !== "finished" })), make("td", { text: (audit.date ?? "").replace("T", " ").replace("+00:00", " UTC") }),
      make("td", { title: audit.error ?? null }, badge(audit.answer ?? "none")), questions.map(([question]) => {
        const found = audit.verdicts.find((one) => one.question === question);
        return make("td", { title: found?.sentence ?? null }, found ? badge(found.verdict) : "–");
      }));
    const heads = ["audit", "date", "overall", ...questions.map(([, title]) => String(title))];
    const cells = [heads, ...audits.map((audit) => [audit.name, audit.date ?? "", audit.answer ?? audit.state, ...questions.map(([question]) => audit.verdicts.find((one) => one.question === question)?.verdict ?? "")])];
    tools(this.past, () => ({ name: "whence-audits", title: "Audits in this folder", about: "", pictures: [tablePicture(cells)], tables: [cells] }));
    return replaceChildren(this.past.body, make("div", { class: "table-scroll" }, make("table", { class: "past" }, make("caption", { class: "unseen", text: "past audits" }), make("thead", {}, make("tr", {}, heads.map((text) => make("th", { scope: "col", text })))), make("tbody", {}, audits.map(line)))));
  }

  open(name) {
    state.set({ audit: name });
    this.report.card.hidden = false;
    const link = make("a", { class: "button", href: address(`/audits/${encodeURIComponent(name)}/report`), target: "_blank", rel: "noopener", text: "open in a tab of its own" });
    const keep = make("a", { class: "button", href: link.href, download: `${name}.html`, text: "save the report (HTML)" });
    this.report.head.firstChild.textContent = `Report: ${name}`;
    replaceChildren(this.report.body, make("p", { class: "bar" }, link, keep), reportFrame(name));
    attempt(this.results, async () => replaceChildren(this.results, await resultsCard(name)));
  }
}

async function start() {
  shell();
  const info = await attempt(main, () => get("/info"));
  if (info) new Audits(info);
}

start();
