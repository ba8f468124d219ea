// @ts-check
/** A colour as red, green and blue, 0 to 255. @typedef {number[]} Colour */

const INK = [30, 29, 27];
const WHITE = [255, 255, 255];
const DARK = [28, 29, 31];

/** @param {string} hex @returns {Colour} */
const read = (hex) => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));
/** @param {Colour} colour */
const write = (colour) => "#" + colour.map((part) => Math.round(part).toString(16).padStart(2, "0")).join("");
/** @param {Colour} one @param {Colour} other @param {number} share of the other */
const mix = (one, other, share) => one.map((part, at) => part + (other[at] - part) * share);

/** @param {Colour} colour */
function luminance(colour) {
  const [red, green, blue] = colour.map((part) => (part / 255 <= 0.04045 ? part / 3294.6 : ((part / 255 + 0.055) / 1.055) ** 2.4));
  return red * 0.2126 + green * 0.7152 + blue * 0.0722;
}

/** The ratio of WCAG, 1 to 21. @param {Colour} one @param {Colour} other */
export function contrast(one, other) {
  const [low, high] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (high + 0.05) / (low + 0.05);
}

/** The colour, moved towards `pole` until it can be read on `ground`. @param {Colour} colour @param {Colour} ground @param {Colour} pole @param {number} ratio */
function legible(colour, ground, pole, ratio) {
  let share = 0;
  while (contrast(mix(colour, pole, share), ground) < ratio && share < 1) share += 0.05;
  return mix(colour, pole, Math.min(share, 1));
}

/** @param {Colour} accent @param {Colour} ground @param {Colour} pole */
function scheme(accent, ground, pole) {
  const fill = legible(accent, ground, pole, 3);
  const tint = mix(ground, accent, 0.09);
  // Text on the accent: whichever pole reads better. One of the two always passes 4.5.
  const on = contrast(fill, WHITE) >= contrast(fill, INK) ? WHITE : INK;
  const solid = legible(fill, on, on === WHITE ? INK : WHITE, 4.5);
  const values = { accent: solid, on, link: legible(accent, tint, pole, 4.7), tint };
  return Object.entries(values).map(([name, colour]) => `--${name}:${write(colour)}`).join(";");
}

/**
 * Custom properties for both colour schemes from one accent, each pair legible whatever the accent is.
 * @param {string | null | undefined} accent #rrggbb; anything else counts as none
 */
export function look(accent) {
  const colour = read(/^#[\da-f]{6}$/i.test(accent || "") ? String(accent) : "#155e52");
  return { light: scheme(colour, WHITE, INK), dark: scheme(colour, DARK, WHITE) };
}
