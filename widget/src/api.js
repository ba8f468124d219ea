// In ms. The server says something every 15 s.
const SILENCE = 45000;

// Status 0: the server could not be reached, or fell silent.
export class ApiError extends Error {
  constructor(status = 0, code = "", wait = 0) {
    super(`${status} ${code}`);
    this.status = status;
    this.code = code;
    this.wait = wait;
  }
}
const unreachable = () => Promise.reject(new ApiError());

/** @type {import("../types").EventParser} */
export const eventParser = () => {
  let rest = "";
  let event = "";
  let id = "";
  let data = [];
  return (piece) => {
    const complete = [];
    // A carriage return at the very end may be half of a line break.
    const lines = (rest + piece).split(/\r\n|\n|\r(?!$)/);
    rest = lines.pop() || "";
    for (const line of lines) {
      const [, field, value] = /^([^:]*):? ?(.*)$/s.exec(line) || [];
      if (field === "data") data.push(value);
      else if (field === "event") event = value;
      else if (field === "id") id = value;
      else if (!line) {
        if (data.length) complete.push({ event: event || "message", data: data.join("\n"), id });
        event = "";
        data = [];
      }
    }
    return complete;
  };
};

/** @type {import("../types").MakeApi} */
export const makeApi = (base, site, store) => {
  /** @type {import("../types").Send} */
  const send = async (method, path, body, headers, signal) => {
    const sent = body ? { "Content-Type": "application/json", ...headers } : headers;
    /** @type {RequestInit} */
    const init = { credentials: "omit", method, headers: sent, body: JSON.stringify(body), signal };
    const response = await fetch(base + path, init).catch(unreachable);
    if (response.ok) return response;
    const { code, retry_after } = (await response.json().catch(() => ({}))).error || {};
    throw new ApiError(response.status, code, +(retry_after || response.headers.get("Retry-After")));
  };

  const token = async (renew = false) => {
    const { visitor, until } = store.get("visitor", {});
    if (!renew && until > Date.now() + 30000) return visitor;
    const fresh = await (await send("POST", "visitors", { site, visitor })).json();
    store.set("visitor", { visitor: fresh.token, until: Date.now() + fresh.expires_in * 1000 });
    return fresh.token;
  };

  /** @type {import("../types").Send} */
  const known = async (method, path, body, headers, signal) => {
    const go = async (renew = false) =>
      send(method, path, body, { ...headers, Authorization: `Bearer ${await token(renew)}` }, signal);
    return go().catch((error) => (error.status === 401 ? go(true) : Promise.reject(error)));
  };

  return {
    configuration: async () => (await send("GET", `sites/${encodeURIComponent(site)}/widget`)).json(),
    feedback: (message_id, helpful, comment) => known("POST", "feedback", { message_id, helpful, comment }),
    async erase() {
      if (store.get("visitor")) await known("DELETE", "visitors/me");
      store.set("visitor", null);
    },
    async *chat(body, last, signal) {
      const own = new AbortController();
      const stop = () => own.abort();
      signal.addEventListener("abort", stop);
      let timer = setTimeout(stop, SILENCE);
      try {
        const response = await known("POST", "chat", body, last ? { "Last-Event-ID": last } : {}, own.signal);
        const reader = /** @type {any} */ (response.body).getReader();
        const text = new TextDecoder();
        const parse = eventParser();
        for (;;) {
          const { done, value } = await reader.read().catch(unreachable);
          if (done) return;
          clearTimeout(timer);
          timer = setTimeout(stop, SILENCE);
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
