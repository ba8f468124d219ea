import { opening } from "./hours.js";
import { failure } from "./conversation.js";
import { button, countdown, h, link, set } from "./dom.js";

/** @type {import("../types").Offered} */
export const offered = (messages) => {
  const last = /** @type {import("../types").Reply | undefined} */ (messages.at(-1));
  if (last?.state !== "done") return "";
  if (last.outcome === "handoff") return "open";
  return last.outcome === "limited" || last.outcome === "refused" ? "closed" : "";
};

/** @type {import("../types").MakeContact} */
export const makeContact = ({ texts, language, conversation, privacy, tell }, store) => {
  // What was typed. Without a message it is the question that found no answer.
  let draft = {};
  let wanted = 0;
  let seen;
  let rules = {};
  let sending = false;

  const kept = (name) => ({ target }) => {
    draft[name] = target.value;
    wanted = conversation.talk.started;
    store.set("contact", draft);
  };
  const email = h("input", { type: "email", autocomplete: "email", dir: "ltr", oninput: kept("email") });
  const message = h("textarea", { rows: 4, dir: "auto", oninput: kept("message") });
  const hours = h("p", { dir: "auto" });
  const terms = h("p", { dir: "auto" });
  const send = h("button", { class: "main" });
  const said = h("p", { role: "alert" });
  const fields = [[texts.email, email], [texts.message, message]].map(([name, field]) => h("label", {}, name, field));
  const form = h("form", { novalidate: true, onsubmit: (event) => submit(event) }, hours, ...fields, terms, said, send);
  const node = h("details", { class: "contact", hidden: true }, h("summary", {}, texts.contact), form);

  const wrong = (words, field) => {
    said.textContent = words;
    for (const one of [email, message]) set(one, "aria-invalid", one === field && "true");
    if (field) field.focus();
  };
  const refused = (error) => {
    const { kind, until } = failure(error);
    const [words, field] = { email_invalid: [texts.email_wrong, email], message_empty: [texts.message_empty, message] }[error.code] || [];
    wrong(words || (kind === "failed" ? texts.unsent : texts[kind]), field || (kind === "long" && message));
    if (kind !== "limited") return;
    message.focus(); // a disabled button loses the focus
    countdown(send, texts.send, until);
  };
  const submit = async (event) => {
    event.preventDefault();
    if (sending || send.disabled) return;
    wrong("");
    sending = true;
    try {
      const [address, words] = [email.value.trim(), message.value.trim()];
      if (!/\S@\S/.test(address)) throw { code: "email_invalid" };
      if (!words) throw { code: "message_empty" };
      if (!conversation.agreed()) conversation.agree();
      const reference = await conversation.contact(address, words);
      store.set("contact", null);
      wanted = 0;
      draw();
      tell(`${texts.sent} ${reference}`);
      node.dispatchEvent(new CustomEvent("sitechat:handoff", { detail: reference, bubbles: true, composed: true }));
    } catch (/** @type {any} */ error) {
      fill();
      refused(error);
    }
    sending = false;
  };
  const fill = () => {
    const time = opening(rules.opens, language);
    const back = time && `${texts.opens} ${time}.`;
    hours.textContent = rules.open === false ? `${texts.closed} ${back}` : rules.hours;
    const { consent } = conversation.rules;
    const page = rules.link ? [" ", link(rules.link, {}, texts.contact_page)] : [];
    terms.replaceChildren(texts.attached, ...(conversation.agreed() ? [] : [" ", consent?.text || "", " ", ...privacy(consent)]), ...page);
    if (!send.disabled) send.textContent = conversation.agreed() ? texts.send : texts.agree;
    email.value = draft.email || "";
    message.value = draft.message ?? (conversation.talk.messages.findLast(({ role }) => role === "visitor")?.text || "");
  };
  const draw = () => {
    rules = conversation.rules.contact || {};
    draft = store.get("contact", {});
    const { messages, started } = conversation.talk;
    const offer = offered(messages);
    const begun = wanted === started || !!draft.message;
    const last = messages.at(-1);
    node.hidden = !rules.on || !(begun || offer);
    if (node.hidden) return;
    if (seen !== last) node.open = begun || offer === "open";
    seen = last;
    fill();
  };
  return {
    node,
    draw,
    items(done) {
      const onclick = () => {
        wanted = conversation.talk.started;
        done();
        draw();
        node.open = true;
        (email.value ? message : email).focus();
      };
      return rules.on ? [button({ onclick }, texts.contact)] : [];
    },
  };
};
