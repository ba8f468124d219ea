/** @import {Api, Conversation, Panel, Reply, Store, Texts} from "../types" */
import { makeApi } from "./api.js";
import { palette } from "./colours.js";
import { makeConversation } from "./conversation.js";
import { set } from "./dom.js";
import { choose, words } from "./languages.js";
import { makePanel } from "./panel.js";
import { makeStore } from "./store.js";
import { SMALL, STYLES } from "./styles.js";

const LOCK = new CSSStyleSheet();
LOCK.replaceSync("html { overflow: hidden !important; scrollbar-gutter: stable }");

/**
 * A chat that answers from one site.
 *
 * Attributes: `site` (its id), `mode` (`floating` beside the loader's launcher, else a part of the page),
 * `lang`, `title`, `accent` (#rrggbb), `position` (`left`, `right`), `theme` (`light`, `dark`), `server` (where
 * the API is, when not where this file came from).
 * Events: `sitechat:open`, `sitechat:close`; with a detail `sitechat:message` (the answer), `sitechat:citation`
 * (the address followed), `sitechat:error` (the failure).
 * Parts: `launcher`, `panel`. Properties: `--site-chat-font`, `-radius`, `-offset`, `-z`, `-height`.
 */
export class SiteChat extends HTMLElement {
  /** @type {Promise<void> | undefined} */
  #built;
  /** @type {AbortController | undefined} */
  #attached;
  /** @type {AbortController | undefined} */
  #filling;
  #configured = false;
  #colours = new CSSStyleSheet();
  #screen = new CSSStyleSheet();
  // What #build makes, which everything else comes after.
  #panel = /** @type {Panel} */ ({});
  #conversation = /** @type {Conversation} */ ({});
  #api = /** @type {Api} */ ({});
  #store = /** @type {Store} */ ({});
  #tab = /** @type {Store} */ ({});
  #texts = /** @type {Texts} */ ({});

  constructor() {
    super();
    // The loader has drawn the launcher already; the element only adds to it.
    const root = this.shadowRoot || this.attachShadow({ mode: "open" });
    const looks = new CSSStyleSheet();
    looks.replaceSync(STYLES);
    root.adoptedStyleSheets.push(looks, this.#colours, this.#screen);
  }

  connectedCallback() {
    const { signal } = (this.#attached = new AbortController());
    addEventListener("pagehide", () => this.#conversation.save?.(), { signal });
    const other = (/** @type {StorageEvent} */ { key }) => {
      if (key === `site-chat:${this.getAttribute("site")}:talks` && this.#conversation.busy === false) this.#conversation.load();
    };
    addEventListener("storage", other, { signal });
    if (this.#launcher) return;
    set(this, "mode", "inline");
    this.prepare();
  }

  disconnectedCallback() {
    this.#attached?.abort();
    this.#fill(false);
  }

  get #launcher() {
    return this.shadowRoot?.querySelector(".launcher");
  }

  /** Whether the panel is before the visitor. */
  get opened() {
    return this.#panel.node?.hidden === false;
  }

  /** Builds the panel, unseen, and fetches what the site says of itself. */
  async prepare() {
    await (this.#built ||= this.#build());
    if (this.#configured) return;
    this.#configured = true;
    this.#api.configuration().then(
      (configuration) => {
        this.#store.set("look", configuration.look);
        this.#adorn(configuration.look?.accent);
        this.#panel.configure(configuration);
      },
      // The panel works without; the next opening tries again.
      () => (this.#configured = false),
    );
  }

  async #build() {
    const site = this.getAttribute("site") || "";
    const language = choose(this.lang, document.documentElement.lang, navigator.language);
    const texts = (this.#texts = await words(language));
    const here = import.meta.url;
    const server = this.getAttribute("server") || here.slice(0, here.lastIndexOf("/widget/"));
    const store = (this.#store = makeStore(site));
    this.#tab = makeStore(site, "sessionStorage");
    this.#api = makeApi(`${server}/api/v1/`, site, store);
    const conversation = (this.#conversation = makeConversation(this.#api, store, this.#tab, (reply) => this.#changed(reply)));
    const close = this.#launcher ? () => this.close() : undefined;
    const panel = (this.#panel = makePanel({ texts, language, conversation, title: this.getAttribute("title"), store, close }));
    panel.node.hidden = !!close;
    panel.node.addEventListener("click", (event) => this.#follow(event));
    panel.node.addEventListener("keydown", (event) => {
      if (event.key !== "Escape" || event.isComposing) return;
      if (panel.dismiss()) event.stopPropagation();
      else close?.();
    });
    this.#adorn(store.get("look", {}).accent);
    this.shadowRoot?.append(panel.node);
    panel.changed();
    conversation.load();
  }

  /** @param {string} [accent] */
  #adorn(accent) {
    this.#colours.replaceSync(palette(this.getAttribute("accent") || accent));
  }

  async open({ focus = true } = {}) {
    await this.prepare();
    const { node } = this.#panel;
    const small = matchMedia(SMALL).matches;
    node.hidden = false;
    this.#fill(small && !!this.#launcher);
    this.#state("true", this.#texts.close);
    // On a small screen the keyboard would cover what there is to read.
    if (focus) small ? node.focus() : this.#panel.focus();
    this.#panel.changed();
    this.#tell("open");
  }

  close() {
    if (!this.#launcher || !this.opened) return;
    const { node } = this.#panel;
    const inside = node.contains(/** @type {ShadowRoot} */ (this.shadowRoot).activeElement);
    node.hidden = true;
    this.#fill(false);
    this.#state("false", this.#launcher.getAttribute("data-label"));
    if (inside) /** @type {HTMLElement} */ (this.#launcher).focus();
    this.#tell("close");
  }

  toggle() {
    if (this.opened) this.close();
    else this.open();
  }

  /** Opens the panel and asks. @param {string} text */
  async ask(text) {
    await this.open();
    this.#panel.ask(text);
  }

  /** Begins a new conversation. */
  async reset() {
    await this.prepare();
    this.#conversation.fresh();
  }

  /** @param {string} expanded @param {string | null} label */
  #state(expanded, label) {
    this.#tab.set("open", expanded === "true" ? 1 : null);
    const launcher = this.#launcher;
    if (!launcher) return;
    set(launcher, "aria-expanded", expanded);
    set(launcher, "aria-label", label);
    set(launcher, "data-unread", null);
  }

  /** Takes the whole screen, or gives it back: the page must not scroll behind, nor the keyboard cover the panel. @param {boolean} on */
  #fill(on) {
    this.#filling?.abort();
    document.adoptedStyleSheets = document.adoptedStyleSheets.filter((sheet) => sheet !== LOCK);
    this.#screen.replaceSync("");
    set(this.#panel.node || this, "aria-modal", on && "true");
    if (!on) return;
    const { signal } = (this.#filling = new AbortController());
    const view = window.visualViewport;
    const fit = () => view && this.#screen.replaceSync(`:host { --height: ${view.height}px; --top: ${view.offsetTop}px }`);
    document.adoptedStyleSheets.push(LOCK);
    for (const sign of ["resize", "scroll"]) view?.addEventListener(sign, fit, { signal });
    matchMedia(SMALL).addEventListener("change", () => this.#fill(false), { signal });
    fit();
  }

  /** @param {Reply} [reply] */
  #changed(reply) {
    this.#panel.changed?.(reply);
    if (reply?.state === "failed") this.#tell("error", reply.error);
    if (reply?.state !== "done") return;
    this.#tell("message", reply);
    const launcher = this.#launcher;
    if (this.opened || !launcher) return;
    set(launcher, "data-unread", true);
    set(launcher, "aria-label", `${launcher.getAttribute("data-label")}, ${this.#texts.unread}`);
  }

  /** A link to the page that the visitor is on stays on it; the others open beside it. @param {MouseEvent} event */
  #follow(event) {
    const anchor = /** @type {Element} */ (event.target).closest("a");
    if (!anchor || event.defaultPrevented) return;
    const [there] = anchor.href.split("#");
    const [here] = location.href.split("#");
    anchor.target = there === here ? "_self" : "_blank";
    if (there === here && this.hasAttribute("mode") && matchMedia(SMALL).matches) setTimeout(() => this.close());
    if (anchor.matches(".cite, .source a, .card a")) this.#tell("citation", anchor.href);
  }

  /** @param {string} name @param {unknown} [detail] */
  #tell(name, detail) {
    this.dispatchEvent(new CustomEvent(`sitechat:${name}`, { detail, bubbles: true, composed: true }));
  }
}

if (!customElements.get("site-chat")) customElements.define("site-chat", SiteChat);
