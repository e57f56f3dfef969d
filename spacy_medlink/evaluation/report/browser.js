"use strict";
// Filters the mentions of the page and shows them, 25 at a time, and exports what the reader says
// that they should have been. Texts become text nodes, never markup.
(() => {
  const data = JSON.parse(document.getElementById("mentions").textContent);
  const form = document.getElementById("filter");
  const list = document.getElementById("results");
  const count = document.getElementById("count");
  const more = document.getElementById("more");
  const marks = document.getElementById("corrections");
  const STEP = 25;
  const corrected = new Map(); // mention to the ids that it should have; [] for no concept
  let saved = true;
  let found = [];
  let shown = 0;

  const element = (tag, name, ...children) => {
    const made = document.createElement(tag);
    if (name) made.className = name;
    for (const child of children) if (child !== null) made.append(child);
    return made;
  };
  const nameOf = (id) => (data.concepts[id] || [""])[0];
  const typesOf = (id) => (data.concepts[id] || ["", []])[1].join(", ");

  const searched = new WeakMap();
  const wordsOf = (mention) => {
    if (!searched.has(mention)) {
      const gold = mention.g || [];
      const right = mention.r || [];
      const answers = (mention.c || []).map((one) => one[0]);
      const words = [mention.t, mention.d, mention.y, ...gold, ...right, ...answers,
        ...right.map(nameOf), ...(mention.c || []).map((one) => `${nameOf(one[0])} ${one[1]}`)];
      searched.set(mention, words.filter(Boolean).join(" \n ").toLowerCase());
    }
    return searched.get(mention);
  };

  const passes = (mention, wanted) => {
    const verdict = data.verdicts[mention.v || 0];
    if (wanted.verdict === "errors" ? verdict === "right"
      : wanted.verdict && verdict !== wanted.verdict) return false;
    if (wanted.kind && !(mention.x || []).includes(wanted.kind)) return false;
    const text = wordsOf(mention);
    return wanted.words.every((word) => text.includes(word));
  };

  const concept = (id, kb) => element("span", "concept", element("code", "", id),
    kb ? ` ${nameOf(id)}` : "", typesOf(id) ? element("small", "", ` ${typesOf(id)}`) : null);

  const goldOf = (mention) => {
    const box = element("div", "gold", element("b", "", "gold "));
    const ids = mention.r || [];
    if (!(mention.g || []).length) box.append("NIL: no concept is right");
    else if (!ids.length) box.append(`${mention.g.join(", ")}: not in the knowledge base`);
    ids.forEach((id, place) => box.append(place ? ", " : "", concept(id, true)));
    return box;
  };

  const candidatesOf = (mention) => {
    if (!(mention.c || []).length) return element("p", "none", "No candidate was found.");
    const right = new Set(mention.r || []);
    const items = mention.c.map(([id, matched, score, prob]) => {
      const same = matched.toLowerCase() === nameOf(id).toLowerCase();
      const item = element("li", right.has(id) ? "right" : "", concept(id, true),
        same ? "" : element("span", "matched", ` matched “${matched}”`),
        element("span", "score", prob === null ? score.toFixed(3)
          : `${score.toFixed(3)}, probability ${prob.toFixed(2)}`));
      if (right.has(id)) item.append(element("span", "tag good", "gold"));
      return item;
    });
    return element("ol", "candidates", ...items);
  };

  const ranksOf = (mention) => {
    const said = [];
    if (mention.k > 1) said.push(`gold at rank ${mention.k}`);
    else if (!mention.k && mention.f) said.push(`gold retrieved at ${mention.f}`);
    if (mention.n) said.push("linker abstained (NIL)");
    if (mention.u > 0) said.push(`answer ${mention.u} step(s) too general`);
    if (mention.u < 0) said.push(`answer ${-mention.u} step(s) too special`);
    return said;
  };

  // What a mention may be corrected to: [what the button says, ids], the gold ids first.
  const choicesOf = (mention) => {
    const choices = new Map();
    const gold = (mention.r || []).length ? mention.r : mention.g || [];
    if (gold.length) choices.set(gold.join(" "), [`gold: ${gold.join(", ")}`, gold]);
    for (const [id] of mention.c || []) {
      if (!choices.has(id)) choices.set(id, [nameOf(id) ? `${id} ${nameOf(id)}` : id, [id]]);
    }
    choices.set("", ["no concept (NIL)", []]);
    return choices;
  };

  const idsOf = (text) => text.split(/[\s,|]+/).filter(Boolean);

  const showMarks = () => {
    marks.hidden = !corrected.size;
    marks.querySelector("b").textContent = corrected.size.toLocaleString("en");
  };

  const correctionOf = (mention) => {
    const fields = element("details", "correct");
    const summary = element("summary", "", "Correct");
    const say = () => {
      const ids = corrected.get(mention);
      summary.textContent = ids === undefined ? "Correct"
        : `Corrected to ${ids.length ? ids.join(", ") : "no concept (NIL)"}`;
      for (const button of fields.querySelectorAll("button[aria-pressed]")) {
        const chosen = ids !== undefined && button.value === ids.join(" ");
        button.setAttribute("aria-pressed", String(chosen));
      }
      showMarks();
    };
    const set = (ids) => {
      corrected.set(mention, ids);
      saved = false;
      say();
    };
    const buttons = [...choicesOf(mention)].map(([key, [label, ids]]) => {
      const button = element("button", "", label);
      button.type = "button";
      button.value = key;
      button.setAttribute("aria-pressed", "false");
      button.addEventListener("click", () => set(ids));
      return button;
    });
    const other = element("input", "");
    other.placeholder = "another id";
    other.setAttribute("aria-label", "Another id that the mention should have");
    other.addEventListener("change", () => {
      const ids = idsOf(other.value);
      if (ids.length) set(ids);
    });
    const undo = element("button", "undo", "take back");
    undo.type = "button";
    undo.addEventListener("click", () => {
      corrected.delete(mention);
      other.value = "";
      say();
    });
    fields.append(summary, element("p", "choices", ...buttons, other, undo));
    say();
    return fields;
  };

  // One line of gold mentions, as `medlink build --memory` and `medlink learn` take them.
  const lineOf = (mention, ids) => {
    const line = { mention: mention.t, ids };
    if (mention.y) line.type = mention.y;
    if (mention.o) line.lang = mention.o;
    if (mention.d) line.doc_id = mention.d;
    if (mention.p) [line.start, line.end] = mention.p;
    return JSON.stringify(line);
  };

  marks.querySelector("button").addEventListener("click", () => {
    const lines = [...corrected].map(([mention, ids]) => `${lineOf(mention, ids)}\n`);
    const link = element("a", "");
    link.href = URL.createObjectURL(new Blob(lines, { type: "application/jsonl" }));
    link.download = "corrections.jsonl";
    link.click();
    saved = true;
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  });
  window.addEventListener("beforeunload", (event) => {
    if (corrected.size && !saved) event.preventDefault();
  });

  const card = (mention) => {
    const verdict = data.verdicts[mention.v || 0];
    const where = mention.p ? `${mention.d}, ${mention.p[0]}–${mention.p[1]}` : mention.d;
    const text = mention.t === undefined
      ? element("p", "context", element("i", "", `mention at ${where} (text not kept)`))
      : element("p", "context", mention.l ? `…${mention.l}` : "", element("mark", "", mention.t),
        mention.a ? `${mention.a}…` : "");
    const tags = element("p", "tags",
      element("span", `tag ${verdict === "right" ? "good" : "bad"}`, verdict),
      ...(mention.x || []).map((flag) => element("span", "tag", flag)),
      mention.y ? element("span", "tag", mention.y) : null,
      ...ranksOf(mention).map((said) => element("span", "said", said)),
      mention.t === undefined ? null : element("span", "where", where));
    return element("li", "card", tags, text, goldOf(mention), candidatesOf(mention),
      mention.t === undefined ? null : correctionOf(mention));
  };

  const show = () => {
    const next = found.slice(shown, shown + STEP).map(card);
    list.append(...next);
    shown += next.length;
    more.hidden = shown >= found.length;
    count.textContent = `${found.length.toLocaleString("en")} mentions, ${shown} shown`;
  };

  const filter = () => {
    const wanted = {
      verdict: form.elements.verdict.value,
      kind: form.elements.kind.value,
      words: form.elements.words.value.toLowerCase().split(/\s+/).filter(Boolean),
    };
    const run = data.runs[Number(form.elements.run.value)];
    found = run.mentions.filter((mention) => passes(mention, wanted));
    shown = 0;
    list.replaceChildren();
    show();
  };

  let waiting = 0;
  form.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(filter, 120);
  });
  form.addEventListener("submit", (event) => event.preventDefault());
  more.addEventListener("click", show);
  filter();
})();
