// What the screen says beside the board: to the ear, above the keys, and by the lamp of the live stream.

import { board, part, spell } from "./board.js";
import { state } from "./state.js";

/** Say what became of a key. */
export function say(words) {
  state.note = words;
  speak("spoken", words);
  draw();
}

/** Why a key stands for nothing now. */
export function whyNothing(key) {
  const { noStep, noStepBack } = board().dataset;
  if (key === "Enter") return noStep;
  if (key === "Backspace") return noStepBack;
  return /^\d$/.test(key) ? "No card is due now." : `${spell(key)} stands for nothing now.`;
}

/** To a screen reader; emptied first, so that the same sentence is read again. */
export function speak(id, words) {
  part(id).textContent = "";
  window.requestAnimationFrame(() => (part(id).textContent = words ?? ""));
}

export function draw() {
  const box = part("typed");
  if (!box) return;
  const waiting = state.ahead.length ? `Next: ${spelled()}` : "";
  const words = state.shut || waiting || state.note;
  box.hidden = !words;
  box.classList.toggle("is-shut", Boolean(state.shut));
  part("typed-says").textContent = state.shut ? `${state.shut} Look at the table, then go on.` : words;
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
export function stop(why) {
  state.shut = why;
  speak("warned", why);
  draw();
}

export function goOn() {
  state.shut = "";
  draw();
}

/** Point at what has to be looked at first. */
export function insist() {
  const box = state.lost ? part("line") : part("typed");
  box.classList.remove("is-insisting");
  void box.offsetWidth; // starts the animation anew
  box.classList.add("is-insisting");
}
