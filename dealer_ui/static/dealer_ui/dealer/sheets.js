// Whose the keyboard is: the felt's, or of what lies over it or beside it. A sheet (`data-sheet`) is a menu, a list or a
// dialog that is opened and closed again; while one is open no key is meant for the felt.

import { say } from "./words.js";

const FIELDS = "input:not([type=radio], [type=checkbox]), select, textarea";

export const isField = (element) => element.matches(FIELDS);
const openSheet = () => document.querySelector("[data-sheet][open], dialog[open]");

/** Whether a key is another's than the felt's. It is told how the felt gets the keyboard back; Esc gives it. */
export function isElsewhere(focus, key) {
  const place = openSheet() ?? focus.closest(".topline");
  if (!place) return false;
  if (key === "Escape") leave(place, focus);
  else if (!isField(focus) && /^\w$/.test(key)) say("keyboard_elsewhere");
  return true;
}

function leave(place, focus) {
  if (place.matches("dialog")) place.close();
  else place.open = false;
  focus.blur();
}

/** Whoever touches something beside an open sheet is done with it. */
export function touchBeside(touched) {
  const sheet = openSheet();
  if (sheet && !sheet.contains(touched)) leave(sheet, document.activeElement);
}
