// The inbox by keyboard and live: keys move, choose, open and acknowledge; what is new waits behind a bar, as in mail, so
// that nothing moves under a finger. Without this file the inbox is a page of forms.
const news = document.querySelector("[data-news]");
const announcer = document.getElementById("announcer");
const CALM = 1000; // milliseconds between two looks at what is new

const lines = () => [...document.querySelectorAll("#inbox > .inbox__line")];
const current = () => document.activeElement?.closest(".inbox__line");

// --- Moving, choosing, acknowledging ---

function focusLine(line) {
  line?.querySelector(".alert__open").focus();
  line?.scrollIntoView({ block: "nearest" });
}

function move(by) {
  const all = lines();
  const place = all.indexOf(current());
  focusLine(all[place < 0 ? 0 : Math.min(Math.max(place + by, 0), all.length - 1)]);
}

function pick(line) {
  const box = line?.querySelector("[name=alert][type=checkbox]");
  if (!box) return;
  box.checked = !box.checked;
  countChosen();
}

// The chosen ones have a note of their own; a line offers what it usually comes to, and Enter takes the first.
function take(line) {
  if (chosen().length) return void document.getElementById("chosen-note").focus();
  const usual = line?.querySelector(".alert__usual .button");
  if (usual) return void usual.focus();
  const details = line?.querySelector(".alert__take");
  if (!details) return;
  details.open = true;
  details.querySelector(".input").focus();
}

function close(line) {
  const details = line?.querySelector(".alert__take[open]");
  if (!details) return false;
  details.open = false;
  focusLine(line);
  return true;
}

const ACTS = {
  j: () => move(1),
  k: () => move(-1),
  ArrowDown: () => move(1),
  ArrowUp: () => move(-1),
  o: () => current()?.querySelector("a.alert__open")?.click(),
  a: () => take(current()),
  x: () => pick(current()),
};

// Letters do nothing while somebody types, and can be switched off: who speaks to a screen sends letters by accident.
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "Escape" && close(current())) return;
  if (event.target.matches("input:not([type=checkbox]), select, textarea") || !keysOn()) return;
  const act = ACTS[event.key];
  if (!act || (event.key.startsWith("Arrow") && !current())) return;
  event.preventDefault();
  act();
});

// --- The legend ---

const legend = document.querySelector("[data-keys]");
const keySwitch = document.querySelector("[data-keys-switch]");
const keysOn = () => keySwitch.getAttribute("aria-pressed") === "true";

function setKeys(on) {
  keySwitch.setAttribute("aria-pressed", on);
  keySwitch.textContent = on ? "Keys on" : "Keys off";
}

legend.hidden = false;
setKeys(localStorage.getItem("inbox-keys") !== "off");
keySwitch.addEventListener("click", () => {
  setKeys(!keysOn());
  localStorage.setItem("inbox-keys", keysOn() ? "on" : "off");
});

// --- What is chosen ---

const boxes = () => [...document.querySelectorAll("#inbox [name=alert][type=checkbox]")];
const chosen = () => boxes().filter((box) => box.checked);

// The bar is there while something is chosen, or without script always.
function countChosen() {
  const form = document.getElementById("chosen");
  if (!form) return;
  const count = chosen().reduce((sum, box) => sum + box.value.split(" ").length, 0);
  form.classList.toggle("is-idle", count === 0);
  const chosenSays = form.querySelector("[data-chosen]");
  chosenSays.dataset.chosen = count;
  chosenSays.textContent = count === 1 ? "1 alert chosen" : `${count} alerts chosen`;
  document.getElementById("pick-all").checked = count > 0 && chosen().length === boxes().length;
}

function beginChoosing() {
  const all = document.querySelector("[data-all]");
  if (!all) return;
  all.hidden = false;
  document.getElementById("pick-all").addEventListener("change", (event) => {
    for (const box of boxes()) box.checked = event.target.checked;
    countChosen();
  });
  document.addEventListener("change", (event) => event.target.matches("#inbox [name=alert]") && countChosen());
  countChosen();
}

beginChoosing();

// --- What is new ---

let waiting = null;
let looking = false;
let again = false;

async function look() {
  if (looking) return void (again = true);
  looking = true;
  const answer = await fetch(location.href, { headers: { "X-Requested-With": "fetch" } }).catch(() => null);
  if (answer?.ok && !answer.redirected) tell(new DOMParser().parseFromString(await answer.text(), "text/html"));
  await new Promise((done) => setTimeout(done, CALM));
  looking = false;
  if (again) {
    again = false;
    look();
  }
}

function tell(page) {
  const fresh = [...page.querySelectorAll("#inbox > .inbox__line")];
  const before = new Map(lines().map((line) => [line.id, line]));
  const latest = fresh.filter((line) => before.get(line.id)?.dataset.newest !== line.dataset.newest);
  const present = new Set(fresh.map((line) => line.id));
  for (const line of fresh) updateFacts(before.get(line.id), line);
  for (const [id, line] of before) line.classList.toggle("is-gone", !present.has(id));
  waiting = latest.length ? page : null;
  news.hidden = !waiting;
  if (!waiting) return;
  news.dataset.news = latest.length;
  news.textContent = `${latest.length} new: show`;
  announcer.textContent = `${latest.length} new alert${latest.length > 1 ? "s" : ""}`;
}

// Updates the count and last time of an alert that is shown.
function updateFacts(shown, line) {
  if (shown?.dataset.newest !== line.dataset.newest) return;
  const [old, facts] = [shown, line].map((part) => part.querySelector("[data-part=facts]"));
  if (old.innerHTML !== facts.innerHTML && !old.contains(document.activeElement)) old.replaceWith(facts.cloneNode(true));
}

// Lines that were there stay the same nodes, with what is chosen and typed in them.
function show() {
  const fresh = waiting.getElementById("inbox");
  for (const line of fresh.querySelectorAll(":scope > .inbox__line")) {
    const same = document.getElementById(line.id);
    if (same?.dataset.newest === line.dataset.newest) line.replaceWith(same);
    else if (same?.querySelector("[name=alert]")?.checked) line.querySelector("[name=alert]").checked = true;
  }
  document.getElementById("inbox").replaceWith(fresh);
  document.getElementById("open-title").textContent = waiting.getElementById("open-title").textContent;
  if (!document.getElementById("chosen")) return void location.reload();
  waiting = null;
  news.hidden = true;
  countChosen();
  focusLine(lines()[0]);
}

news.addEventListener("click", show);

const live = document.getElementById("inbox-live");
const stream = new EventSource(live.dataset.src);
stream.addEventListener("open", () => {
  live.hidden = false;
  live.dataset.state = "live";
});
stream.addEventListener("error", () => (live.dataset.state = "lost"));
stream.addEventListener("alerts", look);
