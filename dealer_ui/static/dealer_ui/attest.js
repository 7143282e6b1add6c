// What somebody signs on this terminal, the terminal signs too, and their passkey where the house wants that: over what
// stands in the form as it is sent. Forms that come into an open page later are signed like those it was loaded with.
"use strict";

/** What signs one form. */
const signatures = (form, field) => {
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

  // As the house reads an amount: 20, 2.50, 1,000. What it would refuse is signed as nothing, and refused.
  const amount = (text) => {
    const parts = /^\+?(\d{1,40}|\d{1,3}(?:,\d{3}){1,12})(?:\.(\d{1,2}))?$/.exec(text);
    return parts ? Number(parts[1].replaceAll(",", "")) * 100 + Number((parts[2] ?? "0").padEnd(2, "0")) : 0;
  };

  // By code points, as a verifier sorts.
  const compare = (one, other) => {
    const [ones, others] = [[...one], [...other]];
    for (let place = 0; place < Math.min(ones.length, others.length); place += 1) {
      if (ones[place] !== others[place]) return ones[place].codePointAt(0) - others[place].codePointAt(0);
    }
    return ones.length - others.length;
  };

  // The notes that a count puts apart, in the one order that an entry has them in.
  const apart = () => {
    const notes = [];
    for (const kind of form.querySelectorAll('select[name^="apart-"]')) {
      const typed = (name) => form.elements[kind.name.replace(/kind$/, name)].value.trim();
      if (kind.value) notes.push([kind.value, amount(typed("worth")), typed("envelope")]);
    }
    return notes.sort((one, other) => compare(one[0], other[0]) || one[1] - other[1] || compare(one[2], other[2]));
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
      apart,
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

  const refuse = (sentence, code) => {
    says.dataset.code = code ?? "";
    says.querySelector("[data-attests-sentence]").textContent = sentence;
    says.hidden = false;
  };

  // The terminal's own signature; null where it has no key. Throws where the house takes none without it.
  const byTerminal = async (whole) => {
    const { key: fingerprint, demanded, lost } = field.dataset;
    try {
      const key = terminalKey.isPossible() ? await terminalKey.known(fingerprint) : null;
      if (key) return { key: key.fingerprint, signature: await terminalKey.sign(key, whole) };
    } catch {
      // Said below, where it matters.
    }
    if (demanded) throw new Error(lost, { cause: "key_lost" });
    return null;
  };

  // Which passkeys may sign it: none where the house wants none. The house says so by the badge.
  const passkeysOf = async (whole) => {
    if (field.dataset.passkeyId) return [field.dataset.passkeyId];
    if (!field.dataset.passkeys) return [];
    const body = new FormData();
    for (const name of ["badge", "slip"]) body.set(name, whole[name]);
    body.set("csrfmiddlewaretoken", form.elements.csrfmiddlewaretoken.value);
    const asked = await fetch(field.dataset.passkeys, { method: "POST", body, headers: { Accept: "application/json" } })
      .then((answer) => (answer.ok ? answer.json() : null))
      .catch(() => null);
    if (!asked) throw new Error("The house did not answer: load the page again.");
    if (asked.sentence) throw new Error(asked.sentence, { cause: asked.code });
    return asked.credentials;
  };

  /** Sign what stands in the form, as this button sends it. Throws what a person has to read. */
  const sign = async (button) => {
    says.hidden = true;
    field.value = "";
    const whole = statement(button);
    const signed = await byTerminal(whole);
    const ids = await passkeysOf(whole);
    const passkey = ids.length ? await globalThis.passkey.sign(whole, ids) : null;
    const given = { terminal: field.dataset.terminal, ...signed, ...(passkey && { passkey }) };
    if (signed || passkey) field.value = JSON.stringify(given);
  };

  return { sign, refuse };
};

// A form is sent twice: first to be signed, then as it was signed. Whoever sends it hears of the second time alone.
document.addEventListener(
  "submit",
  async (event) => {
    const { target: form, submitter: button } = event;
    const field = form.querySelector("[data-attests]");
    if (!field) return;
    if (form.dataset.sending === "signed") {
      form.dataset.sending = "sent";
      return;
    }
    event.preventDefault();
    event.stopImmediatePropagation();
    if (form.dataset.sending) return;
    form.dataset.sending = "signing";
    const { sign, refuse } = signatures(form, field);
    try {
      await sign(button);
    } catch (error) {
      delete form.dataset.sending;
      refuse(error.message, error.cause);
      return;
    }
    form.dataset.sending = "signed";
    form.requestSubmit(button);
  },
  true,
);

// A page that the browser kept is sent anew when somebody comes back to it.
addEventListener("pageshow", () => {
  for (const form of document.querySelectorAll("form[data-sending]")) delete form.dataset.sending;
});
