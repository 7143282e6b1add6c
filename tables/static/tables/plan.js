// A pit's plan: tables are dragged, or moved a step by the arrow keys; the fields of the form hold where they stand.
"use strict";

const plan = document.getElementById("plan");
const says = document.getElementById("plan-says");
const STEPS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

const field = (table, axis) => document.querySelector(`[name="${axis}-${table.dataset.table}"]`);
const spot = (table) => [Number(field(table, "x").value), Number(field(table, "y").value)];
const within = (value, most) => Math.max(0, Math.min(Number(most), Math.round(value)));

function upon(table) {
  const [left, top] = spot(table);
  return [...plan.querySelectorAll("[data-table]")].find((other) => {
    if (other === table) return false;
    const [x, y] = spot(other);
    return Math.abs(x - left) < Number(plan.dataset.wide) && Math.abs(y - top) < Number(plan.dataset.high);
  });
}

function draw(table) {
  const [left, top] = spot(table);
  table.setAttribute("transform", `translate(${left} ${top})`);
  const words = `${table.dataset.name}: ${left} from the left, ${top} from the top`;
  table.setAttribute("aria-label", words);
  for (const each of plan.querySelectorAll("[data-table]")) each.classList.toggle("is-upon", Boolean(upon(each)));
  return words;
}

function put(table, left, top, aloud) {
  field(table, "x").value = within(left, plan.dataset.right);
  field(table, "y").value = within(top, plan.dataset.bottom);
  const words = draw(table);
  const other = upon(table);
  if (aloud) says.textContent = other ? `${words}, upon ${other.dataset.name}` : words;
}

if (plan?.hasAttribute("data-draws")) {
  plan.addEventListener("keydown", (event) => {
    const table = event.target.closest("[data-table]");
    if (!table || !(event.key in STEPS)) return;
    event.preventDefault();
    const [left, top] = spot(table);
    put(table, left + STEPS[event.key][0], top + STEPS[event.key][1], true);
  });

  let held = null;
  const place = (event) => new DOMPoint(event.clientX, event.clientY).matrixTransform(plan.getScreenCTM().inverse());

  plan.addEventListener("pointerdown", (event) => {
    const table = event.target.closest("[data-table]");
    if (!table) return;
    const at = place(event);
    const [left, top] = spot(table);
    held = { table, dx: at.x - left, dy: at.y - top };
    plan.setPointerCapture(event.pointerId);
    table.focus();
    event.preventDefault();
  });
  plan.addEventListener("pointermove", (event) => {
    if (!held) return;
    const at = place(event);
    put(held.table, at.x - held.dx, at.y - held.dy, false);
  });
  plan.addEventListener("pointerup", () => {
    if (held) put(held.table, ...spot(held.table), true);
    held = null;
  });
  plan.addEventListener("pointercancel", () => (held = null));
  document.getElementById("plan-form").addEventListener("input", () => plan.querySelectorAll("[data-table]").forEach(draw));
}
