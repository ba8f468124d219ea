// Docent's loader: draws the launcher, and imports the panel when a visitor comes near or the page is idle.
// The element is then upgraded in place. What the tag may say: ../docs/embedding.md.
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
  // Against the page's own !important only one from inside a shadow root wins.
  const STYLES = `
:host { all: initial !important; position: fixed !important; z-index: var(--site-chat-z, 2147483000) !important;
  bottom: calc(var(--gap) + env(safe-area-inset-bottom)) !important; right: calc(var(--gap) + env(safe-area-inset-right)) !important;
  font-family: var(--site-chat-font, system-ui, sans-serif) !important; --gap: var(--site-chat-offset, 20px); --accent: #155e52; --on: #fff }
:host([position="left"]) { right: auto !important; left: calc(var(--gap) + env(safe-area-inset-left)) !important }
.launcher { all: unset; box-sizing: border-box; display: flex; align-items: center; gap: 8px; height: 56px; padding: 0 15px; border-radius: 28px;
  border: 1px solid transparent; cursor: pointer; font-weight: 600; color: var(--on); background: var(--accent);
  box-shadow: 0 1px 3px #0003, 0 6px 20px #0003; transition: transform .15s }
.launcher:hover { transform: translateY(-2px) }
.launcher:focus-visible { outline: 3px solid var(--accent); outline-offset: 3px; box-shadow: 0 0 0 3px #fff }
.launcher svg { width: 24px; height: 24px; fill: none; stroke: currentColor; stroke-width: 1.8; stroke-linecap: round; stroke-linejoin: round }
.launcher[aria-expanded="true"] svg:first-child, .launcher[aria-expanded="false"] svg + svg { display: none }
.launcher[aria-busy] svg { opacity: .5 }
.launcher + :not(:empty) { position: absolute; bottom: 68px; inset-inline-end: 0; width: 15em; padding: 12px; border-radius: 12px; color: #1e1d1b; background: #fff; border: 1px solid #999 }`;

  const script = document.currentScript || document.querySelector('script[data-site][src*="/embed.js"]');
  if (!(script instanceof HTMLScriptElement) || !("adoptedStyleSheets" in document)) return;
  const { site, lang, title, accent, position, theme, label, open } = script.dataset;
  if (!site) return console.error('Docent: the embed tag needs data-site="ID", the id of the site as the dashboard shows it.');
  if (document.querySelector(`site-chat[mode="floating"][site="${CSS.escape(site)}"]`)) return;

  const kept = (kind, name) => {
    try {
      return JSON.parse(window[kind][`site-chat:${site}:${name}`]);
    } catch {}
  };
  const look = kept("localStorage", "look") || {};
  const language = lang || document.documentElement.lang || navigator.language;
  const ask = label || TEXTS[language.slice(0, 2).toLowerCase()] || TEXTS.en;

  /** @type {any} */
  const host = document.createElement("site-chat");
  const root = host.shadowRoot || host.attachShadow({ mode: "open" });
  const dress = (node, attributes) => {
    for (const name in attributes) if (attributes[name]) node.setAttribute(name, attributes[name]);
    return node;
  };
  dress(host, { site, lang, title, accent, theme, mode: "floating" });
  dress(host, { position: position || look.position || (/^ar/i.test(language) ? "left" : "right") });
  const sheet = new CSSStyleSheet();
  const colour = accent || look.accent;
  const own = /^#[\da-f]{6}$/i.test(colour) ? `:host { --accent: ${colour}; --on: ${look.on === "#000" ? "#000" : "#fff"} }` : "";
  sheet.replaceSync(STYLES + own);
  root.adoptedStyleSheets.unshift(sheet);

  const icon = (d) => {
    const space = "http://www.w3.org/2000/svg";
    const svg = dress(document.createElementNS(space, "svg"), { viewBox: "0 0 24 24", "aria-hidden": "true" });
    svg.append(dress(document.createElementNS(space, "path"), { d }));
    return svg;
  };
  const alert = dress(document.createElement("div"), { role: "alert" });
  const button = dress(document.createElement("button"), {
    class: "launcher", part: "launcher", type: "button", "aria-expanded": "false", "aria-haspopup": "dialog", "aria-label": ask, "data-label": ask,
  });
  button.append(icon("M4 6.5A2.5 2.5 0 0 1 6.5 4h11A2.5 2.5 0 0 1 20 6.5v7a2.5 2.5 0 0 1-2.5 2.5H11l-4.5 4v-4A2.5 2.5 0 0 1 4 13.5zM8.5 8.5h7M8.5 11.5h4"), icon("M6 6l12 12M18 6L6 18"), label || "");
  root.append(button, alert);

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
    load().then(then, () => (alert.textContent = `${ask} ↻`)).finally(() => button.removeAttribute("aria-busy"));
  };
  button.addEventListener("click", () => use(() => host.toggle()));
  for (const sign of ["pointerenter", "focus", "touchstart"])
    button.addEventListener(sign, () => load().then(() => host.prepare(), () => {}), { once: true, passive: true });

  const start = () => {
    // Beside the body: page swaps replace it, and a transform on it would move fixed boxes.
    const html = document.documentElement;
    html.append(host);
    let returns = 9;
    new MutationObserver(() => host.isConnected || (returns-- && html.append(host))).observe(html, { childList: true });
    if ((open != null || kept("sessionStorage", "open")) && matchMedia("(min-width: 640px) and (min-height: 480px)").matches)
      use(() => host.open({ focus: false }));
    else if (!navigator["connection"]?.saveData) {
      const idle = () => (window.requestIdleCallback || setTimeout)(() => load().catch(() => {}));
      if (document.readyState === "complete") idle();
      else addEventListener("load", idle);
    }
  };
  if (document.body) start();
  else addEventListener("DOMContentLoaded", start);
})();
