// A passkey signs on this page: its challenge is the digest of what the terminal signs too.
"use strict";

globalThis.passkey = (() => {
  const binary = (spelled) => Uint8Array.from(atob(spelled), (sign) => sign.charCodeAt(0));
  const base64 = (buffer) => btoa(String.fromCharCode(...new Uint8Array(buffer)));
  const hex = (buffer) => [...new Uint8Array(buffer)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  const digest = (text) => crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  const unpadded = (text) => text.replace(/-/g, "+").replace(/_/g, "/");

  const sentences = {
    NotAllowedError: "No passkey of yours was given: unlock it when the browser asks, on the device that has it.",
    AbortError: "No passkey of yours was given: unlock it when the browser asks, on the device that has it.",
    SecurityError: "Passkeys work where the house has a name: open it by that, not by the number of its address.",
  };

  // Unlocks one of these passkeys, by their ids, to sign a statement. Throws an Error whose message is for people.
  const sign = async (statement, ids) => {
    if (!globalThis.PublicKeyCredential) {
      throw new Error("This browser has no passkeys, or the house is not behind TLS here: sign at another terminal.");
    }
    try {
      const key = await navigator.credentials.get({
        publicKey: {
          challenge: await digest(terminalKey.canonical(statement)),
          rpId: location.hostname,
          allowCredentials: ids.map((id) => ({ type: "public-key", id: binary(unpadded(id)) })),
          userVerification: "required",
        },
      });
      const { authenticatorData, clientDataJSON, signature } = key.response;
      return {
        credential: hex(await digest(key.id)),
        authenticator: base64(authenticatorData),
        client: base64(clientDataJSON),
        signature: base64(signature),
      };
    } catch (error) {
      throw new Error(sentences[error.name] ?? "The passkey could not be used here: try again.", { cause: error.name });
    }
  };

  return { sign };
})();
