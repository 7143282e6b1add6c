// The pit's pages follow the floor: an event brings the card of a table that moved, and what changed of it is replaced.
// Without this file every page still works; it just stands still.
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
    if (!old) continue;
    unfold(old, part);
    if (old.outerHTML === part.outerHTML) continue;
    const focused = old.contains(document.activeElement) ? document.activeElement : null;
    keep(old, part);
    sign(part);
    old.replaceWith(part);
    if (focused && focused.id) document.getElementById(focused.id)?.focus({ preventScroll: true });
  }
}

// What somebody unfolded stays so.
function unfold(old, part) {
  for (const fold of old.querySelectorAll("details[id][open]")) part.querySelector(`#${fold.id}`)?.setAttribute("open", "");
}

// The items of a keyed list stay the same nodes: a note that somebody is typing in one survives the others' coming.
function keep(old, part) {
  for (const item of part.querySelectorAll("[data-keyed] > [id]")) {
    const same = [...old.querySelectorAll("[data-keyed] > [id]")].find((shown) => shown.id === item.id);
    if (!same) continue;
    patch(same, item); // an alert that was escalated says so
    item.replaceWith(same);
  }
}

// What came by the stream was drawn for everybody: its forms take this page's token.
function sign(part) {
  const token = document.querySelector("[name=csrfmiddlewaretoken]");
  for (const form of part.querySelectorAll("form[method=post]")) {
    if (token && !form.elements.csrfmiddlewaretoken) form.append(token.cloneNode());
  }
}

function parse(html) {
  const holder = document.createElement("template");
  holder.innerHTML = html;
  return holder.content.firstElementChild;
}

function patchAlerts(shown, fresh) {
  const before = newest(shown);
  patch(shown, fresh);
  if (newest(shown) !== before) announcer.textContent = newest(shown);
}

function newest(alerts) {
  return alerts.querySelector(".alert__what")?.textContent ?? "";
}

// --- Fetching: a list whose table moved, and the page when what it shows is older than the stream says ---

/** A page of ours, as a document. What a limit refuses is asked for again, once it may be: nobody announces that. */
export async function fetched(address) {
  const answer = await fetch(address, { headers: { "X-Requested-With": "fetch" } });
  if (answer.status === 429) {
    if (live?.dataset.state === "live") say("slow", "This screen asks too often, going on in a moment");
    await new Promise((done) => setTimeout(done, 1000 * Number(answer.headers.get("Retry-After")) || CALM));
    return fetched(address);
  }
  if (live?.dataset.state === "slow") say("live", "Live");
  if (answer.redirected || answer.status === 401 || answer.status === 403) location.reload();
  if (answer.redirected || !answer.ok) throw new Error(`${address}: ${answer.status}`);
  return new DOMParser().parseFromString(await answer.text(), "text/html");
}

const under_way = new Map();

// One at a time of each; an event that comes meanwhile is followed by one more. While the server is away nothing is
// done: the stream comes back with where every table stands, and asks again.
async function calmly(what, work) {
  if (under_way.has(what)) return void under_way.set(what, true);
  under_way.set(what, false);
  await work().catch(() => {});
  await new Promise((done) => setTimeout(done, CALM));
  const again = under_way.get(what);
  under_way.delete(what);
  if (again) calmly(what, work);
}

const refresh = (list) =>
  calmly(list, async () => patch(list, (await fetched(list.dataset.src)).querySelector("[data-src]")));

const catchUp = () =>
  calmly(document, async () => {
    const page = await fetched(location.href);
    for (const fresh of page.querySelectorAll("[data-card]")) show(fresh);
    for (const id of ["strip", "alerts"]) {
      const fresh = page.getElementById(id);
      if (fresh) (id === "alerts" ? patchAlerts : patch)(document.getElementById(id), fresh);
    }
  });

// --- Hearing ---

function say(state, text) {
  if (live.dataset.state === state) return;
  live.dataset.state = state;
  document.getElementById("live-text").textContent = text;
}

const cardOf = (table) => document.querySelector(`[data-card][data-live="${table}"]`);

const listeners = [];
const followers = [];

/** Be told of each card that comes, whether it is shown here or not, with the one before it. */
export const onCard = (listener) => listeners.push(listener);

/** Be told where each table stands whose card did not come with the news. */
export const onSeq = (listener) => followers.push(listener);

// Never an older card over a newer one.
function show(fresh) {
  const shown = cardOf(fresh.dataset.live);
  if (shown && Number(shown.dataset.seq) > Number(fresh.dataset.seq)) return;
  for (const listener of listeners) listener(fresh, shown);
  if (shown) patch(shown, fresh);
}

/** A table has moved: its card came with the news, or has to be fetched. */
export function moved({ table, seq, card }) {
  if (card) show(parse(card));
  else if (Number(cardOf(table)?.dataset.seq) < seq) catchUp();
  if (!card) for (const follower of followers) follower(table, seq);
  for (const list of document.querySelectorAll(`[data-src][data-live="${table}"]`)) {
    if (Number(list.dataset.seq) < seq) refresh(list);
  }
}

// Load the page anew once there is one: the sentence of an outage, or of a limit, would never go away by itself.
async function comeBack() {
  const answer = await fetch(location.href, { headers: { "X-Requested-With": "fetch" } }).catch(() => null);
  if (answer && answer.status < 500 && answer.status !== 429) location.reload();
  else setTimeout(comeBack, 3 * CALM);
}

if (live) {
  const stream = new EventSource(live.dataset.src);
  const hear = (name, work) => stream.addEventListener(name, (event) => work(JSON.parse(event.data)));
  stream.addEventListener("open", () => say("live", "Live"));
  hear("table", moved);
  const strip = () => document.getElementById("strip"); // pages that are the floor's too, but have no line of sums
  const alerts = () => document.getElementById("alerts");
  hear("strip", ({ html }) => strip() && patch(strip(), parse(html)));
  hear("alerts", ({ html }) => alerts() && (html ? patchAlerts(alerts(), parse(html)) : catchUp()));
  stream.addEventListener("error", () => {
    // Refused: signed out, no longer permitted, or nobody can tell now. Otherwise the browser tries again by itself.
    if (stream.readyState === EventSource.CLOSED) setTimeout(comeBack, 3 * CALM);
    say("lost", "Connection lost, trying again");
  });
}
