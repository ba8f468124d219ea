// What this device keeps: so many conversations, of each so many of the latest messages. Browsers grant about
// five million characters; a message with its sources has some two thousand.
const TALKS = 10;
export const MESSAGES = 200;

/** @type {import("../types").MakeStore} */
export const makeStore = (site, kind = "localStorage") => {
  const refused = {};
  return {
    get(name, otherwise) {
      try {
        return JSON.parse(refused[name] ?? globalThis[kind].getItem(`site-chat:${site}:${name}`)) ?? otherwise;
      } catch {
        return otherwise;
      }
    },
    set(name, value) {
      refused[name] = JSON.stringify(value ?? null);
      try {
        globalThis[kind].setItem(`site-chat:${site}:${name}`, refused[name]);
        return delete refused[name];
      } catch {
        return false;
      }
    },
  };
};

/** @type {import("../types").Keep} */
export const keep = (store, talk) => {
  if (!talk.messages.length) return;
  const others = store.get("talks", []).filter((old) => old.started !== talk.started);
  const talks = [{ ...talk, messages: talk.messages.slice(-MESSAGES) }, ...others].slice(0, TALKS);
  while (!store.set("talks", talks) && talks.length > 1) talks.pop();
};
