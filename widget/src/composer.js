import { CLOSE, composing, h, set, tool } from "./dom.js";
import { here, marked } from "./page.js";

const SEND = "M12 19V5M6 11l6-6 6 6";
const STOP = "M7 7h10v10H7z";

// What the visitor has marked on the page, as long as it is to go with the next question.
const makeAbout = ({ texts, conversation }) => {
  let words = "";
  let dropped = "";
  const said = h("q", { dir: "auto" });
  const node = h("div", { class: "about", hidden: true }, h("span", {}, texts.about_words), said, tool(texts.remove, CLOSE, () => {
    dropped = words;
    show("");
  }));
  const show = (next) => {
    words = next;
    said.textContent = words;
    node.hidden = !words || !conversation.rules.context?.selection;
  };
  return {
    node,
    show: () => show(words),
    take(host) {
      const found = marked(host);
      if (found && found !== dropped) show(found);
    },
    // Gone with the question that it went with.
    page() {
      const { page, selection } = conversation.rules.context || {};
      const given = page ? here(selection && words) : undefined; // the server takes no false
      show("");
      return given;
    },
  };
};

// Nothing typed is cut off or lost: what is too long is only not sent.
/** @type {import("../types").MakeComposer} */
export const makeComposer = (context, store) => {
  const { texts, conversation } = context;
  let limit = 2000;
  const draw = () => {
    const { length } = text.value;
    const over = length > limit;
    const { busy } = conversation;
    set(grow, "data-text", text.value);
    set(text, "aria-invalid", over && "true");
    set(foot, "class", over && "over");
    said.textContent = length > limit * 0.8 ? `${length} / ${limit} ${over ? texts.long : ""}` : texts.notice;
    set(send, "aria-disabled", (over || !text.value.trim() || !conversation.ready) && "true");
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
    if (value.length > limit) return context.announce(said.textContent);
    if (!conversation.ready || !value.trim()) return;
    write("");
    context.ask(value);
  };
  const onkeydown = (event) => {
    if (composing(event)) return;
    if (event.key === "Enter" && !event.shiftKey) {
      event.preventDefault();
      go();
    } else if (event.key === "ArrowUp" && !text.value) {
      write(conversation.talk.messages.findLast(({ role }) => role === "visitor")?.text || "");
    }
  };
  const text = h("textarea", { part: "input", rows: 1, "aria-label": texts.ask, "aria-describedby": "foot", placeholder: texts.ask, dir: "auto", enterkeyhint: "send", oninput, onkeydown });
  const grow = h("div", { class: "grow" }, text);
  const send = tool(texts.send, SEND, () => {
    text.focus();
    go();
  }, { class: "go", part: "send" });
  const stop = tool(texts.stop, STOP, conversation.stop, { class: "go", part: "stop" });
  const said = h("span");
  const foot = h("p", { id: "foot", part: "foot" }, said);
  const about = makeAbout(context);
  text.value = store.get("draft", "");
  return {
    node: h("div", {}, about.node, h("div", { class: "compose", part: "composer" }, grow, send, stop), foot),
    focus: () => text.focus({ preventScroll: true }),
    draw,
    take: about.take,
    page: about.page,
    offer: (words) => text.value || write(words),
    configure({ limits, consent }) {
      limit = limits?.message_chars || 2000;
      foot.replaceChildren(said, ...context.privacy(consent));
      about.show();
      draw();
    },
  };
};
