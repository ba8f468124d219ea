import { COPY, makeCard, makeView, MARKS } from "./message.js";
import { makeContact } from "./contact.js";
import { makeComposer } from "./composer.js";
import { button, CLOSE, h, link, set, tool } from "./dom.js";
import { MESSAGES } from "./store.js";
import { small } from "./styles.js";

const AT_ONCE = 20;
const PLUS = "M12 5v14M5 12h14";
const DOTS = "M5 12h.01M12 12h.01M19 12h.01";
const WIDE = "M14 4h6v6M20 4L4 20M10 20H4v-6";
const DOWN = "M12 5v14M6 13l6 6 6-6";

/** @type {import("../types").MakePanel} */
export const makePanel = ({ texts, language, conversation, store, close }) => {
  const views = new Map();
  const waiting = new Set();
  let filling;
  let suggestions = [];
  let offered = "";
  let follow = true;
  let question;
  let frame;

  const announce = (words) => {
    if (status.textContent !== words) status.textContent = words;
  };
  const ask = (words, page = composer.page()) => {
    // Another chat on this page may have gone on with it, of which no event tells. Longer ones are not kept whole.
    if (views.size < MESSAGES) conversation.refresh();
    if (!conversation.ready) return composer.offer(words);
    follow = true;
    conversation.ask(words, page);
  };
  // Browsers copy on https pages only, and not in every frame.
  const copy = async (words, copier) => {
    const path = copier.querySelector("path");
    const done = await navigator.clipboard?.writeText(words).then(() => true, () => false);
    set(path, "d", done ? MARKS.done : CLOSE);
    announce(done ? texts.copied : texts.unsent);
    setTimeout(set, 2000, path, "d", COPY);
  };
  const tell = (words) => {
    announce(words);
    log.focus();
    leave();
    log.scrollTop = log.scrollHeight;
  };
  const privacy = (consent) => (consent?.privacy_url ? [" ", link(consent.privacy_url, {}, texts.privacy)] : []);
  const context = { texts, language, conversation, copy, ask, privacy, tell, announce };
  const card = makeCard();
  const composer = makeComposer(context, store);
  const contact = makeContact(context, store);

  const menuItems = () => {
    const others = conversation.talks.filter(({ started }) => started !== conversation.talk.started);
    const items = others.map(({ started, messages }) => button({ dir: "auto", title: new Date(started).toLocaleString(language), onclick() {
      toggle(false);
      follow = true;
      conversation.load(started);
    } }, messages[0].text));
    const say = (words) => announce((erase.textContent = words));
    // The second press is another one: no double click, and no key that is held down.
    const erase = button({ onkeydown: (event) => event.repeat && event.preventDefault(), onclick: ({ detail }) => {
      if (detail > 1) return;
      if (erase.textContent === texts.erase) return say(texts.sure);
      conversation.erase().then(() => say(texts.erased), () => say(texts.unsent));
    } }, texts.erase);
    return [...contact.items(() => toggle(false)), ...(items[0] ? [h("p", {}, texts.earlier), ...items] : []), erase];
  };
  const toggle = (open) => {
    if (!open && menu.matches(":focus-within")) more.focus();
    menu.hidden = !open;
    set(more, "aria-expanded", `${open}`);
    if (!open) return;
    menu.replaceChildren(...menuItems());
    menu.querySelector("button")?.focus();
  };

  const moved = () => {
    latest.hidden = log.scrollHeight - log.scrollTop - log.clientHeight < 48;
  };
  // The visitor moves the words: by wheel, finger, scroll bar or key.
  const leave = () => (follow = false);
  const grab = ({ target }) => target === log && leave();
  const press = ({ key }) => /Up|Down|Home|End/.test(key) && leave();
  // Follows the text as it grows, but never past the question: reading begins at its top, or, where that is long, near its end.
  const scroll = () => {
    if (follow && question) log.scrollTop = question.offsetTop - log.offsetTop + Math.max(-12, question.offsetHeight - log.clientHeight / 2);
    moved();
  };

  // On a small screen the keyboard would cover the answer.
  const pick = (words) => {
    if (!small.matches) composer.focus();
    ask(words);
  };
  const drawChips = (last) => {
    const next = (last ? (last.state === "done" && last.suggestions) || [] : suggestions).slice(0, 4);
    const words = next.join("\n");
    if (words === offered) return;
    offered = words;
    chips.replaceChildren(...next.map((one) => button({ class: "chip", part: "chip", dir: "auto", onclick: () => pick(one) }, one)));
  };
  // A long conversation is filled from its end.
  const catchUp = () => {
    clearTimeout(filling);
    if (waiting.size) filling = setTimeout(() => {
      for (const view of [...waiting].slice(-2 * AT_ONCE)) if (waiting.delete(view)) view.update(false);
      catchUp();
    });
  };
  const draw = () => {
    const { messages } = conversation.talk;
    const inside = node.matches(":focus-within");
    const wanted = new Set(messages);
    for (const [message, view] of views)
      if (!wanted.has(message) && views.delete(message)) {
        waiting.delete(view);
        view.node.remove();
      }
    const last = messages.findLast(({ role }) => role === "answer");
    for (const [at, message] of messages.entries()) {
      const view = views.get(message) || makeView(message, context, card);
      if (!views.has(message)) {
        contact.node.before(view.node);
        if (at < messages.length - AT_ONCE) waiting.add(view);
      }
      views.set(message, view);
      if (!waiting.has(view)) view.update(message === last);
    }
    catchUp();
    question = views.get(messages.findLast(({ role }) => role === "visitor"))?.node;
    hello.hidden = !!messages[0];
    drawChips(last);
    contact.draw();
    composer.draw();
    scroll();
    // A button that is gone takes the focus along, out of the panel.
    if (inside && !node.matches(":focus-within")) log.focus();
  };
  // Words come faster than anyone sees them.
  const write = (reply) => {
    if (node["open"] !== false) frame ||= setTimeout(() => {
      frame = 0;
      views.get(reply)?.update(true);
      scroll();
    }, 40);
  };

  // Who answers: the widget's own words, until the server says it.
  const about = h("p", { id: "about" }, texts.about);
  conversation.rules.disclosure = { text: texts.about };
  const hello = h("p", { class: "hello", part: "greeting", dir: "auto" }, texts.hello);
  const chips = h("div", { class: "chips" });
  const log = h("div", { class: "log", part: "log", role: "log", "aria-live": "off", "aria-label": texts.log, tabindex: 0, onscroll: moved, onwheel: leave, ontouchmove: leave, onpointerdown: grab, onkeydown: press }, hello, contact.node, chips);
  const latest = tool(texts.latest, DOWN, () => tell(""), { class: "tool latest" });
  const onfocusout = ({ relatedTarget: next }) => next && next !== more && next !== node && !menu.contains(next) && toggle(false);
  const menu = h("div", { class: "menu", part: "menu", id: "menu", hidden: true, onfocusout });
  const more = tool(texts.more, DOTS, () => toggle(menu.hidden), { "aria-expanded": "false", "aria-controls": "menu" });
  const fresh = tool(texts.fresh, PLUS, () => {
    conversation.fresh();
    composer.focus();
  });
  const status = h("div", { class: "sr", role: "status" });
  const heading = h("h2", { id: "title", part: "title", dir: "auto" }, texts.ask);
  const avatar = h("img", { class: "avatar", part: "avatar", alt: "", hidden: true, referrerpolicy: "no-referrer", onerror: () => (avatar.hidden = true) });
  const resize = (wide) => {
    set(node, "data-wide", wide);
    set(wider, "aria-pressed", `${wide}`);
    store.set("wide", wide);
  };
  const wider = tool(texts.wide, WIDE, () => resize(!store.get("wide")), { class: "tool wider" });
  const head = h("div", { class: "head", part: "header" }, avatar, h("hgroup", {}, heading, about), fresh, more, close && wider, close && tool(texts.close, CLOSE, close));
  const onpointerdown = ({ target }) => menu.hidden || menu.contains(target) || more.contains(target) || toggle(false);
  const node = h(
    close ? "dialog" : "section",
    { class: "panel", part: "panel", title: "", "aria-labelledby": "title", "aria-describedby": "about", tabindex: -1, lang: language, dir: language === "ar" ? "rtl" : "ltr", onpointerdown },
    head, menu, log, latest, card.node, composer.node, status,
  );

  resize(!!store.get("wide"));
  new ResizeObserver(moved).observe(log);

  return {
    node,
    focus: composer.focus,
    ask: pick,
    changed(reply) {
      if (reply?.state === "writing" && conversation.busy && views.has(reply)) return write(reply);
      draw();
      if (!reply) return;
      const { state } = reply;
      const { node } = views.get(reply);
      if (state === "searching") announce(node.querySelector(".wait").textContent);
      if (state === "consent") announce(`${conversation.rules.consent?.text || ""} ${texts.agree}`);
      if (state === "stopped") announce(texts.stopped);
      if (state === "failed") announce(""); // its note is an alert
      if (state !== "done" || conversation.busy) return;
      announce(`${node.querySelector(".body").innerText} ${node.querySelector("summary")?.innerText || ""}`);
    },
    take: composer.take,
    configure(known) {
      conversation.configure(known);
      suggestions = known.suggestions || [];
      const { text, more } = conversation.rules.disclosure;
      about.textContent = text;
      hello.replaceChildren(known.greeting || texts.hello, h("small", {}, more));
      composer.configure(known);
      draw();
    },
    wear(title, picture) {
      heading.textContent = title || texts.ask;
      if ((picture || null) === avatar.getAttribute("src")) return;
      set(avatar, "src", picture || null);
      avatar.hidden = !picture;
    },
    dismiss() {
      // Both at once: a card may still be shown below the menu.
      const shown = card.dismiss() || !menu.hidden;
      toggle(false);
      return shown;
    },
  };
};
