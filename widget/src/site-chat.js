import { makeApi } from "./api.js";
import { makeConversation } from "./conversation.js";
import { set } from "./dom.js";
import { makePanel } from "./panel.js";
import { makeStore } from "./store.js";
import { SMALL, STYLES } from "./styles.js";

const SPOKEN = "en zh ja ko es fr de pt ru ar".split(" ");

export const choose = (...wishes) =>
  wishes.map((wish) => (wish || "").slice(0, 2).toLowerCase()).find((tag) => SPOKEN.includes(tag)) || "en";

// Whether black can be read better on it than white.
export const isLight = (accent) =>
  [0.2126, 0.7152, 0.0722].reduce((sum, share, at) => sum + share * (parseInt(accent.slice(1 + 2 * at, 3 + 2 * at), 16) / 255) ** 2.2, 0) > 0.18;

const lock = new CSSStyleSheet();
lock.replaceSync("html { overflow: hidden !important }");

// Its attributes, methods and events: ../types.d.ts
class SiteChat extends HTMLElement {
  #built;
  #panel;
  #conversation;
  #api;
  #store;
  #tab;
  #texts;
  #configured = false;
  #attached = new AbortController();
  #filling = new AbortController();
  #colours = new CSSStyleSheet();
  #screen = new CSSStyleSheet();

  constructor() {
    super();
    // The loader has drawn the launcher already: the element adds to it.
    const root = this.shadowRoot || this.attachShadow({ mode: "open" });
    const looks = new CSSStyleSheet();
    looks.replaceSync(STYLES);
    root.adoptedStyleSheets.push(looks, this.#colours, this.#screen);
  }

  connectedCallback() {
    const { signal } = (this.#attached = new AbortController());
    addEventListener("pagehide", () => this.#conversation?.save(), { signal });
    addEventListener("storage", ({ key }) => {
      if (key === `site-chat:${this.getAttribute("site")}:talks` && this.#conversation?.busy === false) this.#conversation.load();
    }, { signal });
    if (this.#launcher) return;
    set(this, "mode", "inline");
    this.prepare();
  }

  disconnectedCallback() {
    this.#attached.abort();
    this.#fill(false);
  }

  get #launcher() {
    return /** @type {HTMLElement | null | undefined} */ (this.shadowRoot?.querySelector(".launcher"));
  }

  get opened() {
    return this.#panel?.node.hidden === false;
  }

  async prepare() {
    await (this.#built ||= this.#build());
    if (this.#configured) return;
    this.#configured = true;
    try {
      const known = await this.#api.configuration();
      this.#adorn(known.look || {});
      this.#panel.configure(known);
    } catch {
      this.#configured = false; // it works without; the next opening tries again
    }
  }

  async #build() {
    const site = this.getAttribute("site") || "";
    const language = choose(this.lang, document.documentElement.lang, navigator.language);
    const texts = (this.#texts = (await import(`./texts/${language}.js`)).default);
    const here = import.meta.url;
    const server = this.getAttribute("server") || here.slice(0, here.lastIndexOf("/widget/"));
    const store = (this.#store = makeStore(site));
    this.#tab = makeStore(site, "sessionStorage");
    this.#api = makeApi(`${server}/api/v1/`, site, store);
    const conversation = (this.#conversation = makeConversation(this.#api, store, this.#tab, (reply) => this.#changed(reply)));
    const close = this.#launcher ? () => this.close() : undefined;
    const { node } = (this.#panel = makePanel({ texts, language, conversation, title: this.getAttribute("title"), store, close }));
    node.hidden = !!close;
    node.addEventListener("click", (event) => this.#follow(event));
    node.addEventListener("keydown", (event) => {
      if (event.key !== "Escape" || event.isComposing) return;
      if (this.#panel.dismiss()) event.stopPropagation();
      else close?.();
    });
    this.#adorn(store.get("look", {}));
    this.shadowRoot?.append(node);
    this.#panel.changed();
    conversation.load();
  }

  #adorn(look) {
    const accent = this.getAttribute("accent") || look.accent || "";
    const on = isLight(accent) ? "#000" : "#fff";
    if (/^#[\da-f]{6}$/i.test(accent)) this.#colours.replaceSync(`:host { --accent: ${accent}; --on: ${on} }`);
    this.#store.set("look", { ...look, on }); // the loader draws the next page's launcher by it
  }

  async open({ focus = true } = {}) {
    await (this.#built ||= this.#build());
    this.prepare();
    const { node } = this.#panel;
    const small = matchMedia(SMALL).matches;
    node.hidden = false;
    this.#fill(small && this.#launcher);
    this.#expanded(true, this.#texts.close);
    // On a small screen the keyboard would cover what there is to read.
    if (focus) small ? node.focus() : this.#panel.focus();
    this.#panel.changed();
    this.#tell("open");
  }

  close() {
    const launcher = this.#launcher;
    if (!launcher || !this.opened) return;
    const { node } = this.#panel;
    const inside = node.contains(this.shadowRoot?.activeElement);
    node.hidden = true;
    this.#fill(false);
    this.#expanded(false, launcher.dataset.label);
    if (inside) launcher.focus();
    this.#tell("close");
  }

  toggle() {
    this.opened ? this.close() : this.open();
  }

  async ask(question) {
    await this.open();
    this.#panel.ask(question);
  }

  async reset() {
    await this.prepare();
    this.#conversation.fresh();
  }

  #expanded(open, label) {
    this.#tab.set("open", open ? 1 : null);
    const launcher = this.#launcher;
    if (!launcher) return;
    set(launcher, "aria-expanded", `${open}`);
    set(launcher, "aria-label", label);
    set(launcher, "data-unread", null);
  }

  // On the whole screen the page must not scroll behind, nor the keyboard cover the panel.
  #fill(on) {
    this.#filling.abort();
    document.adoptedStyleSheets = document.adoptedStyleSheets.filter((sheet) => sheet !== lock);
    document.body.inert = !!on;
    this.#screen.replaceSync("");
    if (this.#panel) set(this.#panel.node, "aria-modal", on && "true");
    if (!on) return;
    const { signal } = (this.#filling = new AbortController());
    const view = window.visualViewport;
    const fit = () => view && this.#screen.replaceSync(`:host { --height: ${view.height}px; --top: ${view.offsetTop}px }`);
    document.adoptedStyleSheets.push(lock);
    for (const sign of ["resize", "scroll"]) view?.addEventListener(sign, fit, { signal });
    matchMedia(SMALL).addEventListener("change", () => this.#fill(false), { signal });
    fit();
  }

  #changed(reply) {
    this.#panel?.changed(reply);
    if (reply?.state === "failed") this.#tell("error", reply.error);
    if (reply?.state !== "done" || this.#conversation.busy) return;
    this.#tell("message", reply);
    const launcher = this.#launcher;
    if (this.opened || !launcher) return;
    set(launcher, "data-unread", true);
    set(launcher, "aria-label", `${launcher.dataset.label}, ${this.#texts.unread}`);
  }

  #follow(event) {
    const anchor = event.target.closest("a");
    if (!anchor || event.defaultPrevented) return;
    const stays = anchor.href.split("#")[0] === location.href.split("#")[0];
    anchor.target = stays ? "_self" : "_blank";
    if (stays && matchMedia(SMALL).matches) setTimeout(() => this.close());
    if (anchor.matches(".cite, .source a, .card a")) this.#tell("citation", anchor.href);
  }

  #tell(name, detail) {
    this.dispatchEvent(new CustomEvent(`sitechat:${name}`, { detail, bubbles: true, composed: true }));
  }
}

if (!customElements.get("site-chat")) customElements.define("site-chat", SiteChat);
