// A round is played back step by step without loading its page anew. Without this file each step is a page.

const playback = document.getElementById("playback");
const announcer = document.getElementById("announcer");

// Mark a step in the list, and scroll the list, not the page, so that it is seen.
function mark(step) {
  for (const link of document.querySelectorAll(".timeline__list a")) {
    if (link.dataset.step !== String(step)) {
      link.removeAttribute("aria-current");
      continue;
    }
    link.setAttribute("aria-current", "step");
    const list = link.closest("ol");
    const row = link.closest("li");
    const below = row.offsetTop + row.offsetHeight - list.clientHeight;
    list.scrollTop = Math.max(Math.min(list.scrollTop, row.offsetTop), below);
  }
}

async function showStep(step) {
  playback.dataset.step = step;
  playback.setAttribute("aria-busy", "true"); // what is drawn is the step before
  const answer = await fetch(`?playback&step=${step}`);
  if (!answer.ok || answer.redirected) return void location.reload();
  const text = await answer.text();
  if (playback.dataset.step !== String(step)) return; // another step was asked for meanwhile
  const focused = document.activeElement?.id;
  playback.innerHTML = text;
  playback.removeAttribute("aria-busy");
  history.replaceState(null, "", `?step=${step}`);
  announcer.textContent = playback.querySelector(".playback__text").textContent;
  mark(step);
  if (focused) document.getElementById(focused)?.focus({ preventScroll: true });
}

mark(playback.dataset.step);
document.addEventListener("click", (event) => {
  const link = event.target.closest("a[data-step]");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  showStep(Number(link.dataset.step));
});
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches("input, select, textarea")) return;
  const shown = Number(playback.dataset.step);
  const last = Number(playback.dataset.last);
  const wanted = { ArrowLeft: shown - 1, ArrowRight: shown + 1, Home: 1, End: last }[event.key];
  if (wanted === undefined) return;
  event.preventDefault();
  if (wanted >= 1 && wanted <= last && wanted !== shown) showStep(wanted);
});
