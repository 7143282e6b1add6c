// The key of this terminal: made here, kept by the browser so that no script can read it, and used to sign.
"use strict";

globalThis.terminalKey = (() => {
  const ALGORITHM = { name: "ECDSA", namedCurve: "P-256" };
  const SIGNS = { name: "ECDSA", hash: "SHA-256" };
  const hex = (bytes) => [...new Uint8Array(bytes)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  const base64 = (bytes) => btoa(String.fromCharCode(...new Uint8Array(bytes)));

  const store = (mode, act) =>
    new Promise((resolve, reject) => {
      const opening = indexedDB.open("terminal", 1);
      opening.onupgradeneeded = () => opening.result.createObjectStore("keys");
      opening.onerror = () => reject(opening.error);
      opening.onsuccess = () => {
        const transaction = opening.result.transaction("keys", mode);
        const asked = act(transaction.objectStore("keys"));
        transaction.oncomplete = () => {
          opening.result.close();
          resolve(asked.result);
        };
        transaction.onerror = () => reject(transaction.error);
      };
    });

  // As every verifier spells it: sorted keys, no spaces.
  const canonical = (value) => {
    if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
    if (value === null || typeof value !== "object") return JSON.stringify(value);
    const names = Object.keys(value).sort();
    return `{${names.map((name) => `${JSON.stringify(name)}:${canonical(value[name])}`).join(",")}}`;
  };

  // Without TLS a browser has no such keys.
  const isPossible = () => Boolean(globalThis.crypto?.subtle && globalThis.indexedDB);
  const load = () => store("readonly", (keys) => keys.get("current"));

  const make = async () => {
    const pair = await crypto.subtle.generateKey(ALGORITHM, false, ["sign", "verify"]);
    const spelled = await crypto.subtle.exportKey("spki", pair.publicKey);
    const fingerprint = hex(await crypto.subtle.digest("SHA-256", spelled)).slice(0, 32);
    return { privateKey: pair.privateKey, public: base64(spelled), fingerprint };
  };

  // The last one is kept beside it: should the house not take the new one, the old one still signs.
  const keep = async (key) => {
    const before = await load();
    if (before) await store("readwrite", (keys) => keys.put(before, "previous"));
    await store("readwrite", (keys) => keys.put(key, "current"));
  };

  // The key that the house knows, whichever of the two it is.
  const known = async (fingerprint) => {
    for (const place of ["current", "previous"]) {
      const key = await store("readonly", (keys) => keys.get(place));
      if (key && key.fingerprint === fingerprint) return key;
    }
    return null;
  };

  const sign = async (key, statement) => {
    const message = new TextEncoder().encode(canonical(statement));
    return base64(await crypto.subtle.sign(SIGNS, key.privateKey, message));
  };

  return { canonical, isPossible, keep, known, load, make, sign };
})();
