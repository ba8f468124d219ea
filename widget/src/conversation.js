import { ApiError } from "./api.js";
import { keep } from "./store.js";

// Before a broken stream is taken up again, in ms; progress starts the row anew.
const PAUSES = [300, 1000, 2000, 4000, 8000];
const DAY = 864e5;

const running = ({ state }) => state === "searching" || state === "writing";

const restart = (reply) => Object.assign(reply, { state: "searching", text: "", id: "", seen: 0, citations: [] });

// False for an event that says nothing new: after a resumption some come twice.
const take = (reply, talk, { type, id, number, data }) => {
  if (type === "error") {
    reply.id = ""; // to resume would only bring the error again
    throw new ApiError(data.error.code === "rate_limited" ? 429 : 400, data.error.code, data.error.retry_after);
  }
  if (reply.id && id !== reply.id) restart(reply);
  if (number <= reply.seen) return false;
  reply.id = id;
  reply.seen = number;
  if (type === "meta") talk.id = data.conversation_id;
  else if (type === "delta") {
    reply.text += data.text;
    reply.state = "writing";
  } else if (type === "citation") reply.citations.push(data);
  else if (type === "done") {
    const { answer: text, answer_html: html, citations, suggestions, outcome } = data;
    Object.assign(reply, { state: "done", text, html, citations, suggestions, outcome });
  }
  return true;
};

const fail = (reply, { status, wait }) => {
  const gone = !status && globalThis.navigator?.onLine === false;
  const kinds = { 403: "refused", 413: "long", 422: "long", 429: "limited" };
  const kind = kinds[status] || (gone ? "offline" : reply.text ? "cut" : "failed");
  reply.state = "failed";
  reply.error = { kind, until: Date.now() + (wait || 0) * 1000 };
};

const rest = (time, signal) =>
  new Promise((resolve) => {
    setTimeout(resolve, time);
    globalThis.addEventListener?.("online", resolve, { once: true });
    signal.addEventListener("abort", resolve);
  });

/** @returns {import("../types").Talk} */
const blank = () => ({ id: "", started: Date.now(), messages: [] });

/** @type {import("../types").MakeConversation} */
export const makeConversation = (api, store, tab, changed) => {
  let asking;
  let talk = blank();
  const show = (next) => {
    asking?.abort();
    talk = next;
    tab.set("talk", talk.started);
    changed();
  };
  const fresh = () => show(blank());

  const run = async (reply) => {
    const { signal } = (asking = new AbortController());
    const own = asking;
    const mine = talk;
    const tell = () => mine === talk && changed(reply);
    const message = mine.messages[mine.messages.indexOf(reply) - 1].text;
    let pause = 0;
    let anew = 2;
    tell();
    while (running(reply)) {
      const last = reply.id && `${reply.id}:${reply.seen}`;
      if (!last) restart(reply);
      keep(store, mine);
      const body = last ? { resume: true } : { message, conversation_id: mine.id || undefined, stream: true };
      try {
        for await (const event of api.chat(body, last, signal)) {
          if (signal.aborted || !take(reply, mine, event)) continue;
          pause = 0;
          if (event.type === "meta") keep(store, mine);
          tell();
        }
        if (running(reply)) throw new ApiError();
      } catch (/** @type {any} */ error) {
        const { status } = error;
        if (signal.aborted) reply.state = "stopped";
        else if ((status === 404 || status === 409) && (last || mine.id) && anew--) {
          // The server has lost the answer, or the conversation: ask again, at last in a new one.
          if (!last) mine.id = "";
          reply.id = "";
        } else if (reply.id && (!status || status >= 500) && pause < PAUSES.length) await rest(PAUSES[pause++], signal);
        else fail(reply, error);
      }
    }
    if (asking === own) asking = undefined;
    keep(store, mine);
    tell();
  };

  return {
    get talk() {
      return talk;
    },
    get busy() {
      return !!asking;
    },
    get talks() {
      return store.get("talks", []);
    },
    fresh,
    load(started = tab.get("talk")) {
      const found = this.talks.find((old) => (started ? old.started === started : old.started > Date.now() - DAY));
      if (!found) return;
      show(found);
      const reply = found.messages.at(-1);
      if (reply?.role === "answer" && running(reply)) run(reply);
    },
    save: () => keep(store, talk),
    stop: () => asking?.abort(),
    async ask(text) {
      if (asking || !text.trim()) return;
      const reply = restart({ role: "answer", suggestions: [] });
      tab.set("talk", talk.started);
      talk.messages.push({ role: "visitor", text: text.trim() }, reply);
      changed();
      return run(reply);
    },
    async retry() {
      const reply = talk.messages.at(-1);
      if (asking || reply?.role !== "answer") return;
      reply.error = undefined;
      reply.state = reply.text ? "writing" : "searching";
      return run(reply);
    },
    async rate(reply, helpful, comment) {
      await api.feedback(reply.id, helpful, comment);
      reply.helpful = helpful;
      keep(store, talk);
    },
    async erase() {
      await api.erase();
      store.set("talks", null);
      fresh();
    },
  };
};
