// One-time links carry their code after the #, which browsers send to no server and no log: it moves into the form.

const field = document.querySelector("[data-from-link]");
const code = new URLSearchParams(location.hash.slice(1)).get("token");
if (field && code) {
  field.value = code;
  history.replaceState(null, "", location.pathname);
  field.closest(".field").hidden = true;
  if (field.dataset.fromLink === "open") field.form.requestSubmit();
}
