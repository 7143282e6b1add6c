// Keys of the practice felt: the letter or figure on a button presses it. Enter presses none, for an amount is not
// said until it is said which way it goes.
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.altKey || event.metaKey || event.repeat) return;
  if (event.key === "Enter" && event.target.id === "amount") {
    event.preventDefault();
    return;
  }
  const button = document.querySelector(`[data-key="${CSS.escape(event.key.toLowerCase())}"]`);
  if (!button) return;
  event.preventDefault();
  button.click();
});
