// What is decided in mid-round is settled seat by seat, as at the round's end: each seat stands large before the dealer
// until Enter, or a tap, says that it is done. Until then keys wait as if the table were still answering. The house has
// booked the chips with the card; that the hands have moved them is between the dealer and this screen.

import { board, part } from "./board.js";
import { speak } from "./words.js";

const KEPT = "settled"; // over a reload: no seat is settled twice

/** The seat that is to be settled now, if any. */
export function toSettle() {
  return part("settling")?.children[seatsDone()] ?? null;
}

/** How many seats of this entry are done. */
function seatsDone() {
  const [play, count] = (window.sessionStorage.getItem(KEPT) ?? "").split(":");
  return play === playNow() ? Number(count) : 0;
}

const playNow = () => `${document.location.pathname}${part("settling").dataset.play}`;

/** The seat is done: the next one, or the round goes on. */
export function finishSeat() {
  window.sessionStorage.setItem(KEPT, `${playNow()}:${seatsDone() + 1}`);
  showSettling();
  speak("spoken", saidNow());
}

/** Bring the board in line with what is still to be settled. */
export function showSettling() {
  const due = toSettle();
  board().classList.toggle("is-settling", Boolean(due));
  for (const line of part("settling")?.children ?? []) line.classList.toggle("is-due", line === due);
  for (const seat of board().querySelectorAll(".seat"))
    seat.classList.toggle("seat--due", seat.dataset.seat === due?.dataset.seat);
  if (due) part("settled-says").textContent = `Seat ${due.dataset.seat} is done`;
}

/** What the board says now, of all that is in sight. */
export function saidNow() {
  const pieces = [...board().querySelectorAll("[data-says]")].filter((piece) => piece.checkVisibility());
  return pieces.map((piece) => piece.dataset.says).join(" ");
}
