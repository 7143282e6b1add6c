// Find anything: Ctrl-K or the button opens a box; what fits is asked of the server at each pause in typing. Arrows choose,
// Enter opens, Escape closes. Without this file the button leads to a page with the same list. Menus close by themselves.
const button = document.getElementById("find");
const PAUSE = 120; // milliseconds after the last key

const dialog = document.createElement("dialog");
dialog.className = "finder";
dialog.setAttribute("aria-label", "Find");
dialog.innerHTML = `
  <input class="finder__input" id="find-box" role="combobox" aria-label="A table, round, slip, name or screen" aria-expanded="true"
    aria-controls="find-list" aria-autocomplete="list" maxlength="100" autocomplete="off" spellcheck="false"
    placeholder="Table, round, slip, name, screen">
  <ul class="finds" id="find-list" role="listbox" aria-label="What fits"></ul>
  <p class="muted small" id="find-says" role="status"></p>`;
document.body.append(dialog);

const box = dialog.querySelector("input");
const list = dialog.querySelector("ul");
const says = dialog.querySelector("p");
let turn = 0;

async function ask() {
  const mine = ++turn;
  const address = `${button.href}?q=${encodeURIComponent(box.value)}`;
  const answer = await fetch(address, { headers: { "X-Requested-With": "fetch" } }).catch(() => null);
  if (mine !== turn) return;
  if (!answer?.ok || answer.redirected) return void location.assign(address);
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  list.replaceChildren(...[...page.querySelectorAll("#finds a")].map(option));
  says.textContent = list.childElementCount ? "" : "No match.";
  choose(0);
}

function option(link, place) {
  const item = document.createElement("li");
  item.id = `find-${place}`;
  item.setAttribute("role", "option");
  item.dataset.href = link.getAttribute("href");
  item.append(...link.childNodes);
  return item;
}

const choice = () => list.querySelector("[aria-selected=true]");

function choose(place) {
  const items = [...list.children];
  const item = items[(place + items.length) % items.length];
  for (const each of items) each.setAttribute("aria-selected", String(each === item));
  if (item) box.setAttribute("aria-activedescendant", item.id);
  else box.removeAttribute("aria-activedescendant");
  item?.scrollIntoView({ block: "nearest" });
}

const open = (item) => item && location.assign(item.dataset.href);

function show() {
  if (dialog.open) return;
  box.value = "";
  dialog.showModal();
  ask();
}

let typing;
box.addEventListener("input", () => {
  clearTimeout(typing);
  turn += 1; // what is under way answers something else
  typing = setTimeout(ask, PAUSE);
});
box.addEventListener("keydown", (event) => {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (step) choose([...list.children].indexOf(choice()) + step);
  else if (event.key === "Enter") open(choice());
  else return;
  event.preventDefault();
});
list.addEventListener("click", (event) => open(event.target.closest("li")));
dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());

button.addEventListener("click", (event) => {
  if (event.metaKey || event.ctrlKey || event.shiftKey) return;
  event.preventDefault();
  show();
});
document.addEventListener("keydown", (event) => {
  if (!(event.ctrlKey || event.metaKey) || event.altKey || event.key.toLowerCase() !== "k") return;
  event.preventDefault();
  show();
});

// --- The menu's parts: a press elsewhere closes them, and so does Escape ---

const parts = document.querySelectorAll(".screens__part");
document.addEventListener("click", (event) => {
  for (const part of parts) if (!part.contains(event.target)) part.open = false;
});
document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape") return;
  for (const part of parts) {
    if (part.open && part.contains(document.activeElement)) part.firstElementChild.focus();
    part.open = false;
  }
});
