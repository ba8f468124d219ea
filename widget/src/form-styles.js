// Of what asks the visitor for something: the contact form, the consent, what is marked on the page.
export const FORMS = `
.contact { margin-bottom: 18px; padding: 10px 12px; border: 1px solid var(--line); border-radius: var(--round) }
.contact form { padding: 6px 0 }
.contact label { width: 100%; font-size: .87em; font-weight: 600 }
.contact :is(input, textarea) { display: block; margin-top: 3px; border: 1px solid var(--dim); border-radius: min(10px, var(--round)); font-size: medium; font-weight: 400; resize: vertical }
.contact [aria-invalid] { border: 2px solid var(--ink) }
.contact p, .label { color: var(--dim); font-size: .87em }
.contact [role="alert"] { color: var(--ink); font-weight: 600 }
.note > svg, .label svg { flex: none }
.note > :is(p, span) { flex: 1 1 10em }
.note b { color: inherit }
.terms { display: block }
.terms .main { margin-top: 8px }
.label { display: flex; gap: 6px; align-items: center; margin-top: 10px }
.down svg { scale: 1 -1 }
.sources .push { margin-top: 8px }
.about { display: flex; align-items: center; gap: 8px; margin: 0 14px 6px; padding-inline-start: 12px; border-radius: min(10px, var(--round)); background: var(--soft); font-size: .87em }
.about q { flex: 1; -webkit-line-clamp: 1 }
.you q { color: inherit; border-color: currentColor; font-size: .87em; margin-bottom: 6px }
`;
