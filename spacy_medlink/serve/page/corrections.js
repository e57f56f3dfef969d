// Corrections: another concept, no concept, another span; taken back, and asked for in a good order.
"use strict";

let picked = null; // {mention, start, end}: what is corrected, in characters of linked.text
let queue = null; // mentions that are worth a look, best first
let place = 0; // in the queue
const undoable = []; // {id, terminology} of corrections of this visit

const mayCorrect = (name) => served.some((one) => one.name === name && one.corrections);
const canChoose = () => picked !== null && linked !== null && mayCorrect(linked.terminology)
  && linked.terminology === $("terminology").value;
const pickedText = () => Array.from(linked.text).slice(picked.start, picked.end).join("");

function offerCorrections() {
  $("correcting").hidden = !mayCorrect($("terminology").value);
}

function linkNew() {
  queue = null;
  picked = null;
  if (!notes.includes($("text").value)) notes = [];
  return link();
}

function pick(mention) {
  picked = { mention, start: mention.start, end: mention.end };
}

// A button that says what the mention, or the term, is; "" where nothing is decided.
function chooseButton(id, name) {
  if (inTerms() ? !canDecide() : !canChoose()) return "";
  const label = `Choose ${name} for “${inTerms() ? current().name : pickedText()}”`;
  const choose = inTerms() ? () => chooseConcept(id, name) : () => correct([id]);
  return make("button", { class: "small", "aria-label": label, title: label, onclick: () => attempt(choose) }, "Choose");
}

// What stands below the candidates: no concept, another span.
function correcting() {
  if (!canChoose()) return [];
  const step = (label, side, way) =>
    make("button", { onclick: () => attempt(() => moveSpan(side, way, label)) }, label);
  return [make("h3", {}, "Correct"),
    make("p", { class: "tools" },
      make("button", { onclick: () => attempt(() => correct([])) }, "No concept"),
      step("Word before", "start", -1), step("Without first word", "start", 1),
      step("Without last word", "end", -1), step("Word behind", "end", 1)),
    make("p", {}, "Or search for another concept above.")];
}

// Move a side of the span by a word, and show what the terminology has for it.
async function moveSpan(side, way, label) {
  const points = Array.from(linked.text);
  const isWord = (at) => /[\p{L}\p{N}]/u.test(points[at] || "");
  let at = picked[side];
  const inner = () => (way > 0 ? at : at - 1);
  while (inner() >= 0 && inner() < points.length && !isWord(inner())) at += way;
  while (inner() >= 0 && inner() < points.length && isWord(inner())) at += way;
  // The side must stand at a word of the mention.
  if (side === "start") while (at < points.length && !isWord(at)) at += 1;
  else while (at > 0 && !isWord(at - 1)) at -= 1;
  const moved = { ...picked, [side]: at };
  if (moved.start >= moved.end) return;
  picked = moved;
  await showPicked(label);
}

// Show a span that was not linked itself. focus: the button that is to have it again.
async function showPicked(focus) {
  const found = await foundFor(pickedText());
  const known = picked.mention.candidates || [];
  show(`“${pickedText()}”`, found, ...(known.length ? [candidatesOf(picked.mention)] : []), ...correcting());
  const again = [...$("details").querySelectorAll("button")].find((one) => one.textContent === focus);
  if (again) again.focus();
}

// Take what is selected in the note as a mention.
async function mark() {
  const { selectionStart, selectionEnd, value } = $("text");
  const own = value.slice(selectionStart, selectionEnd);
  if (!own.trim()) throw new Error("Select the mention in the note first.");
  if (!linked || linked.text !== value) await link();
  const start = Array.from(value.slice(0, selectionStart)).length + Array.from(own).length - Array.from(own.trimStart()).length;
  pick({ start, end: start + Array.from(own.trim()).length });
  await showPicked("No concept");
}

async function correct(ids) {
  const { text, terminology } = linked;
  const { start, end, mention } = picked;
  const by = $("by").value;
  localStorage.setItem("by", by);
  const body = { text, terminology, start, end, ids, by, instead: [mention.start, mention.end] };
  const done = await ask("corrections", body);
  undoable.push({ id: done.id, terminology });
  const now = done.in_force ? "from now on" : "in the file, but is not linked so";
  await again(`“${done.mention}” is ${ids[0] || "no concept"} ${now}.`, end);
}

async function undo(one) {
  await ask(`corrections?id=${encodeURIComponent(one.id)}&${within(one.terminology)}`, null, "DELETE");
  const known = undoable.findIndex((own) => own.id === one.id);
  if (known >= 0) undoable.splice(known, 1);
  await again("The correction is taken back.");
}

// Link the note anew, say what was done, and go back to the mention that ends there.
async function again(said, end) {
  $("undo").disabled = !undoable.length;
  if (linked) await link(linked.text);
  $("status").textContent = `${said} ${$("status").textContent}`;
  if (end !== undefined) await goTo((button) => Number(button.dataset.end) >= end);
}

async function goTo(wanted) {
  const button = [...$("linked").querySelectorAll("button")].find(wanted);
  if (!button) return false;
  button.focus();
  await choose(linked.mentions.find((one) => String(one.start) === button.dataset.start
    && String(one.end) === button.dataset.end), button);
  return true;
}

// Begin with the texts that `medlink serve --review` was given.
async function review(terminology) {
  $("status").textContent = "Linking what is to be reviewed ...";
  queue = { terminology, ...await ask(`queue?${within(terminology)}`) };
  place = 0;
  await next();
}

// Go to the next mention of the queue; make the queue where there is none.
async function next() {
  const terminology = $("terminology").value;
  if (!queue) {
    const texts = notes.length ? notes : [$("text").value];
    queue = { texts, terminology, mentions: await ask("queue", { texts, terminology }) };
    place = 0;
  }
  const one = queue.mentions[place];
  if (!one) {
    queue = null;
    throw new Error("Nothing more is worth a look.");
  }
  place += 1;
  const text = queue.texts[one.text];
  $("text").value = text;
  await link(text);
  const often = one.count > 1 ? `, ${one.count} times here` : "";
  $("status").textContent = `${place} of ${queue.mentions.length} to review${often}.`;
  const found = await goTo((button) => Number(button.dataset.start) <= one.start && one.start < Number(button.dataset.end));
  if (!found) await next();
}

async function listCorrections() {
  const terminology = $("terminology").value;
  const done = await ask(`corrections?${within(terminology)}`);
  const rows = done.map((one) => make("tr", {}, make("td", {}, one.mention),
    make("td", {}, one.ids.join(", ") || "NIL"), make("td", {}, one.from.ids.join(", ") || "NIL"),
    make("td", {}, [one.by, one.at.slice(0, 16).replace("T", " ")].filter(Boolean).join(", ")),
    make("td", {}, make("button", {
      class: "small", "aria-label": `Undo ${one.mention}`,
      onclick: () => attempt(async () => { await undo({ id: one.id, terminology }); await listCorrections(); }),
    }, "Undo"))));
  show("Corrections", rows.length ? table(["mention", "is", "was", "by", ""], rows)
    : make("p", {}, "There are none yet."));
}

document.addEventListener("DOMContentLoaded", () => {
  $("by").value = localStorage.getItem("by") || "";
  $("mark").addEventListener("click", () => attempt(mark));
  $("next").addEventListener("click", () => attempt(next));
  $("undo").addEventListener("click", () => attempt(() => undo(undoable[undoable.length - 1])));
  $("history").addEventListener("click", () => attempt(listCorrections));
  $("terminology").addEventListener("change", () => { picked = queue = null; offerCorrections(); });
});
