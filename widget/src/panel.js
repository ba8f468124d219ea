/** @import {Configuration, Context, Message, Reply, Store, Talk, View} from "../types" */
import { makeCard } from "./cite.js";
import { makeComposer } from "./composer.js";
import { h, set, tool } from "./dom.js";
import { questionView, replyView } from "./message.js";
import { SMALL } from "./styles.js";

const PLUS = "M12 5v14M5 12h14";
const DOTS = "M5 12h.01M12 12h.01M19 12h.01";
const CLOSE = "M6 6l12 12M18 6L6 18";
const DOWN = "M12 5v14M6 13l6 6 6-6";

/** @type {import("../types").MakePanel} */
export const makePanel = ({ texts, language, conversation, title, store, close }) => {
  /** @type {Map<Message, View>} */
  const views = new Map();
  /** @type {Partial<Configuration>} */
  let known = {};
  /** Where the visitor's last question stands, while answers are followed. */
  let follow = true;

  /** @param {string} text */
  const announce = (text) => (status.textContent = text);
  /** @param {string} text */
  const ask = (text) => {
    follow = true;
    conversation.ask(text);
  };
  /** @type {Context["copy"]} */
  const copy = (text, button) =>
    navigator.clipboard?.writeText(text).then(() => {
      set(button, "aria-label", texts.copied);
      announce(texts.copied);
      setTimeout(() => set(button, "aria-label", texts.copy), 2000);
    }, () => {});
  const context = { texts, language, conversation, announce, copy, ask };
  const card = makeCard();
  const composer = makeComposer(context, store);

  const list = () => {
    const day = new Intl.DateTimeFormat(language, { dateStyle: "medium" });
    /** @param {Talk} talk */
    const row = (talk) => {
      const onclick = () => {
        shut();
        conversation.load(talk.started);
      };
      return h("button", { type: "button", dir: "auto", onclick, title: day.format(talk.started) }, talk.messages[0].text);
    };
    const erase = h("button", { type: "button" }, texts.erase);
    erase.onclick = () => {
      if (erase.textContent === texts.erase) return (erase.textContent = texts.sure);
      conversation.erase().then(() => announce((erase.textContent = texts.erased)), () => (erase.textContent = texts.failed));
    };
    const talks = conversation.talks.filter((talk) => talk.started !== conversation.talk.started);
    menu.replaceChildren(...(talks[0] ? [h("p", {}, texts.earlier), ...talks.map(row)] : []), erase);
  };
  const shut = (open = false) => {
    menu.hidden = !open;
    set(more, "aria-expanded", `${open}`);
    if (open) list();
    if (open) menu.querySelector("button")?.focus();
    else if (menu.contains(active())) more.focus();
  };
  const active = () => /** @type {ShadowRoot} */ (node.getRootNode()).activeElement;

  /** Follows the text as it grows, but never past the question: reading begins at its top. */
  const scroll = () => {
    const question = [...views.values()].at(-2)?.node;
    if (follow && question) log.scrollTop = Math.min(log.scrollHeight, question.offsetTop - log.offsetTop - 12);
    moved();
  };
  const moved = () => {
    latest.hidden = log.scrollHeight - log.scrollTop - log.clientHeight < 48;
    if (!latest.hidden) card.hide();
  };
  const stay = () => (follow = false);

  /** @param {string[] | undefined} questions */
  const offer = (questions) =>
    chips.replaceChildren(
      ...(questions || []).slice(0, 4).map((text) => h("button", { type: "button", class: "chip", dir: "auto", onclick: () => pick(text) }, text)),
    );
  /** @param {string} text */
  const pick = (text) => {
    composer.focus();
    ask(text);
  };

  const draw = () => {
    const { messages } = conversation.talk;
    for (const [message, view] of views) if (!messages.includes(message) && views.delete(message)) view.node.remove();
    messages.forEach((message, at) => {
      let view = views.get(message);
      if (!view) {
        view = message.role === "answer" ? replyView(message, context, card) : questionView(message, context, card);
        views.set(message, view);
        chips.before(view.node);
      }
      view.update(at === messages.length - 1);
    });
    const last = messages.at(-1);
    hello.hidden = !!last;
    composer.busy(conversation.busy);
    offer(last ? (last.role === "answer" && last.state === "done" && last.suggestions) || [] : known.suggestions);
    scroll();
  };

  const hello = h("p", { class: "hello", dir: "auto" }, texts.hello);
  const chips = h("div", { class: "chips" });
  const log = h("div", { class: "log", role: "log", "aria-live": "off", "aria-label": texts.log, tabindex: "0", onscroll: () => moved(), onwheel: stay, ontouchmove: stay }, hello, chips);
  const latest = tool(texts.latest, DOWN, () => log.scrollTo(0, log.scrollHeight), { class: "tool latest", hidden: true });
  const menu = h("div", { class: "menu", id: "menu", hidden: true });
  const more = tool(texts.more, DOTS, () => shut(menu.hidden), { "aria-expanded": "false", "aria-controls": "menu" });
  const fresh = () => {
    conversation.fresh();
    composer.focus();
  };
  const status = h("div", { class: "sr", role: "status" });
  const heading = h("h2", { id: "title", dir: "auto" }, title || texts.ask);
  const top = h("header", {}, h("hgroup", {}, heading, h("p", {}, texts.about)), tool(texts.fresh, PLUS, fresh), more, close && tool(texts.close, CLOSE, close));
  const node = h(
    "section",
    { class: "panel", part: "panel", role: close ? "dialog" : "region", "aria-labelledby": "title", tabindex: "-1", lang: language, dir: language === "ar" ? "rtl" : "ltr" },
    top, menu, log, latest, card.node, composer.node, status,
  );
  node.addEventListener("keydown", (event) => {
    if (event.key !== "Tab" || !close || !matchMedia(SMALL).matches) return;
    const stops = [...node.querySelectorAll("a, button, textarea, [tabindex='0']")].filter((stop) => /** @type {HTMLElement} */ (stop).offsetParent);
    const end = event.shiftKey ? stops[0] : stops.at(-1);
    if (active() !== end && active() !== node) return;
    event.preventDefault();
    /** @type {HTMLElement} */ (event.shiftKey ? stops.at(-1) : stops[0]).focus();
  });
  node.addEventListener("focusout", () => setTimeout(() => menu.hidden || menu.contains(active()) || active() === more || shut()));

  return {
    node,
    focus: composer.focus,
    changed(reply) {
      draw();
      if (reply?.state === "searching") announce(texts.searching);
      if (reply?.state !== "done") return;
      const count = reply.citations.length;
      announce(`${views.get(reply)?.node.querySelector(".body")?.textContent} ${count ? `${texts.sources}: ${count}` : ""}`);
    },
    configure(configuration) {
      known = configuration;
      if (known.greeting) hello.textContent = known.greeting;
      if (!title) heading.textContent = known.title || known.name || texts.ask;
      composer.limit(known.limits?.message_chars || 2000);
      draw();
    },
    dismiss() {
      if (card.hide()) return true;
      if (menu.hidden) return false;
      more.focus();
      shut();
      return true;
    },
    ask: pick,
  };
};
