// <button data-copy="ID"> copies the text of the element with that id, and says so for a moment.

for (const button of document.querySelectorAll("button[data-copy]")) button.addEventListener("click", copy);

async function copy({ currentTarget: button }) {
  const source = document.getElementById(button.dataset.copy);
  const label = (button.dataset.label ??= button.textContent);
  try {
    await navigator.clipboard.writeText(source.textContent);
    button.textContent = button.dataset.copied;
  } catch {
    // Without TLS browsers give no clipboard: select the text, so that the keyboard can copy it.
    getSelection().selectAllChildren(source);
    button.textContent = button.dataset.selected;
  }
  clearTimeout(button.timer);
  button.timer = setTimeout(() => (button.textContent = label), 2000);
}
