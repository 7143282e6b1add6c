// Keys of the practice table, as on the floor: the letter or figure of a button presses it, figures write the amount,
// and Enter is the next step. An amount has no Enter: it is not said until it is said which way it goes.

import { padKey, spareKeyboard, typeFigure } from "../dealer/pad.js";

const BOUNCE_MS = 300;
const form = document.getElementById("answer");
const amount = document.getElementById("amount");

function press(event) {
  const { key, target } = event;
  if (key === "Enter") return pressStep(event);
  const figure = amount && /^(\d|\.|Backspace)$/.test(key) && key;
  if (figure && target !== amount) typeFigure(amount, figure);
  if (figure) return target !== amount && event.preventDefault();
  const button = document.querySelector(`[data-hotkey="${CSS.escape(key.toUpperCase())}"]`);
  if (!button) return undefined;
  event.preventDefault();
  return button.click();
}

/** The step that Enter takes, if one is offered. A step that was just drawn has been seen by nobody. */
function pressStep(event) {
  if (event.target.matches("a, button, summary")) return;
  event.preventDefault();
  if (performance.now() > BOUNCE_MS) document.querySelector("[data-step]")?.click();
}

document.addEventListener("keydown", (event) => {
  if (!(event.ctrlKey || event.altKey || event.metaKey || event.repeat)) press(event);
});

document.addEventListener("click", ({ target }) => {
  const key = padKey(target);
  if (key) typeFigure(key.field, key.figure);
});

// The first answer stands, so a finger that trembles sends no second one.
form.addEventListener("submit", (event) => {
  if (form.dataset.sent) event.preventDefault();
  form.dataset.sent = "yes";
});
window.addEventListener("pageshow", () => delete form.dataset.sent);

document.documentElement.classList.add("has-script");
if (amount) spareKeyboard(amount);
