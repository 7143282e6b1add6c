// The dealer's screen: what the browser tells, handed to whoever it concerns. keys.js has what a key means, inputs.js
// what is sent and answered, line.js what happens when the house is out of reach; state.js is all that is remembered.

import { clearHand, compose, layAtSeat, takeAmount, takeLikely } from "./amounts.js";
import { board, part, sequence } from "./board.js";
import { admit, fill, take } from "./inputs.js";
import { takeColumn } from "./columns.js";
import { forgetFinger, isForField, nameOf, press, tapDone } from "./keys.js";
import { dropInput, isPutOff, lineLost, pageOutOfDate, refresh, tryAgain } from "./line.js";
import { padKey, spareKeyboard, typeFigure } from "./pad.js";
import { openPaneOf, tapSeat } from "./panes.js";
import { showSettling } from "./settling.js";
import { isElsewhere, touchBeside } from "./sheets.js";
import { state } from "./state.js";
import { goOn, lamp, say } from "./words.js";

// --- Keys, touch and fields ---

document.addEventListener("keydown", (event) => {
  const key = nameOf(event.key);
  const focus = document.activeElement;
  if (!key || event.ctrlKey || event.metaKey || event.altKey || board().dataset.gone) return;
  if (isElsewhere(focus, key)) return;
  if (takeColumn(focus, key)) {
    if (key === "Enter") event.preventDefault();
    return;
  }
  if (isForField(focus, key)) return;
  if (key === "Enter" && focus.matches("button:focus-visible, a:focus-visible, summary:focus-visible")) return;
  event.preventDefault();
  if (!event.repeat) press(key, event.timeStamp); // when the finger came, however late a busy tablet says so
});

document.addEventListener("click", (event) => {
  touchBeside(event.target);
  tapFigure(event.target);
  event.target.closest("[data-more]")?.closest(".pane").classList.add("is-all");
  const opener = event.target.closest("[data-opens]");
  if (opener && !state.flying) openPaneOf(opener.dataset.opens);
  tapSeat(event.target.closest(".seat"));
  if (event.target.name === "seat") layAtSeat(); // a label passes its click on to the seat itself
  if (event.target.closest("#clear")) clearHand();
  if (event.target.closest("#settled")) tapDone(event.timeStamp);
  if (event.target.closest("#go-on")) goOn();
  if (event.target.closest("#line-retry")) tryAgain();
  if (event.target.closest("#line-drop")) dropInput();
  compose();
  // After a touch the keyboard belongs to the table again, not to the button that was touched.
  if (event.detail) event.target.closest("button, summary")?.blur();
});

/** A key of a pad, or an amount that is taken in hand. */
function tapFigure(target) {
  const key = padKey(target);
  const likely = target.closest("[data-amount]");
  if ((key || likely) && state.flying) say("still_answering");
  else if (likely) takeLikely(likely);
  else if (key?.field.id === "amount") takeAmount(key.figure);
  else if (key) typeFigure(key.field, key.figure);
}

document.addEventListener("pointerdown", (event) => event.target.matches("input") && spareKeyboard(event.target));

document.addEventListener("input", (event) => {
  forgetFinger();
  if (event.target.id === "amount") state.anew = state.laid = false;
  compose();
});

document.addEventListener("change", (event) => {
  compose();
  if (event.target.name === "seat") event.target.blur();
});

// --- Inputs and boards ---

/** Whether it is about a line that draws itself anew, such as how the card reader stands: its answer is no board. */
const isApart = (event) => event.detail.requestConfig.elt.hasAttribute("data-apart");

document.addEventListener(
  "submit",
  (event) => {
    if (!event.target.hasAttribute("hx-post")) return;
    if (admit(event.target, event.submitter ?? event.target.querySelector("button"))) return;
    event.preventDefault();
    event.stopImmediatePropagation();
  },
  true,
);

document.addEventListener("htmx:configRequest", (event) => {
  const { formData, verb } = event.detail;
  if (verb === "post" && state.flying) fill(formData);
});

document.addEventListener("htmx:beforeSwap", (event) => {
  const { xhr, requestConfig } = event.detail;
  if (isApart(event)) return;
  const isRefresh = requestConfig.verb === "get";
  event.detail.shouldSwap = false;
  event.detail.isError = isPutOff(xhr.status, xhr.getResponseHeader("Content-Type"));
  if (event.detail.isError) return;
  if (state.flying && isRefresh) return; // it was asked for before the input, whose answer is the newer board
  if (xhr.responseText.includes('id="board"')) take(xhr.responseText, isRefresh);
  else pageOutOfDate();
});

// --- The line and the live stream ---

document.addEventListener("htmx:sendError", () => lineLost("no_connection"));
document.addEventListener("htmx:timeout", () => lineLost("no_answer"));
document.addEventListener("htmx:responseError", (event) => {
  const { xhr } = event.detail;
  if (isApart(event)) return;
  const plain = xhr.getResponseHeader("Content-Type")?.startsWith("text/plain");
  const sentence = plain ? xhr.responseText.split(": ")[0].replace(/[^.]*$/, "") : "";
  const wait = 1000 * (Number(xhr.status === 429 && xhr.getResponseHeader("Retry-After")) || 0);
  lineLost("put_off", { sentence, status: xhr.status }, wait);
});
window.addEventListener("online", () => state.lost && tryAgain());
window.addEventListener("pageshow", (event) => event.persisted && refresh());

document.addEventListener("htmx:sseOpen", () => {
  lamp("live", "Live");
  if (state.lost) tryAgain();
});
document.addEventListener("htmx:sseError", () => lamp("off", "Not live"));
document.addEventListener("htmx:sseBeforeMessage", (event) => {
  event.preventDefault();
  state.heard = Math.max(state.heard, Number(event.detail.data) || 0);
  if (state.heard > sequence() && !state.flying && !state.lost) refresh();
});

// Whether somebody comes is no entry of the table's: it is asked for while it is waited for.
const CALL_MS = 4000;
window.setInterval(() => board().querySelector("[data-waits]") && !state.lost && refresh(), CALL_MS);

document.documentElement.classList.add("has-script");
showSettling();
compose();
