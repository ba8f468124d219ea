import { ApiError } from "./api-error.js";
import { keep } from "./store.js";

// Before a broken stream is taken up again, in ms; progress starts the row anew.
const PAUSES = [300, 1000, 2000, 4000, 8000];
const DAY = 864e5;

const running = (reply) => reply?.state === "searching" || reply?.state === "writing";

const restart = (reply) => Object.assign(reply, { state: "searching", text: "", id: "", seen: 0, citations: [], checking: undefined });

// False for an event that says nothing new: after a resumption some come twice.
const take = (reply, talk, { type, id, number, data }) => {
  if (type === "error") {
    reply.id = ""; // to resume would only bring the error again
    throw new ApiError(data.error.code === "rate_limited" ? 429 : 400, data.error.code, data.error.retry_after);
  }
  if (reply.id && id !== reply.id) restart(reply);
  if (number <= reply.seen) return false;
  Object.assign(reply, { id, seen: number, checking: undefined });
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

/** @type {import("../types").WhyFailed} */
export const failure = ({ status, wait, code }, text) => {
  const gone = !status && globalThis.navigator?.onLine === false;
  const kinds = { 403: "refused", 413: "long", 422: "long", 429: "limited" };
  const kind = code === "insecure" ? code : kinds[status] || (gone ? "offline" : text ? "cut" : "failed");
  return { kind, until: Date.now() + (wait || 0) * 1000 };
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
  const rules = /** @type {import("../types").Rules} */ ({});
  const show = (next) => {
    asking?.abort();
    asking = undefined;
    talk = next;
    tab.set("talk", talk.started);
    changed();
  };
  const fresh = () => show(blank());
  // What still runs in it must not be kept again.
  const forget = () => {
    talk.messages = [];
    fresh();
  };
  const newest = () => /** @type {import("../types").Reply | undefined} */ (talk.messages.findLast(({ role }) => role === "answer"));
  const configure = (known) => {
    Object.assign(rules, known);
    // Who agreed to another text has not agreed to this one.
    if (![undefined, known.consent?.text].includes(store.get("consent"))) store.set("consent", null);
  };
  const agreed = () => !rules.consent?.text || !!store.get("consent");
  // The site has come to ask for it, or for another one.
  const disagree = async () => {
    store.set("consent", null);
    await api.configuration(Date.now()).then(configure, () => {});
  };

  const run = async (reply) => {
    const own = (asking = new AbortController());
    const { signal } = own;
    const mine = talk;
    const tell = () => mine === talk && changed(reply);
    const working = (time) => {
      if (time < 1000 || reply.checking) return;
      reply.checking = true;
      tell();
    };
    const asked = /** @type {import("../types").Question} */ (mine.messages[mine.messages.indexOf(reply) - 1]);
    const { text: message, page } = asked;
    let pause = 0;
    let anew = 2;
    tell();
    if (!reply.id) restart(reply);
    keep(store, mine);
    while (running(reply)) {
      const last = reply.id && `${reply.id}:${reply.seen}`;
      if (!last) restart(reply);
      const body = last ? { resume: true } : { message, conversation_id: mine.id || undefined, stream: true, page, disclosure: rules.disclosure };
      try {
        for await (const event of api.chat(body, last, signal, working)) {
          if (signal.aborted || !take(reply, mine, event)) continue;
          pause = 0;
          if (event.type === "meta") keep(store, mine);
          tell();
          if (reply.state === "done") break; // the connection may outlive the answer
        }
        if (running(reply)) throw new ApiError();
      } catch (/** @type {any} */ error) {
        const { status, code } = error;
        reply.checking = undefined;
        if (signal.aborted) reply.state = "stopped";
        else if (code === "consent_required") {
          await disagree();
          reply.state = "consent";
        } else if ((status === 404 || status === 409) && (last || mine.id) && anew--) {
          // The server has lost the answer, or the conversation: ask again, at last in a new one.
          if (!last) mine.id = "";
          reply.id = "";
        } else if (reply.id && (status || 500) > 499 && PAUSES[pause]) await rest(PAUSES[pause++], signal);
        else Object.assign(reply, { state: "failed", error: failure(error, reply.text) });
      }
    }
    if (asking === own) asking = undefined;
    // Unless this conversation has been taken over as another tab has left it.
    if (mine === talk || mine.started !== talk.started) keep(store, mine);
    tell();
  };

  return {
    configure,
    rules,
    agreed,
    get talk() {
      return talk;
    },
    get busy() {
      // Here, or in another tab that has no answer yet.
      return !!asking || running(newest());
    },
    get ready() {
      return !this.busy && newest()?.state !== "consent";
    },
    get talks() {
      return store.get("talks", []);
    },
    fresh,
    load(started = tab.get("talk")) {
      const found = this.talks.find((old) => (started ? old.started === started : old.started > Date.now() - DAY));
      if (!found) return;
      show(found);
      const reply = newest();
      if (running(reply)) run(reply);
    },
    refresh() {
      const { talks } = this;
      if (!talks[0]) return forget(); // erased
      const found = talks.find(({ started }) => started === talk.started);
      if (!found) return;
      const { messages } = talk;
      // A page that was asking when it went into the browser's cache: has the answer come elsewhere meanwhile?
      /** @type {any[]} */
      const since = found.messages.slice(messages.length - 1);
      if (asking && !since[1] && since[0]?.state !== "done") return;
      // What has not changed stays what it was: it need not be drawn again.
      found.messages = found.messages.map((message, at) => (JSON.stringify(message) === JSON.stringify(messages[at]) ? messages[at] : message));
      const waited = asking;
      show(found);
      const reply = newest();
      if (waited) changed(reply);
      // Without an id the question is still on its way from the other tab, and must not be asked twice.
      if (reply?.id && running(reply)) run(reply);
    },
    save: () => keep(store, talk),
    stop() {
      if (asking) return asking.abort();
      /** @type {any} */ (newest()).state = "stopped";
      keep(store, talk);
      changed();
    },
    async ask(text, page) {
      if (!this.ready || !text.trim()) return;
      const reply = restart({ role: "answer", suggestions: [] });
      tab.set("talk", talk.started);
      talk.messages.push({ role: "visitor", text: text.trim(), page }, reply);
      if (agreed()) return run(reply);
      reply.state = "consent";
      keep(store, talk);
      changed(reply);
    },
    async retry() {
      const reply = newest();
      if (asking || !reply) return;
      reply.error = undefined;
      reply.state = reply.text ? "writing" : "searching";
      return run(reply);
    },
    async agree() {
      api.agree(rules.consent?.text || true);
      if (newest()?.state === "consent") return this.retry();
    },
    async contact(email, message) {
      const mine = talk;
      const send = () => api.contact({ email, message, conversation_id: mine.id || undefined });
      const { reference } = await send().catch(async ({ ...error }) => {
        if (error.code === "consent_required") await disagree();
        if (error.status !== 404 || !mine.id) throw error;
        mine.id = ""; // erased meanwhile
        return send();
      });
      mine.messages.push({ role: "contact", text: reference });
      keep(store, mine);
      if (mine === talk) changed();
      return reference;
    },
    async rate(reply, helpful, comment) {
      await api.feedback(reply.id, helpful, comment);
      reply.helpful = helpful;
      keep(store, talk);
    },
    async erase() {
      await api.erase();
      for (const name of ["talks", "contact", "visitor", "consent"]) store.set(name, null);
      forget();
    },
  };
};
