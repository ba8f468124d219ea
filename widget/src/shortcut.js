const FIELDS = "input, textarea, select, [contenteditable]";

/** @type {import("../types").Pressed} */
export const pressed = (shortcut, event) => {
  const mod = /^(Mac|iP)/.test(navigator.platform) ? "meta" : "ctrl";
  const wanted = shortcut.toLowerCase().replace("mod", mod).split("+");
  const key = wanted.pop();
  // Letters of other scripts stand on the same keys; signs may need Shift.
  const typed = event.key > "~" ? event.code.slice(3) : event.key;
  const modifiers = ["ctrl", "meta", "alt", ...(/\w/.test(typed) ? ["shift"] : [])];
  if (typed.toLowerCase() !== key || modifiers.some((name) => event[`${name}Key`] !== wanted.includes(name))) return false;
  return event.ctrlKey || event.metaKey || !(/** @type {Element} */ (event.composedPath()[0]).closest?.(FIELDS));
};
