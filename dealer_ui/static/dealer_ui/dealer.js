// The dealer's keyboard, touch and line. The server draws every board; this only decides which key is sent, and when.
//
// One input is on its way at a time. A dealer who deals fast types ahead of the answer, and a keyed card must neither
// be lost nor land on a prompt that it was not meant for. Ignoring the keys in between would do just that: of 8 4 10
// the 4 would be dropped and the 10 become the second seat's card. So keys typed ahead are kept in order, shown above
// the keys, and sent one by one, each on the board that answered the one before. That is sound because the k-th card
// keyed is the k-th card turned, whoever it is for; it stops being sound as soon as anything unexpected happens. Then
// all that waits is dropped and named, and the keys are shut until the dealer has looked and says "go on":
//   - an input before it was refused, or the board asks for something else than was typed for (cards, or bets);
//   - a card key came again within a moment, or while it was on its way: one finger or two cards? The dealer knows.
// Nothing is typed ahead of a step that has to be seen first: paying, the shoe, a house shoe's cards, and whatever a
// choice names that is no card turned (a seat, a count, a card that lies there).
//
// Where a choice names more than one thing, its key opens a pane of further keys; only the open pane's keys are heard.
//
// When the line is lost, the input stays as it is, with its key, and is sent again until the table answers; the key
// makes sure that it is recorded once. The dealer may also drop it: then the board says whether it had arrived.
"use strict";

(() => {
  const BOUNCE_MS = 300;
  const PAUSE_MS = 500; // before the first retry; each further one comes after twice the time
  const LONGEST_PAUSE_MS = 15000;
  const EXPECTED_AFTER = { card: "cards", choose: "cards", close_bets: "cards", take_back: "cards", bet: "bets", buy_in: "seats" };
  const CARD_LIKE = ["card", "choose"];

  let flying = null; // the input on its way: {form, button, name, does}
  let ahead = []; // keys typed since, in order
  let expects = ""; // the mode that they were typed for
  let shut = ""; // why no key is taken until the dealer has looked
  let note = ""; // what became of the last key, if nothing did
  let lost = 0; // how often the line has failed since it last worked
  let retry = 0; // the timer of the next attempt
  let sent = false; // whether the input is under way just now; between two attempts it is not
  let finger = { name: "", by: "", at: -Infinity }; // the key or button pressed last
  let byKey = false; // whether a form is sent on behalf of a key
  let heard = 0; // the newest sequence number that the live stream told of
  let lampState = ["wait", "Connecting"]; // how the live stream is doing; a fresh board does not know
  let kept = {}; // what was half typed when a refresh came
  let count = ""; // the figures of a count so far

  const at = (id) => document.getElementById(id);
  const board = () => at("board");
  const mode = () => board().dataset.mode;
  const seq = () => Number(board().dataset.seq || 0);
  const meant = () => (flying ? EXPECTED_AFTER[flying.does] : mode()); // what keys stand for just now
  const spell = (key, as = meant()) => (key === "0" && as === "cards" ? "10" : key === "Backspace" ? "Take back" : key);

  // --- Pressing ---

  function press(key, moment) {
    const again = isAgain(key, "key", moment);
    if (shut) return key === "Enter" || key === "Escape" ? goOn() : insist();
    if (lost) return insist();
    if (again && !isFigure(key)) return once(spell(key), /^\d$/.test(key) || isCardLike(boardButton(key)));
    if (flying) return typeAhead(key);
    return act(key);
  }

  /** The button that a key stands for, if it is in sight and names anything. */
  const boardButton = (key) =>
    [...board().querySelectorAll(`[data-hotkey="${key}"]`)].find((one) => !one.disabled && one.getClientRects().length);
  const isCardLike = (button) => CARD_LIKE.includes(button?.dataset.does);

  const AMOUNTS = ["bets", "seats"]; // where figures make an amount
  const openPane = () => board().querySelector(".pane.is-open");
  const typedCount = () => openPane()?.querySelector(".pane__count");

  /** Whether a key only writes an amount or a count: figures may well follow each other. */
  const isFigure = (key) =>
    /^([\d.,-]|Backspace|Arrow\w+)$/.test(key) && (AMOUNTS.includes(meant()) || Boolean(typedCount()));

  /** Whether this may be the same finger again: within a moment, or while the same key is on its way. */
  function isAgain(name, by, moment) {
    const bounced = name === finger.name && by === finger.by && moment - finger.at < BOUNCE_MS;
    finger = { name, by, at: moment };
    return bounced || (name === flying?.name && !ahead.length);
  }

  function once(label, cardLike) {
    const words = `${label} came twice at once and was entered once.`;
    if (cardLike) stop(words);
    else say(words);
  }

  /** Do what a key means on this board. False when it means nothing there. */
  function act(key) {
    if (AMOUNTS.includes(mode()) && at("bet") && composing(key)) return true;
    if (typedCount() && counting(key)) return true;
    const button = boardButton(key);
    if (button?.dataset.opens !== undefined) show(button.dataset.opens);
    else if (button) send(button);
    else if (!/^(Escape|Arrow\w+)$/.test(key)) say(`${spell(key)} does nothing here.`);
    return Boolean(button);
  }

  /** Open a pane of keys; without a name, the first one. */
  function show(name) {
    for (const pane of board().querySelectorAll(".pane")) pane.classList.toggle("is-open", pane.dataset.pane === name);
    count = "";
    const says = openPane()?.getAttribute("aria-label");
    if (says) speak("spoken", says);
  }

  /** What a key means while a count is typed that one figure does not say. */
  function counting(key) {
    if (/^\d$/.test(key)) count += key;
    else if (key === "Backspace" && count) count = count.slice(0, -1);
    else if (key === "Enter") enterCount();
    else return false;
    if (typedCount()) typedCount().textContent = count && `${count} ⏎`;
    return true;
  }

  function enterCount() {
    const button = openPane().querySelector(`[data-count="${Number(count)}"]`);
    if (!count) say("Type how many first.");
    else if (button) send(button);
    else say(`${count} cannot be chosen.`);
    count = "";
  }

  function send(button) {
    byKey = true;
    button.form.requestSubmit(button);
    byKey = false;
  }

  function typeAhead(key) {
    if (key === "Backspace" && ahead.length) {
      ahead.pop();
      return draw();
    }
    const wanted = EXPECTED_AFTER[flying.does];
    const usual = AMOUNTS.includes(mode()) || mode() === "cards";
    if (!wanted || !usual) return say(`${spell(key)} was not entered: the table is still answering.`);
    expects = wanted;
    ahead.push(key);
    return draw();
  }

  /** Whether a form may be sent now; every input passes here, whether by key, by touch or by click. */
  function admit(form, button) {
    const name = button.dataset.hotkey || button.id || button.value;
    const again = !byKey && isAgain(name, "touch", performance.now());
    if ((shut && !byKey) || lost) { // keys typed ahead of a doubt are still entered
      insist();
      return false;
    }
    if (again) {
      once(labelOf(button), isCardLike(button));
      return false;
    }
    if (flying) {
      if (button.dataset.hotkey) typeAhead(button.dataset.hotkey);
      else say("Not entered: the table is still answering.");
      return false;
    }
    if (["place", "brought"].includes(button.id) && !betIsWhole()) return false;
    if (at("look")) window.htmx.trigger("#look", "htmx:abort"); // a board that was asked for before this input is no answer to it
    flying = { form, button, name, does: button.dataset.does };
    note = "";
    button.classList.add("is-sent");
    board().setAttribute("aria-busy", "true");
    return true;
  }

  // --- Answers ---

  function answered() {
    count = "";
    const what = flying;
    flying = null;
    sent = false;
    online();
    const fresh = board();
    if (fresh.dataset.gone) return farewell();
    if (ahead.length && (fresh.dataset.refused || mode() !== expects)) dropAhead();
    if (what && fresh.dataset.refused) speak("warned", at("refused")?.innerText);
    compose();
    speak("spoken", [...fresh.querySelectorAll("[data-says]")].map((one) => one.dataset.says).join(" "));
    while (ahead.length && !flying) {
      if (act(ahead[0])) ahead.shift();
      else dropAhead();
    }
    draw();
    if (heard > seq() && !flying) look();
    return undefined;
  }

  function dropAhead() {
    const keys = ahead.map((key) => spell(key, expects)).join(" ");
    ahead = [];
    stop(`Not entered: ${keys}. Something else came before.`);
  }

  /** Take no more keys until the dealer has looked at the table. */
  function stop(why) {
    shut = why;
    speak("warned", why);
    draw();
  }

  function goOn() {
    shut = "";
    draw();
  }

  function insist() {
    const box = lost ? at("line") : at("typed");
    box.classList.remove("is-insisting");
    void box.offsetWidth; // starts the animation anew
    box.classList.add("is-insisting");
  }

  function farewell() {
    ahead = [];
    at("live").remove();
    at("look").remove();
    speak("warned", at("prompt").innerText);
  }

  // --- The line ---

  function offline(sentence) {
    lost += 1;
    sent = false;
    const unsure = "is not confirmed yet: it is sent again until the table answers, and recorded once.";
    at("line-says").textContent = flying ? `${sentence} “${labelOf(flying.button)}” ${unsure}` : sentence;
    at("line-drop").hidden = !flying;
    at("line-reload").hidden = true;
    at("line").hidden = false;
    document.body.classList.add("is-lost");
    window.clearTimeout(retry);
    retry = window.setTimeout(again, pause());
  }

  /** Ever longer, and not the same on every screen: they all lost the house at the same moment. */
  function pause() {
    return Math.min(PAUSE_MS * 2 ** (lost - 1), LONGEST_PAUSE_MS) * (0.75 + Math.random() / 2);
  }

  function online() {
    lost = 0;
    window.clearTimeout(retry);
    at("line").hidden = true;
    document.body.classList.remove("is-lost");
  }

  /** The same form, the same key: recorded once, however often it arrives. */
  function again() {
    window.clearTimeout(retry);
    if (!flying) look();
    else if (!sent) resend();
  }

  /** What fails is told by htmx's events, not by the promise. */
  function resend() {
    const { form } = flying;
    window.htmx.ajax("POST", form.action, { source: form, target: "#board", swap: "outerHTML" }).catch(() => undefined);
  }

  function dropFlying() {
    if (!flying) return;
    window.htmx.trigger(flying.form, "htmx:abort");
    flying.button.classList.remove("is-sent");
    flying = null;
    sent = false;
    ahead = [];
    at("line-says").textContent = "Dropped here. If the table had it already, the board will show it.";
    at("line-drop").hidden = true;
    look();
  }

  /** Fetch the board again; never while an input is on its way, for its answer is the newer board. By an event: htmx
   *  keeps one that comes during another for later, and the promise of such a one would be nobody's to catch. */
  function look() {
    if (!flying && at("look")) window.htmx.trigger("#look", "look");
  }

  function labelOf(button) {
    const key = button.querySelector("kbd")?.textContent ?? "";
    const label = button.getAttribute("aria-label") ?? button.textContent.replace(key, "");
    return label.trim().replace(/\s+/g, " ");
  }

  function lamp(state, words) {
    lampState = [state, words];
    if (!at("lamp")) return;
    at("lamp").dataset.state = state;
    at("lamp-says").textContent = words;
  }

  // --- Bets ---

  const dealtIn = () => [...board().querySelectorAll("input[name=plays]:checked")];
  const chosen = () => board().querySelector('input[name="seat"]:checked');

  /** What a key means while bets are taken: figures and chips make the amount, Enter places it. */
  function composing(key) {
    const amount = at("amount");
    if (/^[\d.,-]$/.test(key)) amount.value += key;
    else if (key === "Backspace" && amount.value) amount.value = amount.value.slice(0, -1);
    else if (key === "Enter" && amount.value) send(at("place"));
    else if (key === "ArrowLeft" || key === "ArrowRight") choose(key === "ArrowLeft" ? -1 : 1);
    else if (key === "R" && mode() === "bets") repeat();
    else if (key === "S" && mode() === "seats") sitOut();
    else return false;
    compose();
    return true;
  }

  function choose(step) {
    const seats = [...board().querySelectorAll('input[name="seat"]')];
    const from = seats.indexOf(chosen());
    const to = from < 0 ? (step > 0 ? 0 : seats.length - 1) : (from + step + seats.length) % seats.length;
    seats[to].checked = true;
  }

  function repeat() {
    const button = chosen()?.closest(".seat").querySelector(".seat__again");
    if (button) send(button);
    else say("This seat has no earlier bet to repeat.");
  }

  /** The chosen seat is dealt in to the next game, or sits it out. */
  function sitOut() {
    const plays = chosen()?.closest(".seat").querySelector("input[name=plays]");
    if (!plays) return say("Choose a seat with chips first: the arrow keys move along the seats.");
    plays.checked = !plays.checked;
    return say(`Seat ${plays.value} ${plays.checked ? "is dealt in" : "sits out"}.`);
  }

  function betIsWhole() {
    if (!chosen()) say(`Choose a seat first, then its ${mode() === "bets" ? "bet" : "chips"}.`);
    else if (!at("amount").value) say("Tap chips or type the amount first.");
    else return true;
    return false;
  }

  /** Bring the bet's form in line with the chosen seat and the amount so far. */
  function compose() {
    if (at("deals")) at("deals").textContent = `${dealtIn().length} ${dealtIn().length === 1 ? "seat" : "seats"}`;
    if (!at("bet")) return;
    const seat = chosen();
    const amount = at("amount").value;
    at("bet-seat").textContent = seat ? `seat ${seat.value}` : "the chosen seat";
    at("place").classList.toggle("button--primary", Boolean(amount));
    at("close")?.classList.toggle("button--primary", !amount);
    at("clear").disabled = !amount;
    at("off").disabled = !Number(seat?.dataset.bet);
    for (const mark of board().querySelectorAll(".seat__chosen")) {
      const free = mode() === "bets" ? "▼ bet here" : "▼ chips";
      mark.textContent = amount && mark.closest(".seat").contains(seat) ? `▼ ${amount}` : free;
    }
  }

  /** A chip is tapped: its value joins the amount, in whole cents. */
  function addChip(cents) {
    const amount = at("amount");
    const sum = Math.round(Number(amount.value.replace(/,/g, "") || 0) * 100) + cents;
    if (!Number.isSafeInteger(sum)) return;
    amount.value = sum % 100 ? (sum / 100).toFixed(2) : String(sum / 100);
    compose();
  }

  // --- Words on the screen ---

  function say(words) {
    note = words;
    speak("spoken", words);
    draw();
  }

  function speak(id, words) {
    at(id).textContent = "";
    window.requestAnimationFrame(() => (at(id).textContent = words ?? ""));
  }

  function draw() {
    const box = at("typed");
    if (!box) return;
    const waiting = ahead.length ? `Next: ${ahead.map((key) => spell(key, expects)).join(" ")}` : "";
    const words = shut || waiting || note;
    box.hidden = !words;
    box.classList.toggle("is-shut", Boolean(shut));
    at("typed-says").textContent = shut ? `${shut} Look at the table, then go on.` : words;
    at("go-on").hidden = !shut;
    lamp(...lampState);
  }

  // --- What the browser tells ---

  /** A form sends the button that was meant, also when it was a key, and when it is sent again. */
  document.addEventListener("htmx:configRequest", (event) => {
    const { formData, verb } = event.detail;
    if (verb !== "post" || !flying) return;
    sent = true;
    for (const name of ["input", "off", "chips", "deal"]) formData.delete(name);
    if (flying.button.name) formData.set(flying.button.name, flying.button.value);
  });

  document.addEventListener(
    "submit",
    (event) => {
      if (!event.target.hasAttribute("hx-post")) return;
      if (admit(event.target, event.submitter ?? event.target.querySelector("button"))) return;
      event.preventDefault();
      event.stopImmediatePropagation();
    },
    true,
  );

  const NAMED = ["Enter", "Backspace", "Escape", "ArrowLeft", "ArrowRight"];

  function nameKey(key) {
    if (NAMED.includes(key) || /^[\d.,-]$/.test(key)) return key;
    return /^[a-z]$/i.test(key) ? key.toUpperCase() : "";
  }

  /** Whether a field takes a key by itself. The amount's Enter is the table's, and so is whatever is typed ahead. */
  function isForField(field, key) {
    if (field.matches("[type=checkbox]") && key === "Enter") return false;
    if (!field.matches("input:not([type=radio])") || shut || lost) return false;
    if (field.id !== "amount") return true;
    return !flying && (key === "Backspace" ? Boolean(field.value) : !NAMED.includes(key));
  }

  document.addEventListener("keydown", (event) => {
    const key = nameKey(event.key);
    const focus = document.activeElement;
    if (!key || event.ctrlKey || event.metaKey || event.altKey || board().dataset.gone) return;
    if (isForField(focus, key)) return;
    if (key === "Enter" && focus.matches("button:focus-visible, a:focus-visible, summary:focus-visible")) return;
    event.preventDefault();
    if (!event.repeat) press(key, event.timeStamp); // when the finger came, however late a busy tablet says so
  });

  document.addEventListener("click", (event) => {
    const chip = event.target.closest(".chipkey");
    if (chip && !flying) addChip(Number(chip.dataset.cents));
    else if (chip) say("Not entered: the table is still answering.");
    event.target.closest("[data-more]")?.closest(".pane").classList.add("is-all");
    const opener = event.target.closest("[data-opens]");
    if (opener && !flying) show(opener.dataset.opens);
    tapSeat(event.target.closest(".seat"));
    if (event.target.closest("#clear")) at("amount").value = "";
    if (event.target.closest("#go-on")) goOn();
    if (event.target.closest("#line-retry")) again();
    if (event.target.closest("#line-drop")) dropFlying();
    compose();
    // After a touch the keyboard belongs to the table again, not to the button that was touched.
    if (event.detail) event.target.closest("button")?.blur();
  });
  /** A seat is tapped on the felt: where a seat is asked for, that is its key. */
  function tapSeat(seat) {
    const button = seat && openPane()?.querySelector(`[data-target="${seat.dataset.seat}"]`);
    if (button) button.click();
  }

  document.addEventListener("input", () => {
    finger = { name: "", by: "", at: -Infinity };
    compose();
  });
  document.addEventListener("change", (event) => {
    compose();
    if (event.target.name === "seat") event.target.blur();
  });
  window.addEventListener("online", () => lost && again());
  window.addEventListener("pageshow", (event) => event.persisted && look());

  document.addEventListener("htmx:beforeSwap", (event) => {
    const { xhr, requestConfig } = event.detail;
    if (flying && requestConfig.verb === "get") {
      event.detail.shouldSwap = false; // it was asked for before the input, whose form must stay to hear its answer
      return;
    }
    if (!xhr.responseText.includes('id="board"') && xhr.status < 500) {
      event.detail.shouldSwap = false;
      event.detail.isError = false;
      offline("This page is out of date: reload it.");
      window.clearTimeout(retry);
      at("line-reload").hidden = false;
      return;
    }
    // A refresh from outside must not wipe out what is half typed.
    kept = { plays: [...board().querySelectorAll("input[name=plays]")].filter((one) => one.checked !== one.defaultChecked) };
    if (requestConfig.verb !== "get") return;
    for (const field of board().querySelectorAll("input.input")) {
      if (field.value !== field.defaultValue) kept[field.id] = field.value;
    }
    kept.seat = chosen()?.value;
  });
  // Only when a board is settled are its forms htmx's; at once, so that no key can come in between.
  window.htmx.config.defaultSettleDelay = 0;
  document.addEventListener("htmx:afterSettle", (event) => {
    if (event.target.id !== "board") return;
    for (const was of kept.plays ?? []) {
      const plays = board().querySelector(`input[name="plays"][value="${was.value}"]`);
      if (plays) plays.checked = was.checked;
    }
    for (const [id, value] of Object.entries(kept)) if (!["seat", "plays"].includes(id) && at(id)) at(id).value = value;
    const seat = kept.seat && board().querySelector(`input[name="seat"][value="${kept.seat}"]`);
    if (seat) seat.checked = true;
    kept = {};
    answered();
  });
  document.addEventListener("htmx:sendError", () => offline("No connection."));
  document.addEventListener("htmx:timeout", () => offline("The table does not answer."));
  document.addEventListener("htmx:responseError", (event) => {
    const { xhr } = event.detail;
    const plain = xhr.getResponseHeader("Content-Type")?.startsWith("text/plain");
    offline(plain ? xhr.responseText.split(": ")[0].replace(/[^.]*$/, "") : "The house does not answer.");
  });

  document.addEventListener("htmx:sseOpen", () => {
    lamp("live", "Live");
    if (lost) again();
  });
  document.addEventListener("htmx:sseError", () => lamp("off", "Not live"));
  document.addEventListener("htmx:sseBeforeMessage", (event) => {
    event.preventDefault();
    heard = Math.max(heard, Number(event.detail.data) || 0);
    if (heard > seq() && !flying && !lost) look();
  });

  document.documentElement.classList.add("has-script");
  compose();
})();
