// Buttons that print the page: out of sight where there is no script, for the browser has its own.
"use strict";

for (const button of document.querySelectorAll("[data-print]")) {
  button.hidden = false;
  button.addEventListener("click", () => window.print());
}

// What is folded on the screen is on the paper.
const folded = new Set();

window.addEventListener("beforeprint", () => {
  for (const details of document.querySelectorAll("details[data-printed]:not([open])")) {
    details.open = true;
    folded.add(details);
  }
});

window.addEventListener("afterprint", () => {
  for (const details of folded) details.open = false;
  folded.clear();
});
