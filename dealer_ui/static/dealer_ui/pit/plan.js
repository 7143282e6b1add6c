// The plan follows the floor: fetched anew every ten seconds, and replaced where something changed; the focus stays.
"use strict";

const EVERY_MS = 10_000;

async function look() {
  if (document.hidden) return;
  try {
    const answer = await fetch(location.href);
    if (!answer.ok || answer.redirected) return;
    const plans = new DOMParser().parseFromString(await answer.text(), "text/html").getElementById("plans");
    const here = document.getElementById("plans");
    if (!plans || plans.innerHTML === here.innerHTML) return;
    const focused = document.activeElement?.id;
    here.replaceWith(plans);
    if (focused) document.getElementById(focused)?.focus();
  } catch {
    // The next look will say.
  }
}

setInterval(look, EVERY_MS);
