// Every request to the server passes through here. A page that was saved carries the answers itself, and asks nobody.

const ROOT = "/api/v1";
const kept = document.getElementById("whence-data");
export const embedded = kept ? JSON.parse(kept.textContent) : null;

async function inflated({ octets, shape, scale }) {
  const bytes = Uint8Array.from(atob(octets), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return { buffer: await new Response(stream).arrayBuffer(), shape, scale };
}

function fromPage(method, path) {
  const found = embedded.responses[`${method} ${ROOT}${path}`];
  if (found === undefined) throw new Error("This saved page does not hold that; open it in the workbench.");
  return found;
}

// The answer, or an error whose message is the server's sentence.
async function answer(method, path, body, signal) {
  const options = { method, signal, credentials: "same-origin" };
  if (body !== undefined) Object.assign(options, { body: JSON.stringify(body), headers: { "Content-Type": "application/json" } });
  const response = await fetch(ROOT + path, options).catch((error) => {
    if (error.name === "AbortError") throw error;
    throw new Error("The server does not answer; is `whence serve` still running?");
  });
  if (response.ok) return response;
  const said = await response.json().catch(() => ({}));
  throw new Error(said.error ?? `The server answered ${response.status}.`);
}

export async function get(path, signal) {
  return embedded ? fromPage("GET", path) : (await answer("GET", path, undefined, signal)).json();
}

export async function text(path) {
  return (await answer("GET", path)).text();
}

export async function post(path, body, signal) {
  return embedded ? fromPage("POST", path) : (await answer("POST", path, body, signal)).json();
}

export async function remove(path) {
  return (await answer("DELETE", path)).status;
}

// Numbers: {buffer, shape, scale}.
export async function octets(path, signal) {
  if (embedded) return inflated(fromPage("GET", path));
  const response = await answer("GET", path, undefined, signal);
  const shape = response.headers.get("X-Shape").split(/[,x ]+/).map(Number);
  return { buffer: await response.arrayBuffer(), shape, scale: Number(response.headers.get("X-Scale") ?? 1) };
}

export const query = (values) => {
  const known = Object.entries(values).filter(([, value]) => value !== null && value !== undefined && value !== "");
  return known.length ? `?${new URLSearchParams(known)}` : "";
};

export const address = (path) => ROOT + path;
