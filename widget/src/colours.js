/**
 * White or black, whichever reads better on the accent: by WCAG's ratio at least 4.5 to 1 on any.
 * @param {string} accent #rrggbb
 */
export const textOn = (accent) => {
  const [red, green, blue] = [1, 3, 5].map((at) => {
    const part = parseInt(accent.slice(at, at + 2), 16) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return red * 0.2126 + green * 0.7152 + blue * 0.0722 > 0.179 ? "#000" : "#fff";
};

/** @param {string | null | undefined} accent */
export const palette = (accent) =>
  accent && /^#[\da-f]{6}$/i.test(accent) ? `:host { --accent: ${accent}; --on: ${textOn(accent)}; }` : "";
