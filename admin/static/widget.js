// Shows what is typed in the look's fields on the widget in the preview, and how well its colour can be read.

const form = document.querySelector("[data-look]");
const frame = document.querySelector(".preview iframe");
const swatch = document.getElementById("swatch");
const ground = document.getElementById("ground");
const NAMES = ["accent", "position", "theme", "radius", "font", "offset", "icon", "label", "title", "avatar"];

const luminance = (colour) =>
  [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16) / 255)
    .map((share) => (share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4))
    .reduce((sum, share, at) => sum + share * [0.2126, 0.7152, 0.0722][at], 0);

function contrast(one, other) {
  const [dark, light] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (light + 0.05) / (dark + 0.05);
}

function accent() {
  const typed = form.elements.accent.value.trim();
  return /^#[\da-f]{6}$/i.test(typed) ? typed : typed ? "" : form.elements.accent.placeholder;
}

function measure() {
  const colour = accent();
  if (!colour) return; // half typed: the last colour stays
  swatch.value = colour;
  for (const row of document.querySelectorAll("#contrasts li")) {
    const grounds = row.dataset.ground ? [row.dataset.ground] : ["#ffffff", "#000000"];
    const ratio = Math.max(...grounds.map((other) => contrast(colour, other)));
    const enough = ratio >= Number(row.dataset.least);
    row.querySelector("b").textContent = `${ratio.toLocaleString(document.documentElement.lang, { minimumFractionDigits: 1, maximumFractionDigits: 1 })} : 1`;
    const badge = row.querySelector(".badge");
    Object.assign(badge, { textContent: enough ? badge.dataset.enough : badge.dataset.little, className: `badge ${enough ? "well" : "warn"}` });
  }
}

function dress() {
  const page = frame.contentDocument;
  const widget = page?.querySelector("site-chat");
  if (!widget) return;
  const dark = ground.getAttribute("aria-pressed") === "true";
  page.documentElement.dataset.ground = dark ? "dark" : "light";
  for (const name of NAMES.filter((name) => form.elements[name])) {
    const value = name === "accent" ? accent() : form.elements[name].value.trim();
    // Where the visitor's device decides, the preview shows the panel that goes with its page.
    const shown = name === "theme" && !value ? page.documentElement.dataset.ground : value;
    if ((widget.getAttribute(name) ?? "") !== shown) shown ? widget.setAttribute(name, shown) : widget.removeAttribute(name);
  }
}

form.addEventListener("input", () => { measure(); dress(); });
swatch.addEventListener("input", () => { form.elements.accent.value = swatch.value; measure(); dress(); });
ground.addEventListener("click", () => { ground.setAttribute("aria-pressed", ground.getAttribute("aria-pressed") !== "true"); dress(); });
frame.addEventListener("load", dress);
// Browsers keep the configuration for a minute: what was just saved shall show.
fetch(frame.dataset.configuration, { cache: "reload" }).then(() => frame.contentWindow.location.reload(), () => {});
measure();
