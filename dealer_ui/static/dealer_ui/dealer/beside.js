// Pages about this table that open in a sheet beside the felt, take what is typed there, and close back to it: cash, a
// relief, slips. The sheet lies outside of the board, so nothing that happens at the table touches it. What it shows is
// the very page that its link leads to without this script, and its forms are sent as that page would send them.

import { board, part, sequence } from "./board.js";
import { isPutOff, refresh } from "./line.js";
import { mark, sentenceOf } from "./messages.js";
import { isField } from "./sheets.js";
import { state } from "./state.js";

const PATIENCE_MS = 8000;
const PAUSE_MS = 2000;
const LINKED = ["for", "form", "aria-labelledby", "aria-describedby"];

const sheet = part("sheet");
const page = part("sheet-page");
const lost = part("sheet-lost");
const receipt = part("receipt");
const pad = part("sheet-pad");
const figures = pad.querySelector(".numpad");

/** The address of the page that is open. */
let address = "";
/** How often anything was asked: what is asked again gives way to what was asked since. */
let turn = 0;

function open(link) {
  link.closest("details")?.removeAttribute("open");
  receipt.hidden = true;
  lost.hidden = true;
  page.replaceChildren();
  sheet.setAttribute("aria-label", link.textContent.trim());
  sheet.showModal();
  ask(link.href);
}

/** Fetch a page, or send a form to one. What is typed stays until the house has answered. */
async function ask(target, form = {}) {
  if (state.beside) return;
  state.beside = true;
  turn += 1;
  page.setAttribute("aria-busy", "true");
  try {
    const answer = await answerTo(target, form);
    if (!isAwaited(form)) return settle();
    if (isPutOff(answer.status, answer.headers.get("Content-Type"))) throw new Error(answer.statusText);
    take(new DOMParser().parseFromString(await answer.text(), "text/html"), answer.url);
  } catch {
    if (form.method) lineLost();
    else askLater(target);
  }
  return undefined;
}

/** A page changes nothing, so it is asked for again for as long as somebody waits for it. */
function askLater(target) {
  const waiting = turn;
  settle();
  tell("page_lost");
  window.setTimeout(() => {
    if (sheet.open && waiting === turn) ask(target);
  }, PAUSE_MS);
}

/** The response to a sent form is always shown. A page that arrives after its sheet was closed is dropped: it would take the keyboard. */
const isAwaited = (form) => form.method || sheet.open;

/** Repeats a request that a rate limit refused, after the wait that it names; not after the sheet was closed. */
async function answerTo(target, form) {
  const answer = await fetch(target, { ...form, signal: AbortSignal.timeout(PATIENCE_MS) });
  const wait = 1000 * Number(answer.headers.get("Retry-After"));
  if (answer.status !== 429 || !wait) return answer;
  tell("form_put_off", { sentence: await answer.text() });
  await new Promise((done) => window.setTimeout(done, wait));
  return isAwaited(form) ? answerTo(target, form) : undefined;
}

/** The answer is there: what happened at the table meanwhile may be drawn. */
function settle() {
  state.beside = false;
  page.removeAttribute("aria-busy");
  if (state.heard > sequence()) refresh();
}

function tell(code, facts = {}) {
  mark(lost, { code, ...facts });
  lost.textContent = sentenceOf({ code, ...facts });
  lost.hidden = false;
}

function lineLost() {
  settle();
  for (const form of page.querySelectorAll("form[data-sending]")) delete form.dataset.sending;
  if (!sheet.open) sheet.showModal();
  tell("form_lost");
}

/** Where an answer belongs: in the sheet; over the felt, once all is done; or in the place of the whole screen. */
function take(answer, from) {
  lost.hidden = true;
  const main = answer.querySelector("main[data-beside]");
  if (!main) return window.location.assign(sheet.dataset.screen); // whoever deals here now gets a screen of their own
  settle();
  if (main.dataset.beside === "done") finish(main);
  else draw(main, from);
  return undefined;
}

/** What was done is said over the felt, which shows what came of it. */
function finish(main) {
  const words = [...main.querySelectorAll('[role="status"]')].map(apart);
  part("receipt-page").replaceChildren(...words);
  receipt.hidden = false;
  sheet.close();
  refresh();
}

function draw(main, from) {
  address = from;
  page.replaceChildren(...[...main.childNodes].map(apart));
  if (!sheet.open) sheet.showModal();
  sheet.setAttribute("aria-label", page.querySelector("h1")?.textContent.trim() ?? "");
  page.scrollTop = 0;
  pad.hidden = true;
  begin();
  document.dispatchEvent(new CustomEvent("beside:drawn"));
}

/** A part of another page, whose names are kept apart from those of the felt. */
function apart(node) {
  const own = document.importNode(node, true);
  if (!(own instanceof Element)) return own;
  const elements = [own, ...own.querySelectorAll("*")].filter((element) => !element.closest("svg"));
  for (const element of elements) {
    if (element.id) element.id = `sheet-${element.id}`;
    for (const name of LINKED.filter((link) => element.hasAttribute(link))) {
      element.setAttribute(name, element.getAttribute(name).replace(/\S+/g, "sheet-$&"));
    }
  }
  return own;
}

// --- Fields, and the pad that types into the one that is in use ---

const inSight = (field) => field.checkVisibility() && !field.disabled;
const firstEmpty = (form) =>
  [...form.elements].find((field) => isField(field) && field.required && !field.value && inSight(field));

/** The keyboard begins where there is something to fill in. */
function begin() {
  const form = page.querySelector("form");
  const start = page.querySelector("[autofocus]") ?? (form && firstEmpty(form)) ?? page.querySelector("button, a");
  start?.focus();
}

/** What is missing is filled in before anything is sent. */
function enter(form) {
  const empty = firstEmpty(form);
  if (empty) empty.focus();
  else form.requestSubmit(form.querySelector("button:not([type=button])"));
}

page.addEventListener("keydown", (event) => {
  const { target } = event;
  if (event.key !== "Enter" || !target.matches("input") || !target.form) return;
  event.preventDefault();
  if (!event.repeat) enter(target.form);
});

page.addEventListener("focusin", ({ target }) => {
  const takesFigures = target.matches("[inputmode=numeric], [inputmode=decimal], [inputmode=none]");
  if (!takesFigures) return;
  figures.dataset.for = target.id;
  pad.hidden = false;
});

pad.addEventListener("pointerdown", (event) => event.preventDefault()); // the field keeps the keyboard
part("sheet-next").addEventListener("click", () => {
  const { form } = part(figures.dataset.for) ?? {};
  if (form) enter(form);
});

// --- What is tapped and sent ---

const isOwn = (link) => link.origin === window.location.origin && !link.hasAttribute("download");

document.addEventListener("click", (event) => {
  const link = event.target.closest("a");
  if (event.target.closest("[data-sheet-close]")) sheet.close();
  if (event.target.closest("[data-receipt-close]")) receipt.hidden = true;
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
  if (link.matches("[data-opens-beside]")) {
    event.preventDefault();
    open(link);
  } else if (sheet.contains(link) && isOwn(link)) {
    event.preventDefault();
    follow(link);
  }
});

function follow(link) {
  const leadsBack = link.pathname === sheet.dataset.screen;
  if (leadsBack) sheet.close();
  else ask(link.href);
}

document.addEventListener("submit", (event) => {
  const { target: form, submitter } = event;
  if (event.defaultPrevented || !(receipt.contains(form) || page.contains(form))) return;
  event.preventDefault();
  const target = new URL(form.getAttribute("action") || address, window.location.href);
  const body = new FormData(form, submitter);
  if (form.method === "post") ask(target, { method: "POST", body });
  else ask(`${target.pathname}?${new URLSearchParams(body)}`);
});

/** Each button of the bar that opens a sheet has a function key. */
document.addEventListener("keydown", (event) => {
  if (!/^F\d+$/.test(event.key) || sheet.open || event.repeat) return;
  const link = board().querySelector(`[data-opens-beside="${event.key}"]`);
  if (!link) return;
  event.preventDefault();
  link.click();
});
