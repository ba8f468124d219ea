const WEEK = 6048e5;

/** @type {import("../types").Opening} */
export const opening = (time, language, now = Date.now()) => {
  const away = Date.parse(time) - now;
  if (!(away > 0)) return "";
  /** @type {Intl.DateTimeFormatOptions} */
  const day = away < WEEK * 0.9 ? {} : { day: "numeric", month: "long" };
  return new Intl.DateTimeFormat(language, { weekday: "long", ...day, hour: "numeric", minute: "2-digit" }).format(now + away);
};
