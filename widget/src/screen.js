const lock = new CSSStyleSheet();

/** @type {import("../types").MakeScreen} */
export const makeScreen = (sheet) => {
  let filling;
  return (on) => {
    filling?.abort();
    document.adoptedStyleSheets = document.adoptedStyleSheets.filter((other) => other !== lock);
    sheet.replaceSync("");
    if (!on) return;
    filling = new AbortController();
    const { signal } = filling;
    const view = window.visualViewport;
    // Whoever magnifies the page with two fingers sees a part of the panel, as large as it is.
    const fit = () => view && view.scale < 1.1 && sheet.replaceSync(`:host{--height:${view.height}px;--top:${view.offsetTop}px}`);
    // The room of a scroll bar stays, or the page would move.
    const gutter = innerWidth > document.documentElement.clientWidth ? "stable" : "auto";
    lock.replaceSync(`html{overflow:hidden!important;scrollbar-gutter:${gutter}!important}`);
    document.adoptedStyleSheets.push(lock);
    for (const sign of ["resize", "scroll"]) view?.addEventListener(sign, fit, { signal });
    fit();
  };
};
