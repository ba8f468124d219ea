/** @import {Card, Citation} from "../types" */
import { h, link, set } from "./dom.js";

/** The address as a reader would say it. @param {string} url */
const spoken = (url) => {
  try {
    const { host, pathname } = new URL(url, location.href);
    return host + decodeURI(pathname).replace(/\/$/, "");
  } catch {
    return url;
  }
};

/** Title, quote and address of a source, the title opening it at the quote. @param {Citation} citation @param {Record<string, any>} [attributes] */
const proof = ({ link: href, title, quote, url }, attributes = {}) => [
  link(href || url, { dir: "auto", ...attributes }, title || spoken(url)),
  quote && h("q", { dir: "auto" }, quote),
  h("span", { class: "path" }, spoken(url)),
];

/** The sources below an answer, the first three at once. @param {Citation[]} citations @param {import("../types").Texts} texts */
export const sourceList = (citations, texts) => {
  const rows = citations.map((citation, at) =>
    h("li", { class: "source", hidden: at > 2 && citations.length > 4 }, h("b", {}, `${citation.number}`), h("div", {}, ...proof(citation))),
  );
  const list = h("div", { class: "sources" }, h("h3", {}, texts.sources), h("ol", { role: "list" }, ...rows));
  const all = () => {
    for (const row of rows) row.hidden = false;
    more.remove();
    rows[3].querySelector("a")?.focus();
  };
  const more = h("button", { type: "button", class: "more", onclick: all }, `${texts.all} (${rows.length})`);
  if (rows.some((row) => row.hidden)) list.append(more);
  return list;
};

/** @returns {Card} */
export const makeCard = () => {
  const node = h("div", { class: "card", id: "card", role: "tooltip", hidden: true });
  /** @type {HTMLElement | undefined} */
  let shown;
  let timer = 0;
  const hide = () => {
    if (node.hidden) return false;
    node.hidden = true;
    if (shown) set(shown, "aria-describedby", null);
    shown = undefined;
    return true;
  };
  // The pointer may cross from the marker to the card without losing it.
  const leave = () => (timer = window.setTimeout(hide, 250));
  const stay = () => clearTimeout(timer);
  node.addEventListener("pointerenter", stay);
  node.addEventListener("pointerleave", leave);
  return {
    node,
    hide,
    attach(marker, citation) {
      const show = () => {
        stay();
        if (shown === marker || !marker.isConnected) return;
        hide();
        shown = marker;
        node.replaceChildren(...proof(citation, { tabindex: "-1" }).filter((part) => part !== ""));
        node.hidden = false;
        set(marker, "aria-describedby", "card");
        const panel = /** @type {HTMLElement} */ (node.parentElement).getBoundingClientRect();
        const { top, bottom } = marker.getBoundingClientRect();
        const above = top - panel.top - node.offsetHeight - 8;
        node.style.top = `${above > 60 ? above : bottom - panel.top + 8}px`;
      };
      let touched = false;
      marker.addEventListener("pointerenter", show);
      marker.addEventListener("pointerleave", leave);
      marker.addEventListener("focus", () => touched || show());
      marker.addEventListener("blur", leave);
      marker.addEventListener("pointerdown", (event) => (touched = event.pointerType === "touch" && shown !== marker));
      // The first tap shows the card, the next one follows the link.
      marker.addEventListener("click", (event) => {
        if (touched) event.preventDefault();
        if (touched) show();
        touched = false;
      });
    },
  };
};
