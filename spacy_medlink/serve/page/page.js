// The page of `medlink serve`. All text from notes and terminologies is set as text, never as HTML.
"use strict";

const $ = (id) => document.getElementById(id);
const KINDS = ["negated", "uncertain", "historical", "hypothetical", "family"];
let linked = null; // {text, terminology, mentions} of the last answer
let served = []; // what is said of each terminology
let notes = []; // texts of the files that were opened last

// Make an element: its attributes, and what is in it (elements, texts).
function make(tag, attributes = {}, ...inner) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "onclick") made.addEventListener("click", value);
    else if (value !== false && value !== null) made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...inner.filter((one) => one !== null && one !== ""));
  return made;
}

async function send(path, body, method = body ? "POST" : "GET") {
  const headers = { "Content-Type": "application/json" };
  const token = sessionStorage.getItem("token");
  if (token) headers.Authorization = `Bearer ${token}`;
  const response = await fetch(path, { method, headers, body: body ? JSON.stringify(body) : null });
  if (response.status === 401) $("login").hidden = false;
  if (response.ok) return response;
  const answer = await response.json().catch(() => ({}));
  throw new Error(answer.error ? answer.error.message : response.statusText);
}

const ask = async (...request) => (await send(...request)).json();

// Run what a button asks for, and say what went wrong.
async function attempt(work) {
  $("status").className = "";
  try {
    await work();
  } catch (error) {
    $("status").className = "error";
    $("status").textContent = error.message;
  }
}

const within = (name) => `terminology=${encodeURIComponent(name)}`;
const shown = (number) => (number === null ? "" : number.toFixed(2));
const sureness = (mention) => (mention.prob === null ? mention.score : mention.prob);

function kindOf(mention) {
  const best = mention.candidates[0];
  return best && best.types.length ? best.types[0] : mention.type;
}

function isLinked(mention) {
  return mention.ids.length > 0 && sureness(mention) >= Number($("least").value);
}

async function link(text = $("text").value) {
  $("status").textContent = "Linking ...";
  const start = performance.now();
  const types = $("types").value.split(",").map((one) => one.trim()).filter(Boolean);
  const terminology = $("terminology").value;
  const answer = await ask("link", { texts: [text], terminology, types, candidates: 10 });
  linked = { text, terminology: answer.terminology, mentions: answer.documents[0].mentions };
  $("status").dataset.seconds = ((performance.now() - start) / 1000).toFixed(2);
  $("save").disabled = false;
  draw();
}

// Draw the note with its mentions; of overlapping ones the longest.
function draw() {
  const least = $("least").value;
  $("least-shown").textContent = least;
  if (!linked) return;
  const points = Array.from(linked.text); // offsets count characters, as Python does
  const kinds = [...new Set(linked.mentions.filter(isLinked).map(kindOf))].sort();
  const colour = (mention) => (isLinked(mention) ? `c${kinds.indexOf(kindOf(mention)) % 8}` : "nil");
  const parts = [];
  let end = 0;
  const order = [...linked.mentions].sort((a, b) => a.start - b.start || b.end - a.end);
  for (const mention of order) {
    if (mention.start < end) continue;
    parts.push(points.slice(end, mention.start).join(""));
    const said = KINDS.filter((kind) => mention[kind]);
    const note = [isLinked(mention) ? mention.ids[0] : "NIL", ...said].join(", ");
    const title = isLinked(mention) ? mention.name : mention.reason || "below the probability";
    const at = { "data-start": String(mention.start), "data-end": String(mention.end) };
    const button = make("button", { class: colour(mention), title, "aria-pressed": "false", ...at },
      make("span", { class: mention.negated ? "negated" : null }, mention.mention),
      make("small", {}, note));
    button.addEventListener("click", () => attempt(() => choose(mention, button)));
    parts.push(button);
    end = mention.end;
  }
  parts.push(points.slice(end).join(""));
  $("linked").replaceChildren(...parts);
  $("legend").replaceChildren(...kinds.map((kind, place) => make("li", { class: `c${place % 8}` }, kind)));
  const links = linked.mentions.filter(isLinked).length;
  const count = linked.mentions.length;
  $("status").textContent =
    `${count} mentions, ${links} linked, ${count - links} NIL; ${$("status").dataset.seconds} s.`;
}

function table(header, rows) {
  return make("table", {}, make("thead", {}, make("tr", {}, ...header.map((one) => make("th", { scope: "col" }, one)))),
    make("tbody", {}, ...rows));
}

function show(title, ...inner) {
  $("details").replaceChildren(make("h2", { id: "details-title" }, title), ...inner);
  $("details").scrollTop = 0;
  $("details").scrollIntoView({ block: "nearest" });
}

// A button that shows a concept.
function conceptButton(id, name, terminology) {
  const open = () => attempt(() => showConcept(id, terminology));
  return make("button", { class: "plain", onclick: open }, name ? `${name} (${id})` : id);
}

function candidatesOf(mention) {
  const rows = mention.candidates.map((one) => make("tr", {},
    make("td", {}, conceptButton(one.id, one.name, linked.terminology), chooseButton(one.id, one.name)),
    make("td", {}, one.matched),
    make("td", {}, Object.keys(one.ranks).join(", ")),
    make("td", { class: "number" }, shown(one.score)),
    make("td", { class: "number" }, shown(one.prob))));
  return table(["candidate", "matched name", "tiers", "score", "prob."], rows);
}

async function choose(mention, button) {
  pick(mention);
  for (const one of $("linked").querySelectorAll("button")) one.setAttribute("aria-pressed", "false");
  button.setAttribute("aria-pressed", "true");
  const { text, terminology } = linked;
  const said = KINDS.filter((kind) => mention[kind]).join(", ");
  const facts = [mention.reason ? `NIL: ${mention.reason}` : "", said, mention.section ? `in ${mention.section}` : ""];
  const why = make("pre", {}, "...");
  show(`“${mention.mention}”`, make("p", {}, facts.filter(Boolean).join("; ")),
    candidatesOf(mention), ...correcting(),
    make("h3", {}, "Why"), why);
  const { start, end } = mention;
  why.textContent = (await ask("explain", { text, start, end, terminology })).text;
}

async function showConcept(id, terminology) {
  const own = await ask(`concepts?id=${encodeURIComponent(id)}&${within(terminology)}`);
  const named = (list) => list.map((one) => make("li", {}, conceptButton(one.id, one.name, terminology)));
  const list = (title, items) => (items.length ? [make("h3", {}, title), make("ul", {}, ...items)] : []);
  const names = own.names.map((one) => make("li", {},
    `${one.text} [${[one.lang, one.source, one.tty].filter(Boolean).join(", ")}]`));
  const codes = Object.entries(own.codes).map(([scheme, all]) => make("li", {}, `${scheme}: ${all.join(", ")}`));
  const isWeb = own.url.startsWith("https://") || own.url.startsWith("http://");
  const page = isWeb ? make("a", { href: own.url, rel: "noreferrer", target: "_blank" }, own.id) : own.id;
  show(own.name, make("p", {}, page, own.types.length ? ` · ${own.types.join(", ")}` : ""),
    own.definition ? make("p", {}, own.definition) : "", chooseButton(id, own.name),
    ...list("Above", named(own.parents)), ...list("Below", named(own.children)),
    ...list("Names", names), ...list("Codes", codes));
}

async function search() {
  const query = $("query").value.trim();
  if (query) show(`Search: ${query}`, await foundFor(query));
}

// A table of the concepts whose names hold a text or are near it.
async function foundFor(query) {
  const terminology = $("terminology").value;
  const found = await ask(`search?q=${encodeURIComponent(query)}&${within(terminology)}`);
  const rows = found.map((one) => make("tr", {},
    make("td", {}, conceptButton(one.id, one.name, terminology), chooseButton(one.id, one.name)),
    make("td", {}, one.matched), make("td", {}, one.how)));
  return rows.length ? table(["concept", "matched name", "how"], rows)
    : make("p", {}, "No name holds this or is near it.");
}

function save() {
  download(new Blob([JSON.stringify(linked, null, 1)], { type: "application/json" }), "links.json");
}

function download(blob, name) {
  const address = URL.createObjectURL(blob);
  make("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 1000);
}

async function start() {
  const found = await ask("terminologies");
  $("login").hidden = true;
  served = found;
  $("terminology").replaceChildren(...found.map((one) =>
    make("option", { value: one.name }, `${one.name} (${one.concepts.toLocaleString("en")} concepts)`)));
  offerCorrections();
  if (found[0].notes) await review(found[0].name);
}

document.addEventListener("DOMContentLoaded", () => {
  $("link").addEventListener("click", () => attempt(linkNew));
  $("save").addEventListener("click", save);
  $("least").addEventListener("input", draw);
  $("search").addEventListener("submit", (event) => { event.preventDefault(); attempt(search); });
  $("text").addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) attempt(linkNew);
  });
  $("file").addEventListener("change", async () => {
    notes = await Promise.all([...$("file").files].map((file) => file.text()));
    $("file").value = "";
    if (notes.length) { $("text").value = notes[0]; attempt(linkNew); }
  });
  $("login").addEventListener("submit", (event) => {
    event.preventDefault();
    sessionStorage.setItem("token", $("token").value);
    attempt(start);
  });
  attempt(start);
});
