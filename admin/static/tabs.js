// On a narrow screen the tabs scroll: brings the current one into view.
document.querySelector(".tabs [aria-current]")?.scrollIntoView({ block: "nearest", inline: "center" });
