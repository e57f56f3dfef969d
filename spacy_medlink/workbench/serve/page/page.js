// The page of `medlink serve`. All text from notes and terminologies is set as text, never as HTML.
"use strict";

const $ = (id) => document.getElementById(id);
// What is said of a mention, in a word for the mark.
const STATUS = { negated: "absent", uncertain: "possible", historical: "past", hypothetical: "conditional", family: "family" };
const EXAMPLES = {
  en: "Known asthma and hypertension. Fever and chills since Monday, no chest pain, no vomiting.\nPossible pneumonia. Appendicitis in 2011. Mother: breast cancer.",
  es: "Asma e hipertensión conocidas. Fiebre y escalofríos desde el lunes, sin dolor torácico ni vómitos.\nPosible neumonía. Madre: cáncer de mama.",
  de: "Bekanntes Asthma und Hypertonie. Seit Montag Fieber und Schüttelfrost, kein Erbrechen.\nVerdacht auf Pneumonie. Mutter: Brustkrebs.",
  fr: "Asthme et hypertension connus. Fièvre et frissons depuis lundi, pas de douleur thoracique.\nPossible pneumonie. Mère : cancer du sein.",
  it: "Asma e ipertensione note. Febbre e brividi da lunedì, nessun dolore toracico.\nPossibile polmonite. Madre: carcinoma mammario.",
};
const isPhone = matchMedia("(max-width: 48rem)");
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
    $("status").scrollIntoView({ block: "nearest" });
  }
}

const within = (name) => `terminology=${encodeURIComponent(name)}`;
const shown = (number) => (number === null || number === undefined ? "" : number.toFixed(2));
const sureness = (mention) => (mention.prob === null ? mention.score : mention.prob);
const short = (text) => (text.length > 40 ? `${text.slice(0, 38)}…` : text);
const same = (one, other) => one.toLowerCase() === other.toLowerCase();
const language = () => (served.find((one) => one.name === $("terminology").value) || { lang: "en" }).lang;

function kindOf(mention) {
  const best = mention.candidates[0];
  return best && best.types.length ? best.types[0] : mention.type;
}

function isLinked(mention) {
  return mention.ids.length > 0 && sureness(mention) >= Number($("least").value);
}

async function link(text = $("text").value) {
  if (!text.trim()) throw new Error("The note is empty. Paste or type one, open a file, or press Example.");
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
    parts.push(points.slice(end, mention.start).join(""), markOf(mention, colour(mention)));
    end = mention.end;
  }
  parts.push(points.slice(end).join(""));
  $("linked").replaceChildren(...parts);
  $("legend").hidden = kinds.length < 2;
  $("legend").replaceChildren(...kinds.map((kind, place) => make("li", { class: `c${place % 8}` }, kind)));
  tellCount();
}

function tellCount() {
  const links = linked.mentions.filter(isLinked).length;
  const left = linked.mentions.length - links;
  const hint = mayCorrect(linked.terminology) ? " Select words in the note and press Mention from selection, or search." : " Search for a concept by its name.";
  $("status").textContent = linked.mentions.length
    ? `${links} linked${left ? `, ${left} without a link` : ""}. Choose one to see what it means. (${$("status").dataset.seconds} s)`
    : `No mention was found in this note.${hint}`;
}

// A mention in the note: its words, the concept where it has another name, and its status.
function markOf(mention, colour) {
  const name = isLinked(mention) ? mention.name : "no link";
  const title = isLinked(mention) ? `${mention.name} (${mention.ids[0]})` : mention.reason || "below the probability";
  const at = { "data-start": String(mention.start), "data-end": String(mention.end) };
  const button = make("button", { class: colour, title, "aria-pressed": "false", ...at },
    make("span", {}, mention.mention), same(name, mention.mention) ? "" : make("small", {}, name),
    ...statusOf(mention).map((word) => make("small", { class: "word" }, word)));
  button.addEventListener("click", () => attempt(() => choose(mention, button)));
  return button;
}

const statusOf = (mention) => Object.keys(STATUS).filter((said) => mention[said]).map((said) => STATUS[said]);

function table(header, rows) {
  return make("table", {}, make("thead", {}, make("tr", {}, ...header.map((one) => make("th", { scope: "col" }, one)))),
    make("tbody", {}, ...rows));
}

// Show details below what they are about: the chosen mention, or the term.
function show(title, ...inner) {
  const target = targetOf();
  $("target").replaceChildren(...target);
  $("target").hidden = !target.length;
  $("shown").replaceChildren(...(title ? [make("h2", {}, title)] : []), ...inner);
  $("details").scrollTop = 0;
  openDetails();
}

function openDetails() {
  if ($("details").classList.contains("open")) return;
  $("details").classList.add("open");
  if (isPhone.matches) history.pushState("details", ""); // the phone's Back closes the sheet
}

function closeDetails() {
  if (history.state === "details") history.back();
  else shutDetails();
}

function shutDetails() {
  $("details").classList.remove("open");
  const chosen = document.querySelector("#linked [aria-pressed='true']");
  if (chosen && !inTerms()) chosen.focus();
}

// A button that shows a concept: its name, and its id in small.
function conceptButton(id, name, terminology) {
  const open = () => attempt(() => showConcept(id, terminology));
  return make("span", {}, make("button", { class: "plain", onclick: open }, name || id), name ? make("small", {}, ` ${id}`) : "");
}

// A list of concepts, each with its probability, the name that matched, and what decides on it.
function conceptList(concepts, terminology) {
  const facts = (one) => [one.match, one.matched && !same(one.matched, one.name) ? `by its name “${one.matched}”` : ""].filter(Boolean).join(", ");
  return make("ul", { class: "candidates" }, ...concepts.map((one, at) => make("li", {},
    conceptButton(one.id, one.name, terminology), make("span", { class: "number" }, shown(one.prob)),
    make("small", {}, facts(one)), chooseButton(one.id, one.name, "match" in one && at < 9 ? String(at + 1) : ""))));
}

async function choose(mention, button) {
  pick(mention);
  for (const one of $("linked").querySelectorAll("button")) one.setAttribute("aria-pressed", "false");
  button.setAttribute("aria-pressed", "true");
  const { text, terminology } = linked;
  const [id] = mention.ids;
  const meaning = make("p", {});
  const why = make("pre", {}, "...");
  const others = mention.candidates.filter((one) => one.id !== id);
  const facts = [id && mention.prob !== null ? `probability ${shown(mention.prob)}` : mention.reason || "",
    ...statusOf(mention), mention.section ? `in ${mention.section}` : ""];
  show(id ? conceptButton(id, mention.name, terminology) : "No link", make("p", {}, facts.filter(Boolean).join(" · ")), meaning,
    ...(others.length ? [make("h3", {}, id ? "It may also be" : "It may be"), conceptList(others, terminology)] : []),
    ...correcting(), make("details", {}, make("summary", {}, "Why"), why));
  button.scrollIntoView({ block: "nearest" });
  const { start, end } = mention;
  const [said, concept] = await Promise.all([ask("explain", { text, start, end, terminology }),
    id ? ask(`concepts?id=${encodeURIComponent(id)}&${within(terminology)}`) : null]);
  why.textContent = said.text;
  if (concept) meaning.textContent = concept.definition;
}

async function showConcept(id, terminology) {
  const own = await ask(`concepts?id=${encodeURIComponent(id)}&${within(terminology)}`);
  const named = (list) => list.map((one) => make("li", {}, conceptButton(one.id, one.name, terminology)));
  const list = (title, items) => (items.length ? [make("h3", {}, title), make("ul", {}, ...items)] : []);
  const names = own.names.map((one) => make("li", {}, one.text,
    make("small", {}, ` ${[one.lang, one.source, one.tty].filter(Boolean).join(", ")}`)));
  const codes = Object.entries(own.codes).map(([scheme, all]) => make("li", {}, `${scheme}: ${all.join(", ")}`));
  const isWeb = own.url.startsWith("https://") || own.url.startsWith("http://");
  const page = isWeb ? make("a", { href: own.url, rel: "noreferrer", target: "_blank" }, own.id) : own.id;
  const mention = picked !== null && !inTerms() ? picked.mention : null;
  const isBack = mention && $("linked").querySelector("[aria-pressed='true']");
  show(own.name, make("p", {}, make("small", {}, page, own.types.length ? ` · ${own.types.join(", ")}` : "")),
    own.definition ? make("p", {}, own.definition) : "", chooseButton(id, own.name),
    isBack ? make("p", {}, make("button", { class: "plain", onclick: () => attempt(() => choose(mention, isBack)) }, `Back to “${short(mention.mention)}”`)) : "",
    ...list("Above", named(own.parents)), ...list("Below", named(own.children)),
    ...list("Names", names), ...list("Codes", codes));
}

async function search() {
  const query = $("query").value.trim();
  if (!query) throw new Error("Write a name, or a part of one, to search for.");
  show(`Search: ${query}`, await foundFor(query));
}

// The concepts whose names hold a text or are near it.
async function foundFor(query) {
  const terminology = $("terminology").value;
  const found = await ask(`search?q=${encodeURIComponent(query)}&${within(terminology)}`);
  return found.length ? conceptList(found, terminology)
    : make("p", { class: "hint" }, `No name in ${terminology} holds “${query}” or is near it. Try fewer words, or another name of it.`);
}

function save() {
  download(new Blob([JSON.stringify(linked, null, 1)], { type: "application/json" }), "links.json");
}

function download(blob, name) {
  const address = URL.createObjectURL(blob);
  make("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 1000);
}

const exampleNote = () => EXAMPLES[language()] || EXAMPLES.en;

// Begin with an example, which the first thing that is typed or pasted replaces.
function offerExample() {
  if ($("text").value || linked) return;
  $("text").value = exampleNote();
  $("text").addEventListener("focus", () => { if ($("text").value === exampleNote()) $("text").select(); }, { once: true });
  $("linked").replaceChildren(make("p", { class: "hint" }, "This is an example. Press Link to see what its words mean, or paste a note of your own."));
}

async function start() {
  const found = await ask("terminologies");
  $("login").hidden = true;
  served = found;
  $("terminology").replaceChildren(...found.map((one) =>
    make("option", { value: one.name }, `${one.name} (${one.concepts.toLocaleString("en")} concepts)`)));
  offerCorrections();
  if (found[0].notes) await review(found[0].name);
  else offerExample();
}

document.addEventListener("DOMContentLoaded", () => {
  $("link").addEventListener("click", () => attempt(linkNew));
  $("example").addEventListener("click", () => { $("text").value = exampleNote(); attempt(linkNew); });
  $("save").addEventListener("click", save);
  $("least").addEventListener("input", draw);
  $("search").addEventListener("submit", (event) => { event.preventDefault(); attempt(search); });
  $("open-search").addEventListener("click", () => { openDetails(); $("query").focus(); });
  $("close").addEventListener("click", closeDetails);
  window.addEventListener("popstate", shutDetails);
  document.addEventListener("keydown", (event) => { if (event.key === "Escape" && isPhone.matches) closeDetails(); });
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
