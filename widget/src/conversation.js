/** @import {ChatEvent, Failure, Reply, Talk} from "../types" */
import { ApiError } from "./api.js";
import { keep } from "./store.js";

/** Waits before a broken stream is taken up again, in ms; progress starts the row anew. */
const PAUSES = [300, 1000, 2000, 4000, 8000];
const DAY = 864e5;

/** @type {import("../types").MakeConversation} */
export const makeConversation = (api, store, tab, changed) => {
  /** @type {AbortController | undefined} */
  let asking;
  /** @returns {Talk} */
  const blank = () => ({ id: "", started: Date.now(), messages: [] });
  let talk = blank();

  /** @param {Talk} next */
  const show = (next) => {
    asking?.abort();
    talk = next;
    tab.set("talk", talk.started);
    changed();
  };

  /** Follows an answer to its end, over as many connections as it takes. @param {Reply} reply */
  const run = async (reply) => {
    const own = (asking = new AbortController());
    const mine = talk;
    const tell = () => mine === talk && changed(reply);
    const asked = mine.messages[mine.messages.indexOf(reply) - 1];
    let pause = 0;
    let anew = 2;
    tell();
    while (running(reply)) {
      const last = reply.id && `${reply.id}:${reply.seen}`;
      try {
        if (!last) restart(reply);
        keep(store, mine);
        const fresh = { message: asked.text, conversation_id: mine.id || undefined, stream: true };
        for await (const event of api.chat(last ? { resume: true } : fresh, last || "", own.signal)) {
          if (own.signal.aborted) break;
          if (!take(reply, mine, event)) continue;
          pause = 0;
          if (event.type === "meta") keep(store, mine);
          tell();
        }
        if (running(reply)) throw new ApiError(0);
      } catch (error) {
        const status = error instanceof ApiError ? error.status : -1;
        if (own.signal.aborted) reply.state = "stopped";
        else if ((status === 404 || status === 409) && anew-- && (last || mine.id)) {
          // The server no longer has the answer, or the conversation: ask again, at last in a new one.
          if (!last) mine.id = "";
          reply.id = undefined;
        } else if (reply.id && (!status || status >= 500) && pause < PAUSES.length) await rest(PAUSES[pause++], own.signal);
        else {
          reply.state = "failed";
          reply.error = failure(error, !!reply.text);
        }
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
    load(started = tab.get("talk")) {
      const found = this.talks.find((old) => (started ? old.started === started : old.started > Date.now() - DAY));
      if (!found) return;
      show(found);
      const reply = found.messages.at(-1);
      if (reply?.role === "answer" && running(reply)) run(reply);
    },
    fresh: () => show(blank()),
    save: () => keep(store, talk),
    stop: () => asking?.abort(),
    async ask(text) {
      if (asking || !text.trim()) return;
      /** @type {Reply} */
      const reply = { role: "answer", state: "searching", text: "", seen: -1, citations: [], suggestions: [] };
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
    async rate(message, helpful, comment) {
      await api.feedback(message.id || "", helpful, comment);
      message.helpful = helpful;
      keep(store, talk);
    },
    async erase() {
      asking?.abort();
      await api.erase();
      store.set("talks", null);
      show(blank());
    },
  };
};

/** @param {Reply} reply */
const running = (reply) => reply.state === "searching" || reply.state === "writing";

/** @param {Reply} reply */
const restart = (reply) => Object.assign(reply, { state: "searching", text: "", id: undefined, seen: -1, citations: [] });

/**
 * Adds an event to the answer; false when it says nothing new, for after a resumption some come twice.
 * @param {Reply} reply @param {Talk} talk @param {ChatEvent} event
 */
const take = (reply, talk, { type, id, number, data }) => {
  if (type === "error") {
    const { code, retry_after } = data.error;
    reply.id = undefined; // to resume would only bring the error again
    throw new ApiError(retry_after ? 429 : 400, code, retry_after);
  }
  if (id && reply.id && id !== reply.id) restart(reply);
  if (id && number <= reply.seen) return false;
  if (id) Object.assign(reply, { id, seen: number });
  if (type === "meta") {
    reply.id = data.message_id;
    talk.id = data.conversation_id;
  } else if (type === "delta") {
    reply.text += data.text;
    reply.state = "writing";
  } else if (type === "citation") reply.citations.push(data);
  else if (type === "done") {
    const { answer: text, answer_html: html, citations, suggestions, outcome } = data;
    Object.assign(reply, { state: "done", text, html, citations, suggestions, outcome });
  }
  return true;
};

/** @param {unknown} error @param {boolean} begun @returns {Failure} */
const failure = (error, begun) => {
  const { status, wait } = error instanceof ApiError ? error : { status: -1, wait: 0 };
  if (status === 429) return { kind: "limited", until: Date.now() + (wait || 5) * 1000 };
  if (status === 403) return { kind: "refused" };
  if (status === 413) return { kind: "long" };
  if (!status && globalThis.navigator?.onLine === false) return { kind: "offline" };
  return { kind: begun ? "cut" : "failed" };
};

/** Waits, less when the network comes back first. @param {number} time @param {AbortSignal} signal */
const rest = (time, signal) =>
  new Promise((resolve) => {
    setTimeout(resolve, time);
    globalThis.addEventListener?.("online", resolve, { once: true });
    signal.addEventListener("abort", resolve, { once: true });
  });
