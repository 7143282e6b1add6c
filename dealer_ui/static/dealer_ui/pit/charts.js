// Arrows walk along the marks of a plot: by Tab one is reached, by arrows all of them. Without this file a press shows
// each, and the list beside the plot has its numbers.
const STEPS = { ArrowRight: 1, ArrowLeft: -1 };

document.addEventListener("keydown", (event) => {
  const mark = event.target.closest?.("[data-mark]");
  if (!mark || event.ctrlKey || event.altKey || event.metaKey) return;
  const marks = [...mark.closest(".plot").querySelectorAll("[data-mark]")];
  const next = destination(event.key, marks, marks.indexOf(mark));
  if (!next) return;
  event.preventDefault();
  next.focus();
});

function destination(key, marks, place) {
  if (key === "Home") return marks[0];
  if (key === "End") return marks.at(-1);
  return key in STEPS ? marks[place + STEPS[key]] : undefined;
}
