// The line to the house. When it is lost, the input on its way stays as it is, with its key, and is sent again until
// the table answers; the key makes sure that it is recorded once. The dealer may also drop it: then the board says
// whether it had arrived.

import { labelOf, part } from "./board.js";
import { mark, sentenceOf } from "./messages.js";
import { state } from "./state.js";

const PAUSE_MS = 500; // before the first retry; each further one comes after twice the time
const LONGEST_PAUSE_MS = 1000; // a failover takes less than ten seconds, and waiting is no part of it

/** Whether the house let an answer wait: it is away, or asks this screen to wait. A board that refuses is an answer. */
export function isPutOff(status, type) {
  return status >= 500 || (status === 429 && Boolean(type?.startsWith("text/plain")));
}

function tell(code, facts = {}) {
  mark(part("line"), { code, ...facts });
  part("line-says").textContent = sentenceOf({ code, ...facts });
}

/** `wait` is how many milliseconds the house asks for. */
export function lineLost(code, facts = {}, wait = 0) {
  state.lost += 1;
  state.sent = false;
  tell(code, { ...facts, input: state.flying ? labelOf(state.flying.button) : "" });
  part("line-drop").hidden = !state.flying;
  part("line-reload").hidden = true;
  part("line").hidden = false;
  document.body.classList.add("is-lost");
  window.clearTimeout(state.retry);
  state.retry = window.setTimeout(tryAgain, wait + pause());
}

/** Nothing that is sent again would help: somebody has to reload the page. */
export function pageOutOfDate() {
  lineLost("out_of_date");
  window.clearTimeout(state.retry);
  part("line-reload").hidden = false;
}

/** Ever longer, and not the same on every screen: they all lost the house at the same moment. */
function pause() {
  return Math.min(PAUSE_MS * 2 ** (state.lost - 1), LONGEST_PAUSE_MS) * (0.75 + Math.random() / 2);
}

export function lineWorks() {
  state.lost = 0;
  window.clearTimeout(state.retry);
  part("line").hidden = true;
  document.body.classList.remove("is-lost");
}

/** The same form, the same key: recorded once, however often it arrives. */
export function tryAgain() {
  window.clearTimeout(state.retry);
  if (!state.flying) refresh();
  else if (!state.sent) resend();
}

/** What fails is told by htmx's events, not by the promise. */
function resend() {
  const { form } = state.flying;
  window.htmx.ajax("POST", form.action, { source: form, target: "#board", swap: "outerHTML" }).catch(() => undefined);
}

export function dropInput() {
  if (!state.flying) return;
  window.htmx.trigger(state.flying.form, "htmx:abort");
  state.flying.button.classList.remove("is-sent");
  state.flying = null;
  state.sent = false;
  state.ahead = [];
  tell("dropped");
  part("line-drop").hidden = true;
  refresh();
}

/** Fetch the board again; never while an input or a page beside the felt is on its way, whose answer is newer. By an event: htmx
 *  keeps one that comes during another for later, and the promise of such a one would be nobody's to catch. */
export function refresh() {
  if (!state.flying && !state.beside && part("look")) window.htmx.trigger("#look", "look");
}
