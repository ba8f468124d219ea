// Completes the address in the embed tag, and copies it.
const tag = /** @type {HTMLElement} */ (document.querySelector("#tag"));
const copy = /** @type {HTMLButtonElement} */ (document.querySelector("#copy"));
const { dataset, src } = /** @type {HTMLScriptElement} */ (document.querySelector("script[data-site]"));

tag.textContent = `<script src="${src}" data-site="${dataset.site}" async></script>`;
copy.hidden = !navigator.clipboard;
copy.addEventListener("click", async () => {
  await navigator.clipboard.writeText(tag.textContent || "");
  copy.textContent = "Copied";
  setTimeout(() => (copy.textContent = "Copy"), 2000);
});
