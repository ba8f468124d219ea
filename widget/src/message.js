/** @import {Question, Reply} from "../types" */
import { sourceList } from "./cite.js";
import { build, h, link, set, tool } from "./dom.js";
import { parse } from "./html.js";
import { markdown } from "./markdown.js";

const COPY = "M9 9h10v10H9zM5 15V5h10";
const UP = "M7 11v9H4v-9zM7 11l4-8a2.5 2.5 0 0 1 2.5 2.5V9H19a1.5 1.5 0 0 1 1.5 1.8l-1.4 7.4a2 2 0 0 1-2 1.8H7";
const DOWN = "M7 13V4H4v9zM7 13l4 8a2.5 2.5 0 0 0 2.5-2.5V15H19a1.5 1.5 0 0 0 1.5-1.8l-1.4-7.4a2 2 0 0 0-2-1.8H7";

/** @type {import("../types").MakeView<Question>} */
export const questionView = ({ text }, { texts }) => ({
  node: h("article", { "aria-label": texts.you }, h("div", { class: "you", dir: "auto" }, text)),
  update() {},
});

/** @type {import("../types").MakeView<Reply>} */
export const replyView = (reply, context, card) => {
  const { texts, conversation, copy } = context;
  const body = h("div", { class: "body", dir: "auto" });
  const tail = h("div");
  const node = h("article", { "aria-label": texts.answer }, body, tail);
  let drawn = "";
  /** @type {string[]} */
  let blocks = [];

  /** @param {number} number */
  const cite = (number) => {
    const citation = reply.citations.find((known) => known.number === number);
    if (!citation) return h("span", { class: "cite" }, `${number || "?"}`);
    const marker = link(citation.link || citation.url, { class: "cite", "aria-label": `${texts.sources} ${number}: ${citation.title}` }, `${number}`);
    card.attach(marker, citation);
    return marker;
  };
  /** @param {HTMLElement} pre */
  const code = (pre) => {
    set(pre, "tabindex", "0");
    const button = tool(texts.copy, COPY, () => copy(pre.textContent || "", button));
    return h("div", { class: "code" }, pre, button);
  };

  /** Draws the text, leaving untouched what stands already: the reader may have selected or focused it. */
  const write = () => {
    const trees = reply.html && reply.state === "done" ? parse(reply.html) : markdown(reply.text);
    const known = JSON.stringify(reply.citations);
    const next = trees.map((tree) => JSON.stringify(tree) + known);
    const same = next.findIndex((block, at) => block !== blocks[at]);
    if (same < 0 && next.length === blocks.length) return;
    const kept = same < 0 ? next.length : same;
    while (body.childNodes.length > kept) body.lastChild?.remove();
    body.append(...trees.slice(kept).map((tree) => build(tree, cite, code)));
    blocks = next;
  };

  const plain = () =>
    [reply.text, ...reply.citations.map(({ number, title, url }) => `[${number}] ${title} ${url}`)].join("\n\n");

  const acts = () => {
    const said = h("span", { role: "status" });
    /** @param {boolean} helpful @param {string} [comment] */
    const rate = (helpful, comment) =>
      conversation.rate(reply, helpful, comment).then(
        () => {
          set(up, "aria-pressed", `${helpful}`);
          set(down, "aria-pressed", `${!helpful}`);
          said.textContent = texts.thanks;
          return true;
        },
        () => void (said.textContent = texts.failed),
      );
    const ask = () => {
      rate(false);
      form.hidden = false;
      text.focus();
    };
    const up = tool(texts.helpful, UP, () => rate(true).then(() => (form.hidden = true)), { "aria-pressed": `${reply.helpful === true}` });
    const down = tool(texts.unhelpful, DOWN, ask, { "aria-pressed": `${reply.helpful === false}` });
    const copier = tool(texts.copy, COPY, () => copy(plain(), copier));
    const text = h("textarea", { rows: "2", maxlength: "1000", "aria-label": texts.missing, placeholder: texts.missing });
    /** @param {Event} event */
    const onsubmit = async (event) => {
      event.preventDefault();
      if (await rate(false, text.value.trim() || undefined)) {
        form.hidden = true;
        down.focus();
      }
    };
    const form = h("form", { class: "comment", hidden: true, onsubmit }, text, h("button", { class: "push" }, texts.send));
    return [h("div", { class: "acts" }, copier, reply.id && up, reply.id && down, said), form];
  };

  /** What went wrong, and the way on. @param {boolean} last */
  const note = (last) => {
    const { kind, until = 0 } = reply.error || {};
    const again = h("button", { type: "button", class: "push", onclick: () => conversation.retry() }, texts.retry);
    const count = () => {
      const left = Math.ceil((until - Date.now()) / 1000);
      again.disabled = left > 0;
      again.textContent = left > 0 ? `${texts.retry} (${left})` : texts.retry;
      if (left > 0 && node.isConnected) setTimeout(count, 1000);
    };
    queueMicrotask(count);
    return h("div", { class: "note", role: kind ? "alert" : null }, h("span", {}, kind ? texts[kind] : texts.stopped), last && again);
  };

  return {
    node,
    update(last) {
      const { state } = reply;
      set(node, "aria-busy", state === "writing" || state === "searching" ? "true" : null);
      write();
      // The rest depends on no more than this, and must not be redrawn under the reader's hands.
      const now = [state, last && state !== "done", reply.error?.until].join();
      if (now === drawn) return;
      drawn = now;
      if (state === "searching") {
        const wait = h("p", { class: "wait" }, texts.searching);
        setTimeout(() => (wait.textContent = texts.slow), 8000);
        tail.replaceChildren(wait);
      } else tail.replaceChildren();
      if (state === "failed" || state === "stopped") tail.append(note(last));
      if (state !== "done") return;
      if (reply.citations.length) tail.append(sourceList(reply.citations, texts));
      tail.append(...acts());
    },
  };
};
