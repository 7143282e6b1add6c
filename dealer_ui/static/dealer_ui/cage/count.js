// The sum of what is counted, as it is typed: of each group by itself. Everything works without it.
"use strict";

const sumUp = (group) => {
  const sum = group?.querySelector("[data-sum]");
  if (!sum) return;
  let cents = 0;
  for (const input of group.querySelectorAll("[data-value]")) {
    const count = /^\d+$/.test(input.value) ? Number(input.value) : 0;
    cents += count * Number(input.dataset.value);
  }
  const rest = String(cents % 100).padStart(2, "0");
  sum.value = Math.floor(cents / 100).toLocaleString("en") + (rest === "00" ? "" : "." + rest);
};

const sumUpAll = () => document.querySelectorAll("[data-count] .count").forEach(sumUp);

document.addEventListener("input", (event) => sumUp(event.target.closest("[data-count] .count")));
document.addEventListener("beside:drawn", sumUpAll);
sumUpAll();
