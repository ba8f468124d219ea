const DARK = `--bg: #1b1c1e; --soft: #26282b; --line: #45484d; --ink: #ecebe8; --dim: #aeaca6; --shadow: #0009`;

/** Takes the whole screen of a small one. */
export const SMALL = "(max-width: 639.98px), (max-height: 479.98px)";

/** The panel's looks. Rules for the host must be !important to stand against the page's own. */
export const STYLES = `
:host { --bg: #fff; --soft: #f5f4f1; --line: #dedad2; --ink: #1e1d1b; --dim: #66625b; --shadow: #1e1d1b38 }
@media (prefers-color-scheme: dark) { :host(:not([theme="light"])) { ${DARK} } }
:host([theme="dark"]) { ${DARK} }
:host([mode="inline"]) { all: initial !important; display: block !important; box-sizing: border-box !important;
  height: var(--site-chat-height, 100%) !important; min-height: 24em !important; --accent: #155e52; --on: #fff;
  font-family: var(--site-chat-font, system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif) !important }
:host([hidden]), [hidden] { display: none !important }
*, ::before, ::after { box-sizing: border-box }
button, textarea { font: inherit; color: inherit; margin: 0 }
button { background: none; border: 0; padding: 0; cursor: pointer }
:focus-visible { outline: 2px solid var(--ink); outline-offset: 2px }
svg { width: 18px; height: 18px; fill: none; stroke: currentColor; stroke-width: 1.8; stroke-linecap: round; stroke-linejoin: round; flex: none }
h2, h3, p, ul, ol, pre, table, blockquote { margin: 0; padding: 0 }

.panel { display: flex; flex-direction: column; position: relative; height: 100%; overflow: hidden; font-size: .9375em; line-height: 1.55;
  color: var(--ink); background: var(--bg); border: 1px solid var(--line); border-radius: var(--site-chat-radius, 18px); overflow-wrap: anywhere; text-align: start }
:host([mode="floating"]) .panel { position: fixed; inset: auto; right: inherit; width: min(400px, 100vw - 32px);
  height: min(680px, 100dvh - 116px); bottom: calc(var(--site-chat-offset, 20px) + 68px + env(safe-area-inset-bottom));
  box-shadow: 0 4px 12px #0000000f, 0 16px 48px var(--shadow); animation: rise .2s cubic-bezier(.2, .8, .3, 1) }
:host([mode="floating"]:not([position="left"])) .panel { right: calc(var(--site-chat-offset, 20px) + env(safe-area-inset-right)) }
:host([mode="floating"][position="left"]) .panel { left: calc(var(--site-chat-offset, 20px) + env(safe-area-inset-left)) }
@media ${SMALL} { :host([mode="floating"]) .panel { inset: 0 !important; top: var(--top, 0) !important; width: auto; height: var(--height, 100dvh); border: 0; border-radius: 0;
  padding: env(safe-area-inset-top) env(safe-area-inset-right) env(safe-area-inset-bottom) env(safe-area-inset-left) } }
@keyframes rise { from { opacity: 0; transform: translateY(12px) scale(.98) } }

header { display: flex; align-items: center; gap: 2px; padding: 12px 10px 12px 18px; border-bottom: 1px solid var(--line) }
[dir="rtl"] header { padding: 12px 18px 12px 10px }
hgroup { flex: 1; min-width: 0; line-height: 1.3 }
h2 { font-size: 1em; font-weight: 650; overflow: hidden; text-overflow: ellipsis; white-space: nowrap }
hgroup p { font-size: .8em; color: var(--dim) }
.tool { display: grid; place-items: center; width: 34px; height: 34px; border-radius: 9px; color: var(--dim) }
.tool:hover { color: var(--ink); background: var(--soft) }
.tool[aria-pressed="true"] { color: var(--on); background: var(--accent) }
.menu { position: absolute; z-index: 2; top: 56px; inset-inline-end: 12px; width: 17.5em; max-height: 60%; overflow: auto; padding: 6px; background: var(--bg);
  border: 1px solid var(--line); border-radius: 12px; box-shadow: 0 8px 28px var(--shadow) }
.menu p { padding: 6px 10px 2px; font-size: .8em; color: var(--dim) }
.menu button { display: block; width: 100%; padding: 7px 10px; border-radius: 8px; text-align: start; overflow: hidden; text-overflow: ellipsis; white-space: nowrap }
.menu button:hover { background: var(--soft) }
.menu button:last-child { white-space: normal; border-top: 1px solid var(--line); border-radius: 0 0 8px 8px; margin-top: 4px }

.log { flex: 1; overflow: hidden auto; overscroll-behavior: contain; padding: 18px; scrollbar-width: thin; scrollbar-color: var(--line) transparent }
.log:focus-visible { outline-offset: -3px }
.hello { font-size: 1.3em; font-weight: 650; line-height: 1.3; margin: 6px 0 16px; text-wrap: balance }
.chips { display: grid; gap: 8px; justify-items: start }
.chip { padding: 7px 14px; border: 1px solid var(--line); border-radius: 18px; text-align: start; line-height: 1.4; transition: border-color .15s, background .15s }
.chip:hover { border-color: var(--accent); background: var(--soft) }
article { margin-bottom: 18px; content-visibility: auto; contain-intrinsic-height: auto 160px }
.you { width: fit-content; max-width: 86%; margin-inline-start: auto; padding: 8px 14px; border-radius: 16px; border-end-end-radius: 5px; white-space: pre-wrap;
  color: var(--on); background: var(--accent) }
.body > * + *, li + li { margin-top: .6em }
.body li + li { margin-top: .25em }
.body ul, .body ol { padding-inline-start: 1.5em }
.body h3 { font-size: 1em; font-weight: 650; margin-top: 1em }
.body a { color: inherit; text-decoration: underline; text-decoration-color: var(--accent); text-underline-offset: 3px; text-decoration-thickness: 1.5px }
.body :not(pre) > code { padding: .1em .35em; border-radius: 5px; font-size: .9em; background: var(--soft) }
code, pre { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, monospace }
.code { position: relative }
pre { overflow: auto; padding: 12px 44px 12px 14px; border-radius: 10px; font-size: .85em; line-height: 1.5; background: var(--soft); direction: ltr; text-align: left; overflow-wrap: normal }
.code .tool { position: absolute; top: 5px; right: 5px }
blockquote { padding-inline-start: 12px; border-inline-start: 3px solid var(--line) }
.wide { overflow-x: auto }
table { border-collapse: collapse; font-size: .93em; overflow-wrap: normal }
th, td { padding: 5px 10px; border: 1px solid var(--line); text-align: start; vertical-align: top }
th { background: var(--soft) }
.body .cite { display: inline-block; min-width: 1.75em; padding: 0 .35em; margin: 0 1px; border-radius: 6px; font-size: .75em; font-weight: 650; line-height: 1.6; text-align: center;
  text-decoration: none; vertical-align: .15em; background: var(--soft); border: 1px solid var(--line); position: relative }
.cite::after { content: ""; position: absolute; inset: -3px -1px }
.body a.cite:hover, .body a.cite:focus-visible { color: var(--on); background: var(--accent); border-color: var(--accent) }
.card { position: absolute; z-index: 1; inset-inline: 18px; padding: 12px 14px; background: var(--bg); border: 1px solid var(--line); border-radius: 12px; box-shadow: 0 8px 28px var(--shadow); font-size: .9em }
.card a, .source a { color: inherit; font-weight: 600; text-decoration: none }
.card a:hover, .source a:hover { text-decoration: underline }
q { display: -webkit-box; -webkit-box-orient: vertical; -webkit-line-clamp: 2; overflow: hidden; color: var(--dim); quotes: none; padding-inline-start: 9px; border-inline-start: 2px solid var(--accent); margin: 3px 0 }
.card q { -webkit-line-clamp: 6 }
.path { display: block; color: var(--dim); font-size: .87em; direction: ltr; text-align: start; overflow: hidden; text-overflow: ellipsis; white-space: nowrap }
.sources { margin-top: 14px; font-size: .87em }
.sources h3 { font-size: 1em; font-weight: 600; color: var(--dim); margin-bottom: 6px }
.sources ol { list-style: none; border: 1px solid var(--line); border-radius: 12px }
.source { display: flex; gap: 10px; padding: 9px 12px; position: relative }
.sources li + li { border-top: 1px solid var(--line); margin: 0 }
.source b { color: var(--dim); font-weight: 600; font-variant-numeric: tabular-nums }
.source div { min-width: 0 }
.source a::after { content: ""; position: absolute; inset: 0 }
.acts { display: flex; align-items: center; gap: 2px; margin: 6px 0 0 -8px; min-height: 34px; font-size: .87em; color: var(--dim) }
[dir="rtl"] .acts { margin: 6px -8px 0 0 }
.wait { color: var(--dim) }
.wait::after { content: ""; display: block; height: 46px; margin-top: 10px; max-width: 88%; border-radius: 6px;
  background: linear-gradient(90deg, transparent 40%, var(--bg), transparent 60%) 0 0/250% 100%, repeating-linear-gradient(var(--soft) 0 10px, transparent 10px 18px); animation: shimmer 1.6s linear infinite }
@keyframes shimmer { from { background-position: 100% 0, 0 0 } to { background-position: -60% 0, 0 0 } }
.note { display: flex; flex-wrap: wrap; gap: 8px 12px; align-items: center; margin-top: 10px; padding: 10px 12px; border: 1px solid var(--line); border-inline-start: 3px solid var(--accent); border-radius: 8px }
.push { min-height: 30px; padding: 3px 12px; border: 1px solid var(--dim); border-radius: 8px; font-weight: 600 }
.push:hover:enabled { background: var(--soft) }
.push:disabled { opacity: .65; cursor: default }
.more { font-weight: 600; text-decoration: underline; padding: 6px 12px }
.comment { display: grid; gap: 8px; justify-items: start; margin-top: 6px; font-size: .93em }

.latest { position: absolute; left: calc(50% - 17px); bottom: 118px; background: var(--bg); border: 1px solid var(--line); border-radius: 50%; box-shadow: 0 2px 10px var(--shadow) }
.compose { margin: 0 14px; padding: 5px; display: flex; align-items: end; gap: 4px; border: 1px solid var(--dim); border-radius: 16px; background: var(--bg) }
.compose:focus-within { outline: 2px solid var(--accent); outline-offset: -1px; border-color: var(--accent) }
.grow { display: grid; flex: 1; min-width: 0; max-height: 9.6em; overflow: hidden auto }
.grow::after { content: attr(data-text) " "; visibility: hidden; white-space: pre-wrap }
.grow::after, .grow textarea { grid-area: 1/1; padding: 6px 6px 6px 10px; min-height: 2.2em; overflow-wrap: anywhere; line-height: 1.5 }
textarea { display: block; width: 100%; resize: none; border: 0; background: none; outline: 0; overflow: hidden; font-size: max(1em, 15px) }
.comment textarea { padding: 8px 10px; border: 1px solid var(--dim); border-radius: 8px }
.comment textarea:focus { outline: 2px solid var(--accent) }
::placeholder { color: var(--dim); opacity: 1 }
.go { display: grid; place-items: center; width: 36px; height: 36px; border-radius: 11px; color: var(--on); background: var(--accent); transition: opacity .15s }
.go[aria-disabled="true"] { color: var(--dim); background: var(--soft); cursor: default }
.foot { padding: 7px 18px 11px; font-size: .75em; line-height: 1.4; color: var(--dim); text-align: center }
.foot.over { color: var(--ink); font-weight: 600 }
.sr { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap }
@media ${SMALL} { textarea { font-size: 16px } }
@media (prefers-reduced-motion: reduce) { * , ::after { animation: none !important; transition: none !important } }
@media (forced-colors: active) { .you, .go, .cite, .tool { border: 1px solid } .tool[aria-pressed="true"] { forced-color-adjust: none; color: HighlightText; background: Highlight } }
`;
