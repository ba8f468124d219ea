/** @type {import("../types").Opening} */
export const opening = (time, language, now = Date.now()) => {
  const at = new Date(time);
  return +at > now ? at.toLocaleString(language, { dateStyle: "full", timeStyle: "short" }) : "";
};
