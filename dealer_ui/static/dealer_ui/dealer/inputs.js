// Inputs on their way: what may be sent, and what the answer does. Every input passes here, whether by key, by touch or
// by click.

import { compose, isInHand, isWhole } from "./amounts.js";
import { board, isCardLike, labelOf, mode, part, sequence } from "./board.js";
import { beginColumns } from "./columns.js";
import { actAhead, dropAhead, enteredOnce, guardStep, isAgain, typeAhead } from "./keys.js";
import { lineWorks, refresh } from "./line.js";
import { lay } from "./overlay.js";
import { paneNow, reopen } from "./panes.js";
import { saidNow, showSettling, toSettle } from "./settling.js";
import { state } from "./state.js";
import { draw, insist, say, speak, stop } from "./words.js";

/** Whether a form may be sent now. */
export function admit(form, button) {
  const name = button.dataset.hotkey || button.id || button.value;
  const again = !state.byKey && isAgain(name, "touch", performance.now());
  if ((state.shut && !state.byKey) || state.lost) { // keys typed ahead of a doubt are still entered
    insist();
    return false;
  }
  if (again) {
    enteredOnce(labelOf(button), isCardLike(button));
    return false;
  }
  if (state.flying) {
    if (button.dataset.hotkey) typeAhead(button.dataset.hotkey);
    else say("still_answering");
    return false;
  }
  if (toSettle() && !button.closest("[data-sheet], .side")) {
    say("seat_comes_first", { seat: toSettle().dataset.seat });
    return false;
  }
  if ((["place", "brought"].includes(button.id) || button.name === "amount") && !isWhole(button)) return false;
  if (button.name === "spot" && !isInHand(button)) return false;
  if (part("look")) window.htmx.trigger("#look", "htmx:abort"); // a board asked for before this input is no answer to it
  state.flying = { form, button, name, does: button.dataset.does };
  state.note = null;
  button.classList.add("is-sent");
  board().setAttribute("aria-busy", "true");
  return true;
}

/** A form sends the button that was meant, also when it was a key, and when it is sent again. */
export function fill(formData) {
  state.sent = true;
  for (const name of ["input", "off", "chips", "deal", "spot"]) formData.delete(name);
  const { button } = state.flying;
  if (button.name) formData.set(button.name, button.value);
}

/** A board has come, as an answer or because the table has moved: it is laid over the one that lies here. */
export function take(page, isRefresh) {
  const typing = isRefresh ? halfTyped() : null;
  const sheet = state.flying?.button.closest("[data-sheet]");
  const fresh = new DOMParser().parseFromString(page, "text/html").getElementById("board");
  if (fresh.tagName === board().tagName) lay(fresh, board());
  else board().replaceWith(fresh);
  window.htmx.process(board());
  if (state.flying) renew(state.flying.form, sheet);
  state.count = "";
  answered();
  if (typing) restore(typing);
}

function answered() {
  const input = state.flying;
  state.flying = null;
  state.sent = false;
  lineWorks();
  const fresh = board();
  if (fresh.dataset.gone) return farewell();
  if (input) hold(input, fresh);
  if (input?.does === "deal") guardStep();
  if (state.ahead.length && (fresh.dataset.refused || mode() !== state.expects)) dropAhead();
  if (input && fresh.dataset.refused) speak("warned", part("refused")?.innerText);
  showSettling();
  compose();
  speak("spoken", saidNow());
  actAhead();
  beginColumns();
  draw();
  if (state.heard > sequence() && !state.flying) refresh();
  return undefined;
}

/** What is in hand after an input: an amount that was laid stays for the next spot, and so does the focus of the keyboard.
 *  After a touch no spot has it, for then Enter closes the bets. */
function hold({ button }, fresh) {
  const isSpot = button.name === "spot";
  state.anew = isSpot;
  state.laid = isSpot && !fresh.dataset.refused;
}

function farewell() {
  state.ahead = [];
  part("live").remove();
  part("look").remove();
  speak("warned", part("prompt").innerText);
}

/** The form that was answered begins anew, with what the answer says; who is dealt in stays marked. The sheet that it
 *  was sent from closes, unless the answer is a refusal that is read there. */
function renew(form, sheet) {
  if (sheet) sheet.open = sheet.contains(form) && Boolean(board().dataset.refused);
  if (!form.isConnected) return;
  const boxes = [...form.elements].filter((field) => field.type === "checkbox");
  const marks = boxes.map((box) => box.checked);
  form.reset();
  boxes.forEach((box, place) => (box.checked = marks[place]));
}

/** What is half typed when the table moves by itself: the seat that is chosen, the pane that is open, the fields. */
function halfTyped() {
  for (const seat of board().querySelectorAll("input[type=radio]")) seat.checked = seat.checked; // it is chosen from now on
  const fields = [...board().querySelectorAll("input.input, textarea")];
  const isTyped = (field) => field === document.activeElement || (field.value !== field.defaultValue && !state.laid);
  return { fields: fields.filter(isTyped), pane: paneNow() };
}

/** What was half typed for a table that is another now must not go on as something else. */
function restore({ fields, pane }) {
  const lost = fields.find((field) => !field.isConnected);
  if (!reopen(pane)) stop("choice_dropped");
  else if (lost?.value) stop("amount_dropped", { amount: lost.value });
  else if (lost) stop("field_gone");
}
