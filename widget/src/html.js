// @ts-check
/** @import {Branch, Tree} from "../types" */

const ALLOWED = new Set(
  "a p br hr div span strong b em i u s del ins mark small sub sup kbd code pre blockquote ul ol li dl dt dd table thead tbody tfoot tr th td caption h3".split(" "),
);
const EMPTY = new Set(["br", "hr"]);
/** Elements whose content is not text for a reader. */
const SILENT = /<(script|style|template|title|textarea|iframe|noscript|svg|math)\b[\s\S]*?(<\/\1\s*>|$)/gi;
const ATTRIBUTES = new Set(["href", "data-cite", "colspan", "rowspan", "start", "lang", "dir"]);
const TOKEN = /<!--[\s\S]*?(?:-->|$)|<(\/?)([a-z][\w-]*)((?:"[^"]*"|'[^']*'|[^'">])*)>|[^<]+|</gi;
const ATTRIBUTE = /([^\s=/"']+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"']+)))?/g;
const ENTITIES = /** @type {Record<string, string>} */ ({ amp: "&", lt: "<", gt: ">", quot: '"', apos: "'", nbsp: "\u00a0" });
const DEEPEST = 30;

/** @param {string} text */
const decode = (text) =>
  text.replace(/&(?:#x([\da-f]{1,6})|#(\d{1,7})|(\w+));/gi, (whole, hex, decimal, name) => {
    const code = hex ? parseInt(hex, 16) : Number(decimal);
    return name ? (ENTITIES[name] ?? whole) : code > 0 && code < 0x110000 ? String.fromCodePoint(code) : "";
  });

/**
 * `href` when following it can only open a page, write a mail or call; undefined otherwise.
 * @param {string} href
 */
export const safeLink = (href) => (/^(https?:|mailto:|tel:|[/#?])/i.test(href.trim()) ? href.trim() : undefined);

/**
 * Markup as a tree that holds nothing but allowed elements and attributes, whatever the markup was.
 * Reads the server's sanitised HTML by itself, since the browser's parsers are closed to code under Trusted
 * Types; what it does not know becomes text or is left out.
 * @param {string} html
 * @returns {Tree[]}
 */
export function parse(html) {
  /** @type {Branch[]} */
  const open = [{ tag: "", attributes: {}, children: [] }];
  for (const [token, slash, name, rest] of html.replace(SILENT, "").matchAll(TOKEN)) {
    const here = open[open.length - 1];
    const tag = name?.toLowerCase().replace(/^h\d$/, "h3");
    if (!tag) {
      if (!token.startsWith("<!--")) here.children.push(decode(token));
    } else if (!ALLOWED.has(tag)) continue;
    else if (slash) {
      const at = open.findLastIndex((branch) => branch.tag === tag);
      if (at > 0) open.length = at;
    } else {
      const branch = { tag, attributes: attributes(rest), children: [] };
      if (open.length > DEEPEST) continue;
      here.children.push(branch);
      if (!EMPTY.has(tag)) open.push(branch);
    }
  }
  return open[0].children;
}

/** @param {string} text */
function attributes(text) {
  /** @type {Record<string, string>} */
  const found = {};
  for (const [, key, double, single, bare] of text.matchAll(ATTRIBUTE)) {
    const name = key.toLowerCase();
    const value = decode(double ?? single ?? bare ?? "");
    const kept = name === "href" ? safeLink(value) : value;
    if (ATTRIBUTES.has(name) && kept !== undefined) found[name] = kept;
  }
  return found;
}
