// A table is found by a part of its name; Enter takes the only one that is left. Without this script all are listed.

const sought = document.querySelector("[data-sought]");
const field = sought?.querySelector("#seek");

const isMeant = (pick) => pick.querySelector(".pick__name").textContent.toLowerCase().includes(field.value.trim().toLowerCase());

function seek() {
  const picks = [...sought.querySelectorAll("li")];
  for (const pick of picks) pick.hidden = !isMeant(pick);
  sought.querySelector("[data-none]").hidden = picks.some((pick) => !pick.hidden);
}

if (field) {
  sought.querySelector("[data-seek]").hidden = false;
  field.addEventListener("input", seek);
  field.addEventListener("keydown", (event) => {
    const left = [...sought.querySelectorAll("li:not([hidden]) button:not([disabled])")];
    if (event.key === "Enter" && left.length === 1) left[0].click();
  });
  seek();
}
