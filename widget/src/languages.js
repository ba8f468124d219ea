const SPOKEN = "en zh ja ko es fr de pt ru ar".split(" ");

/**
 * The first of the wished languages that the widget speaks; English failing all.
 * @param {(string | null | undefined)[]} wishes
 */
export const choose = (...wishes) =>
  wishes.map((wish) => (wish || "").slice(0, 2).toLowerCase()).find((tag) => SPOKEN.includes(tag)) || "en";

/**
 * The widget's words. A visitor fetches those of one language only.
 * @param {string} language
 * @returns {Promise<import("../types").Texts>}
 */
export const words = async (language) => (await import(`./texts/${language}.js`)).default;
