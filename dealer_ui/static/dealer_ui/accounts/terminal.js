// This terminal's page: a key is made in its browser, and signs for the keys of others.
"use strict";

(async () => {
  const show = (name) => document.querySelector(`[${name}]`)?.removeAttribute("hidden");
  if (!terminalKey.isPossible()) {
    show("data-impossible");
    return;
  }
  const shown = document.querySelector(".terminal__print[data-key]");
  const makes = document.querySelector("form[data-make]");
  const send = (form, values) => {
    for (const [name, value] of Object.entries(values)) form.elements[name].value = value;
    form.submit();
  };

  makes?.addEventListener("submit", async (event) => {
    event.preventDefault();
    if (makes.dataset.sending) return;
    makes.dataset.sending = "yes";
    const { terminal, challenge, old } = makes.dataset;
    const key = await terminalKey.make();
    const format = "terminal-key/1";
    const proof = await terminalKey.sign(key, { format, challenge, key: key.public, terminal });
    const before = old ? await terminalKey.known(old) : null;
    const vouch = { format: "terminal-vouch/1", by: terminal, key: key.fingerprint, terminal };
    const values = { key: key.public, proof, challenge, old: before ? await terminalKey.sign(before, vouch) : "" };
    await terminalKey.keep(key);
    send(makes, values);
  });

  for (const form of document.querySelectorAll("form[data-vouch]")) {
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      const key = await terminalKey.known(form.dataset.key);
      if (!key) {
        show("data-lost");
        return;
      }
      const { name, fingerprint } = form.elements;
      const vouch = { format: "terminal-vouch/1", by: form.dataset.by, key: fingerprint.value, terminal: name.value };
      send(form, { signature: await terminalKey.sign(key, vouch) });
    });
  }

  if (shown && !(await terminalKey.known(shown.dataset.key))) show("data-lost");
  if (makes?.dataset.auto) makes.requestSubmit();
})();
