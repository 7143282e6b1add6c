// Buttons that print the page: out of sight where there is no script, for the browser has its own.
"use strict";

for (const button of document.querySelectorAll("[data-print]")) {
  button.hidden = false;
  button.addEventListener("click", () => window.print());
}
