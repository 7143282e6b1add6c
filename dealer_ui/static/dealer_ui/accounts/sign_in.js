// The pad on an enrolled terminal: its keys type into the field that is in use. A real keyboard works as it is.
(() => {
  const pad = document.querySelector("[data-pad]");
  if (!pad) return;
  const fields = [...pad.querySelectorAll("input:not([type=hidden])")];
  const go = pad.querySelector("[data-go]");
  let field = fields.find((one) => one.autofocus) ?? fields[0];

  const use = (chosen) => {
    field = chosen;
    field.focus();
  };

  for (const one of fields) {
    one.inputMode = "none"; // the pad is here, so the device's own keyboard need not cover it
    one.addEventListener("focus", () => {
      field = one;
      go.textContent = one === fields.at(-1) ? pad.dataset.pad : "Next";
    });
    one.addEventListener("beforeinput", (event) => {
      if (event.data && /[^0-9]/.test(event.data)) event.preventDefault();
    });
    one.addEventListener("keydown", (event) => {
      if (event.key === "Escape") one.value = "";
    });
  }

  pad.addEventListener("pointerdown", (event) => {
    if (event.target.closest("button")) event.preventDefault(); // the field keeps the focus
  });
  pad.addEventListener("click", (event) => {
    const key = event.target.closest("button[type=button]");
    if (!key) return;
    if (key.dataset.digit && field.value.length < field.maxLength) field.value += key.dataset.digit;
    if ("delete" in key.dataset) field.value = field.value.slice(0, -1);
  });

  // Enter and the last key go on to the next field first. Checking is left to the server once both are filled in.
  pad.noValidate = true;
  pad.addEventListener("submit", (event) => {
    const empty = fields.find((one) => !one.value);
    if (empty) {
      event.preventDefault();
      use(empty);
    }
  });

  pad.querySelector("[data-keys]").hidden = false;
  pad.querySelector("[data-plain]").hidden = true;
})();
