// Where a choice names more than one thing, its key opens a pane of further keys; only the open pane's keys are heard.
// A count that one figure does not say is typed there and entered.

import { board, openPane, send, typedCount } from "./board.js";
import { state } from "./state.js";
import { say, speak } from "./words.js";

/** Open a pane of keys; without a name, the first one. */
export function openPaneOf(name) {
  for (const pane of board().querySelectorAll(".pane")) pane.classList.toggle("is-open", pane.dataset.pane === name);
  state.count = "";
  const label = openPane()?.getAttribute("aria-label");
  if (label) speak("spoken", label);
}

/** The pane that is open, by what can be chosen in it, and the figures typed there. */
export function paneNow() {
  const pane = openPane();
  const isAll = pane?.classList.contains("is-all");
  return pane ? { name: pane.dataset.pane, keys: keysOf(pane), count: state.count, isAll } : null;
}

/** Open a pane again as it was before the table moved. False where its keys stand for something else now. */
export function reopen(before) {
  if (!before?.name && !before?.count) return true;
  const pane = board().querySelector(`.pane[data-pane="${before.name}"]`);
  if (!pane || keysOf(pane) !== before.keys) return false;
  openPaneOf(before.name);
  pane.classList.toggle("is-all", before.isAll);
  showCount(before.count);
  return true;
}

const keysOf = (pane) => [...pane.querySelectorAll("button")].map((button) => button.value).join("\n");

/** What a key means while a count is typed. False when it means nothing there. */
export function takeCount(key) {
  if (/^\d$/.test(key)) showCount(state.count + key);
  else if (key === "Backspace" && state.count) showCount(state.count.slice(0, -1));
  else if (key === "Enter") enterCount();
  else return false;
  return true;
}

function showCount(figures) {
  state.count = figures;
  if (typedCount()) typedCount().textContent = figures && `${figures} ⏎`;
}

function enterCount() {
  const button = openPane().querySelector(`[data-count="${Number(state.count)}"]`);
  if (!state.count) say("count_first");
  else if (button) send(button);
  else say("count_impossible", { count: state.count });
  showCount("");
}

/** A seat is tapped on the felt: where a seat is asked for, that is its key. */
export function tapSeat(seat) {
  const button = seat && openPane()?.querySelector(`[data-target="${seat.dataset.seat}"]`);
  if (button) button.click();
}
