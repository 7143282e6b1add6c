// What somebody signs on this terminal, the terminal signs too: over what stands in the form as it is sent.
"use strict";

for (const form of document.querySelectorAll("form")) {
  const field = form.querySelector("[data-attests]");
  if (!field) continue;
  const says = form.querySelector("[data-attests-says]");

  // What was counted; or, by the other fields, what a delivery note says.
  const counts = (prefix = "n") => {
    const pairs = [];
    for (const input of form.querySelectorAll(`[data-value][name^="${prefix}"]`)) {
      const count = /^\d+$/.test(input.value.trim()) ? Number(input.value) : 0;
      if (count) pairs.push([Number(input.dataset.value), count]);
    }
    return pairs.sort(([one], [other]) => other - one);
  };

  const cents = () => counts().reduce((sum, [value, count]) => sum + value * count, 0);

  const facts = () => {
    const texts = {};
    for (const input of form.querySelectorAll('[name^="fact-"]')) {
      const text = input.type === "checkbox" && !input.checked ? "" : input.value.trim();
      if (text) texts[input.name.slice("fact-".length)] = text;
    }
    return texts;
  };

  // Of which series each kind is that passes the counter: as chosen, or else the only one that is given out.
  const ofSeries = (button) => {
    const passing = new Set(counts().map(([value]) => value));
    const pairs = [];
    for (const field of form.querySelectorAll("[data-of-series]")) {
      const name = field.value || (button?.value === "sell" ? (field.dataset.givenOut ?? "") : "");
      const value = Number(field.dataset.ofSeries);
      if (name && name !== "none" && passing.has(value)) pairs.push([value, name]);
    }
    return pairs.sort(([one], [other]) => other - one);
  };

  // The page says what is signed; what it leaves open (null) is what was typed.
  const statement = (button) => {
    const value = (name) => form.elements[name]?.value ?? "";
    const typed = {
      badge: () => value("badge"),
      box: () => value("box").trim(),
      cents,
      chips: () => counts(),
      facts,
      input: () => value("key").toLowerCase(),
      noted: () => counts("d"),
      of_series: () => ofSeries(button),
      reason: () => value("reason").trim().replace(/\s+/g, field.dataset.words ? " " : (gap) => gap),
      stage: () => ({ sell: "sold", redeem: "redeemed" })[button?.value] ?? "",
    };
    const whole = JSON.parse(field.dataset.attests);
    for (const name of Object.keys(whole)) if (whole[name] === null) whole[name] = typed[name]();
    if (whole.of_series?.length === 0) delete whole.of_series;
    return whole;
  };

  const refuse = (sentence) => {
    says.querySelector("[data-attests-sentence]").textContent = sentence;
    says.hidden = false;
  };

  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    if (form.dataset.sending) return;
    form.dataset.sending = "yes";
    const button = event.submitter;
    try {
      const key = terminalKey.isPossible() ? await terminalKey.known(field.dataset.key) : null;
      if (key) {
        const terminal = JSON.parse(field.dataset.attests).terminal;
        const signature = await terminalKey.sign(key, statement(button));
        field.value = JSON.stringify({ terminal, key: key.fingerprint, signature });
      } else if (field.dataset.demanded) {
        delete form.dataset.sending;
        refuse(field.dataset.lost);
        return;
      }
    } catch (error) {
      if (field.dataset.demanded) {
        delete form.dataset.sending;
        refuse(field.dataset.lost);
        return;
      }
    }
    if (button?.name) {
      const pressed = Object.assign(document.createElement("input"), { type: "hidden", name: button.name });
      pressed.value = button.value;
      form.append(pressed);
    }
    form.submit();
  });
  // A page that the browser kept is sent anew when somebody comes back to it.
  addEventListener("pageshow", () => delete form.dataset.sending);
}
