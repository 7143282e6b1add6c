// The plan follows the floor by its stream: a tile that comes says what the table on the plan says. The page is fetched
// anew only where the stream tells of more than it brings: what moved before it began, a table that is not drawn here.
"use strict";

import { fetched, onCard, onSeq } from "./live.js";

const CALM = 1000; // milliseconds between two fetches
const SHORT = 18; // letters that a table has room for

const tableOf = (key) => document.getElementById(`plan-${key}`);

onCard((card) => {
  const table = tableOf(card.dataset.live);
  if (!table) return document.querySelector(".plans--one") ? undefined : again();
  if (Number(table.dataset.seq) > Number(card.dataset.seq)) return; // never an older one over a newer one
  const word = card.querySelector(".tile__need, .state").textContent.trim();
  const limits = card.querySelector(".tile__limits").lastChild.textContent.trim();
  const needs = card.classList.contains("is-needing");
  table.dataset.seq = card.dataset.seq;
  table.classList.toggle("is-open", !card.classList.contains("tile--closed"));
  table.classList.toggle("is-needing", needs);
  table.setAttribute("aria-label", `${table.dataset.name}: ${word}, ${limits.replace("–", " to ")}`);
  table.querySelector("title").textContent = `${table.dataset.name}: ${word}`;
  const short = word.length > SHORT ? `${word.slice(0, SHORT - 1)}…` : word;
  table.querySelector(".plan__word").textContent = needs ? `! ${short}` : short;
  table.querySelector(".plan__limits").textContent = limits;
});

onSeq((key, seq) => {
  if (Number(tableOf(key)?.dataset.seq) < seq) again();
});

let waits = false;

// What came meanwhile is in the one page that is fetched then.
async function again() {
  if (waits) return;
  waits = true;
  await new Promise((done) => setTimeout(done, CALM));
  waits = false;
  try {
    const plans = (await fetched(location.href)).getElementById("plans");
    const focused = document.activeElement?.id;
    document.getElementById("plans").replaceWith(plans);
    if (focused) document.getElementById(focused)?.focus({ preventScroll: true });
  } catch {
    // The stream comes back with where every table stands, and asks again.
  }
}

// A pit that somebody drew anew is no news of a table: it is looked for when the page is looked at.
document.addEventListener("visibilitychange", () => document.hidden || again());
