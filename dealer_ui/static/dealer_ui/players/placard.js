// Keeps a sign up to date: asks by its tag, and draws the page anew only when it changed.
"use strict";

const EVERY_MS = 15_000;
const LOST_MS = 90_000;

let tag = "";
let heard = Date.now();

const lost = document.getElementById("lost");

async function look() {
  try {
    const answer = await fetch(location.href, { headers: tag ? { "If-None-Match": tag } : {}, cache: "no-store", credentials: "omit" });
    if (answer.status === 304) heard = Date.now();
    else if (answer.ok || answer.status === 404) {
      heard = Date.now();
      tag = answer.headers.get("ETag") || "";
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      const main = page.getElementById("main");
      const here = document.getElementById("main");
      if (main && main.innerHTML !== here.innerHTML) {
        here.replaceWith(main);
        document.title = page.title;
      }
    }
  } catch {
    // The sign says below since when nobody answered.
  }
  const isLost = Date.now() - heard > LOST_MS;
  if (isLost) document.getElementById("lost-since").textContent = new Date(heard).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });
  lost.hidden = !isLost;
}

setInterval(look, EVERY_MS);
document.addEventListener("visibilitychange", () => document.hidden || look());
