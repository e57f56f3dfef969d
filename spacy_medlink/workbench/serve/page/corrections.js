// Corrections: another concept, no concept, another span; taken back, and asked for in a good order.
"use strict";

const AROUND = 40; // characters of the note that are shown beside the chosen mention
let picked = null; // {mention, start, end}: what is corrected, in characters of linked.text
let queue = null; // mentions that are worth a look, best first
let place = 0; // in the queue
const sent = {}; // the last correction that was refused, and its id: sent again, it is kept once
const made = new Map(); // what corrections say of a text: ids by `keyOf`
const undoable = []; // {id, terminology, mention} of corrections of this visit

const mayCorrect = (name) => served.some((one) => one.name === name && one.corrections);
const canChoose = () => picked !== null && linked !== null && mayCorrect(linked.terminology)
  && linked.terminology === $("terminology").value;
const pickedText = () => Array.from(linked.text).slice(picked.start, picked.end).join("");

const keyOf = (terminology, text) => JSON.stringify([terminology, text.toLowerCase()]);
const isMade = (ids) => made.get(keyOf(linked.terminology, pickedText())) === ids.join();

function offerCorrections() {
  const terminology = $("terminology").value;
  $("correcting").hidden = !mayCorrect(terminology);
  if (mayCorrect(terminology)) attempt(() => readCorrections(terminology));
}

// Read what corrections say already, so that it is not offered again.
async function readCorrections(terminology) {
  const done = await ask(`corrections?${within(terminology)}`);
  made.clear();
  for (const one of [...done].reverse()) made.set(keyOf(terminology, one.mention), one.ids.join());
  return done;
}

// What the details are about, always in sight: the mention in its note, or the term.
function targetOf() {
  if (inTerms()) return current() ? ["Term: ", make("mark", {}, current().name)] : [];
  if (picked === null || linked === null) return [];
  const points = Array.from(linked.text);
  const cut = (start, end) => points.slice(Math.max(start, 0), end).join("").replace(/\s+/g, " ");
  return [picked.start > AROUND ? "…" : "", cut(picked.start - AROUND, picked.start), make("mark", {}, pickedText()),
    cut(picked.end, picked.end + AROUND), picked.end + AROUND < points.length ? "…" : ""];
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
function chooseButton(id, name, key = "") {
  if (inTerms() ? !canDecide() : !canChoose()) return "";
  if (!inTerms() && isMade([id])) return make("small", {}, "corrected so, in all notes");
  const text = inTerms() ? current().name : pickedText();
  const choose = inTerms() ? () => chooseConcept(id, name) : () => correct([id]);
  const where = inTerms() ? "" : " in all notes";
  return make("button", { class: "small", onclick: () => attempt(choose) }, `Link “${short(text)}” to ${short(name || id)}${where}`, key ? make("kbd", {}, key) : "");
}

// What stands below the candidates: no concept, another span.
function correcting() {
  if (!canChoose()) return [];
  const step = (label, side, way) =>
    make("button", { class: "small", onclick: () => attempt(() => moveSpan(side, way, label)) }, label);
  const none = isMade([]) ? make("small", {}, `Corrected: “${short(pickedText())}” is no concept, in all notes`)
    : make("button", { class: "small", onclick: () => attempt(() => correct([])) }, `“${short(pickedText())}” is no concept in all notes`);
  return [make("h3", {}, "None of these?"), make("p", {}, none),
    make("p", { class: "hint" }, "Or search for another concept above, or change which words it has:"),
    make("p", { class: "tools" },
      step("Word before", "start", -1), step("Without first word", "start", 1),
      step("Without last word", "end", -1), step("Word after", "end", 1))];
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
  show(`Concepts for “${short(pickedText())}”`, found,
    ...(known.length ? [make("h3", {}, `For “${short(picked.mention.mention)}”`), conceptList(known, linked.terminology)] : []), ...correcting());
  const again = [...$("shown").querySelectorAll("button")].find((one) => one.textContent === focus);
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
  await showPicked("Word before");
}

const newId = () => Array.from(crypto.getRandomValues(new Uint32Array(4)), (part) => part.toString(16).padStart(8, "0")).join("");
const namesOf = (link) => link.names.join(", ") || "no concept";

async function correct(ids) {
  const { text, terminology } = linked;
  const { start, end, mention } = picked;
  const by = $("by").value;
  localStorage.setItem("by", by);
  const body = { text, terminology, start, end, ids, by, instead: [mention.start, mention.end] };
  const said = JSON.stringify(body);
  if (sent.said !== said) Object.assign(sent, { said, id: newId() });
  const done = await ask("corrections", { ...body, id: sent.id });
  sent.said = null;
  undoable.push({ id: done.id, terminology, mention: done.mention });
  const now = done.in_force ? "from now on"
    : done.in_force === null ? "in the file; whether it is linked so is not known yet" : "in the file, but is not linked so";
  await again(`“${short(done.mention)}” is ${namesOf(done)} ${now}.`, end);
}

async function undo(one) {
  await ask(`corrections?id=${encodeURIComponent(one.id)}&${within(one.terminology)}`, null, "DELETE");
  const known = undoable.findIndex((own) => own.id === one.id);
  if (known >= 0) undoable.splice(known, 1);
  await again(`The correction of “${short(one.mention)}” is taken back.`);
}

// Link the note anew, say what was done, and go back to the mention that ends there.
async function again(said, end) {
  const last = undoable[undoable.length - 1];
  $("undo").disabled = !last;
  await readCorrections($("terminology").value);
  $("undo").textContent = last ? `Undo “${short(last.mention)}”` : "Undo";
  if (linked) await link(linked.text);
  picked = null;
  $("status").textContent = said;
  const isShown = end !== undefined && await goTo((button) => Number(button.dataset.end) >= end);
  if (!isShown && $("details").classList.contains("open")) show("", make("p", { class: "hint" }, said));
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
  $("status").textContent = `${place} of ${queue.mentions.length} to review: “${short(one.mention)}”${often}.`;
  const found = await goTo((button) => Number(button.dataset.start) <= one.start && one.start < Number(button.dataset.end));
  if (!found) await next();
}

async function listCorrections() {
  const terminology = $("terminology").value;
  const done = await readCorrections(terminology);
  const cell = (link) => make("td", {}, namesOf(link), make("small", {}, link.ids.join(", ")));
  const rows = done.map((one) => make("tr", {}, make("td", {}, one.mention), cell(one), cell(one.from),
    make("td", {}, one.by, make("small", {}, one.at.slice(0, 16).replace("T", " "))),
    make("td", {}, make("button", {
      class: "small", "aria-label": `Undo ${one.mention}`,
      onclick: () => attempt(async () => { await undo({ id: one.id, terminology, mention: one.mention }); await listCorrections(); }),
    }, "Undo"))));
  picked = null;
  show("Corrections", rows.length ? table(["mention", "is", "was", "by", "undo"], rows)
    : make("p", { class: "hint" }, "There are none yet. Choose a mention of the linked note, and then what it means."));
}

document.addEventListener("DOMContentLoaded", () => {
  $("by").value = localStorage.getItem("by") || "";
  $("mark").addEventListener("click", () => attempt(mark));
  $("next").addEventListener("click", () => attempt(next));
  $("undo").addEventListener("click", () => attempt(() => undo(undoable[undoable.length - 1])));
  $("history").addEventListener("click", () => attempt(listCorrections));
  $("terminology").addEventListener("change", () => { picked = queue = null; offerCorrections(); });
});
