// A pad of figures, which types into a field. Any field of the page may have one (_pad.html names it).

/** The field and the figure that a tap stands for; nothing where no key of a pad was tapped. */
export function padKey(target) {
  const key = target.closest("[data-figure]");
  return key && { field: document.getElementById(key.closest(".numpad").dataset.for), figure: key.dataset.figure };
}

/** Type a figure as a keyboard would. */
export function typeFigure(field, figure) {
  const text = figure === "Backspace" ? field.value.slice(0, -1) : field.value + figure;
  if (field.maxLength >= 0 && text.length > field.maxLength) return;
  field.value = text;
  field.dispatchEvent(new Event("input", { bubbles: true }));
}

/** Where there is a pad, the tablet's own keyboard need not cover the table. */
export function spareKeyboard(field) {
  if (field.id && document.querySelector(`.numpad[data-for="${field.id}"]`)) field.inputMode = "none";
}
