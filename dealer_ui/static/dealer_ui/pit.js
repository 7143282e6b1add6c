// The pit's pages follow the floor: an event says which table moved, and only that table's parts are fetched and
// replaced. Without this file every page still works; it just stands still.
"use strict";

const live = document.getElementById("live");
const announcer = document.getElementById("announcer");
const CALM = 1000; // milliseconds between two fetches of a list

// --- Replacing what changed ---

// Parts are compared one by one: what did not change is not touched, so a press, a focus or a typed note on it is
// not lost.
function patch(shown, fresh) {
  for (const attribute of fresh.attributes) shown.setAttribute(attribute.name, attribute.value);
  for (const part of fresh.querySelectorAll(":scope > [data-part]")) {
    const old = shown.querySelector(`:scope > [data-part="${part.dataset.part}"]`);
    if (!old || old.outerHTML === part.outerHTML) continue;
    const focused = old.contains(document.activeElement) ? document.activeElement : null;
    keep(old, part);
    old.replaceWith(part);
    if (focused && focused.id) document.getElementById(focused.id)?.focus({ preventScroll: true });
  }
}

// The items of a keyed list stay the same nodes: a note that somebody is typing in one survives the others' coming.
function keep(old, part) {
  for (const item of part.querySelectorAll("[data-keyed] > [id]")) {
    const same = [...old.querySelectorAll("[data-keyed] > [id]")].find((one) => one.id === item.id);
    if (same) item.replaceWith(same);
  }
}

function newest(alerts) {
  return alerts.querySelector(".alert__what")?.textContent ?? "";
}

const under_way = new Map();

// One fetch at a time for each element; an event that comes meanwhile is followed by one more.
async function refresh(element) {
  if (under_way.has(element)) {
    under_way.set(element, true);
    return;
  }
  under_way.set(element, false);
  try {
    const answer = await fetch(element.dataset.src, { headers: { "X-Requested-With": "fetch" } });
    if (answer.redirected || answer.status === 401 || answer.status === 403) return void location.reload();
    if (!answer.ok) return void setTimeout(refresh, 3 * CALM, element);
    const holder = document.createElement("template");
    holder.innerHTML = await answer.text();
    const fresh = holder.content.querySelector("[data-src]");
    const before = newest(element);
    if (fresh) patch(element, fresh);
    if ("liveAlerts" in element.dataset && newest(element) !== before) announcer.textContent = newest(element);
    if ("calm" in element.dataset || "liveFloor" in element.dataset) await new Promise((done) => setTimeout(done, CALM));
  } catch {
    // The server is away: the stream comes back with where every table stands, and asks again.
  } finally {
    const again = under_way.get(element);
    under_way.delete(element);
    if (again) refresh(element);
  }
}

// --- Hearing ---

function say(state, text) {
  if (live.dataset.state === state) return;
  live.dataset.state = state;
  document.getElementById("live-text").textContent = text;
}

function moved({ table, seq }) {
  let older = false;
  for (const element of document.querySelectorAll(`[data-live="${table}"]`)) {
    if (Number(element.dataset.seq) >= seq) continue;
    older = true;
    refresh(element);
  }
  if (older) document.querySelectorAll("[data-live-floor]").forEach(refresh);
}

function alerted({ table }) {
  document.querySelectorAll(`[data-live="${table}"]:not([data-calm]), [data-live-floor], [data-live-alerts]`).forEach(refresh);
}

// Load the page anew once there is one: the sentence of an outage would never go away by itself.
async function comeBack() {
  const answer = await fetch(location.href, { headers: { "X-Requested-With": "fetch" } }).catch(() => null);
  if (answer && answer.status < 500) location.reload();
  else setTimeout(comeBack, 3 * CALM);
}

if (live) {
  const stream = new EventSource("/live/");
  stream.addEventListener("open", () => say("live", "Live"));
  stream.addEventListener("table", (event) => moved(JSON.parse(event.data)));
  stream.addEventListener("alert", (event) => alerted(JSON.parse(event.data)));
  stream.addEventListener("error", () => {
    // Refused: signed out, no longer permitted, or nobody can tell now. Otherwise the browser tries again by itself.
    if (stream.readyState === EventSource.CLOSED) setTimeout(comeBack, 3 * CALM);
    say("lost", "Connection lost, trying again");
  });
}

// --- Playing a round back ---

const playback = document.getElementById("playback");

// Mark a step in the list, and scroll the list, not the page, so that it is seen.
function mark(step) {
  for (const link of document.querySelectorAll(".timeline__list a")) {
    if (link.dataset.step !== String(step)) {
      link.removeAttribute("aria-current");
      continue;
    }
    link.setAttribute("aria-current", "step");
    const list = link.closest("ol");
    const row = link.closest("li");
    const below = row.offsetTop + row.offsetHeight - list.clientHeight;
    list.scrollTop = Math.max(Math.min(list.scrollTop, row.offsetTop), below);
  }
}

async function show(step) {
  playback.dataset.step = step;
  const answer = await fetch(`?playback&step=${step}`);
  if (!answer.ok || answer.redirected) return void location.reload();
  const text = await answer.text();
  if (playback.dataset.step !== String(step)) return; // another step was asked for meanwhile
  const focused = document.activeElement?.id;
  playback.innerHTML = text;
  history.replaceState(null, "", `?step=${step}`);
  announcer.textContent = playback.querySelector(".playback__text").textContent;
  mark(step);
  if (focused) document.getElementById(focused)?.focus({ preventScroll: true });
}

if (playback) {
  mark(playback.dataset.step);
  document.addEventListener("click", (event) => {
    const link = event.target.closest("a[data-step]");
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    show(Number(link.dataset.step));
  });
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches("input, select, textarea")) return;
    const at = Number(playback.dataset.step);
    const last = Number(playback.dataset.last);
    const wanted = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 1, End: last }[event.key];
    if (wanted === undefined) return;
    event.preventDefault();
    if (wanted >= 1 && wanted <= last && wanted !== at) show(wanted);
  });
}
