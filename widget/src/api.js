import { ApiError } from "./api-error.js";
import { solve } from "./proof.js";

// In ms. The server says something every 15 s.
const SILENCE = 45000;

const unreachable = () => Promise.reject(new ApiError());

/** @type {import("../types").EventParser} */
export const eventParser = () => {
  let rest = "";
  return (piece) => {
    const complete = (rest + piece).split("\n\n");
    rest = complete.pop() || "";
    const fields = (event) => Object.fromEntries([...event.matchAll(/^(\w+): ?(.*)$/gm)].map(([, name, value]) => [name, value]));
    return complete.map(fields).filter(({ data }) => data);
  };
};

/** @type {import("../types").MakeApi} */
export const makeApi = (base, site, store, language) => {
  /** @type {import("../types").Send} */
  const send = async (method, path, body, { signal, headers } = {}) => {
    const sent = body ? { "Content-Type": "application/json", ...headers } : headers;
    /** @type {RequestInit} */
    const init = { credentials: "omit", method, headers: sent, body: JSON.stringify(body), signal };
    const response = await fetch(base + path, init).catch(unreachable);
    if (response.ok) return response;
    const error = (await response.json().catch(() => ({}))).error || {};
    throw new ApiError(response.status, error.code, +(error.retry_after || response.headers.get("Retry-After")), error);
  };

  const token = async (renew, how) => {
    const { visitor, until } = store.get("visitor", {});
    if (!renew && until > Date.now() + 30000) return visitor;
    const consent = !!store.get("consent") || undefined;
    const ask = async (proof) => (await send("POST", "visitors", { site, visitor, consent, proof }, { signal: how.signal })).json();
    const fresh = await ask().catch(async (error) => {
      if (error.status !== 428) throw error;
      const { challenge, bits } = error.more;
      return ask({ challenge, nonce: await solve(challenge, bits, how.signal, how.working) });
    });
    store.set("visitor", { visitor: fresh.token, until: Date.now() + fresh.expires_in * 1000 });
    return fresh.token;
  };

  /** @type {import("../types").Send} */
  const known = async (method, path, body, how = {}) => {
    const go = async (renew = false) =>
      send(method, path, body, { ...how, headers: { ...how.headers, Authorization: `Bearer ${await token(renew, how)}` } });
    return go().catch((error) => (error.status === 401 ? go(true) : Promise.reject(error)));
  };

  return {
    configuration: async (anew = 0) => (await send("GET", `sites/${encodeURIComponent(site)}/widget?language=${language}&${anew}`)).json(),
    feedback: (message_id, helpful, comment) => known("POST", "feedback", { message_id, helpful, comment }),
    contact: async (body) => (await known("POST", "contact", body, { signal: AbortSignal.timeout(2 * SILENCE) })).json(),
    agree(text) {
      store.set("consent", text);
      const { visitor } = store.get("visitor", {});
      if (visitor) store.set("visitor", { visitor, until: 0 }); // the next token says it
    },
    async erase() {
      if (store.get("visitor")) await known("DELETE", "visitors/me");
    },
    async *chat(body, last, signal, working) {
      const own = new AbortController();
      const stop = () => own.abort();
      let timer;
      const wait = () => {
        clearTimeout(timer);
        timer = setTimeout(stop, SILENCE);
      };
      const how = {
        signal: own.signal,
        headers: /** @type {Record<string, string>} */ (last ? { "Last-Event-ID": last } : {}),
        working(time) {
          wait();
          working(time);
        },
      };
      signal.addEventListener("abort", stop);
      wait();
      try {
        const response = await known("POST", "chat", body, how);
        const reader = /** @type {any} */ (response.body).getReader();
        const text = new TextDecoder();
        const parse = eventParser();
        for (;;) {
          const { done, value } = await reader.read().catch(unreachable);
          if (done) return;
          wait();
          for (const { event, id, data } of parse(text.decode(value, { stream: true }))) {
            const [, message = "", number = 0] = /(.*):(\d+)$/.exec(id) || [];
            yield { type: event, id: message, number: +number, data: JSON.parse(data) };
          }
        }
      } finally {
        clearTimeout(timer);
        stop();
      }
    },
  };
};
