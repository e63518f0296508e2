// Requests to the annotator's own part of the server. An error is a sentence.

async function request(path, options) {
  let answer;
  try {
    answer = await fetch(`api/${path}`, { credentials: "same-origin", ...options });
  } catch {
    throw new Error("The server cannot be reached. Nothing is lost: try again in a moment.");
  }
  const body = await answer.json().catch(() => ({}));
  if (!answer.ok) throw new Error(body.error || `The server answered ${answer.status}.`);
  return body;
}

export function getStudy() { return request("study"); }

export function getItem(number) { return request(`items/${number}`); }

export function saveAnswer(answer) {
  return request("answers", { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(answer) });
}
