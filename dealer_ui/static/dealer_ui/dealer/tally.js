// Notes and chips are tapped instead of counted: a tap on one adds it, and the amount follows. Without this script the
// same fields take their numbers.

const amountOf = (tallies) => tallies.closest("form").querySelector(`[name="${tallies.dataset.tallies}"]`);
const counts = (tallies) => [...tallies.querySelectorAll("[data-value]")];

function add(label) {
  label.control.value = String((Number(label.control.value) || 0) + 1);
  label.control.dispatchEvent(new Event("input", { bubbles: true }));
}

/** The amount that notes and chips come to. */
function sumUp(tallies) {
  const cents = counts(tallies).reduce((sum, field) => sum + Number(field.dataset.value) * (Number(field.value) || 0), 0);
  amountOf(tallies).value = cents ? (cents / 100).toFixed(cents % 100 ? 2 : 0) : "";
}

document.addEventListener("click", (event) => {
  const label = event.target.closest("label[data-adds]");
  if (!label) return;
  event.preventDefault();
  add(label);
});

document.addEventListener("input", (event) => {
  const form = event.target.closest("form");
  const tallies = form?.querySelector("[data-tallies]");
  if (!tallies) return;
  if (tallies.contains(event.target)) sumUp(tallies);
  else if (event.target === amountOf(tallies)) for (const field of counts(tallies)) field.value = "";
});
