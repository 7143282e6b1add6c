// What the screen says beside the board: to the ear, above the keys, and by the lamp of the live stream.

import { board, part, spell } from "./board.js";
import { mark, sentenceOf } from "./messages.js";
import { state } from "./state.js";

/** Say what became of a key. */
export function say(code, facts = {}) {
  state.note = { code, ...facts };
  speak("spoken", sentenceOf(state.note));
  draw();
}

/** Say why a key stands for nothing now. */
export function sayNothing(key) {
  const { noStep, noStepBack } = board().dataset;
  if (key === "Enter") say("no_step", { sentence: noStep });
  else if (key === "Backspace") say("no_step_back", { sentence: noStepBack });
  else if (/^\d$/.test(key)) say("no_card_due");
  else say("no_meaning", { key: spell(key) });
}

/** To a screen reader; emptied first, so that the same sentence is read again. */
export function speak(id, words) {
  part(id).textContent = "";
  window.requestAnimationFrame(() => (part(id).textContent = words ?? ""));
}

export function draw() {
  const box = part("typed");
  if (!box) return;
  const waiting = state.ahead.length ? { code: "next", keys: spelled() } : null;
  const message = state.shut ?? waiting ?? state.note;
  box.hidden = !message;
  box.classList.toggle("is-shut", Boolean(state.shut));
  mark(box, message);
  part("typed-says").textContent = message && `${sentenceOf(message)}${state.shut ? " Look at the table, then go on." : ""}`;
  part("go-on").hidden = !state.shut;
  lamp(...state.lamp);
}

/** The keys typed ahead, as the dealer calls them. */
export const spelled = () => state.ahead.map((key) => spell(key, state.expects)).join(" ");

export function lamp(stands, words) {
  state.lamp = [stands, words];
  if (!part("lamp")) return;
  part("lamp").dataset.state = stands;
  part("lamp-says").textContent = words;
}

/** Take no more keys until the dealer has looked at the table. */
export function stop(code, facts = {}) {
  state.shut = { code, ...facts };
  speak("warned", sentenceOf(state.shut));
  draw();
}

export function goOn() {
  state.shut = null;
  draw();
}

/** Point at what has to be looked at first. */
export function insist() {
  const box = state.lost ? part("line") : part("typed");
  box.classList.remove("is-insisting");
  void box.offsetWidth; // starts the animation anew
  box.classList.add("is-insisting");
}
