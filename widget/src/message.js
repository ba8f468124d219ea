import { button, countdown, h, icon, link, set, tool } from "./dom.js";
import { markdown, parse } from "./markup.js";

export const COPY = "M9 9h10v10H9zM5 15V5h10";
const THUMB = "M7 11v9H4v-9zM7 11l4-8q3 0 2 6h7l-2 11H7";

const AGAIN = "M5 12a7 7 0 1 1 2 5M5 19v-4h4";
export const MARKS = {
  failed: "M12 7v6M12 16h.01M12 3a9 9 0 1 1-.01 0",
  stopped: "M7 7h10v10H7z",
  done: "M5 13l4 4L19 7",
};
const SOURCES = 3;

/** @type {import("../types").Build} */
const build = (tree, cite, code) => {
  if (typeof tree === "string") return document.createTextNode(tree);
  const { tag, attributes, children } = tree;
  const { href, "data-cite": number } = attributes;
  if (number) return cite(+number);
  // A marker stays on the line of the words that it proves.
  const glued = (child, at) => (child.trimEnd && children[at + 1]?.["attributes"]?.["data-cite"] ? child.trimEnd() + "\u202f" : child);
  const inner = children.map((child, at) => build(glued(child, at), cite, code));
  if (tag === "a") return href ? link(href, {}, ...inner) : h("span", {}, ...inner);
  const node = h(/** @type {"div"} */ (tag), attributes, ...inner);
  if (tag === "table") return h("div", { class: "wide", tabindex: 0 }, node);
  return tag === "pre" ? code(node) : node;
};

const spoken = (url) => {
  try {
    const { host, pathname } = new URL(url, location.href);
    return decodeURI(host + pathname).replace(/\/$/, "");
  } catch {
    return url;
  }
};

const proof = ({ link: href, title, quote, url }, attributes = {}) => [
  link(href || url, attributes, title || spoken(url)),
  h("q", {}, quote),
  h("div", { class: "path" }, spoken(url)),
];

const sourceList = (citations, texts) => {
  const rows = citations.map((citation) => h("li", { class: "source", part: "source" }, h("b", {}, `${citation.number}`), h("div", { dir: "auto" }, ...proof(citation), citation.corrected && texts.curated)));
  const name = h("summary", {}, `${texts.sources}: ${rows.length}`);
  const more = rows[SOURCES] && button({ class: "push", onclick: () => {
    for (const row of rows) row.hidden = false;
    rows[SOURCES].querySelector("a")?.focus();
    more?.remove();
  } }, texts.all);
  for (const row of rows.slice(SOURCES)) row.hidden = true;
  return h("details", { class: "sources", open: true }, name, h("ol", { role: "list" }, ...rows), more);
};

/** @type {import("../types").MakeCard} */
export const makeCard = () => {
  const node = h("div", { class: "card", part: "card", id: "card", role: "tooltip", dir: "auto", hidden: true });
  let shown;
  let timer;
  let quiet = 0;
  const hide = () => {
    if (shown) set(shown, "aria-describedby", null);
    shown = undefined;
    return !node.hidden && (node.hidden = true);
  };
  const leave = () => (timer = setTimeout(hide, 250));
  const stay = () => clearTimeout(timer);
  node.addEventListener("pointerenter", stay);
  node.addEventListener("pointerleave", leave);
  return {
    node,
    dismiss() {
      quiet = performance.now() + 500; // a marker below the card comes under the pointer
      return hide();
    },
    attach(marker, citation) {
      const show = () => {
        stay();
        hide();
        shown = marker;
        node.replaceChildren(...proof(citation, { tabindex: -1 }));
        node.hidden = false;
        set(marker, "aria-describedby", "card");
        const panel = /** @type {HTMLElement} */ (node.parentElement).getBoundingClientRect();
        const { top, bottom } = marker.getBoundingClientRect();
        const below = bottom - panel.top + 8;
        const fits = below + node.offsetHeight < panel.height - 90;
        node.style.top = `${fits ? below : Math.max(0, top - panel.top - node.offsetHeight - 8)}px`;
      };
      let tapped = false;
      const on = (name, listener) => marker.addEventListener(name, listener);
      on("pointerenter", ({ pointerType, timeStamp }) => pointerType === "touch" || timeStamp < quiet || show());
      on("pointerleave", leave);
      on("blur", leave);
      on("focus", show);
      // The first tap shows the card, the next one follows the link.
      on("touchstart", () => (tapped = shown !== marker));
      on("click", (event) => {
        if (!tapped) return;
        event.preventDefault();
        show();
        tapped = false;
      });
    },
  };
};

const noted = (kind, ...children) => h("div", { class: "note" }, icon(MARKS[kind]), ...children);

/** @type {import("../types").MakeView} */
export const makeView = (message, { texts, conversation, copy, ask, privacy, announce }, card) => {
  if (message.role === "contact") {
    const sent = h("p", {}, `${texts.sent} `, h("b", { dir: "auto" }, message.text));
    return { node: h("article", { "aria-label": texts.contact }, noted("done", sent)), update() {} };
  }
  if (message.role === "visitor") {
    const { selection } = message.page || {};
    const said = h("div", { class: "you", part: "question" }, h("div", { dir: "auto" }, selection && h("q", {}, selection), message.text));
    return { node: h("article", { part: "message", "aria-label": texts.you }, said), update() {} };
  }
  const body = h("div", { class: "body", part: "answer", dir: "auto" });
  let tail = h("div");
  const node = h("article", { part: "message", "aria-label": texts.answer }, body, tail);
  let blocks = [];
  let drawn;
  // Of what is still being written: the characters and the blocks that no further word can change.
  let settled = { length: 0, count: 0, citations: 0 };

  const cite = (number) => {
    const citation = message.citations.find((known) => known.number === number);
    if (!citation) return h("span", { class: "cite" }, `${number}`);
    const name = `${number}: ${citation.title}`;
    const marker = link(citation.link || citation.url, { class: "cite", part: "citation", "data-cite": number, "aria-label": name }, `${number}`);
    card.attach(marker, citation);
    return marker;
  };
  const code = (pre) => {
    set(pre, "tabindex", 0);
    const copier = tool(texts.copy, COPY, () => copy(pre.textContent, copier));
    return h("div", { class: "code" }, pre, copier);
  };

  const settle = () => {
    const end = message.text.lastIndexOf("\n\n");
    const more = message.text.slice(settled.length, end);
    if (end <= settled.length || (more.match(/^\s*```/gm)?.length || 0) % 2) return;
    settled = { length: end, count: settled.count + markdown(more).length, citations: settled.citations };
  };

  // Leaves untouched what stands already: the reader may have selected or focused it.
  const write = () => {
    const { text, html, citations, state } = message;
    const whole = state === "done" && html;
    if (whole || text.length < settled.length || citations.length !== settled.citations)
      settled = { length: 0, count: 0, citations: citations.length };
    const trees = whole ? parse(html) : markdown(text.slice(settled.length));
    const next = trees.map((tree) => {
      const words = JSON.stringify(tree);
      return words.includes("data-cite") ? words + JSON.stringify(citations) : words;
    });
    const { count } = settled;
    let same = 0;
    while (same < next.length && next[same] === blocks[count + same]) same++;
    while (body.childNodes.length > count + same) body.lastChild?.remove();
    body.append(...trees.slice(same).map((tree) => build(tree, cite, code)));
    blocks.splice(count, blocks.length, ...next);
    if (!whole) settle();
  };

  const acts = () => {
    const rate = async (helpful, comment) => {
      const before = message.helpful;
      message.helpful = helpful; // shown at once, however slow the network is
      mark();
      try {
        await conversation.rate(message, helpful, comment);
        if (comment) message.comment = undefined;
        form.hidden = helpful || !!comment;
        said.textContent = texts.thanks;
      } catch {
        message.helpful = before;
        mark();
        said.textContent = texts.unsent;
      }
      if (!form.hidden) words.focus();
      else if (comment) down.focus();
    };
    const mark = () => {
      set(up, "aria-pressed", `${message.helpful === true}`);
      set(down, "aria-pressed", `${message.helpful === false}`);
    };
    const onsubmit = (event) => {
      event.preventDefault();
      if (words.value.trim()) rate(false, words.value.trim());
    };
    const copier = tool(texts.copy, COPY, () => copy([message.text, ...message.citations.map(({ number, title, url }) => `[${number}] ${title} ${url}`)].join("\n\n"), copier));
    const up = tool(texts.helpful, THUMB, () => rate(true));
    const down = tool(texts.unhelpful, THUMB, () => rate(false), { class: "tool down" });
    mark();
    const said = h("span", { role: "status" });
    const oninput = () => (message.comment = words.value); // what is typed outlives the page
    const words = h("textarea", { rows: 2, maxlength: 1000, "aria-label": texts.missing, placeholder: texts.missing, oninput });
    words.value = message.comment || "";
    const form = h("form", { class: "comment", hidden: !words.value, onsubmit }, words, h("button", { class: "push" }, texts.send));
    const again = tool(texts.again, AGAIN, () => ask(question().text, question().page));
    return [h("div", { class: "acts" }, copier, again, up, down, said), form];
  };

  const question = () => {
    const { messages } = conversation.talk;
    return /** @type {import("../types").Question} */ (messages[messages.indexOf(message) - 1]);
  };

  const note = (last) => {
    const { kind, until } = message.error || /** @type {any} */ ({});
    const again = button({ class: "push", onclick: () => conversation.retry() });
    countdown(again, texts.retry, until);
    const words = h("span", { role: last && kind && "alert" }, kind ? texts[kind] : texts.stopped);
    return noted(kind ? "failed" : "stopped", words, last && again);
  };

  const terms = () => {
    const { consent } = conversation.rules;
    const agree = button({ class: "main", onclick: () => conversation.agree() }, texts.agree);
    return h("div", { class: "note terms" }, h("p", { dir: "auto" }, consent?.text, " ", ...privacy(consent)), agree);
  };

  return {
    node,
    update(last) {
      const { state } = message;
      const running = state === "searching" || state === "writing";
      // What follows the words depends on no more than this, and must not be redrawn under the reader's hands.
      const now = [state, last && state !== "done", message.error, message.checking].join();
      if (now === drawn && !running) return;
      set(node, "aria-busy", running && "true");
      write();
      if (now === drawn) return;
      drawn = now;
      const old = tail;
      old.replaceWith((tail = h("div"))); // a new one: the old one moving would count as a layout shift
      if (state === "searching") {
        const wait = h("p", { class: "wait" }, message.checking ? texts.checking : texts.searching);
        if (!message.checking) setTimeout(() => wait.isConnected && announce((wait.textContent = texts.slow)), 8000);
        tail.append(wait);
      } else if (state === "done") {
        if (message.outcome === "curated") tail.append(h("p", { class: "label" }, icon(MARKS.done), texts.curated));
        if (message.citations[0]) tail.append(sourceList(message.citations, texts));
        tail.append(...acts());
      } else if (state === "consent") tail.append(terms());
      else if (!running) tail.append(note(last));
    },
  };
};
