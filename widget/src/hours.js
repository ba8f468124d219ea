// In ms, so that no name of a day means two.
const DAYS = 5e8;

/** @type {import("../types").Opening} */
export const opening = (time, language, now = Date.now()) => {
  const away = Date.parse(time) - now;
  if (!(away > 0)) return "";
  /** @type {Intl.DateTimeFormatOptions} */
  const day = away < DAYS ? {} : { day: "numeric", month: "long" };
  return new Intl.DateTimeFormat(language, { weekday: "long", ...day, hour: "numeric", minute: "2-digit" }).format(now + away);
};
