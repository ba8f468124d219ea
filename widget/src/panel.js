import { button, h, rename, set, tool } from "./dom.js";
import { makeCard, makeView } from "./message.js";

const SEND = "M12 19V5M6 11l6-6 6 6";
const STOP = "M7 7h10v10H7z";
const PLUS = "M12 5v14M5 12h14";
const DOTS = "M5 12h.01M12 12h.01M19 12h.01";
const CLOSE = "M6 6l12 12M18 6L6 18";
const DOWN = "M12 5v14M6 13l6 6 6-6";

// Nothing typed is cut off or lost: what is too long is only not sent.
const makeComposer = ({ texts, conversation, ask }, store) => {
  let limit = 2000;
  const draw = () => {
    const { length } = text.value;
    const over = length > limit;
    const { busy } = conversation;
    set(grow, "data-text", text.value);
    set(text, "aria-invalid", over && "true");
    set(foot, "class", over ? "foot over" : "foot");
    foot.textContent = length > limit * 0.8 ? `${length} / ${limit} ${over ? texts.long : ""}` : texts.notice;
    set(send, "aria-disabled", (over || !text.value.trim()) && "true");
    if (!busy && stop.matches(":focus")) text.focus();
    send.hidden = busy;
    stop.hidden = !busy;
  };
  const oninput = () => {
    store.set("draft", text.value);
    draw();
  };
  const write = (words) => {
    text.value = words;
    oninput();
  };
  const go = () => {
    const { value } = text;
    if (conversation.busy || value.length > limit || !value.trim()) return;
    write("");
    ask(value);
  };
  const onkeydown = (event) => {
    // 229 is what Safari says of the Enter that only ends the composing of a word.
    if (event.isComposing || event.keyCode === 229) return;
    if (event.key === "Enter" && !event.shiftKey) {
      event.preventDefault();
      go();
    } else if (event.key === "ArrowUp" && !text.value) {
      write(conversation.talk.messages.findLast(({ role }) => role === "visitor")?.text || "");
    }
  };
  const text = h("textarea", { rows: 1, "aria-label": texts.ask, "aria-describedby": "foot", placeholder: texts.ask, dir: "auto", enterkeyhint: "send", oninput, onkeydown });
  const grow = h("div", { class: "grow" }, text);
  const send = tool(texts.send, SEND, () => {
    text.focus();
    go();
  }, { class: "go" });
  const stop = tool(texts.stop, STOP, conversation.stop, { class: "go" });
  const foot = h("p", { id: "foot" });
  text.value = store.get("draft", "");
  return {
    node: h("div", {}, h("div", { class: "compose" }, grow, send, stop), foot),
    focus: () => text.focus({ preventScroll: true }),
    draw,
    limit(most) {
      limit = most;
      draw();
    },
  };
};

/** @type {import("../types").MakePanel} */
export const makePanel = ({ texts, language, conversation, title, store, close }) => {
  const views = new Map();
  let suggestions = [];
  let follow = true;

  const announce = (words) => {
    if (status.textContent !== words) status.textContent = words;
  };
  const ask = (question) => {
    follow = true;
    conversation.ask(question);
  };
  const copy = (words, copier) =>
    navigator.clipboard?.writeText(words).then(() => {
      rename(copier, texts.copied);
      announce(texts.copied);
      setTimeout(() => rename(copier, texts.copy), 2000);
    }, () => {});
  const context = { texts, conversation, copy, ask };
  const card = makeCard();
  const composer = makeComposer(context, store);
  const active = () => /** @type {ShadowRoot} */ (node.getRootNode()).activeElement;

  const menuItems = () => {
    const talks = conversation.talks.filter(({ started }) => started !== conversation.talk.started);
    const items = talks.map(({ started, messages }) => {
      const onclick = () => {
        toggle(false);
        conversation.load(started);
      };
      return button({ dir: "auto", title: new Date(started).toLocaleString(language), onclick }, messages[0].text);
    });
    const erase = button({ onclick: () => {
      if (erase.textContent === texts.erase) return (erase.textContent = texts.sure);
      conversation.erase().then(() => announce((erase.textContent = texts.erased)), () => (erase.textContent = texts.unsent));
    } }, texts.erase);
    return [...(items[0] ? [h("p", {}, texts.earlier), ...items] : []), erase];
  };
  const toggle = (open) => {
    if (!open && menu.contains(active())) more.focus();
    menu.hidden = !open;
    set(more, "aria-expanded", `${open}`);
    if (!open) return;
    menu.replaceChildren(...menuItems());
    menu.querySelector("button")?.focus();
  };

  const moved = () => {
    latest.hidden = log.scrollHeight - log.scrollTop - log.clientHeight < 48;
  };
  const leave = () => (follow = false);
  // Follows the text as it grows, but never past the question: reading begins at its top.
  const scroll = () => {
    const question = [...views.values()].at(-2)?.node;
    if (follow && question) log.scrollTop = question.offsetTop - log.offsetTop - 12;
    moved();
  };

  const pick = (question) => {
    composer.focus();
    ask(question);
  };
  const draw = () => {
    const { messages } = conversation.talk;
    const wanted = new Set(messages);
    for (const [message, view] of views) if (!wanted.has(message) && views.delete(message)) view.node.remove();
    const last = messages.at(-1);
    for (const message of messages) {
      if (!views.has(message)) {
        views.set(message, makeView(message, context, card));
        chips.before(views.get(message).node);
      }
      views.get(message).update(message === last);
    }
    hello.hidden = !!last;
    const next = last ? (last.role === "answer" && last.state === "done" && last.suggestions) || [] : suggestions;
    chips.replaceChildren(...next.slice(0, 4).map((words) => button({ class: "chip", dir: "auto", onclick: () => pick(words) }, words)));
    composer.draw();
    scroll();
  };

  const hello = h("p", { class: "hello", dir: "auto" }, texts.hello);
  const chips = h("div", { class: "chips" });
  const log = h("div", { class: "log", role: "log", "aria-live": "off", "aria-label": texts.log, tabindex: 0, onscroll: moved, onwheel: leave, ontouchmove: leave }, hello, chips);
  const latest = tool(texts.latest, DOWN, () => log.scrollTo(0, log.scrollHeight), { class: "tool latest" });
  const onfocusout = ({ relatedTarget: next }) => next && next !== more && !menu.contains(next) && toggle(false);
  const menu = h("div", { class: "menu", id: "menu", hidden: true, onfocusout });
  const more = tool(texts.more, DOTS, () => toggle(menu.hidden), { "aria-expanded": "false", "aria-controls": "menu" });
  const fresh = tool(texts.fresh, PLUS, () => {
    conversation.fresh();
    composer.focus();
  });
  const status = h("div", { class: "sr", role: "status" });
  const heading = h("h2", { id: "title" }, title || texts.ask);
  const head = h("header", {}, h("hgroup", {}, heading, h("p", {}, texts.about)), fresh, more, close && tool(texts.close, CLOSE, close));
  const onpointerdown = ({ target }) => menu.hidden || menu.contains(target) || more.contains(target) || toggle(false);
  const node = h(
    "section",
    { class: "panel", part: "panel", role: close ? "dialog" : "region", "aria-labelledby": "title", tabindex: -1, lang: language, dir: language === "ar" ? "rtl" : "ltr", onpointerdown },
    head, menu, log, latest, card.node, composer.node, status,
  );

  return {
    node,
    focus: composer.focus,
    ask: pick,
    changed(reply) {
      draw();
      if (reply?.state === "searching") announce(texts.searching);
      if (reply?.state !== "done" || conversation.busy) return;
      const { length } = reply.citations;
      announce(`${views.get(reply)?.node.querySelector(".body").innerText} ${length ? `${texts.sources}: ${length}` : ""}`);
    },
    configure(known) {
      suggestions = known.suggestions || [];
      if (known.greeting) hello.textContent = known.greeting;
      if (!title) heading.textContent = known.title || texts.ask;
      composer.limit(known.limits?.message_chars || 2000);
      draw();
    },
    dismiss() {
      if (menu.hidden) return card.hide();
      toggle(false);
      return true;
    },
  };
};
