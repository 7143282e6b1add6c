// Passkeys: asks the house for a challenge, the device for an answer to it, and sends that back.

const form = document.querySelector("[data-passkey]");
const button = form?.querySelector("[data-use]");
const says = form?.querySelector("[data-says]");
const isNew = form ? "new" in form.dataset : false;

const bytes = (text) => Uint8Array.from(atob(text.replace(/-/g, "+").replace(/_/g, "/")), (sign) => sign.charCodeAt(0));
const text = (buffer) =>
  btoa(String.fromCharCode(...new Uint8Array(buffer))).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");

const send = async (address, fields) => {
  const body = new FormData(form);
  for (const [name, value] of Object.entries(fields)) body.set(name, value);
  const answer = await fetch(address, { method: "POST", body, headers: { Accept: "application/json" } });
  const isJson = (answer.headers.get("Content-Type") ?? "").includes("json");
  if (!answer.ok || !isJson) {
    const silent = { code: "no_answer", sentence: "The house did not answer: load the page again." };
    const { code, sentence } = isJson ? await answer.json() : silent;
    throw new Error(sentence, { cause: code });
  }
  return answer.json();
};

const descriptors = (list) => (list ?? []).map((key) => ({ ...key, id: bytes(key.id) }));

const create = async (options) => {
  const key = await navigator.credentials.create({
    publicKey: {
      ...options,
      challenge: bytes(options.challenge),
      user: { ...options.user, id: bytes(options.user.id) },
      excludeCredentials: descriptors(options.excludeCredentials),
    },
  });
  const { clientDataJSON, attestationObject } = key.response;
  return { key, response: { clientDataJSON: text(clientDataJSON), attestationObject: text(attestationObject) } };
};

const use = async (options) => {
  const key = await navigator.credentials.get({
    publicKey: {
      ...options,
      challenge: bytes(options.challenge),
      allowCredentials: descriptors(options.allowCredentials),
    },
  });
  const { clientDataJSON, authenticatorData, signature, userHandle } = key.response;
  return {
    key,
    response: {
      clientDataJSON: text(clientDataJSON),
      authenticatorData: text(authenticatorData),
      signature: text(signature),
      userHandle: userHandle ? text(userHandle) : null,
    },
  };
};

const sentences = {
  NotAllowedError: "The device gave no passkey: try again.",
  AbortError: "The device gave no passkey: try again.",
  InvalidStateError: "This device is registered already.",
  SecurityError: "Passkeys work where the house has a name: open it by that, not by the number of its address.",
};

const go = async () => {
  says.hidden = true;
  button.disabled = true;
  try {
    const options = await send(form.dataset.passkey, {});
    const { key, response } = await (isNew ? create(options) : use(options));
    const answer = { id: key.id, rawId: text(key.rawId), type: key.type, response, clientExtensionResults: {} };
    const { next } = await send(form.dataset.answer, { answer: JSON.stringify(answer) });
    window.location.assign(next);
  } catch (error) {
    says.textContent = sentences[error.name] ?? error.message;
    says.dataset.code = error.cause ?? error.name;
    says.hidden = false;
    button.disabled = false;
  }
};

if (form && window.PublicKeyCredential) {
  button.hidden = false;
  button.disabled = false;
  if (isNew) {
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      go();
    });
  } else {
    button.addEventListener("click", go);
  }
} else if (says) {
  says.textContent = "This browser has no passkeys, or the house is not behind TLS here.";
  says.hidden = !isNew;
}
