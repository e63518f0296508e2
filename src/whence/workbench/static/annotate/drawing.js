// Items and instructions as elements. Texts are set as text, never as markup.

export function element(tag, text = "", name = "") {
  const made = document.createElement(tag);
  made.textContent = text;
  if (name) made.className = name;
  return made;
}

function prediction(text) {
  const line = element("p", "Prediction: ", "prediction");
  line.append(element("b", text));
  return line;
}

function words(texts, draw) {
  return texts.map((text, number) => {
    const line = element("p", "", number ? "text second" : "text");
    text.forEach((word, at) => line.append(draw(word, number, at), " "));
    return line;
  });
}

function highlighted(texts, panel) {
  const chosen = new Set(panel.map((place) => place.join()));
  return words(texts, (word, number, at) => element(chosen.has(`${number},${at}`) ? "mark" : "span", word));
}

function markable(texts, marked) {
  const chosen = new Set(marked.map((place) => place.join()));
  return words(texts, (word, number, at) => {
    const button = element("button", word, "word");
    button.type = "button";
    button.dataset.place = `${number},${at}`;
    button.setAttribute("aria-pressed", String(chosen.has(button.dataset.place)));
    button.addEventListener("click", () => button.setAttribute("aria-pressed", String(button.getAttribute("aria-pressed") !== "true")));
    return button;
  });
}

export function drawItem(item) {
  if (!item.panels.length) return [prediction(item.prediction), ...markable(item.texts, item.given?.marked ?? [])];
  if (item.panels.length === 1) return [prediction(item.prediction), ...highlighted(item.texts, item.panels[0])];
  const panels = item.panels.map((panel, number) => {
    const box = element("section", "", "panel");
    box.append(element("h2", ["First", "Second"][number]), ...highlighted(item.texts, panel));
    return box;
  });
  return [prediction(item.prediction), ...panels];
}

export function markedWords(place) {
  return [...place.querySelectorAll('.word[aria-pressed="true"]')].map((word) => word.dataset.place.split(",").map(Number));
}

function example(shown) {
  const box = element("div", "", "example");
  box.append(prediction(shown.prediction));
  for (const text of shown.texts) {
    const line = element("p", "", "text");
    for (const word of text.split(" ")) {
      line.append(word.startsWith("*") ? element("mark", word.replaceAll("*", "")) : word, " ");
    }
    box.append(line);
  }
  const why = element("p", "", "why");
  why.append(element("b", shown.answer === "marked" ? "Marked as above. " : `Answer: ${shown.answer}. `), shown.why);
  box.append(why);
  return box;
}

export function drawInstructions(study) {
  const list = element("ul");
  study.instructions.forEach((line) => list.append(element("li", line)));
  const keys = Object.entries(study.choices).map(([answer, key]) => `${key} ${answer}`);
  const marking = "arrow keys move between words, space marks, Enter saves";
  const line = `Keys: ${keys.length ? keys.join(", ") : marking}, s skip, b back, p pause, ? these instructions.`;
  return [element("h1", "Instructions"), list, element("h1", "Examples"), ...study.examples.map(example), element("p", line)];
}
