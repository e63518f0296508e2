// Explorer: the user's table with what the model predicts of each row; sorted, filtered, and from a row to Look.

import { button, isolated, make, number, percent, replaceChildren, visible } from "../views/dom.js";
import { tablePicture } from "../views/table_picture.js";
import { get, post, query } from "./api.js";
import { follow } from "./jobs.js";
import { attempt, card, shell, tools } from "./shell.js";
import { state } from "./state.js";

const main = document.getElementById("main"), results = document.getElementById("results");
const PAGE = 25;
const plain = (value) => (value === null || value === undefined ? "–" : visible(String(value)));
const COLUMNS = {
  row: ["row", plain], text: ["text", plain], label: ["label", plain], prediction: ["prediction", plain], confidence: ["confidence", percent],
  largest_weight: ["largest weight", number], sink_share: ["sink share", percent], disagreement: ["disagreement", number],
};
const ABOUT = "Confidence: probability of the prediction. Largest weight: the largest that attention puts on one token. Sink share: weight on sinks. Disagreement: how differently the methods rank the tokens.";

class Explorer {
  constructor(info) {
    Object.assign(this, { info, made: card(`${info.data.name}: ${info.data.rows} rows`), body: make("div", { class: "table-scroll" }), count: make("span", { class: "quiet", role: "status" }), progress: make("div") });
    const filter = make("input", { type: "search", value: state.get("filter"), placeholder: "filter by text, label or prediction", "aria-label": "filter", size: 34 });
    filter.addEventListener("input", () => (state.set({ filter: filter.value, offset: null }), this.show()));
    const turn = (by) => (state.set({ offset: Math.max(0, Number(state.get("offset", "0")) + by) }), this.show());
    this.made.body.append(make("div", { class: "bar" }, filter, button("‹ previous", () => turn(-PAGE)), button("next ›", () => turn(PAGE)), this.count, make("span", { class: "gap" }),
      button("compute for all rows", () => this.compute())), this.progress, this.body, make("p", { class: "quiet", text: ABOUT }));
    replaceChildren(results, this.made.card);
    tools(this.made, () => this.files());
    this.show();
  }

  address(offset, limit) {
    return `/examples${query({ offset, limit, sort: state.get("sort"), order: state.get("order"), filter: state.get("filter"), model: state.get("model") })}`;
  }

  show() {
    const turn = (this.turn = Symbol("turn"));
    return attempt(this.body, async () => {
      const page = await get(this.address(Number(state.get("offset", "0")), PAGE));
      if (turn === this.turn) this.draw(page);
    });
  }

  header(name) {
    const [title] = COLUMNS[name], sorted = state.get("sort") === name, down = state.get("order") === "desc";
    const press = () => (state.set({ sort: name, order: sorted && !down ? "desc" : "asc", offset: null }), this.show());
    return make("th", { scope: "col", "aria-sort": sorted ? (down ? "descending" : "ascending") : "none" }, button(`${title}${sorted ? (down ? " ↓" : " ↑") : ""}`, press, { "data-sort": name }));
  }

  draw({ rows, total }) {
    const offset = Number(state.get("offset", "0")), names = Object.keys(COLUMNS).filter((name) => name === "row" || rows.some((row) => row[name] !== null && row[name] !== undefined));
    this.count.textContent = total ? `${offset + 1}–${Math.min(offset + PAGE, total)} of ${total}` : "no row has that";
    const link = (row) => state.link("/", ["model"], { text: row.text, pair: row.pair, target_text: row.target_text });
    const cell = (row, name) => {
      if (name === "text") return make("td", { class: "text-cell" }, make("a", { href: link(row) }, isolated(row.text)), row.pair ? make("div", { class: "quiet" }, isolated(row.pair)) : null);
      const wrong = name === "prediction" && row.label && row.prediction && row.label !== row.prediction;
      return make("td", { class: typeof row[name] === "number" ? "figure" : null }, make("bdi", { class: wrong ? "changed" : null, text: COLUMNS[name][1](row[name]), title: wrong ? "not the label" : null }));
    };
    replaceChildren(this.body, make("table", {}, make("caption", { class: "unseen", text: "examples" }), make("thead", {}, make("tr", {}, names.map((name) => this.header(name)))),
      make("tbody", {}, rows.map((row) => make("tr", {}, names.map((name) => cell(row, name)))))));
  }

  compute() {
    return attempt(this.progress, async () => {
      const { job } = await post("/examples/compute", { model: state.get("model") || this.info.models[0].id });
      await follow(this.progress, job, { label: "computing the table" });
      await this.show();
    });
  }

  // All rows that pass the filter; the picture is of those on the page.
  async files() {
    const names = Object.keys(COLUMNS), rows = [], cells = (some) => [names, ...some.map((row) => names.map((name) => row[name] ?? ""))];
    for (let total = 1; rows.length < total; ) {
      const page = await get(this.address(rows.length, 200));
      if (!page.rows.length) break;
      rows.push(...page.rows);
      total = page.total;
    }
    const first = Number(state.get("offset", "0")), filter = state.get("filter");
    return { name: "whence-examples", title: this.info.data.name, about: filter ? `rows with “${filter}”` : "all rows", pictures: [tablePicture(cells(rows.slice(first, first + PAGE)))], tables: [cells(rows)] };
  }
}

async function start() {
  shell();
  const info = await attempt(main, () => get("/info"));
  if (!info) return;
  if (!info.data) replaceChildren(results, make("p", { class: "problem", text: "No table is open; start the workbench as: whence serve MODEL DATA" }));
  else new Explorer(info);
}

start();
