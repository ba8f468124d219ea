/** @import {Branch, Tree} from "../types" */
import { safeLink } from "./html.js";

const INLINE = /`([^`\n]+)`|\*\*(?=\S)([^]+?)\*\*|\*(?=[^\s*])([^*\n]+)\*|!?\[([^\]\n]+)\]\(([^\s)]+)[^)\n]*\)|\[(\d{1,2})\]/g;
const ITEM = /^\s*(?:[-*+]|(\d{1,9})[.)])\s+/;
const ROW = /^\s*\|/;
const FENCE = /^\s*```/;
const HEADING = /^#{1,6}\s+/;

/** @param {string} tag @param {Tree[]} children @param {Record<string, string>} [attributes] @returns {Branch} */
const branch = (tag, children, attributes = {}) => ({ tag, attributes, children });

/** Code, strong, emphasis, links and [1] markers; what is only half there yet stays text. @param {string} text */
const inline = (text) => {
  /** @type {Tree[]} */
  const out = [];
  let from = 0;
  for (const match of text.matchAll(INLINE)) {
    const [whole, code, strong, emphasis, words, address, number] = match;
    out.push(text.slice(from, match.index));
    from = match.index + whole.length;
    if (code) out.push(branch("code", [code]));
    else if (strong) out.push(branch("strong", inline(strong)));
    else if (emphasis) out.push(branch("em", inline(emphasis)));
    else if (number) out.push(branch("a", [], { "data-cite": number }));
    else out.push(branch("a", inline(words), { href: safeLink(address) }));
  }
  out.push(text.slice(from));
  return out;
};

/**
 * Markdown that may break off anywhere, as a tree: what a visitor reads while the answer is written. The
 * server's own HTML replaces it at the end, so rarities such as nested lists may stay plain.
 * @param {string} text
 */
export const markdown = (text) => {
  const lines = text.split("\n");
  /** @type {Branch[]} */
  const blocks = [];
  /** Takes the lines at the front for which `wanted` holds. @param {(line: string) => boolean} wanted */
  const run = (wanted) => {
    const end = lines.findIndex((line) => !wanted(line));
    return lines.splice(0, end < 0 ? lines.length : end);
  };
  while (lines.length) {
    const [line] = lines;
    if (!line.trim()) lines.shift();
    else if (FENCE.test(line)) {
      lines.shift();
      blocks.push(branch("pre", [branch("code", [run((next) => !FENCE.test(next)).join("\n")])]));
      lines.shift();
    } else if (HEADING.test(line)) blocks.push(branch("h3", inline(/** @type {string} */ (lines.shift()).replace(HEADING, ""))));
    else if (ROW.test(line)) {
      const rows = run((next) => ROW.test(next)).filter((row) => !/^[\s|:-]+$/.test(row));
      const cells = rows.map((row) => row.trim().replace(/^\||\|$/g, "").split("|"));
      blocks.push(branch("table", cells.map((row, at) => branch("tr", row.map((cell) => branch(at ? "td" : "th", inline(cell.trim())))))));
    } else if (ITEM.test(line)) {
      const start = ITEM.exec(line)?.[1];
      const items = run((next) => ITEM.test(next)).map((next) => branch("li", inline(next.replace(ITEM, ""))));
      blocks.push(branch(start ? "ol" : "ul", items, start ? { start } : {}));
    } else {
      const paragraph = run((next) => !!next.trim() && ![FENCE, HEADING, ROW, ITEM].some((begin) => begin.test(next)));
      blocks.push(branch("p", inline(paragraph.join("\n"))));
    }
  }
  return blocks;
};
