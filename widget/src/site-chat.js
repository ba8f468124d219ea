import { PLACED, small, STYLES } from "./styles.js";
import { composing, set } from "./dom.js";
import { pressed } from "./shortcut.js";
import { makeConversation } from "./conversation.js";
import { clean, dress } from "./look.js";
import { makeApi } from "./api.js";
import { makeStore } from "./store.js";
import { makeScreen } from "./screen.js";
import { makePanel } from "./panel.js";

const SPOKEN = /^(en|zh|ja|ko|es|fr|de|pt|ru|ar)$/;

// Its attributes, methods and events: ../../docs/widget.md
class SiteChat extends HTMLElement {
  static observedAttributes = ["accent", "position", "theme", "radius", "font", "offset", "icon", "label", "title", "avatar"];
  #built;
  #panel;
  #conversation;
  #api;
  #store;
  #tab;
  #texts;
  #server;
  #look = {};
  #shown = false;
  #before;
  #configured = false;
  #attached;
  #own = new CSSStyleSheet();
  #fill;

  constructor() {
    super();
    // The loader has drawn the launcher already: the element adds to it, and its methods take over.
    const root = this.shadowRoot || this.attachShadow({ mode: "open" });
    for (const method of ["open", "close", "toggle", "ask", "reset"]) delete this[method];
    const looks = new CSSStyleSheet();
    looks.replaceSync((this.#launcher ? "" : PLACED) + STYLES);
    this.#own.replaceSync(":host {}");
    const screen = new CSSStyleSheet();
    this.#fill = makeScreen(screen);
    root.adoptedStyleSheets.push(looks, this.#own, screen);
  }

  connectedCallback() {
    this.#attached = new AbortController();
    const { signal } = this.#attached;
    addEventListener("pagehide", () => this.#conversation?.save(), { signal });
    // Another tab has written, or the page comes back from the browser's cache, where it heard of nothing.
    const refresh = (/** @type {any} */ { key }) => /:talks$/.test(key ?? ":talks") && this.#conversation?.refresh();
    for (const sign of ["storage", "pageshow"]) addEventListener(sign, refresh, { signal });
    addEventListener("keydown", (event) => this.#shortcut(event), { signal });
    small.addEventListener("change", () => this.#shown && this.#show(), { signal });
    document.addEventListener("click", (event) => {
      if (this.#inline || !(/** @type {Element} */ (event.target).closest("[data-site-chat-open]"))) return;
      event.preventDefault();
      this.open();
    }, { signal });
    if (this.#shown) this.#show();
    if (this.#launcher) return;
    if (!/^(full|modal)$/.test(/** @type {string} */ (this.getAttribute("mode")))) set(this, "mode", "inline");
    this.prepare();
    if (!this.#inline && !small.matches && this.#tab.get("open", this.hasAttribute("open"))) this.open({ focus: false });
  }

  disconnectedCallback() {
    this.#attached.abort();
    this.#fill(false);
  }

  attributeChangedCallback() {
    this["wear"]?.(this.#look);
    this.#adorn();
  }

  get #launcher() {
    return /** @type {any} */ (this.shadowRoot).querySelector(".launcher");
  }

  get #inline() {
    return this.getAttribute("mode") === "inline";
  }

  get opened() {
    return this.#shown || (this.#inline && !!this.#panel);
  }

  async prepare() {
    await this.#ready();
    if (this.#configured) return;
    this.#configured = true;
    try {
      const known = await this.#api.configuration();
      this.#wear(clean({ title: known.title, ...known.look }, this.#server));
      this.#panel.configure(known);
    } catch {
      this.#configured = false; // it works without; the next opening tries again
    }
  }

  // What fails is tried again the next time.
  #ready() {
    return (this.#built ||= this.#build().catch((error) => {
      this.#built = undefined;
      throw error;
    }));
  }

  async #build() {
    const site = this.getAttribute("site") || "";
    const wishes = [this.lang, document.documentElement.lang, navigator.language, "en"];
    const language = /** @type {string} */ (wishes.map((wish) => `${wish}`.slice(0, 2).toLowerCase()).find((tag) => SPOKEN.test(tag)));
    const here = import.meta.url;
    const server = (this.#server = this.getAttribute("server") || here.slice(0, here.lastIndexOf("/widget/")));
    const store = (this.#store = makeStore(site));
    this.#tab = makeStore(site, "sessionStorage");
    const texts = (this.#texts = (await import(`./texts/${language}.js`)).default);
    this.#api = makeApi(`${server}/api/v1/`, site, store, language);
    const conversation = (this.#conversation = makeConversation(this.#api, store, this.#tab, (reply) => this.#changed(reply)));
    const close = this.#inline ? undefined : () => this.close();
    this.#panel = makePanel({ texts, language, conversation, store, close });
    const { node } = this.#panel;
    node.addEventListener("click", (event) => this.#follow(event));
    node.addEventListener("keydown", (event) => {
      this.#shortcut(event);
      if (event.key !== "Escape" || composing(event)) return;
      event.preventDefault(); // the browser would close the dialog itself, whatever lies over it
      if (this.#panel.dismiss()) event.stopPropagation();
      else close?.();
    });
    // To the page, what is typed here is typed on no field: its own shortcuts would obey.
    for (const sign of ["keydown", "keypress", "keyup"])
      node.addEventListener(sign, (event) => event.ctrlKey || event.metaKey || event.key === "Escape" || event.stopPropagation());
    // By the browser's own ways, such as a phone's back gesture.
    node.addEventListener("close", () => node["open"] || this.#hidden());
    this.shadowRoot?.append(node);
    this.#adorn(store.get("look", {}));
    // What is marked on the page is lost when the focus moves into the panel.
    const take = () => this.#panel.take(this);
    for (const sign of ["pointerdown", "focusin"]) this.addEventListener(sign, take);
    this.#panel.changed();
    try {
      conversation.load();
    } catch {
      store.set("talks", null); // another version, or another script, has left what cannot be shown
      conversation.fresh();
    }
  }

  // What the configuration says of the look: kept, for the loader draws the next page's launcher by it.
  #wear(look) {
    const launcher = this.#launcher;
    const before = JSON.stringify(this.#store.get("look"));
    this.#store.set("look", look);
    if (launcher && before !== JSON.stringify(look) && !this.#shown && !launcher.matches(":hover, :focus")) {
      // Moving would count as a layout shift, a new box does not. All at once, so that the keyboard always reaches it.
      /** @type {any} */
      const { style } = this.#own.cssRules[0];
      style.setProperty("display", "none", "important");
      this.offsetWidth; // lays the page out
      this["wear"](look);
      style.display = "";
    }
    this.#adorn(look); // the panel goes where the launcher is
  }

  #adorn(look = this.#look) {
    this.#look = look;
    if (!this.#panel) return;
    const { node } = this.#panel;
    const says = (name) => this.getAttribute(name) || look[name];
    dress(/** @type {CSSStyleRule} */ (this.#own.cssRules[0]).style, this, look);
    set(node, "data-theme", says("theme"));
    set(node, "data-side", this.dataset.side || says("position") || (node.dir === "rtl" ? "left" : "right"));
    this.#panel.wear(says("title"), says("avatar"));
  }

  async open({ focus = true } = {}) {
    await this.#ready();
    this.#panel.take(this);
    this.prepare();
    const first = !this.opened;
    if (first) {
      this.#before = document.activeElement;
      this.#shown = true;
      this.#show();
    }
    this.#expanded(true, this.#texts.close);
    // On a small screen the keyboard would cover what there is to read.
    if (focus) small.matches && !this.#inline ? this.#panel.node.focus() : this.#panel.focus();
    this.#panel.changed();
    if (first) this.#tell("open");
  }

  close() {
    if (!this.#shown) return;
    const { node } = this.#panel;
    const inside = node.matches(":focus-within");
    node.close();
    this.#hidden();
    if (!inside) return;
    const back = this.#before;
    (!back?.isConnected || back === this || back === document.body ? this.#launcher : back)?.focus();
  }

  toggle() {
    return this.#shown ? this.close() : this.open();
  }

  async ask(question) {
    await this.open();
    this.#panel.ask(question);
  }

  async reset() {
    await this.prepare();
    this.#conversation.fresh();
  }

  // Alone on a small screen and as a palette: then it is modal, and the page behind it is out of reach.
  #show() {
    const { node } = this.#panel;
    const active = /** @type {any} */ (this.shadowRoot).activeElement;
    const modal = this.getAttribute("mode") === "modal";
    const alone = small.matches || modal;
    set(node, "closedby", modal && "any");
    node.close();
    if (alone) {
      node.showModal();
      node.focus(); // the browser has chosen a button
    } else node.open = true;
    if (node.contains(active)) active.focus();
    this.#fill(alone);
  }

  #hidden() {
    if (!this.#shown) return;
    this.#shown = false;
    this.#fill(false);
    this.#expanded(false, this.#launcher?.dataset.label);
    this.#tell("close");
  }

  #expanded(open, label) {
    const launcher = this.#launcher;
    if (this.getAttribute("mode") !== "modal") this.#tab.set("open", +open);
    if (!launcher) return;
    set(launcher, "aria-expanded", `${open}`);
    set(launcher, "aria-label", label);
    set(launcher, "data-unread", null);
  }

  #shortcut(event) {
    const shortcut = this.getAttribute("shortcut");
    if (!shortcut || event.defaultPrevented || !pressed(shortcut, event)) return;
    event.preventDefault();
    this.#inline ? this.open() : this.toggle();
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
    if (stays && small.matches) setTimeout(() => this.close());
    if (anchor.matches(".cite, .source a, .card a")) this.#tell("citation", anchor.href);
  }

  #tell(name, detail) {
    this.dispatchEvent(new CustomEvent(`sitechat:${name}`, { detail, bubbles: true, composed: true }));
  }
}

if (!customElements.get("site-chat")) customElements.define("site-chat", SiteChat);
