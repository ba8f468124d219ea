/** @type {import("../types").Opening} */
export const opening = (time, language, now = Date.now()) => {
  const at = Date.parse(time);
  if (!(at > now)) return "";
  return new Intl.DateTimeFormat(language, { weekday: "long", day: "numeric", month: "long", hour: "numeric", minute: "2-digit" }).format(at);
};
