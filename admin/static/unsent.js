// Keeps what is typed in a form while it is on its way, for the case that it is refused because the session has expired:
// after the login the page has it again. In this tab only; passwords, other secrets, files and hidden fields are left out.

const KEY = "docent-unsent";
const TYPED = "textarea:not([data-secret]), select, input:not([type=hidden], [type=password], [type=file])";
const kept = JSON.parse(sessionStorage.getItem(KEY));
const person = document.querySelector("#who p")?.textContent;

addEventListener("submit", keep);
if (document.querySelector("[data-unsent]")) store(kept && { ...kept, refused: true });
else if (person && !kept?.refused) store(null);
else if (person && kept.page === location.pathname) restore();

/** @param {SubmitEvent} event */
function keep({ target: form }) {
  if (!person || form.method !== "post") return;
  const at = forms().indexOf(form);
  store({ person, page: location.pathname, at, action: form.action, values: fields(form).map(valueOf) });
}

function restore() {
  store(null);
  const form = forms()[kept.at];
  if (kept.person !== person || form?.action !== kept.action || fields(form).length !== kept.values.length) return;
  fields(form).forEach((field, at) => {
    if (typeof kept.values[at] === "boolean") field.checked = kept.values[at];
    else field.value = kept.values[at];
    for (let fold = field.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
  });
  const said = Object.assign(document.createElement("p"), { className: "notice warn", role: "status" });
  const main = document.querySelector("main");
  main.prepend(said);
  said.textContent = main.dataset.restored;
}

function store(value) {
  if (value) sessionStorage.setItem(KEY, JSON.stringify(value));
  else sessionStorage.removeItem(KEY);
}

function forms() {
  return [...document.querySelectorAll("main form")];
}

function fields(form) {
  return [...form.querySelectorAll(TYPED)];
}

function valueOf(field) {
  return field.matches("[type=checkbox], [type=radio]") ? field.checked : field.value;
}
