import { FORMS } from "./form-styles.js";

const SMALL = "(max-width:639.98px),(max-height:479.98px)";
export const small = matchMedia(SMALL);

// On the accent (--on): black or white, by the luminance on which both can be read equally well.
const BRIGHT = "calc((.179 - y)*99999)";
// The accent as a mark (--mark) can be read with 4.5 : 1: its lightness is at most 43 on white, at least 63 on the dark ground.
const DARK = "color-scheme:dark;--bg:var(--site-chat-background,#1b1c1e);--ink:var(--site-chat-text,#ecebe8);--mark:lab(from var(--accent) max(l,63) a b)";

// Rules for the host must be !important to stand against the page's own. This one is for elements without a loader.
export const PLACED = `
:host { all: initial !important; display: contents !important }
:host([mode="inline"]) { display: block !important; height: var(--site-chat-height, 100%) !important; min-height: 24em !important }
`;

export const STYLES = `
:host([hidden]), [hidden], dialog:not([open]) { display: none !important }
@media print { :host(:not([mode="inline"])) { display: none !important } }
[data-unread]::after { content: ""; position: absolute; top: 0; right: 0; padding: 7px; border-radius: 50%; background: #d3382c; border: 2px solid #fff }
* { box-sizing: border-box; margin: 0; padding: 0 }
button, input, textarea { font: inherit; color: inherit; background: none; border: 0 }
button, summary { cursor: pointer }
.panel { color-scheme: light; --bg: var(--site-chat-background, #fff); --ink: var(--site-chat-text, #1e1d1b); --soft: color-mix(in srgb, var(--ink) 5%, var(--bg));
  --line: color-mix(in srgb, var(--ink) 17%, var(--bg)); --dim: color-mix(in srgb, var(--ink) 70%, var(--bg)); --round: min(16px, var(--radius)); --width: 400px;
  --on: color(from var(--accent) xyz ${BRIGHT} ${BRIGHT} ${BRIGHT}); --mark: lab(from var(--accent) min(l, 43) a b) }
@media (prefers-color-scheme: dark) { .panel:not([data-theme="light"]) { ${DARK} } }
.panel[data-theme="dark"] { ${DARK} }
:focus-visible { outline: 2px solid var(--ink); outline-offset: 2px }
.panel { display: flex; flex-direction: column; position: relative; height: 100%; overflow: hidden auto; font-size: .9375em; line-height: 1.55;
  color: var(--ink); background: var(--bg); border: 1px solid var(--line); border-radius: var(--radius); overflow-wrap: anywhere }
dialog.panel { position: fixed; inset: auto; max-width: none; max-height: none; width: min(var(--width), 100vw - 32px); box-shadow: 0 8px 28px #0003; animation: fade .2s }
[data-wide] { --width: 640px }
:host([mode="floating"]) .panel { right: calc(var(--offset) + env(safe-area-inset-right)); bottom: calc(var(--offset) + 68px + env(safe-area-inset-bottom)); height: min(680px, 100dvh - 96px - var(--offset)) }
:host([mode="floating"]) [data-side="left"] { right: auto; left: calc(var(--offset) + env(safe-area-inset-left)) }
:host([mode="full"]) .panel { inset: 0 0 0 auto; height: 100dvh; border-width: 0 1px; border-radius: 0; padding: env(safe-area-inset-top) 0 env(safe-area-inset-bottom) }
:host([mode="full"]) [data-side="left"] { inset: 0 auto 0 0 }
:host([mode="modal"]) .panel { inset: 0; margin: auto; --width: 680px; height: min(640px, 100dvh - 96px) }
:host([mode="modal"]) .wider { display: none }
:host([mode="full"]) .launcher[aria-expanded="true"] { visibility: hidden }
.panel::backdrop { background: #0007 }
@media ${SMALL} {
  .wider { display: none }
  :host([mode]) dialog.panel { inset: 0; top: var(--top, 0); margin: 0; width: 100vw; height: var(--height, 100dvh); border: 0; border-radius: 0; animation: none;
    padding: env(safe-area-inset-top) env(safe-area-inset-right) env(safe-area-inset-bottom) env(safe-area-inset-left) }
  .grow, textarea { font-size: max(16px, 1em) }
  .launcher[aria-expanded="true"] { visibility: hidden }
}
@keyframes fade { from { opacity: 0 } }
.panel svg { display: block; width: 18px; height: 18px; fill: none; stroke: currentColor; stroke-width: 1.8; stroke-linecap: round; stroke-linejoin: round }
.head { display: flex; align-items: start; gap: 2px; padding: 12px 10px; padding-inline-start: 18px; border-bottom: 1px solid var(--line) }
hgroup { flex: 1; min-width: 0; line-height: 1.3 }
.avatar { width: 34px; height: 34px; margin-inline-end: 10px; border-radius: 50%; object-fit: cover }
h2 { width: fit-content }
h2, h3 { font-size: 1em; font-weight: 600 }
.path, .menu button { overflow: hidden; text-overflow: ellipsis; white-space: nowrap }
hgroup p, .path, q, .menu p, .wait, summary, b, .acts, #foot { color: var(--dim) }
hgroup p, .menu p, #foot { font-size: .8em }
.tool { padding: 8px; border-radius: 10px; color: var(--dim) }
.tool:hover { color: var(--ink); background: var(--soft) }
[aria-controls] svg { stroke-width: 3 }
.menu { position: absolute; z-index: 2; top: 56px; inset-inline-end: 12px; width: 17.5em; max-height: 60%; overflow: auto; padding: 6px }
.menu, .card { background: var(--bg); border: 1px solid var(--line); border-radius: 10px; box-shadow: 0 8px 28px #0003 }
.menu p, .menu button { width: 100%; padding: 6px 10px; border-radius: 10px; text-align: start }
.menu button:hover, .chip:hover, .push:hover:enabled { background: var(--soft) }
.menu button:last-child { white-space: normal }
.log { flex: 1 0 9em; overflow: hidden auto; overscroll-behavior: contain; padding: 18px }
.log:focus-visible { outline-offset: -3px }
.hello { font-size: 1.3em; font-weight: 600; line-height: 1.3; margin: 6px 0 18px }
.hello :not(:empty) { display: block; margin-top: 8px; font-size: .7em; font-weight: 400 }
.chips, form { display: grid; gap: 8px; justify-items: start }
.chip { padding: 6px 12px; border: 1px solid var(--line); border-radius: var(--radius); text-align: start }
article { margin-bottom: 18px }
article:nth-last-child(n+6) { content-visibility: auto; contain-intrinsic-height: auto 160px }
.you { width: fit-content; max-width: 86%; margin-inline-start: auto; padding: 8px 12px; border-radius: var(--round); border-end-end-radius: min(5px, var(--round)); white-space: pre-wrap }
.you, .go, .main { color: var(--on); background: var(--accent) }
.tool[aria-pressed="true"], .body .cite:is(a:hover, a:focus) { color: var(--bg); background: var(--mark) }
.body > * + *, .comment, .sources { margin-top: .7em }
li + li { margin-top: .25em }
ul, .body ol { padding-inline-start: 1.5em }
a { color: inherit; text-underline-offset: 3px }
.body a { text-decoration-color: var(--mark) }
mark { color: inherit; background: color-mix(in srgb, var(--mark) 17%, var(--bg)) }
code, pre { font: .9em/1.5 ui-monospace, monospace }
code, pre, th, .cite, .code .tool { background: var(--soft) }
.code { position: relative }
pre { overflow: auto; padding: 10px 44px 10px 12px; border-radius: 10px; direction: ltr; overflow-wrap: normal }
.code .tool { position: absolute; top: 4px; right: 4px }
blockquote, q { padding-inline-start: 10px; border-inline-start: 2px solid var(--mark) }
.wide { overflow: auto }
table { border-collapse: collapse; overflow-wrap: normal }
th, td { padding: 6px 10px; border: 1px solid var(--line); text-align: start; vertical-align: top }
.cite { position: relative; padding: .2em .6em; border-radius: 6px; font-size: .75em; font-weight: 600; text-decoration: none; white-space: nowrap; vertical-align: .12em }
.cite::after { content: ""; position: absolute; inset: -4px -2px }
.card { position: absolute; z-index: 1; inset-inline: 18px; padding: 10px 12px }
.card, .sources, .acts { font-size: .87em }
.card a, .source a { font-weight: 600; text-decoration: none }
.card a:hover, .source a:hover { text-decoration: underline }
q { display: -webkit-box; -webkit-box-orient: vertical; -webkit-line-clamp: 2; overflow: hidden; quotes: none; margin: 3px 0 }
.card q { -webkit-line-clamp: 6 }
summary { font-weight: 600; padding: 2px 0 }
.sources ol { list-style: none; border: 1px solid var(--line); border-radius: 10px; margin-top: 6px }
.source { display: flex; gap: 10px; padding: 10px 12px; position: relative }
.source + .source { border-top: 1px solid var(--line); margin: 0 }
.source div { flex: 1; min-width: 0 }
.acts span { padding: 0 6px }
.source a::after { content: ""; position: absolute; inset: 0 }
.acts { display: flex; align-items: center; gap: 2px; margin: 6px -8px 0 }
.wait::after { content: ""; display: block; height: 46px; margin-top: 10px; background: repeating-linear-gradient(var(--soft) 0 10px, #0000 0 18px); animation: fade .9s infinite alternate }
.note { display: flex; flex-wrap: wrap; gap: 8px 12px; align-items: center; margin-top: 10px; padding: 10px 12px; border: 1px solid var(--line); border-inline-start: 3px solid var(--mark); border-radius: 10px }
.push, .main { padding: 4px 12px; border: 1px solid var(--dim); border-radius: min(10px, var(--round)); font-weight: 600 }
.push:disabled { color: var(--dim) }
.latest { z-index: 1; align-self: center; margin: -44px 0 8px; background: var(--bg); border: 1px solid var(--line); border-radius: 50% }
.compose { margin: 0 14px; padding: 5px; display: flex; align-items: end; gap: 4px }
.compose, .comment textarea { border: 1px solid var(--dim); border-radius: var(--round) }
.compose:focus-within { outline: 2px solid var(--ink); outline-offset: -1px }
.grow { display: grid; flex: 1; min-width: 0; max-height: 9.6em; overflow: hidden auto }
.grow::after { content: attr(data-text) " "; visibility: hidden; white-space: pre-wrap }
.grow::after, input, textarea { box-sizing: border-box; grid-area: 1/1; padding: 6px 10px; width: 100% }
.grow textarea { resize: none; outline: 0; overflow: hidden }
::placeholder { color: var(--dim); opacity: 1 }
.go { padding: 9px; border-radius: max(0px, var(--round) - 5px) }
.go, .main { box-shadow: inset 0 0 0 1px var(--mark) }
.go[aria-disabled], .main:disabled { box-shadow: none; color: var(--dim); background: var(--soft); cursor: default }
#foot { padding: 7px 18px 11px; line-height: 1.4; text-align: center }
#foot.over { color: var(--ink); font-weight: 600 }
${FORMS}
.sr { position: absolute; top: 0; height: 1px; overflow: hidden; clip-path: inset(50%) }
@supports not (color: lab(from red l a b)) { :host .panel { --accent: #1a7868; --on: #fff; --mark: var(--ink) } }
@media (prefers-reduced-motion: reduce) { *, ::after { animation: none !important } }
@media (forced-colors: active) { .you, .go, .cite, .tool { border: 1px solid } .tool[aria-pressed="true"] { forced-color-adjust: none; color: HighlightText; background: Highlight } }
`;
