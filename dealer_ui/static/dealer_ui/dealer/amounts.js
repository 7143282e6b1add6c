// Bets and chips: a seat is chosen, figures and chips make the amount, Enter places it.

import { board, chosenSeat, dealtIn, mode, part, send } from "./board.js";
import { say } from "./words.js";

/** What a key means while amounts are typed. False when it means nothing there. */
export function takeAmount(key) {
  const amount = part("amount");
  if (/^[\d.,-]$/.test(key)) amount.value += key;
  else if (key === "Backspace" && amount.value) amount.value = amount.value.slice(0, -1);
  else if (key === "Enter" && document.activeElement?.matches(".spot")) send(document.activeElement);
  else if (key === "Enter" && amount.value && part("place")) send(part("place"));
  else if (/^Arrow/.test(key) && spots().length) chooseSpot(key === "ArrowLeft" ? -1 : 1);
  else if (key === "ArrowLeft" || key === "ArrowRight") chooseSeat(key === "ArrowLeft" ? -1 : 1);
  else if (key === "R" && mode() === "bets" && !spots().length) repeatBet();
  else if (key === "S" && mode() === "seats") sitOut();
  else return false;
  compose();
  return true;
}

const spots = () => [...board().querySelectorAll("button.spot:not([disabled])")];

/** The arrow keys move along the spots of all seats; Enter lays the amount in hand on the one that has the focus. */
function chooseSpot(step) {
  const all = spots();
  const from = all.indexOf(document.activeElement);
  all[from < 0 ? (step > 0 ? 0 : all.length - 1) : (from + step + all.length) % all.length].focus();
}

/** Whether there is an amount for a spot; an empty hand takes off what lies there. */
export function isInHand(spot) {
  if (part("amount").value || Number(spot.dataset.placed)) return true;
  say("Tap chips or type the amount first, then each spot that it lies on.");
  return false;
}

function chooseSeat(step) {
  const seats = [...board().querySelectorAll('input[name="seat"]')];
  const from = seats.indexOf(chosenSeat());
  const to = from < 0 ? (step > 0 ? 0 : seats.length - 1) : (from + step + seats.length) % seats.length;
  seats[to].checked = true;
}

function repeatBet() {
  const button = chosenSeat()?.closest(".seat").querySelector(".seat__again");
  if (button) send(button);
  else say("This seat has no earlier bet to repeat.");
}

/** The chosen seat is dealt in to the next game, or sits it out. */
function sitOut() {
  const plays = chosenSeat()?.closest(".seat").querySelector("input[name=plays]");
  if (!plays) return say("Choose a seat with chips first: the arrow keys move along the seats.");
  plays.checked = !plays.checked;
  return say(`Seat ${plays.value} ${plays.checked ? "is dealt in" : "sits out"}.`);
}

/** Whether there is a seat and an amount; what is missing is said. */
export function isWhole() {
  if (!chosenSeat()) say(`Choose a seat first, then its ${mode() === "bets" ? "bet" : "chips"}.`);
  else if (!part("amount").value) say("Tap chips or type the amount first.");
  else return true;
  return false;
}

/** Bring the form in line with the chosen seat and the amount so far. */
export function compose() {
  if (part("deals")) part("deals").textContent = `${dealtIn().length} ${dealtIn().length === 1 ? "seat" : "seats"}`;
  if (!part("bet")) return;
  const seat = chosenSeat();
  const amount = part("amount").value;
  part("clear").disabled = !amount;
  if (!part("place")) return part("close")?.classList.add("button--primary");
  part("bet-seat").textContent = seat ? `seat ${seat.value}` : "the chosen seat";
  part("place").classList.toggle("button--primary", Boolean(amount));
  part("close")?.classList.toggle("button--primary", !amount);
  part("off").disabled = !Number(seat?.dataset.bet);
  for (const mark of board().querySelectorAll(".seat__chosen")) {
    const free = mode() === "bets" ? "▼ bet here" : "▼ chips";
    mark.textContent = amount && mark.closest(".seat").contains(seat) ? `▼ ${amount}` : free;
  }
}

/** A chip is tapped: its value joins the amount, in whole cents. */
export function addChip(cents) {
  const amount = part("amount");
  const sum = Math.round(Number(amount.value.replace(/,/g, "") || 0) * 100) + cents;
  if (!Number.isSafeInteger(sum)) return;
  amount.value = sum % 100 ? (sum / 100).toFixed(2) : String(sum / 100);
  compose();
}
