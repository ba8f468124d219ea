// <button data-passkey="create" or "get" data-options="ADDRESS">: asks the device for a passkey with the options from that
// address, puts its answer into the form's field "credential", or the one that data-field names, and sends the form.
// data-said has a sentence for each name of an error.

for (const button of document.querySelectorAll("button[data-passkey]")) button.addEventListener("click", ask);

async function ask(event) {
  event.preventDefault();
  const button = event.currentTarget;
  const { passkey: kind, options: address, field = "credential" } = button.dataset;
  const said = button.form.querySelector("[role=alert]");
  said.hidden = button.disabled = true;
  try {
    if (!globalThis.PublicKeyCredential?.parseCreationOptionsFromJSON) throw new DOMException("", "NotSupportedError");
    const publicKey = await optionsFrom(address, kind, new FormData(button.form));
    const credential = await navigator.credentials[kind]({ publicKey });
    button.form.elements[field].value = JSON.stringify(credential);
    button.disabled = false;
    button.form.requestSubmit(button);
  } catch (error) {
    said.textContent = JSON.parse(button.dataset.said)[error.name] ?? error.message;
    said.hidden = button.disabled = false;
  }
}

async function optionsFrom(address, kind, body) {
  const answer = await fetch(address, { method: "POST", body, headers: { Accept: "application/json" } });
  if (!answer.headers.get("Content-Type").startsWith("application/json")) throw new DOMException("", "InvalidAccessError");
  const options = await answer.json();
  if (!answer.ok) throw new Error(options.error.message);
  const parse = kind === "create" ? "parseCreationOptionsFromJSON" : "parseRequestOptionsFromJSON";
  return PublicKeyCredential[parse](options);
}
