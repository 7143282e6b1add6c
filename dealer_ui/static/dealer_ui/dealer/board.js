// The board that lies on the screen: where its parts are, and what it says of itself. Nothing here changes it.

import { state } from "./state.js";

/** Where figures make an amount. */
export const AMOUNTS = ["bets", "seats"];

/** What the board asks for once an input of a kind is answered. */
export const EXPECTED_AFTER = {
  card: "cards",
  choose: "cards",
  close_bets: "cards",
  take_back: "cards",
  bet: "bets",
  buy_in: "seats",
};

export const part = (id) => document.getElementById(id);
export const board = () => part("board");
export const mode = () => board().dataset.mode;
export const sequence = () => Number(board().dataset.seq || 0);

/** What keys stand for just now. */
export const meant = () => (state.flying ? EXPECTED_AFTER[state.flying.does] : mode());

/** A key as the dealer calls it. */
export function spell(key, mode = meant()) {
  if (key === "Backspace") return "Take back";
  return key === "0" && mode === "cards" ? "10" : key;
}

/** The button that a key stands for, if it is in sight and names anything. */
export function buttonOf(key) {
  const buttons = [...board().querySelectorAll(`[data-hotkey="${key}"]`)];
  return buttons.find((button) => !button.disabled && button.getClientRects().length);
}

/** Whether a button names a card that is turned, or means that one was. */
export const isCardLike = (button) => ["card", "choose"].includes(button?.dataset.does);

export function labelOf(button) {
  const key = button.querySelector("kbd")?.textContent ?? "";
  const label = button.getAttribute("aria-label") ?? button.textContent.replace(key, "");
  return label.trim().replace(/\s+/g, " ");
}

export const openPane = () => board().querySelector(".pane.is-open");
export const typedCount = () => openPane()?.querySelector(".pane__count");
export const dealtIn = () => [...board().querySelectorAll("input[name=plays]:checked")];
export const chosenSeat = () => board().querySelector('input[name="seat"]:checked');

/** Send a button's form because its key was pressed. */
export function send(button) {
  state.byKey = true;
  button.form.requestSubmit(button);
  state.byKey = false;
}
