// Bets and chips: a seat is chosen, figures make the amount and Enter places it; or an amount that is likely is tapped.

import { board, buttonOf, chosenSeat, dealtIn, mode, part, send } from "./board.js";
import { state } from "./state.js";
import { say } from "./words.js";

/** What a key means while amounts are typed. False when it means nothing there. */
export function takeAmount(key) {
  const amount = part("amount");
  const onSpot = document.activeElement?.matches(".bet-spot");
  if (/^(\d\d?|[.,-])$/.test(key)) amount.value = takeInHand() + key;
  else if (key === "Backspace" && amount.value && !state.laid) amount.value = amount.value.slice(0, -1);
  else if (key === "Enter" && onSpot) send(document.activeElement);
  else if (key === "Enter" && isNowhere()) say("amount_in_hand", { amount: amount.value });
  else if (key === "Enter" && amount.value && part("place")) send(part("place"));
  else if (key === "Escape" && spots().length) onSpot ? document.activeElement.blur() : clearHand();
  else if (/^Arrow/.test(key) && spots().length) chooseSpot(key);
  else if (key === "ArrowLeft" || key === "ArrowRight") chooseSeat(key === "ArrowLeft" ? -1 : 1);
  else if (key === "A" && mode() === "bets" && !spots().length) repeatBet();
  else if (key === "S" && mode() === "seats") sitOut();
  else if (buttonOf(key)?.dataset.amount) takeLikely(buttonOf(key));
  else return false;
  compose();
  return true;
}

/** An amount that is tapped is in hand instead of whatever was. */
export function takeLikely(button) {
  clearHand();
  part("amount").value = button.dataset.amount;
  compose();
}

const spots = () => [...board().querySelectorAll("button.bet-spot:not([disabled])")];

/** The amount that figures go on with: one that was laid, or refused, is followed by a new one. */
function takeInHand() {
  const amount = state.anew ? "" : part("amount").value;
  state.anew = state.laid = false;
  return amount;
}

/** Whether an amount is in hand that no spot has: the bets are not closed over it unseen. */
const isNowhere = () => Boolean(spots().length && part("amount").value && !state.laid);

/** Nothing is in hand. */
export function clearHand() {
  part("amount").value = "";
  state.anew = state.laid = false;
}

/** Left and right go to the same wager of the seats beside, up and down along the wagers of a seat; Enter lays the
 *  amount in hand on the spot that has the focus. */
function chooseSpot(key) {
  const step = ["ArrowLeft", "ArrowUp"].includes(key) ? -1 : 1;
  const from = document.activeElement?.matches(".bet-spot") ? document.activeElement : null;
  const wager = from?.value.split(":")[1];
  const isBeside = wager && ["ArrowLeft", "ArrowRight"].includes(key);
  const way = spots().filter((spot) => !isBeside || spot.value.split(":")[1] === wager);
  const place = way.indexOf(from);
  way[place < 0 ? (step > 0 ? 0 : way.length - 1) : (place + step + way.length) % way.length].focus();
}

/** Whether there is an amount for a spot; an empty hand takes off what lies there. */
export function isInHand(spot) {
  if (part("amount").value || Number(spot.dataset.placed)) return true;
  say("amount_first_for_spots");
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
  else say("no_earlier_bet");
}

/** The chosen seat is dealt in to the next game, or sits it out. */
function sitOut() {
  const plays = chosenSeat()?.closest(".seat").querySelector("input[name=plays]");
  if (!plays) return say("seat_with_chips_first");
  plays.checked = !plays.checked;
  return say(plays.checked ? "dealt_in" : "sits_out", { seat: plays.value });
}

/** Whether there is a seat and an amount; what is missing is said. */
export function isWhole(button) {
  if (!chosenSeat()) say("seat_first", { takes: mode() === "bets" ? "bet" : "chips" });
  else if (button.name !== "amount" && !part("amount").value) say("amount_first");
  else return true;
  return false;
}

/** A seat is tapped while an amount is in hand: that is its bet. */
export function layAtSeat() {
  if (mode() === "bets" && part("amount").value) part("bet").requestSubmit(part("place"));
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
