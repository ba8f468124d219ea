/** @import {Branch} from "../types" */

const ALLOWED =
  /^(a|p|br|hr|div|span|strong|b|em|i|u|s|del|ins|mark|small|su[bp]|kbd|code|pre|blockquote|[uod]l|li|d[td]|table|t(head|body|foot|r|h|d)|caption|h3)$/;
/** Elements whose content is not meant for readers. */
const SILENT = /<(script|style|template|title|textarea|iframe|noscript|svg|math)\b[^]*?(<\/\1\s*>|$)/gi;
const TOKEN = /<!--[^]*?(?:-->|$)|<(\/?)([a-z][\w-]*)((?:"[^"]*"|'[^']*'|[^'">])*)>|[^<]+|</gi;
const ATTRIBUTE = /(href|data-cite|colspan|rowspan|start|lang|dir)\s*=\s*(?:"([^"]*)"|'([^']*)')|[^\s=]+(?:\s*=\s*(?:"[^"]*"|'[^']*'))?/gi;
const ENTITIES = /** @type {Record<string, string>} */ ({ amp: "&", lt: "<", gt: ">", quot: '"', apos: "'", nbsp: "\u00a0" });
const DEEPEST = 30;

/** @param {string} text */
const decode = (text) =>
  text.replace(/&(#x?)?(\w+);/gi, (whole, numeric, name) => {
    const code = numeric && parseInt(name, numeric[1] ? 16 : 10);
    return code > 0 && code < 0x110000 ? String.fromCodePoint(code) : (ENTITIES[name] ?? whole);
  });

/**
 * The address when following it can only open a page, write a mail or call.
 * @param {string} href
 */
export const safeLink = (href) => (/^(https?:|mailto:|tel:|[/#?])/i.test(href) ? href : "");

/** @param {string} text */
const attributes = (text) => {
  /** @type {Record<string, string>} */
  const found = {};
  for (const [, name, double, single] of text.matchAll(ATTRIBUTE)) {
    const value = decode(double ?? single ?? "");
    if (name) found[name.toLowerCase()] = /^href$/i.test(name) ? safeLink(value) : value;
  }
  return found;
};

/**
 * Markup as a tree of nothing but allowed elements and attributes, whatever the markup was. It is read here
 * because Trusted Types close the browser's parsers to code; what is not known becomes text or is left out.
 * @param {string} html
 */
export const parse = (html) => {
  /** @type {Branch[]} */
  const open = [{ tag: "", attributes: {}, children: [] }];
  for (const [token, slash, name = "", rest] of html.replace(SILENT, "").matchAll(TOKEN)) {
    const tag = name.toLowerCase().replace(/^h\d$/, "h3");
    const { children } = open[open.length - 1];
    if (!tag) children.push(token.startsWith("<!--") ? "" : decode(token));
    else if (slash) {
      const at = open.findLastIndex((branch) => branch.tag === tag);
      if (at > 0) open.length = at;
    } else if (ALLOWED.test(tag) && open.length < DEEPEST) {
      const branch = { tag, attributes: attributes(rest), children: [] };
      children.push(branch);
      if (!/^[bh]r$/.test(tag)) open.push(branch);
    }
  }
  return open[0].children;
};
