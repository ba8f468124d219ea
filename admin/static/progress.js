// Keeps <div data-progress="ADDRESS" data-active> current while its crawl goes on. The server renders the panel;
// this asks for it again, soon while it changes and ever later while it does not, and not in a hidden tab.

const SOONEST_MS = 1000;
const LATEST_MS = 15000;

for (const panel of document.querySelectorAll("[data-progress][data-active]")) follow(panel);

/** @param {HTMLElement} panel */
async function follow(panel) {
  const lost = panel.parentElement.querySelector(".lost");
  for (let wait = SOONEST_MS, active = true, seen = ""; active; ) {
    await new Promise((resolve) => setTimeout(resolve, wait));
    if (document.hidden) continue;
    try {
      const answer = await fetch(panel.dataset.progress, { headers: { Accept: "application/json" } });
      if (answer.status === 401) return location.reload();
      if (!answer.ok) throw new Error(`status ${answer.status}`);
      const state = await answer.json();
      wait = state.version === seen ? Math.min(wait * 1.5, LATEST_MS) : SOONEST_MS;
      if (state.version !== seen) replace(panel, state.html);
      ({ active, version: seen } = state);
      lost.hidden = true;
    } catch {
      lost.hidden = false;
      wait = Math.min(wait * 2, LATEST_MS);
    }
  }
}

/** Puts new content in place. What has the focus keeps it, and what was opened stays open. The HTML is this server's,
    escaped there. */
function replace(panel, html) {
  const summaries = () => [...panel.querySelectorAll("summary")];
  const open = summaries().filter((summary) => summary.parentElement.open).map((summary) => summary.textContent);
  const { id, localName, textContent } = panel.contains(document.activeElement) ? document.activeElement : {};
  panel.innerHTML = html;
  for (const summary of summaries()) {
    if (open.includes(summary.textContent)) summary.parentElement.open = true;
    if (localName === "summary" && summary.textContent === textContent) summary.focus();
  }
  if (id) document.getElementById(id)?.focus();
}
