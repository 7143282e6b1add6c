// A key opens what it stands for; not while something is typed.
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.altKey || event.metaKey || event.target.closest("input, select, textarea")) return;
  const key = event.key.length === 1 ? event.key.toUpperCase() : event.key;
  const way = document.querySelector(`[data-hotkey="${CSS.escape(key)}"]`);
  if (!way) return;
  event.preventDefault();
  way.click();
});
