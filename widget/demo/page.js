// What the demo pages do besides the chat: complete addresses, copying, the form of the look, the list of events.
const chat = () => /** @type {import("../types").SiteChat} */ (document.querySelector("site-chat"));

for (const code of document.querySelectorAll(".snippet code")) {
  code.textContent = (code.textContent || "").replaceAll('src="/', `src="${location.origin}/`);
  if (!navigator.clipboard) continue;
  const copy = Object.assign(document.createElement("button"), { type: "button", textContent: "Copy" });
  copy.addEventListener("click", async () => {
    await navigator.clipboard.writeText(code.textContent || "");
    copy.textContent = "Copied";
    setTimeout(() => (copy.textContent = "Copy"), 2000);
  });
  code.closest(".snippet")?.append(copy);
}

for (const link of document.querySelectorAll("nav a"))
  if (/** @type {HTMLAnchorElement} */ (link).pathname === location.pathname) link.setAttribute("aria-current", "page");

const look = /** @type {HTMLFormElement | null} */ (document.querySelector("#look"));
look?.addEventListener("input", () => {
  const values = [...new FormData(look)].filter(([name, value]) => value && !(name === "accent" && value === "#1a7868"));
  for (const name of [...look.elements].map((field) => field.getAttribute("name") || "")) chat().removeAttribute(name);
  for (const [name, value] of values) chat().setAttribute(name, `${value}`);
  const tag = /** @type {HTMLElement} */ (document.querySelector("#tag"));
  const said = values.map(([name, value]) => `\n        data-${name}="${`${value}`.replaceAll('"', "&quot;")}"`).join("");
  tag.textContent = (tag.textContent || "").replace(/(data-site="[^"]*")[^]*? async>/, (_, site) => `${site}${said} async>`);
});

document.querySelector("#methods")?.addEventListener("click", ({ target }) => {
  const { name, value } = /** @type {HTMLButtonElement} */ (target);
  if (name) chat()[name](value || undefined);
});

const events = document.querySelector("#events");
for (const name of ["open", "close", "message", "citation", "handoff", "error"])
  document.addEventListener(`sitechat:${name}`, (event) => {
    const { detail } = /** @type {CustomEvent} */ (event);
    events?.querySelector(".dim")?.remove();
    const told = detail?.text || detail?.kind || detail || "";
    events?.prepend(Object.assign(document.createElement("li"), { textContent: `sitechat:${name} ${`${told}`.slice(0, 120)}` }));
  });
