// What tests see of the widget in a page: functions by name, in one object.
({
  // Elements that are seen, but not in their place: [what is wrong, element].
  misplaced() {
    const host = document.querySelector("site-chat");
    const root = host.shadowRoot;
    const found = [];
    const note = (what, node) => found.push(`${what}: <${node.localName} ${node.className || node.id}>`);
    if (document.documentElement.scrollWidth > innerWidth) found.push("the page scrolls sideways");
    const panel = root.querySelector("[part~=panel]");
    const shown = (node) => node.checkVisibility({ visibilityProperty: true, opacityProperty: true });
    const out = (child, { left, right }) => {
      const range = document.createRange();
      range.selectNode(child);
      const box = child.getBoundingClientRect?.() || range.getBoundingClientRect();
      return box.width > 1 && (child.nodeType === 3 || shown(child)) && (box.left < left - 1 || box.right > right + 1);
    };
    const screen = { left: 0, top: 0, right: innerWidth, bottom: innerHeight };
    for (const node of root.querySelectorAll("*:not(svg *)")) {
      const box = node.getBoundingClientRect();
      const { overflowX, overflowY, textOverflow, position } = getComputedStyle(node);
      if (!shown(node) || box.width < 2 || box.height < 2) continue;
      const inside = panel?.contains(node);
      const edge = inside && node !== panel ? panel.getBoundingClientRect() : screen;
      let clipped = false;
      for (let up = node.parentElement; up; up = up.parentElement) clipped ||= getComputedStyle(up).overflowX !== "visible" && up !== panel;
      if (!clipped && (box.left < edge.left - 1 || box.right > edge.right + 1)) note("over the side", node);
      // What is cut off must be reached by scrolling, or be marked as cut.
      const cuts = /hidden|clip/.test(overflowX) && textOverflow !== "ellipsis" && !getComputedStyle(node).webkitLineClamp.match(/\d/);
      if (cuts && node !== panel && [...node.childNodes].some((child) => out(child, box))) note("cut off at the side", node);
      const pinned = node === panel || node.matches("[part~=launcher], [role=dialog] > *");
      if (pinned && getComputedStyle(host).position === "fixed" && (box.top < -1 || box.bottom > innerHeight + 1)) note("over the screen's height", node);
    }
    const log = root.querySelector("[role=log]");
    if (log && shown(log) && log.clientHeight < 40) note("no room to read", log);
    return found;
  },

  // Names of what can be pressed and is smaller than 24 pixels in one direction. A link within a line of text may be
  // as low as the line, unless it is a citation.
  small() {
    const root = document.querySelector("site-chat").shadowRoot;
    const found = [];
    let seen = 0;
    for (const node of root.querySelectorAll("a[href], button, input, select, textarea, summary, [tabindex='0'], [role=button]")) {
      if (!node.checkVisibility({ visibilityProperty: true })) continue;
      if (node.localName === "a" && !node.matches("[data-cite]") && node.closest("p, li, h3, td, blockquote") && getComputedStyle(node).display === "inline" && !node.closest("[role=list]")) continue;
      node.scrollIntoView({ block: "center", inline: "center" });
      const { left, top, width, height } = node.getBoundingClientRect();
      const hits = (x, y) => {
        const hit = root.elementFromPoint(left + width / 2 + x, top + height / 2 + y);
        if ((x || y) && hit?.closest("[role=tooltip]")) return true; // it lies over the edge at this moment
        return !!hit && (node.contains(hit) || (hit.localName === "label" && hit.control === node));
      };
      if (!hits(0, 0)) continue; // covered by what lies over it at this moment
      seen++;
      const wide = width >= 24 || (hits(-11.5, 0) && hits(11.5, 0));
      const high = height >= 24 || (hits(0, -11.5) && hits(0, 11.5));
      if (!wide || !high) found.push(`${node.getAttribute("aria-label") || node.title || node.textContent.trim() || node.className} (${Math.round(width)} x ${Math.round(height)})`);
    }
    return [seen, found];
  },
})
