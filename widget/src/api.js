import { eventParser } from "./sse.js";

/** Longest silence of an open stream, in ms. The server says something every 15 s. */
const SILENCE = 45000;

/** An answer of the server that is none. Status 0: it could not be reached, or fell silent. */
export class ApiError extends Error {
  /** @param {number} status @param {string} [code] @param {number} [wait] seconds before which asking again is futile */
  constructor(status, code = "network", wait = 0) {
    super(`${status} ${code}`);
    this.status = status;
    this.wait = wait;
  }
}

const unreachable = () => Promise.reject(new ApiError(0));

/** @type {import("../types").MakeApi} */
export const makeApi = (base, site, store) => {
  /** @type {import("../types").Send} */
  const send = async (method, path, body, headers, signal) => {
    const response = await fetch(base + path, {
      method,
      signal,
      credentials: "omit",
      headers: body ? { "Content-Type": "application/json", ...headers } : headers,
      body: JSON.stringify(body),
    }).catch(unreachable);
    if (response.ok) return response;
    const { code, retry_after } = (await response.json().catch(() => ({}))).error || {};
    throw new ApiError(response.status, code, +(retry_after || response.headers.get("Retry-After") || 0));
  };

  const token = async (renew = false) => {
    const { token: visitor, until = 0 } = store.get("visitor", {});
    if (visitor && !renew && until > Date.now() + 30000) return visitor;
    const response = await send("POST", "visitors", { site, visitor }).catch((error) => {
      // A token that the server cannot read any more must not keep its visitor out.
      if (!visitor || ![400, 401, 422].includes(error.status)) throw error;
      return send("POST", "visitors", { site });
    });
    const fresh = await response.json();
    store.set("visitor", { token: fresh.token, until: Date.now() + fresh.expires_in * 1000 });
    return fresh.token;
  };

  /** As the known visitor; a token that is no longer taken is renewed once. @type {import("../types").Send} */
  const known = async (method, path, body, headers, signal) => {
    const go = async (renew = false) =>
      send(method, path, body, { ...headers, Authorization: `Bearer ${await token(renew)}` }, signal);
    return go().catch((error) => {
      if (error.status === 401) return go(true);
      throw error;
    });
  };

  return {
    configuration: async () => (await send("GET", `sites/${encodeURIComponent(site)}/widget`)).json(),
    feedback: (message_id, helpful, comment) => known("POST", "feedback", { message_id, helpful, comment }),

    async erase() {
      if (store.get("visitor")) await known("DELETE", "visitors/me");
      store.set("visitor", null);
    },

    async *chat(body, last, signal) {
      const quiet = new AbortController();
      const stop = () => quiet.abort();
      signal.addEventListener("abort", stop);
      let timer = setTimeout(stop, SILENCE);
      try {
        const response = await known("POST", "chat", body, last ? { "Last-Event-ID": last } : {}, quiet.signal);
        const reader = /** @type {ReadableStream} */ (response.body).getReader();
        const text = new TextDecoder();
        const parse = eventParser();
        for (;;) {
          const { done, value } = await reader.read().catch(unreachable);
          if (done) return;
          clearTimeout(timer);
          timer = setTimeout(stop, SILENCE);
          for (const { event, id, data } of parse(text.decode(value, { stream: true }))) {
            const colon = id.lastIndexOf(":");
            yield { type: event, id: id.slice(0, Math.max(colon, 0)), number: +id.slice(colon + 1), data: JSON.parse(data) };
          }
        }
      } finally {
        clearTimeout(timer);
        signal.removeEventListener("abort", stop);
        stop();
      }
    },
  };
};
