([limit, address]) => {
  const hollow = new Set(("area base br col embed hr img input link meta source track wbr").split(" "));
  const raw = new Set(["script", "style", "noscript", "template"]);
  const escaped = (text) => text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/\u00a0/g, "&nbsp;");
  const pieces = [];
  let size = 0;
  const say = (text) => { size += text.length; pieces.push(text); };
  const start = (element, name) => {
    say("<" + name);
    for (const {name: key, value} of element.attributes) {
      say(` ${key}="${escaped(value).replace(/"/g, "&quot;")}"`);
    }
    say(">");
  };
  const children = (element) => {
    if (element.shadowRoot) return element.shadowRoot.childNodes;
    if (element.localName === "slot" && element.getRootNode() instanceof ShadowRoot) {
      const assigned = element.assignedNodes();
      if (assigned.length) return assigned;
    }
    return element.childNodes;
  };
  // Frames of a stack instead of recursion: a page may nest deeper than the call stack is.
  const stack = [[document.documentElement]];
  while (stack.length && size <= limit) {
    const node = stack[stack.length - 1].shift();
    if (node === undefined) { stack.pop(); continue; }
    if (typeof node === "string") { say(node); continue; }
    if (node.nodeType === 3) { say(escaped(node.data)); continue; }
    if (node.nodeType !== 1) continue;
    const name = node.localName;
    if (raw.has(name)) {
      if (name !== "script" || !/json/i.test(node.type)) continue;
      start(node, name); say(node.textContent); say("</script>");
      continue;
    }
    start(node, name);
    if (name === "head" && address && !document.querySelector("base[href]")) {
      say(`<base href="${escaped(address).replace(/"/g, "&quot;")}">`);
    }
    if (!hollow.has(name)) stack.push([...children(node), `</${name}>`]);
  }
  return size > limit ? null : "<!DOCTYPE html>" + pieces.join("");
}
