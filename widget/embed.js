// Docent's loader: draws the launcher, and imports the panel when a visitor comes near or the page is idle.
// The element is then upgraded in place. What the tag may say: ../docs/widget.md.
(() => {
  const TEXTS = {
    en: "Ask a question",
    zh: "提问",
    ja: "質問する",
    ko: "질문하기",
    es: "Hacer una pregunta",
    fr: "Poser une question",
    de: "Frage stellen",
    pt: "Fazer uma pergunta",
    ru: "Задать вопрос",
    ar: "اطرح سؤالاً",
  };
  const ICONS = {
    __proto__: null,
    chat: "M4 6.5A2.5 2.5 0 0 1 6.5 4h11A2.5 2.5 0 0 1 20 6.5v7a2.5 2.5 0 0 1-2.5 2.5H11l-4.5 4v-4A2.5 2.5 0 0 1 4 13.5zM8.5 8.5h7M8.5 11.5h4",
    help: "M3.5 12a8.5 8.5 0 1 0 17 0a8.5 8.5 0 1 0-17 0M9.5 9.5a2.5 2.5 0 1 1 3.6 2.2c-.7.4-1.1.9-1.1 1.8M12 16.5v.1",
    spark: "M11 4l1.8 5.2L18 11l-5.2 1.8L11 18l-1.8-5.2L4 11l5.2-1.8zM18.5 15.5v5M16 18h5",
    search: "M4 10.5a6.5 6.5 0 1 0 13 0a6.5 6.5 0 1 0-13 0M15.5 15.5l4.5 4.5",
  };
  // Against the page's own !important only one from inside a shadow root wins.
  const STYLES = `
:host { all: initial !important; position: fixed !important; z-index: var(--site-chat-z, 2147483000) !important; bottom: calc(var(--offset) + env(safe-area-inset-bottom)) !important;
  right: calc(var(--offset) + env(safe-area-inset-right)) !important; --bright: calc((.179 - y) * 99999) }
:host([data-side="left"]) { right: auto !important; left: calc(var(--offset) + env(safe-area-inset-left)) !important }
.launcher { all: unset; box-sizing: border-box; display: flex; align-items: center; gap: 8px; min-height: 56px; max-width: 85vw; overflow-wrap: anywhere; padding: 0 15px; border-radius: min(28px, var(--radius) * 1.6);
  border: 1px solid transparent; cursor: pointer; font-weight: 600; color: color(from var(--accent) xyz var(--bright) var(--bright) var(--bright)); background: var(--accent);
  box-shadow: 0 1px 3px #0003, 0 6px 20px #0003 }
.launcher:hover { filter: brightness(1.15) }
.launcher:focus-visible { outline: 3px solid var(--accent); outline-offset: 3px; box-shadow: 0 0 0 3px #fff }
.launcher svg { flex: none; width: 24px; height: 24px; fill: none; stroke: currentColor; stroke-width: 1.8; stroke-linecap: round; stroke-linejoin: round }
.launcher[aria-expanded="true"] :is(path:first-child, span), .launcher[aria-expanded="false"] path + path, span:empty { display: none }
.launcher[aria-busy] svg { opacity: .5 }
.launcher + :not(:empty) { position: absolute; bottom: 68px; inset-inline-end: 0; width: 15em; padding: 12px; border-radius: 12px; color: #1e1d1b; background: #fff; border: 1px solid #999 }
@supports not (color: lab(from red l a b)) { .launcher { color: #fff; background: #1a7868 } }`;

  /** @type {any} */
  const script = document.currentScript || document.querySelector('script[data-site][src*="/embed.js"]');
  if (!script || !("adoptedStyleSheets" in document)) return;
  const { site, mode = "", lang, shortcut, open } = script.dataset;
  if (!site) return console.error('Docent: the embed tag needs data-site="ID".');
  if (document.querySelector(`site-chat[data-side][site="${CSS.escape(site)}"]`)) return;

  const kept = (kind, name) => {
    try {
      return JSON.parse(window[kind][`site-chat:${site}:${name}`]);
    } catch {}
  };
  const wishes = [lang, document.documentElement.lang, navigator.language, "en"];
  const tongue = wishes.map((wish) => `${wish}`.slice(0, 2).toLowerCase()).find((tag) => TEXTS[tag]);
  const ask = TEXTS[tongue];

  /** @type {any} */
  const host = document.createElement("site-chat");
  const root = host.shadowRoot || host.attachShadow({ mode: "open" });
  const dress = (node, attributes) => {
    for (const name in attributes) if (attributes[name]) node.setAttribute(name, attributes[name]);
    return node;
  };
  dress(host, { ...script.dataset, mode: /^(full|modal)$/.test(mode) ? mode : "floating" });

  const draw = (tag, attributes) => dress(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes);
  const sign = draw("path", {});
  const svg = draw("svg", { viewBox: "0 0 24 24", "aria-hidden": "true" });
  svg.append(sign, draw("path", { d: "M6 6l12 12M18 6L6 18" }));
  const words = document.createElement("span");
  const alert = dress(document.createElement("div"), { role: "alert" });
  const button = dress(document.createElement("button"), {
    class: "launcher", part: "launcher", type: "button", "aria-expanded": "false", "aria-haspopup": "dialog",
  });
  button.append(svg, words);
  root.append(button, alert);

  // By the attributes, then by what the site's configuration says: the module calls it when that has come.
  const wear = (host.wear = (look) => {
    const says = (name) => host.getAttribute(name) || look[name];
    host.dataset.side = says("position") || (tongue === "ar" ? "left" : "right");
    dress(sign, { d: ICONS[says("icon")] || ICONS.chat });
    words.textContent = says("label");
    dress(button, { dir: tongue === "ar" && "rtl", "aria-label": says("label") || ask, "data-label": says("label") || ask });
  });
  const look = kept("localStorage", "look");
  wear(look || {});
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(STYLES);
  root.adoptedStyleSheets.unshift(sheet);
  const { style } = /** @type {CSSStyleRule} */ (sheet.cssRules[0]);
  for (const [name, property, otherwise] of [["accent", "--accent", "#1a7868"], ["offset", "--offset", "20px"], ["radius", "--radius", "18px"], ["font", "font-family", "system-ui, sans-serif"]])
    style.setProperty(property, host.getAttribute(name) || `var(--site-chat-${name}, ${look?.[name] || otherwise})`, "important");

  let loading;
  let again = "";
  const load = () =>
    (loading ||= import(new URL(`v/__VERSION__/src/site-chat.js${again}`, script.src).href).catch((error) => {
      loading = undefined;
      again += "?"; // some browsers remember that an address failed
      throw error;
    }));
  const use = (then) => {
    button.setAttribute("aria-busy", "true");
    alert.textContent = "";
    return load().then(then).catch(() => (alert.textContent = `${ask} ↻`)).finally(() => button.removeAttribute("aria-busy"));
  };
  // Until the element is upgraded, which removes them.
  for (const method of ["open", "close", "toggle", "ask", "reset"]) host[method] ||= (...given) => use(() => host[method](...given));
  button.addEventListener("click", () => use(() => host.toggle()));
  for (const sign of ["pointerenter", "focus"])
    button.addEventListener(sign, () => load().then(() => host.prepare(), () => {}), { once: true });

  const start = () => {
    // Beside the body: page swaps replace it, and a transform on it would move fixed boxes.
    const html = document.documentElement;
    html.append(host);
    let returns = 9;
    new MutationObserver(() => host.isConnected || (returns-- && html.append(host))).observe(html, { childList: true });
    if ((kept("sessionStorage", "open") ?? open != null) && matchMedia("(min-width: 640px) and (min-height: 480px)").matches)
      use(() => host.open({ focus: false }));
    else if (shortcut || !navigator["connection"]?.saveData) {
      // On the first page it learns what the site looks like; later ones know.
      const idle = () => (window.requestIdleCallback || setTimeout)(() => load().then(() => look || host.prepare()).catch(() => {}));
      document.readyState === "complete" ? idle() : addEventListener("load", idle);
    }
  };
  if (document.body) start();
  else addEventListener("DOMContentLoaded", start);
})();
