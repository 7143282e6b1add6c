// The page of one seat: drawn anew when its table has moved. Without this script the page works by reloading it.
"use strict";

(() => {
  const live = document.getElementById("live");
  const spoken = document.getElementById("spoken");
  const board = () => document.getElementById("board");
  const PAUSE_MS = 1500;
  let busy = false;
  let heard = 0; // where the table stands, by the stream
  let later = 0;
  let stream = null;

  // --- The house ---

  // Whether it let an answer wait: it is away, or asks this page to wait. A page that refuses is an answer.
  const isPutOff = ({ status, headers }) =>
    status >= 500 || (status === 429 && headers.get("Content-Type")?.startsWith("text/plain"));

  const pauseOf = (answer) => 1000 * Number(answer?.headers.get("Retry-After")) || PAUSE_MS;

  // --- Drawing ---

  // Others may choose while somebody here is still putting cards together: what is asked stays as it is until it is
  // asked no more.
  const draw = (text, whole) => {
    const fresh = new DOMParser().parseFromString(text, "text/html").getElementById("board");
    if (!fresh) {
      location.reload();
      return;
    }
    if (Number(fresh.dataset.seq) < Number(board().dataset.seq)) return;
    const said = board().dataset.says;
    const focused = document.activeElement && document.activeElement.id;
    if (fresh.dataset.says !== said || whole) spoken.textContent = fresh.dataset.says;
    if (!whole && fresh.dataset.asked !== "0" && fresh.dataset.asked === board().dataset.asked) {
      board().dataset.seq = fresh.dataset.seq;
      document.getElementById("seen").replaceWith(fresh.querySelector("#seen"));
      return;
    }
    board().replaceWith(fresh);
    dress();
    const again = focused && document.getElementById(focused);
    if (again) again.focus();
    else if (whole) document.getElementById("says").focus();
  };

  const lamp = (state, says, code = state) => {
    document.getElementById("lamp").dataset.state = state;
    document.getElementById("lamp").dataset.code = code;
    document.getElementById("lamp-says").textContent = says;
  };

  const look = async () => {
    clearTimeout(later);
    if (busy) return;
    const answer = await fetch(live.dataset.board, { cache: "no-store", referrerPolicy: "no-referrer" });
    if (answer.status === 404) location.reload();
    if (answer.ok) draw(await answer.text(), false);
    else if (isPutOff(answer)) later = setTimeout(lookIfMoved, pauseOf(answer)); // nobody announces that it may ask again
  };

  const lookIfMoved = () => {
    if (heard > Number(board().dataset.seq)) look().catch(() => {});
  };

  // --- Choosing ---

  document.addEventListener("submit", async (event) => {
    event.preventDefault();
    if (busy) return;
    busy = true;
    board().setAttribute("aria-busy", "true");
    const form = event.target;
    const sent = new URLSearchParams(new FormData(form, event.submitter));
    let left = 3;
    while (left--) {
      let answer = null;
      try {
        const options = { method: "POST", body: sent, headers: { "X-Part": "board" }, referrerPolicy: "no-referrer" };
        answer = await fetch(form.action, options);
        if (isPutOff(answer)) throw new Error("away");
        busy = false;
        draw(await answer.text(), true);
        lampOfStream();
        lookIfMoved();
        return;
      } catch {
        // The same key: whatever became of the first, it is recorded once.
        lamp("off", "Trying again", "sending_again");
        await new Promise((done) => setTimeout(done, pauseOf(answer)));
      }
    }
    busy = false;
    board().removeAttribute("aria-busy");
    lamp("off", "Not sent: choose again", "not_sent");
    lookIfMoved();
  });

  // --- Cards that are put together ---

  const dress = () => {
    document.querySelectorAll("form[data-ordered]").forEach(dressOrder);
    document.querySelectorAll("form[data-most]").forEach(dressSet);
  };

  const dressSet = (form) => {
    const most = Number(form.dataset.most);
    const confirm = form.querySelector("[data-confirm]");
    const label = confirm.textContent;
    const tell = () => {
      const chosen = [...form.querySelectorAll(":checked")].map((box) => box.value);
      confirm.textContent = chosen.length ? `${label} ${chosen.join(", ")}` : `${label} nothing`;
      form.querySelectorAll("[type=checkbox]").forEach((box) => {
        box.disabled = !box.checked && chosen.length >= most;
      });
    };
    form.addEventListener("change", tell);
    tell();
  };

  const dressOrder = (form) => {
    const places = [...form.querySelectorAll(".place")];
    const confirm = form.querySelector("[data-confirm]");
    const label = confirm.textContent;
    let order = [];
    const tell = () => {
      places.forEach((place) => {
        const at = order.indexOf(place);
        const rank = place.querySelector("[name=card]").value;
        const button = place.querySelector("button");
        button.classList.toggle("placed", at >= 0);
        button.setAttribute("aria-pressed", String(at >= 0));
        button.setAttribute("aria-label", at >= 0 ? `${rank}, place ${at + 1}` : `${rank}`);
        button.querySelector(".place__number")?.remove();
        if (at < 0) return;
        place.querySelector("select").value = String(at + 1);
        const number = document.createElement("span");
        number.className = "place__number";
        number.textContent = String(at + 1);
        button.append(number);
      });
      const ranks = order.map((place) => place.querySelector("[name=card]").value);
      confirm.disabled = order.length < places.length;
      confirm.textContent = ranks.length ? `${label}: ${ranks.join(" ")}` : label;
    };
    places.forEach((place) => {
      place.querySelector("select").hidden = true;
      const card = place.querySelector("label");
      const button = document.createElement("button");
      button.type = "button";
      button.className = "cardtap";
      button.append(card.querySelector("svg"));
      card.replaceWith(button);
      button.addEventListener("click", () => {
        order = order.includes(place) ? order.filter((one) => one !== place) : [...order, place];
        tell();
      });
    });
    tell();
  };

  // --- Listening: each event is a hint that the table has moved ---

  const lampOfStream = () => {
    if (stream.readyState === EventSource.OPEN) lamp("live", "Live");
    else lamp("off", "Reconnecting");
  };

  const listen = () => {
    stream = new EventSource(live.dataset.live);
    stream.addEventListener("open", () => lamp("live", "Live"));
    stream.addEventListener("table", (event) => {
      heard = Math.max(heard, Number(event.data) || 0);
      lookIfMoved();
    });
    stream.addEventListener("error", () => {
      lamp("off", "Reconnecting");
      if (stream.readyState !== EventSource.CLOSED) return;
      stream.close();
      setTimeout(() => look().then(listen, listen), 3000);
    });
  };

  dress();
  listen();
})();
