// A configuration may put nothing into a style sheet that calls, ends or begins anything.
const LOUD = /[()"'{};:\\/<\n]/;
const PICTURE = /^(https:\/)?\/[^/\\]/;
const VALUES = {
  accent: ["--accent", "#1a7868"],
  offset: ["--offset", "20px"],
  radius: ["--radius", "18px"],
  font: ["font-family", "system-ui, sans-serif"],
};

/** @type {import("../types").Clean} */
export const clean = (look, server) => {
  const { avatar = "" } = look;
  for (const name in VALUES) if (LOUD.test(look[name])) delete look[name];
  return { ...look, avatar: PICTURE.test(avatar) ? avatar.replace(/^\//, `${server}/`) : "" };
};

/** @type {import("../types").Dress} */
export const dress = (style, host, look) => {
  for (const [name, [property, otherwise]] of Object.entries(VALUES))
    style.setProperty(property, host.getAttribute(name) || `var(--site-chat-${name}, ${look[name] || otherwise})`, "important");
};
