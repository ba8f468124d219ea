// What the server's cleaning leaves in an answer.
const ALLOWED = /^(a|p|br|strong|em|mark|del|sup|code|pre|blockquote|[uo]l|li|table|t(head|body|r|h|d)|h3)$/;
const TOKEN = /<!--[^]*?(?:-->|$)|<(\/?)([a-z][\w-]*)((?:"[^"]*"|[^">])*)>|[^<]+|</gi;
const ATTRIBUTE = /(href|data-cite|start)\s*=\s*(["'])(.*?)\2|[^\s=]+(\s*=\s*(["']).*?\5)?/gis;
const ENTITIES = { amp: "&", lt: "<", gt: ">", quot: '"', nbsp: "\u00a0" };
const DEEPEST = 30;

const INLINE = /`([^`\n]+)`|\*\*(?=\S)([^]+?)\*\*|\*(?=[^\s*])([^*\n]+)\*|!?\[([^\]\n]+)\]\(([^\s)]+)[^)\n]*\)|\[(\d{1,2})\]/g;
const ITEM = /^\s*(?:[-*+]|(\d{1,9})[.)])\s+/;
const ROW = /^\s*\|/;
const FENCE = /^\s*```/;
const HEADING = /^#{1,6}\s+/;

const branch = (tag, children, attributes = {}) => ({ tag, attributes, children });

export const safe = (href) => (/^(https?:|mailto:|tel:|[/#?])/i.test(href) ? href : "");

const decode = (text) =>
  text.replace(/&(#x?)?(\w+);/gi, (whole, numeric, name) => {
    const code = numeric && parseInt(name, numeric[1] ? 16 : 10);
    return code > 0 && code < 0x110000 ? String.fromCodePoint(code) : (ENTITIES[name] ?? whole);
  });

const attributes = (text) => {
  const found = {};
  for (const [, name, , words = ""] of text.matchAll(ATTRIBUTE)) {
    const value = decode(words);
    if (name) found[name.toLowerCase()] = /href/i.test(name) ? safe(value) : value;
  }
  return found;
};

/** @type {import("../types").Parse} */
export const parse = (html) => {
  const open = [branch("", [])];
  for (const [token, slash, name = "", rest] of html.matchAll(TOKEN)) {
    const tag = name.toLowerCase().replace(/^h\d$/, "h3");
    const { children } = open[open.length - 1];
    if (!tag) children.push(token.startsWith("<!--") ? "" : decode(token));
    else if (slash) {
      const at = open.findLastIndex((one) => one.tag === tag);
      if (at > 0) open.length = at;
    } else if (ALLOWED.test(tag) && open.length < DEEPEST) {
      const one = branch(tag, [], attributes(rest));
      children.push(one);
      if (tag !== "br") open.push(one);
    }
  }
  return open[0].children;
};

const inline = (text) => {
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
    else out.push(branch("a", inline(words), { href: safe(address) }));
  }
  out.push(text.slice(from));
  return out;
};

/** @type {import("../types").Parse} */
export const markdown = (text) => {
  const lines = text.split("\n");
  const blocks = [];
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
    } else if (HEADING.test(line)) {
      lines.shift();
      blocks.push(branch("h3", inline(line.replace(HEADING, ""))));
    } else if (ROW.test(line)) {
      const rows = run((next) => ROW.test(next)).filter((row) => !/^[\s|:-]+$/.test(row));
      const cells = rows.map((row) => row.trim().replace(/^\||\|$/g, "").split("|"));
      blocks.push(branch("table", cells.map((row, at) => branch("tr", row.map((cell) => branch(at ? "td" : "th", inline(cell.trim())))))));
    } else if (ITEM.test(line)) {
      const start = ITEM.exec(line)?.[1];
      const items = run((next) => ITEM.test(next)).map((next) => branch("li", inline(next.replace(ITEM, ""))));
      blocks.push(branch(start ? "ol" : "ul", items, start ? { start } : {}));
    } else {
      const starts = (next) => [FENCE, HEADING, ROW, ITEM].some((begin) => begin.test(next));
      blocks.push(branch("p", inline(run((next) => next.trim() && !starts(next)).join("\n"))));
    }
  }
  return blocks;
};
