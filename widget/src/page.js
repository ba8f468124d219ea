const CHARS = 1000;

// Half an emoji at the end is no text that the server can read.
const cut = (text, most) => text.slice(0, most).replace(/[\ud800-\udbff]$/, "");

// A page's own account of itself says which query belongs to its address; any other may tell about the visitor.
const address = () => {
  const { origin, pathname } = location;
  const canonical = /** @type {HTMLLinkElement | null} */ (document.querySelector('link[rel="canonical"]'));
  const named = canonical?.href.split("#")[0] || "";
  return named.startsWith(`${origin}${pathname}?`) ? named : origin + pathname;
};

/** @type {import("../types").Here} */
export const here = (selection) => ({ url: address(), title: cut(document.title, 200), selection: selection || undefined });

/** @type {import("../types").Marked} */
export const marked = (host) => {
  const selection = getSelection();
  const outside = selection && !host.contains(selection.anchorNode) && document.activeElement !== host;
  return outside ? cut(`${selection}`.trim(), CHARS) : "";
};
