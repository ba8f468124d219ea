// @ts-check
/** @import {Branch, Tree} from "../types" */
import { safeLink } from "./html.js";

/** @param {string} tag @param {Tree[]} children @param {Record<string, string>} [attributes] */
const branch = (tag, children, attributes = {}) => ({ tag, attributes, children });

const INLINE = /`([^`\n]+)`|\*\*(?=\S)([^]+?)\*\*|\*(?=[^\s*])([^*\n]+)\*|!?\[([^\]\n]+)\]\(([^\s)]+)[^)\n]*\)|\[(\d{1,2})\]/g;
const ITEM = /^\s*(?:([-*+])|(\d{1,9})[.)])\s+(.*)$/;
/** Lines that begin a block of their own, and so end a paragraph. */
const BREAK = /^\s*(```|#{1,6}\s|>|\||[-*+]\s|\d{1,9}[.)]\s)/;

/**
 * The words of a line: code, strong, emphasis, links and [1] markers. What is only half there yet stays text.
 * @param {string} text
 * @returns {Tree[]}
 */
function inline(text) {
  /** @type {Tree[]} */
  const out = [];
  let from = 0;
  for (const match of text.matchAll(INLINE)) {
    const [whole, code, strong, emphasis, words, address, number] = match;
    const href = address && safeLink(address);
    if (match.index > from) out.push(text.slice(from, match.index));
    from = match.index + whole.length;
    if (code) out.push(branch("code", [code]));
    else if (strong) out.push(branch("strong", inline(strong)));
    else if (emphasis) out.push(branch("em", inline(emphasis)));
    else if (number) out.push(branch("a", [number], { "data-cite": number }));
    else if (href) out.push(branch("a", inline(words), { href }));
    else out.push(words);
  }
  if (from < text.length) out.push(text.slice(from));
  return out;
}

/** @param {string} line */
const cells = (line) => line.trim().replace(/^\||\|$/g, "").split("|").map((cell) => inline(cell.trim()));

/**
 * Markdown that may break off anywhere, as a tree: what a visitor reads while the answer is written. The
 * server's own HTML replaces it at the end, so nested lists and other rarities may stay plain.
 * @param {string} text
 * @returns {Branch[]}
 */
export function markdown(text) {
  const lines = text.split("\n");
  /** @type {Branch[]} */
  const blocks = [];
  let at = 0;
  /** The lines from here on for which `wanted` holds. @param {(line: string) => boolean} wanted */
  const run = (wanted) => {
    const from = at;
    while (at < lines.length && wanted(lines[at])) at++;
    return lines.slice(from, at);
  };
  while (at < lines.length) {
    const line = lines[at];
    const item = ITEM.exec(line);
    if (!line.trim()) at++;
    else if (/^\s*```/.test(line)) {
      at++;
      blocks.push(branch("pre", [branch("code", [run((next) => !/^\s*```/.test(next)).join("\n")])]));
      at++;
    } else if (/^#{1,6}\s/.test(line)) {
      at++;
      blocks.push(branch("h3", inline(line.replace(/^#+\s+/, ""))));
    } else if (/^\s*>/.test(line)) {
      const quoted = run((next) => /^\s*>/.test(next)).map((next) => next.replace(/^\s*> ?/, ""));
      blocks.push(branch("blockquote", markdown(quoted.join("\n"))));
    } else if (/^\s*\|/.test(line)) {
      const rows = run((next) => /^\s*\|/.test(next)).filter((row) => !/^[\s|:-]+$/.test(row));
      blocks.push(branch("table", rows.map((row, index) => branch("tr", cells(row).map((cell) => branch(index ? "td" : "th", cell))))));
    } else if (item) {
      const tag = item[1] ? "ul" : "ol";
      const items = run((next) => ITEM.test(next)).map((next) => branch("li", inline(next.replace(ITEM, "$3"))));
      blocks.push(branch(tag, items, item[2] && item[2] !== "1" ? { start: item[2] } : {}));
    } else {
      at++;
      blocks.push(branch("p", inline([line, ...run((next) => !!next.trim() && !BREAK.test(next))].join("\n"))));
    }
  }
  return blocks;
}
