// A deck check by keyboard: Enter goes on to the next column that has no count; the last one's Enter enters them all.

import { board, mode, part, send } from "./board.js";
import { state } from "./state.js";
import { say } from "./words.js";

const columns = () => [...board().querySelectorAll(".columns .input")];
const next = () => columns().find((field) => !field.value);

/** Whether a key is the deck check's, wherever the keyboard is. A figure is left to the field that it is led to. */
export function takeColumn(focus, key) {
  if (mode() !== "check" || state.flying || state.shut || state.lost) return false;
  const isColumn = columns().includes(focus);
  if (key === "Enter" && (isColumn || focus === document.body)) goOn(focus);
  else if (/^\d$/.test(key) && focus === document.body) (next() ?? columns()[0]).focus();
  else return isColumn;
  return true;
}

function goOn(focus) {
  if (columns().includes(focus) && !focus.value) say("column_first");
  else if (next()) next().focus();
  else send(part("counted"));
}

/** The first column takes the keyboard once the decks are to be counted, if a key led there. */
export function beginColumns() {
  if (mode() === "check" && state.finger.by === "key" && document.activeElement === document.body) next()?.focus();
}
