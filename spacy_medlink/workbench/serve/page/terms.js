// Local terms: mapped to concepts, decided one by one, and saved in the formats of `medlink map`.
"use strict";

const ROWS = 50; // terms that are shown at once
const TOGETHER = 100; // terms of a request
const ENDINGS = { csv: ".csv", usagi: ".usagi.csv", omop: ".omop.csv", fhir: ".json", sssom: ".sssom.tsv" };
const TEN = ["high blood pressure", "heart attack", "type 2 diabetes", "asthma", "chest pain", "seizures", "low potassium",
  "hearing loss", "joint pain", "fever"];
const MATCHES = ["exact", "broader", "narrower", "close", "related"];
const FILTERS = {
  all: () => true, unchecked: (term) => !isDecided(term), approved: (term) => term.status === "APPROVED",
  flagged: (term) => term.status === "FLAGGED", none: (term) => term.mapped && !term.targets.length,
};
const ORDERS = { given: () => 0, unsure: (one, other) => certainty(one) - certainty(other) };
let local = { terms: [], context: [], terminology: "", vocabulary: "" }; // what was read last
let list = []; // the terms that the filter lets through
let at = 0; // place of the selected term in the list
let runs = 0; // a new run of mapping stops an older one
let unsaved = false;
const decisions = []; // {term, before}, to take them back

const inTerms = () => location.hash === "#terms";
// How sure the proposal for a term is, 0 to 2: names are surer than what only resembles them.
function certainty(term) {
  const best = term.targets[0] || (term.candidates || [])[0];
  if (!term.mapped || !best) return term.mapped ? 0 : 2;
  return term.targets.length ? (best.prob || 0) + (best.match === "exact" ? 1 : 0) : (best.prob || 0) / 2;
}

const isDecided = (term) => term.status !== "UNCHECKED";
const current = () => list[at];
const canDecide = () => Boolean(inTerms() && current() && current().mapped
  && local.terminology === $("terminology").value);

function view() {
  for (const one of document.querySelectorAll("[data-view]")) one.hidden = (one.dataset.view === "terms") !== inTerms();
  for (const one of document.querySelectorAll("nav a")) one.setAttribute("aria-current", String(one.hash === (location.hash || "#note")));
  document.body.classList.toggle("terms", inTerms());
  $("shown").setAttribute("aria-live", inTerms() ? "off" : "polite"); // the rows say it
  $("status").textContent = $("query").value = "";
  shutDetails();
}

// Read the bytes of a file as UTF-8, and lines that are something else as Windows-1252.
function decoded(bytes) {
  const lines = [];
  let western = 0;
  for (let start = 0, end; start <= bytes.length; start = end + 1) {
    end = bytes.indexOf(10, start);
    if (end < 0) end = bytes.length;
    const line = bytes.subarray(start, end);
    try {
      lines.push(new TextDecoder("utf-8", { fatal: true }).decode(line));
    } catch {
      western += 1;
      lines.push(new TextDecoder("windows-1252").decode(line));
    }
  }
  return [lines.join("\n"), western];
}

async function openTable(file) {
  const [text, western] = decoded(new Uint8Array(await file.arrayBuffer()));
  $("table").value = text;
  await mapTable(western ? ` Lines read as Windows-1252, since they are not UTF-8: ${western}.` : "");
}

async function mapTable(said = "") {
  if (unsaved && !confirm("Map again? Decisions that are not saved as CSV are lost.")) return;
  if (!$("table").value.trim()) throw new Error("There are no terms yet. Paste some, one a line, open a table, or press Example.");
  const terminology = $("terminology").value;
  const given = (id) => $(id).value.trim();
  const named = given("context-columns").split(",").map((one) => one.trim()).filter(Boolean);
  const run = (runs += 1);
  $("status").textContent = "Reading ...";
  const read = await ask("terms", {
    terminology, table: $("table").value, context: named,
    name: given("name-column"), code: given("code-column"), frequency: given("frequency-column"),
  });
  const aside = Object.entries(read.aside).map(([problem, count]) => ` ${count} rows set aside: ${problem}.`).join("");
  local = { terms: read.terms, context: read.context, terminology, vocabulary: given("vocabulary") };
  decisions.length = 0;
  unsaved = false;
  at = 0;
  for (let start = 0; start < local.terms.length && run === runs; start += TOGETHER) {
    const part = local.terms.slice(start, start + TOGETHER);
    const { mappings } = await ask("map", asked(part));
    if (run !== runs) return;
    mappings.forEach((one, place) =>
      Object.assign(part[place], one, { mapped: true, candidates: [...one.targets, ...one.others] }));
    filter();
    $("status").textContent = `${start + part.length} of ${local.terms.length} terms are mapped.${aside}${said}`;
    if (!start) select(0);
  }
}

// What is sent of terms: no candidates, and concepts only where they were decided on.
function asked(terms) {
  const { terminology, context, vocabulary } = local;
  const chosen = (own) => own.map(({ id, match, matched, prob, score }) => ({ id, match, matched, prob, score }));
  return {
    terminology, context, vocabulary,
    terms: terms.map((one) => {
      const { name, code, frequency, status, comment, extra } = one;
      return { name, code, frequency, context: one.context, status, comment, extra, targets: isDecided(one) ? chosen(one.targets) : [] };
    }),
  };
}

function filter() {
  const before = current();
  list = local.terms.filter(FILTERS[$("filter").value]).sort(ORDERS[$("order").value]);
  at = Math.max(0, list.indexOf(before));
  drawTerms();
  if (current() !== before) showTerm();
}

const pageStart = () => at - (at % ROWS);

function drawTerms() {
  const focused = $("rows").contains(document.activeElement);
  const first = pageStart();
  $("rows").replaceChildren(...list.slice(first, first + ROWS).map((term, place) => rowOf(term, first + place)));
  $("mapped").hidden = !local.terms.length;
  $("no-terms").hidden = local.terms.length > 0;
  $("page").textContent = list.length ? `${first + 1}–${Math.min(first + ROWS, list.length)} of ${list.length}` : "none";
  if (focused) focusRow();
}

function rowOf(term, place) {
  const [target] = term.targets;
  const small = (...said) => make("small", {}, said.filter(Boolean).join(" · "));
  const more = term.targets.length > 1 ? `and ${term.targets.length - 1} more` : "";
  const row = make("tr", { tabindex: place === at ? "0" : "-1", "aria-selected": String(place === at), "data-place": String(place) },
    make("td", {}, term.name, small(term.code, term.frequency && `× ${term.frequency}`, ...term.context)),
    make("td", {}, target ? target.name || target.id : term.mapped ? "no concept" : "...", target ? small(target.id, more) : ""),
    make("td", { class: "word" }, target ? target.match : "", target ? small(shown(target.prob)) : ""),
    make("td", {}, make("span", { class: isDecided(term) ? `decided ${term.status === "APPROVED" ? "c1" : "c2"}` : null }, term.status.toLowerCase()), small(term.comment)));
  row.addEventListener("click", () => select(place));
  return row;
}

const focusRow = () => { const row = $("rows").querySelector("[tabindex='0']"); if (row) row.focus(); };

// Go to a term of the list, and show its candidates.
function select(place) {
  if (!list.length) return;
  at = Math.min(Math.max(place, 0), list.length - 1);
  drawTerms();
  showTerm();
  focusRow();
}

function showTerm() {
  const term = current();
  if (!term) return show("", make("p", { class: "hint" }, "There are no such terms. Show all to see the others."));
  if (!term.mapped) return show(`“${term.name}”`, make("p", {}, "It is not mapped yet."));
  const act = (key, label) => make("button", { onclick: () => attempt(() => press(key)) }, label, make("kbd", {}, key));
  const comment = make("input", { id: "comment", value: term.comment });
  comment.addEventListener("input", () => { term.comment = comment.value; unsaved = true; });
  comment.addEventListener("change", drawTerms);
  comment.addEventListener("keydown", (event) => { if (["Enter", "Escape"].includes(event.key)) { comment.blur(); focusRow(); } });
  const facts = [term.code, term.frequency && `${term.frequency} times`,
    ...term.context.map((cell, place) => cell && `${local.context[place]}: ${cell}`)].filter(Boolean);
  show(`“${term.name}”`, facts.length ? make("p", {}, facts.join(" · ")) : "",
    canDecide() ? make("p", { class: "tools" }, act("a", "Approve"), act("n", "No concept"), act("f", "Flag"), act("i", "Ignore"), act("u", "Undo")) : "",
    term.candidates.length ? conceptList(term.candidates, local.terminology) : make("p", { class: "hint" }, "There are no candidates."),
    canDecide() ? make("p", { class: "tools" }, make("label", {}, "Comment ", comment), matchOf(term)) : "",
    make("p", {}, canDecide() ? "Or search for another concept above." : "Map the terms again to decide on them in this terminology."));
  $("target").hidden = true; // the title says it
}

// What the concept is to the term; only where there is one concept.
function matchOf(term) {
  const [target] = term.targets;
  if (term.targets.length !== 1) return "";
  const known = MATCHES.includes(target.match) ? MATCHES : [target.match, ...MATCHES];
  const field = make("select", {}, ...known.map((one) => make("option", { selected: one === target.match }, one)));
  field.addEventListener("change", () =>
    decide(isDecided(term) ? term.status : "APPROVED", [{ ...target, match: field.value }], at));
  return make("label", {}, "Match ", field);
}

// Decide on the selected term. next: the place to go to.
function decide(status, targets, next = at + 1) {
  const term = current();
  decisions.push({ term, before: { status: term.status, targets: term.targets } });
  Object.assign(term, { status, targets });
  unsaved = true;
  select(next);
  tellLeft();
}

function tellLeft() {
  const left = local.terms.filter((one) => !isDecided(one)).length;
  $("status").textContent = `${local.terms.length - left} terms are decided, ${left} are left.`;
}

function chooseConcept(id, name) {
  const term = current();
  const known = term.candidates.find((one) => one.id === id);
  const chosen = known || { id, name, match: "close", matched: "", prob: null, score: null };
  if (!known) term.candidates.push(chosen);
  decide("APPROVED", [{ ...chosen, match: chosen.match === "related" ? "close" : chosen.match }]);
}

function takeBack() {
  const last = decisions.pop();
  if (!last) throw new Error("There is nothing to take back.");
  Object.assign(last.term, last.before);
  if (!list.includes(last.term)) { $("filter").value = "all"; filter(); }
  select(list.indexOf(last.term));
  tellLeft();
}

// What a key does to the selected term.
function press(key) {
  if (key === "u") return takeBack();
  if (!canDecide()) throw new Error("The term is not mapped yet, or in another terminology: map it first.");
  const term = current();
  const candidate = term.candidates[Number(key) - 1];
  if (candidate) return chooseConcept(candidate.id, candidate.name);
  if (key === "a" && !term.targets.length && term.candidates.length) throw new Error("Choose a candidate, or No concept.");
  if (key === "a") return decide("APPROVED", term.targets);
  if (key === "n") return decide("APPROVED", []);
  if (key === "f") return decide("FLAGGED", term.targets);
  if (key === "i") return decide("IGNORED", term.targets);
  return undefined;
}

const MOVES = { ArrowDown: 1, ArrowUp: -1, PageDown: ROWS, PageUp: -ROWS, Home: -Infinity, End: Infinity };

function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const key = event.key === "Enter" ? "a" : event.key.toLowerCase();
  if (event.key in MOVES) select(at + MOVES[event.key]);
  else if (key === "c" && $("comment")) $("comment").focus();
  else if (key.length === 1 && "anfiu123456789".includes(key)) attempt(() => press(key));
  else return;
  event.preventDefault();
}

async function saveTable() {
  const kind = $("as").value;
  const onlyApproved = $("approved").checked;
  if (local.terms.some((one) => !one.mapped)) throw new Error("Wait until all terms are mapped.");
  const answer = await send(`map?as=${kind}&approved=${onlyApproved}`, asked(local.terms));
  download(await answer.blob(), `mapped${ENDINGS[kind]}`);
  if (kind === "csv" && !onlyApproved) unsaved = false;
}

document.addEventListener("DOMContentLoaded", () => {
  $("map").addEventListener("click", () => attempt(() => mapTable()));
  $("ten").addEventListener("click", () => { $("table").value = TEN.join("\n"); attempt(() => mapTable()); });
  $("table-file").addEventListener("change", async () => {
    const [file] = $("table-file").files;
    if (file) await attempt(() => openTable(file));
    $("table-file").value = "";
  });
  $("filter").addEventListener("change", filter);
  $("order").addEventListener("change", () => { filter(); select(0); });
  $("rows").addEventListener("keydown", onKey);
  $("back").addEventListener("click", () => select(pageStart() - ROWS));
  $("forth").addEventListener("click", () => select(pageStart() + ROWS));
  $("save-table").addEventListener("click", () => attempt(saveTable));
  window.addEventListener("hashchange", view);
  window.addEventListener("beforeunload", (event) => { if (unsaved) event.preventDefault(); });
  view();
});
