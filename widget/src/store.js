// @ts-check
/** @import {Storage, Talk} from "../types" */

const TALKS = 10;
const MESSAGES = 200;

/**
 * What this device keeps of one site: values by name, as JSON. Where the browser refuses storage they last as
 * long as the page. `set` tells whether the value will survive it.
 * @param {string} site
 * @param {"localStorage" | "sessionStorage"} [kind]
 * @returns {Storage}
 */
export function storage(site, kind = "localStorage") {
  /** @type {Map<string, string>} */
  const memory = new Map();
  /** @param {string} name */
  const key = (name) => `site-chat:${site}:${name}`;
  return {
    get(name, otherwise) {
      try {
        return JSON.parse(memory.get(name) ?? globalThis[kind].getItem(key(name)) ?? "null") ?? otherwise;
      } catch {
        return otherwise; // refused, or not ours
      }
    },
    set(name, value) {
      const text = JSON.stringify(value ?? null);
      try {
        if (value == null) globalThis[kind].removeItem(key(name));
        else globalThis[kind].setItem(key(name), text);
        memory.delete(name);
        return true;
      } catch {
        memory.set(name, text); // refused, or full
        return false;
      }
    },
  };
}

/**
 * Keeps a conversation among this device's latest ones, newest first. Reads before it writes, for other tabs
 * keep theirs; when the room is short, the oldest go.
 * @param {Storage} store
 * @param {Talk} talk
 */
export function keep(store, talk) {
  if (!talk.messages.length) return;
  const others = store.get("talks", []).filter((/** @type {Talk} */ other) => other.started !== talk.started);
  const talks = [{ ...talk, messages: talk.messages.slice(-MESSAGES) }, ...others].slice(0, TALKS);
  while (!store.set("talks", talks) && talks.length > 1) talks.pop();
}
