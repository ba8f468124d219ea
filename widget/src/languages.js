// @ts-check
/** @import {Texts} from "../types" */

const SPOKEN = "en zh ja ko es fr de pt ru ar".split(" ");

/**
 * The first of the wished languages that the widget speaks; English failing all.
 * @param {(string | null | undefined)[]} wishes language tags
 */
export function choose(...wishes) {
  const tags = wishes.map((wish) => (wish || "").slice(0, 2).toLowerCase());
  return tags.find((tag) => SPOKEN.includes(tag)) || "en";
}

/** The widget's words; a visitor fetches those of one language only. @param {string} language @returns {Promise<Texts>} */
export const words = async (language) => (await import(`./texts/${language}.js`)).default;

/** @param {string} language */
export const direction = (language) => (language === "ar" ? "rtl" : "ltr");
