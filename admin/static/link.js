// One-time links carry their code after the #, which browsers send to no server and no log: it moves into the form.
// A link that is pasted while its page is open changes only what is after the #, and loads nothing.

const field = document.querySelector("[data-from-link]");
addEventListener("hashchange", fill);
fill();

function fill() {
  const code = new URLSearchParams(location.hash.slice(1)).get("token");
  if (!field || !code) return;
  field.value = code;
  history.replaceState(null, "", location.pathname);
  field.closest(".field").hidden = true;
  if (field.dataset.fromLink === "open") field.form.requestSubmit();
}
