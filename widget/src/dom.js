import { safe } from "./markup.js";

export const CLOSE = "M6 6l12 12M18 6L6 18";

export const set = (node, name, value) =>
  value === false || value == null ? node.removeAttribute(name) : node.setAttribute(name, value === true ? "" : value);

/** @type {import("../types").MakeElement} */
export const h = (tag, attributes = {}, ...children) => {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes))
    if (typeof value === "function") node.addEventListener(name.slice(2), value);
    else set(node, name, value);
  node.append(.../** @type {Node[]} */ (children.filter((child) => child)));
  return node;
};

export const icon = (d) => {
  const space = "http://www.w3.org/2000/svg";
  const svg = document.createElementNS(space, "svg");
  set(svg, "viewBox", "0 0 24 24");
  set(svg, "aria-hidden", "true");
  set(svg.appendChild(document.createElementNS(space, "path")), "d", d);
  return svg;
};

// 229 is what Safari says of the key that only ends the composing of a word.
export const composing = (event) => event.isComposing || event.keyCode === 229;

export const button = (attributes, ...children) => h("button", { type: "button", ...attributes }, ...children);

/** @type {import("../types").MakeTool} */
export const tool = (name, path, onclick, more) =>
  button({ class: "tool", part: "button", title: name, onclick, ...more }, icon(path));

/** @type {import("../types").MakeLink} */
export const link = (href, attributes, ...children) =>
  h("a", { href: safe(href) || null, target: "_blank", rel: "noopener", ...attributes }, ...children);

/** @type {import("../types").Countdown} */
export const countdown = (node, name, until) => {
  const left = Math.max(0, Math.ceil((until - Date.now()) / 1000));
  const time = left < 100 ? left : `${Math.ceil(left / 60)} min`;
  node.disabled = left > 0;
  node.textContent = left ? `${name} (${time})` : name;
  if (left) setTimeout(countdown, 1000, node, name, until);
};
