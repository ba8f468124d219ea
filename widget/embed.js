// @ts-check
/*
 * Docent's loader: <script src="https://HOST/widget/embed.js" data-site="ID" async></script>
 *
 * Puts <site-chat> with its launcher on the page and imports the panel when a visitor comes near it or the
 * page is idle. The element is upgraded in place, so what is drawn here is kept. Further attributes:
 * data-lang, data-accent (#rrggbb), data-position (left, right), data-theme (light, dark), data-label (words
 * beside the icon), data-open (opened from the start on screens wide enough).
 */
(() => {
  const VERSION = "__VERSION__";
  /** What the launcher says, and what it says when the panel could not be fetched. @type {Record<string, string[]>} */
  const TEXTS = {
    en: ["Ask a question", "The chat could not be loaded. Press to try again."],
    zh: ["提问", "聊天加载失败，点击重试。"],
    ja: ["質問する", "チャットを読み込めませんでした。押すと再試行します。"],
    ko: ["질문하기", "채팅을 불러오지 못했습니다. 눌러서 다시 시도하세요."],
    es: ["Hacer una pregunta", "No se pudo cargar el chat. Pulse para reintentar."],
    fr: ["Poser une question", "Le chat n’a pas pu être chargé. Appuyez pour réessayer."],
    de: ["Frage stellen", "Der Chat konnte nicht geladen werden. Zum Wiederholen drücken."],
    pt: ["Fazer uma pergunta", "Não foi possível carregar o chat. Toque para tentar de novo."],
    ru: ["Задать вопрос", "Не удалось загрузить чат. Нажмите, чтобы повторить."],
    ar: ["اطرح سؤالاً", "تعذّر تحميل المحادثة. اضغط للمحاولة مجددًا."],
  };
  // Against the page's own rules only !important inside a shadow root wins, even over their !important.
  const STYLES = `
:host { all: initial !important; position: fixed !important; z-index: var(--site-chat-z, 2147483000) !important;
  bottom: calc(var(--site-chat-offset, 20px) + env(safe-area-inset-bottom)) !important;
  right: calc(var(--site-chat-offset, 20px) + env(safe-area-inset-right)) !important; color-scheme: light dark !important;
  font-family: var(--site-chat-font, system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif) !important;
  --accent: #155e52; --on: #fff; }
:host([position="left"]) { right: auto !important; left: calc(var(--site-chat-offset, 20px) + env(safe-area-inset-left)) !important; }
:host([hidden]) { display: none !important; }
@media print { :host { display: none !important; } }
.launcher { all: unset; box-sizing: border-box; display: flex; align-items: center; justify-content: center; gap: 8px;
  min-width: 56px; height: 56px; padding: 0 16px; border-radius: 28px; cursor: pointer; position: relative;
  font-size: 1em; font-weight: 600; color: var(--on); background: var(--accent); border: 1px solid transparent;
  box-shadow: 0 1px 2px #0003, 0 6px 20px #0003; transition: transform .15s, box-shadow .15s; -webkit-tap-highlight-color: transparent; }
.launcher:hover { transform: translateY(-2px); box-shadow: 0 2px 4px #0003, 0 10px 28px #0004; }
.launcher:focus-visible { outline: 3px solid var(--accent); outline-offset: 3px; box-shadow: 0 0 0 3px #fff; }
.launcher svg { width: 24px; height: 24px; fill: none; stroke: currentColor; stroke-width: 1.8; stroke-linecap: round; stroke-linejoin: round; }
.launcher[aria-expanded="true"] svg:first-child, .launcher[aria-expanded="false"] svg:nth-child(2) { display: none; }
.launcher[aria-busy="true"] svg { animation: wait 1s ease-in-out infinite alternate; }
.launcher[data-unread]::after { content: ""; position: absolute; top: 0; right: 2px; width: 12px; height: 12px; border-radius: 50%;
  background: #d3382c; border: 2px solid #fff; }
.failure { position: absolute; bottom: 68px; right: 0; width: 15em; padding: 12px 14px; border-radius: 12px; font-size: .875em; line-height: 1.4;
  color: #1e1d1b; background: #fff; border: 1px solid #d9d6cf; box-shadow: 0 6px 20px #0003; }
:host([position="left"]) .failure { right: auto; left: 0; }
.failure:empty { display: none; }
@keyframes wait { to { opacity: .35; } }
@media (prefers-reduced-motion: reduce) { .launcher, .launcher svg { transition: none; animation: none !important; } .launcher:hover { transform: none; } }
@media (forced-colors: active) { .launcher { border-color: ButtonText; } .launcher[data-unread]::after { background: Highlight; } }`;

  const script = document.currentScript || document.querySelector('script[data-site][src*="/embed.js"]');
  if (!(script instanceof HTMLScriptElement) || !("adoptedStyleSheets" in Document.prototype)) return;
  const { site, lang, accent, position, theme, label, open } = script.dataset;
  if (!site) return console.error('Docent: the embed tag needs data-site="ID", the id of the site on the dashboard.');
  // A page swap (Turbo, htmx) may run the tag again; the element outlives it.
  for (const other of document.querySelectorAll("site-chat[mode=floating]"))
    if (other.getAttribute("site") === site) return;

  /** @type {{accent?: string, position?: string}} the dashboard's choices, as the last visit knew them */
  let look = {};
  let reopen = false;
  try {
    look = JSON.parse(localStorage.getItem(`site-chat:${site}:look`) || "{}");
    reopen = sessionStorage.getItem(`site-chat:${site}:open`) === "1";
  } catch {
    // Storage is refused, or holds something else: the defaults do.
  }
  const language = lang || document.documentElement.lang || navigator.language;
  const [ask, failed] = TEXTS[language.slice(0, 2).toLowerCase()] || TEXTS.en;

  /** @type {HTMLElement & {toggle?: () => void, open?: (how: {focus: boolean}) => void, prepare?: () => void}} */
  const host = document.createElement("site-chat");
  const root = host.shadowRoot || host.attachShadow({ mode: "open" });
  const wanted = { site, lang, accent, theme, mode: "floating", position: position || look.position || (/^ar/i.test(language) ? "left" : "") };
  for (const [name, value] of Object.entries(wanted)) if (value) host.setAttribute(name, value);

  const sheet = new CSSStyleSheet();
  const colour = accent || look.accent || "";
  const [red, green, blue] = [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16));
  const bright = red * 0.3 + green * 0.59 + blue * 0.11 > 150;
  const own = /^#[\da-f]{6}$/i.test(colour) ? `:host { --accent: ${colour}; --on: ${bright ? "#1e1d1b" : "#fff"}; }` : "";
  sheet.replaceSync(STYLES + own);
  root.adoptedStyleSheets = [sheet];

  /** @param {string} path */
  const icon = (path) => {
    const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    const line = document.createElementNS(svg.namespaceURI, "path");
    svg.setAttribute("viewBox", "0 0 24 24");
    svg.setAttribute("aria-hidden", "true");
    line.setAttribute("d", path);
    svg.append(line);
    return svg;
  };
  const button = document.createElement("button");
  const failure = document.createElement("div");
  button.type = "button";
  button.className = "launcher";
  const named = { part: "launcher", "aria-expanded": "false", "aria-haspopup": "dialog", "data-label": label || ask };
  for (const [name, value] of Object.entries(named)) button.setAttribute(name, value);
  button.append(icon("M4 6.5A2.5 2.5 0 0 1 6.5 4h11A2.5 2.5 0 0 1 20 6.5v7a2.5 2.5 0 0 1-2.5 2.5H11l-4.5 4v-4A2.5 2.5 0 0 1 4 13.5zM8.5 8.5h7M8.5 11.5h4"), icon("M6 6l12 12M18 6L6 18"));
  if (label) button.append(label);
  else button.setAttribute("aria-label", ask);
  failure.className = "failure";
  failure.setAttribute("role", "alert");
  root.append(button, failure);

  /** @type {Promise<unknown> | undefined} */
  let loading;
  let attempts = 0;
  const load = () => {
    const again = attempts++ ? `?again=${attempts}` : "";
    return (loading ||= import(new URL(`v/${VERSION}/src/site-chat.js${again}`, script.src).href).catch((error) => {
      loading = undefined;
      throw error;
    }));
  };
  const near = () => load().then(() => host.prepare?.(), () => {});
  /** @param {() => void} then */
  const use = (then) => {
    button.setAttribute("aria-busy", "true");
    failure.textContent = "";
    load().then(then, () => { failure.textContent = failed; }).finally(() => button.removeAttribute("aria-busy"));
  };
  button.addEventListener("click", () => use(() => host.toggle?.()));
  for (const sign of ["pointerenter", "focus", "touchstart"])
    button.addEventListener(sign, near, { once: true, passive: true });

  const start = () => {
    // Beside the body, not in it: page swaps replace the body, and a transform on it would move fixed boxes.
    document.documentElement.append(host);
    let returns = 9;
    new MutationObserver(() => {
      if (!host.isConnected && returns-- > 0) document.documentElement.append(host);
    }).observe(document.documentElement, { childList: true });
    if ((open !== undefined || reopen) && matchMedia("(min-width: 640px) and (min-height: 480px)").matches)
      return use(() => host.open?.({ focus: false }));
    const connection = /** @type {{connection?: {saveData?: boolean}}} */ (navigator).connection;
    if (connection?.saveData) return;
    const idle = () => (window.requestIdleCallback || setTimeout)(() => load().catch(() => {}));
    if (document.readyState === "complete") idle();
    else addEventListener("load", idle, { once: true });
  };
  if (document.body) start();
  else document.addEventListener("DOMContentLoaded", start, { once: true });
})();
