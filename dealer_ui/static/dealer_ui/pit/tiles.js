// The floor's tiles: chosen without a new page, in an order that holds still under a finger, and a sheet with all that can
// be done at a table. Without this file the form is sent, "More" is a page, and pits fold all the same.
import { fetched, onCard } from "./live.js";

const form = document.getElementById("choose");
const tiles = document.getElementById("tiles");
const news = document.getElementById("moved");
const sheet = document.getElementById("sheet");
const TYPING = 250; // milliseconds after the last key
const TICK = 20000;

// --- What is shown ---

const address = () => {
  const asked = new URLSearchParams();
  for (const [name, value] of new FormData(form)) if (value) asked.append(name, value);
  return `${form.action}?${asked}`;
};

let latest = 0;

async function choose() {
  const here = address();
  const turn = ++latest;
  history.replaceState(null, "", here);
  const page = await fetched(here);
  if (turn !== latest) return; // somebody typed on
  tiles.replaceChildren(...page.getElementById("tiles").childNodes);
  document.getElementById("choose-all").hidden = page.getElementById("choose-all").hidden;
  ranks.clear();
  tell();
}

let typing;
form.addEventListener("input", (event) => {
  clearTimeout(typing);
  typing = setTimeout(() => choose().catch(() => form.submit()), event.target.type === "search" ? TYPING : 0);
});
form.addEventListener("submit", (event) => {
  event.preventDefault();
  clearTimeout(typing);
  choose().catch(() => form.submit());
});
form.querySelector("[data-plain]").hidden = true;

tiles.addEventListener(
  "toggle",
  () => {
    const folded = [...tiles.querySelectorAll(".pit-group:not([open])")].map((group) => group.dataset.pit);
    if (form.elements.folded.value === folded.join("\n")) return;
    form.elements.folded.value = folded.join("\n");
    history.replaceState(null, "", address());
  },
  true,
);

// --- An order that holds still: what moved is said, and put in its place when somebody asks ---

const ranks = new Map(); // table: what it needed when it was put where it is, and what it needs now

onCard((card, before) => {
  const was = ranks.get(card.dataset.live)?.was ?? before?.dataset.rank ?? "0";
  ranks.set(card.dataset.live, { was, is: card.dataset.rank });
  tell();
});

function tell() {
  const follows = form.elements.order.value === "need" || form.elements.state.value === "needs";
  const count = [...ranks.values()].filter(({ was, is }) => was !== is).length;
  news.hidden = !follows || count === 0;
  news.firstElementChild.textContent =
    count === 1 ? "1 table needs something else now: sort anew" : `${count} tables need something else now: sort anew`;
}

news.addEventListener("click", () => choose().catch(() => location.reload()));

// --- Minutes at the table ---

setInterval(() => {
  const seconds = Date.now() / 1000;
  for (const since of tiles.querySelectorAll("[data-since]")) {
    since.textContent = Math.max(0, Math.floor((seconds - since.dataset.since) / 60));
    since.classList.toggle("is-late", seconds >= (since.dataset.due ?? Infinity));
  }
}, TICK);

// --- The sheet ---

async function fill(link) {
  const page = await fetched(link);
  sheet.replaceChildren(page.getElementById("more"));
  sheet.querySelector(".more__close").hidden = false;
}

tiles.addEventListener("click", async (event) => {
  const link = event.target.closest("[data-more]");
  if (!link || event.metaKey || event.ctrlKey || event.shiftKey) return;
  event.preventDefault();
  try {
    await fill(link.href);
    sheet.showModal();
  } catch {
    location.assign(link.href);
  }
});
// A press beside the sheet closes it.
sheet.addEventListener("click", (event) => event.target === sheet && sheet.close());
sheet.addEventListener("close", () => {
  const table = sheet.querySelector("#more")?.dataset.live;
  sheet.replaceChildren();
  document.getElementById(`more-${table}`)?.focus({ preventScroll: true });
});
// What can be done is drawn anew when the table has moved; every act keeps its place.
onCard((card) => {
  const shown = sheet.querySelector("#more");
  if (sheet.open && shown?.dataset.live === card.dataset.live && Number(shown.dataset.seq) < Number(card.dataset.seq)) {
    const table = document.getElementById(`more-${card.dataset.live}`);
    if (table) fill(table.href).catch(() => {});
  }
});
