// The grid by keyboard: arrows walk from cell to cell as in a spreadsheet, one box ticks all rows, and what lies below a
// row is folded away. Without this script everything is in sight.
"use strict";

const grid = document.querySelector("table.cells");
const all = document.getElementById("grid-all");
const more = document.getElementById("grid-more");
const folds = [...(grid?.querySelectorAll("button[data-more]") ?? [])];

if (all) {
  all.hidden = false;
  all.addEventListener("change", () => {
    for (const box of grid.querySelectorAll("input[name=row]")) box.checked = all.checked;
  });
}

function fold(button, isOpen) {
  button.setAttribute("aria-expanded", String(isOpen));
  document.getElementById(button.dataset.more).hidden = !isOpen;
}

for (const button of folds) {
  button.hidden = false;
  fold(button, "open" in button.closest("tbody").dataset);
  button.addEventListener("click", () => fold(button, button.getAttribute("aria-expanded") === "false"));
}

if (more) {
  more.hidden = false;
  more.nextElementSibling.hidden = true;
  more.addEventListener("click", () => {
    const isOpen = more.getAttribute("aria-pressed") === "false";
    more.setAttribute("aria-pressed", String(isOpen));
    for (const button of folds) fold(button, isOpen);
  });
}

const STEPS = { ArrowUp: -1, ArrowDown: 1, Enter: 1 };

grid?.addEventListener("keydown", (event) => {
  const field = event.target;
  if (!(field instanceof HTMLInputElement) || event.ctrlKey || event.altKey || event.metaKey) return;
  if (!(event.key in STEPS) || field.type === "checkbox" && event.key === "Enter") return;
  const cell = field.closest("td");
  const rows = [...grid.querySelectorAll("tr.cells__row")];
  const next = rows[rows.indexOf(cell.parentElement) + STEPS[event.key]];
  event.preventDefault(); // Enter in a cell goes on; it does not send the form
  const target = next?.cells[cell.cellIndex].querySelector("input:not([type=hidden])");
  target?.focus();
  if (target?.type !== "checkbox") target?.select();
});

// Half an hour's typing is not lost to a wrong click.
let isTyped = false;
grid?.addEventListener("input", () => (isTyped = true));
document.getElementById("grid-form")?.addEventListener("submit", () => (isTyped = false));
addEventListener("beforeunload", (event) => isTyped && event.preventDefault());
