import { h, icon, set } from "./dom.js";

const SEND = "M12 19V5M6 11l6-6 6 6";
const STOP = "M7 7h10v10H7z";

/** @type {import("../types").MakeComposer} */
export const makeComposer = ({ texts, conversation, ask }, store) => {
  let busy = false;
  let limit = 2000;
  const over = () => text.value.length > limit;
  const typed = () => {
    const { length } = text.value;
    store.set("draft", text.value || null);
    set(grow, "data-text", text.value);
    foot.textContent = length > limit * 0.8 ? `${length} / ${limit} ${over() ? texts.long : ""}` : texts.notice;
    set(foot, "class", over() ? "foot over" : "foot");
    set(text, "aria-invalid", over() && "true");
    draw();
  };
  const draw = () => {
    const name = busy ? texts.stop : texts.send;
    set(go, "aria-label", name);
    set(go, "title", name);
    set(go, "aria-disabled", !busy && (over() || !text.value.trim()) && "true");
    go.replaceChildren(icon(busy ? STOP : SEND));
  };
  const send = () => {
    const { value } = text;
    if (busy || over() || !value.trim()) return;
    text.value = "";
    typed();
    ask(value);
  };
  /** @param {KeyboardEvent} event */
  const onkeydown = (event) => {
    // 229 is what Safari says of the Enter that only ends the composing of a word.
    if (event.isComposing || event.keyCode === 229) return;
    if (event.key === "Enter" && !event.shiftKey) {
      event.preventDefault();
      send();
    } else if (event.key === "ArrowUp" && !text.value) {
      const last = conversation.talk.messages.findLast(({ role }) => role === "visitor");
      text.value = last?.text || "";
      typed();
    }
  };
  const text = h("textarea", { rows: "1", "aria-label": texts.ask, "aria-describedby": "foot", placeholder: texts.ask, dir: "auto", enterkeyhint: "send", oninput: typed, onkeydown });
  const grow = h("div", { class: "grow" }, text);
  const go = h("button", { type: "button", class: "go", onclick: () => (busy ? conversation.stop() : send()) });
  const foot = h("p", { id: "foot" });
  text.value = store.get("draft", "");
  typed();
  return {
    node: h("div", {}, h("div", { class: "compose" }, grow, go), foot),
    focus: () => text.focus({ preventScroll: true }),
    /** @param {boolean} now */
    busy(now) {
      if (busy === now) return;
      busy = now;
      draw();
    },
    /** @param {number} most */
    limit(most) {
      limit = most;
      typed();
    },
  };
};
