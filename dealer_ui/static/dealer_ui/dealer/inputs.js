// Inputs on their way: what may be sent, and what the answer does. Every input passes here, whether by key, by touch or
// by click.

import { compose, isInHand, isWhole } from "./amounts.js";
import { board, isCardLike, labelOf, mode, part, sequence } from "./board.js";
import { actAhead, dropAhead, enteredOnce, isAgain, typeAhead } from "./keys.js";
import { lineWorks, refresh } from "./line.js";
import { state } from "./state.js";
import { draw, insist, say, speak } from "./words.js";

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
    else say("Not entered: the table is still answering.");
    return false;
  }
  if (["place", "brought"].includes(button.id) && !isWhole()) return false;
  if (button.name === "spot" && !isInHand(button)) return false;
  if (part("look")) window.htmx.trigger("#look", "htmx:abort"); // a board asked for before this input is no answer to it
  state.flying = { form, button, name, does: button.dataset.does };
  state.note = "";
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

/** A board has come, whether as an answer or because the table has moved. */
export function answered() {
  state.count = "";
  const input = state.flying;
  state.flying = null;
  state.sent = false;
  lineWorks();
  const fresh = board();
  if (fresh.dataset.gone) return farewell();
  if (input) hold(input, fresh);
  if (state.ahead.length && (fresh.dataset.refused || mode() !== state.expects)) dropAhead();
  if (input && fresh.dataset.refused) speak("warned", part("refused")?.innerText);
  compose();
  speak("spoken", [...fresh.querySelectorAll("[data-says]")].map((piece) => piece.dataset.says).join(" "));
  actAhead();
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

/** Remember what is half typed: a refresh from outside must not wipe it out. */
export function keepTyped(isRefresh) {
  const plays = [...board().querySelectorAll("input[name=plays]")];
  const marked = plays.filter((box) => box.checked !== box.defaultChecked);
  state.typed = { plays: marked, fields: [], seat: "" };
  if (!isRefresh) return;
  const fields = [...board().querySelectorAll("input.input")];
  state.typed.fields = fields.filter((field) => field.value !== field.defaultValue || field.id === "amount");
  state.typed.seat = board().querySelector('input[name="seat"]:checked')?.value;
}

export function restoreTyped() {
  const { plays, fields, seat } = state.typed ?? { plays: [], fields: [], seat: "" };
  for (const { value, checked } of plays) {
    const box = board().querySelector(`input[name="plays"][value="${value}"]`);
    if (box) box.checked = checked;
  }
  for (const { id, value } of fields) if (part(id)) part(id).value = value;
  const radio = seat && board().querySelector(`input[name="seat"][value="${seat}"]`);
  if (radio) radio.checked = true;
  state.typed = null;
}
