// What a key means, and which keys wait. The server draws every board; this only decides which key is sent, and when.
//
// One input is on its way at a time. A dealer who deals fast types ahead of the answer, and a keyed card must neither
// be lost nor land on a prompt that it was not meant for. Ignoring the keys in between would do just that: of 8 4 10
// the 4 would be dropped and the 10 become the second seat's card. So keys typed ahead are kept in order, shown above
// the keys, and sent one by one, each on the board that answered the one before. That is sound because the k-th card
// keyed is the k-th card turned, whoever it is for; it stops being sound as soon as anything unexpected happens. Then
// all that waits is dropped and named, and the keys are shut until the dealer has looked and says "go on":
//   - an input before it was refused, or the board asks for something else than was typed for (cards, or bets);
//   - a card key came again within a moment, or while it was on its way: one finger or two cards? The dealer knows.
// Nothing is typed ahead of a step that has to be seen first: paying, the shoe, a house shoe's cards, and whatever a
// choice names that is no card turned (a seat, a count, a card that lies there).

import { takeAmount } from "./amounts.js";
import { AMOUNTS, EXPECTED_AFTER, buttonOf, isCardLike, meant, mode, part, send, spell, typedCount } from "./board.js";
import { openPaneOf, takeCount } from "./panes.js";
import { finishSeat, toSettle } from "./settling.js";
import { isField } from "./sheets.js";
import { state } from "./state.js";
import { draw, goOn, insist, say, sayNothing, spelled, stop } from "./words.js";

const BOUNCE_MS = 300;
const NAMED = ["Enter", "Backspace", "Escape", "ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown"];

export function nameOf(key) {
  if (NAMED.includes(key) || /^[\d.,-]$/.test(key)) return key;
  return /^[a-z]$/i.test(key) ? key.toUpperCase() : "";
}

/** Whether a field takes a key by itself. The amount's Enter is the table's, and so is whatever is typed ahead. */
export function isForField(field, key) {
  if (!isField(field) || state.shut || state.lost) return false;
  if (field.id !== "amount") return true;
  return !state.flying && (key === "Backspace" ? Boolean(field.value) : !NAMED.includes(key));
}

export function press(key, moment) {
  const again = isAgain(key, "key", moment);
  state.note = null;
  if (state.shut) return key === "Enter" || key === "Escape" ? goOn() : insist();
  if (state.lost) return insist();
  if (again && !isFigure(key)) return enteredOnce(spell(key), /^\d$/.test(key) || isCardLike(buttonOf(key)));
  if (state.flying) return typeAhead(key);
  if (toSettle()) return settleFirst(key);
  const isDone = act(key);
  draw();
  return isDone;
}

/** Enter says that the seat is done; a card that is typed meanwhile waits for it. */
function settleFirst(key) {
  if (key === "Enter") return settleSeat();
  return key === "Backspace" && !state.ahead.length ? act(key) : typeAhead(key);
}

/** The seat is done by touch: not by the tap whose card decided it, should the finger have come twice. */
export function tapDone(moment) {
  if (state.shut || state.lost) return insist();
  if (state.finger.by === "touch" && moment - state.finger.moment < BOUNCE_MS) return undefined;
  state.finger = { name: "settled", by: "touch", moment };
  return settleSeat();
}

/** The seat is done, and what was typed meanwhile is entered. */
function settleSeat() {
  finishSeat();
  actAhead();
  draw();
}

/** Whether a key only writes an amount or a count: figures may well follow each other. */
const isFigure = (key) =>
  /^([\d.,-]|Backspace|Arrow\w+)$/.test(key) && (AMOUNTS.includes(meant()) || Boolean(typedCount()));

/** Whether this may be the same finger again: within a moment, or while the same key is on its way. */
export function isAgain(name, by, moment) {
  const { finger, flying, ahead } = state;
  const bounced = name === finger.name && by === finger.by && moment - finger.moment < BOUNCE_MS;
  state.finger = { name, by, moment };
  return bounced || (name === flying?.name && !ahead.length);
}

/** A step that was just drawn has been seen by nobody: an Enter that trembles does not take it. */
export function guardStep() {
  if (state.finger.name === "Enter") state.finger.moment = performance.now();
}

/** Whoever types into a field has lifted the finger. */
export function forgetFinger() {
  state.finger = { name: "", by: "", moment: -Infinity };
}

export function enteredOnce(key, cardLike) {
  if (cardLike) stop("came_twice", { key });
  else say("came_twice", { key });
}

/** Do what a key means on this board. False when it means nothing there. */
function act(key) {
  if (AMOUNTS.includes(mode()) && part("bet") && takeAmount(key)) return true;
  if (typedCount() && takeCount(key)) return true;
  const button = buttonOf(key);
  if (button?.dataset.opens !== undefined) openPaneOf(button.dataset.opens);
  else if (button?.matches("a")) button.click();
  else if (button) send(button);
  else if (!/^(Escape|Arrow\w+)$/.test(key)) sayNothing(key);
  return Boolean(button);
}

export function typeAhead(key) {
  if (key === "Backspace" && state.ahead.length) {
    state.ahead.pop();
    return draw();
  }
  const wanted = meant();
  const usual = AMOUNTS.includes(mode()) || mode() === "cards";
  if (!wanted || !usual) return sayNotEntered(spell(key));
  state.expects = wanted;
  state.ahead.push(key);
  return draw();
}

function sayNotEntered(key) {
  if (state.flying) say("still_answering", { key });
  else say("seat_comes_first", { key, seat: toSettle().dataset.seat });
}

/** Do what was typed ahead, on the board that has come: up to the first key that sends something, or a seat that is to
 *  be settled before. */
export function actAhead() {
  while (state.ahead.length && !state.flying && !toSettle()) {
    if (act(state.ahead[0])) state.ahead.shift();
    else dropAhead();
  }
}

export function dropAhead() {
  const keys = spelled();
  state.ahead = [];
  stop("not_entered", { keys });
}
