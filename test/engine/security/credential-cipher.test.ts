import assert from "node:assert/strict";
import { createCipheriv, createDecipheriv } from "node:crypto";
import { test } from "node:test";
import { CredentialCipher } from "../../../engine/security/credential-cipher.js";

/** The bytes 0 to 31. */
const KEY_HEX = Buffer.from(Array.from({ length: 32 }, (_, index) => index)).toString("hex");
/**
 * From another implementation (OpenSSL through Python), with bytes 0 to 11 as IV and `{"apiKey":"sk-test"}` as text.
 */
const SEALED =
  "000102030405060708090a0b:d95fa2f387c9dc524d1ee63bdfc67dc7:3c20b76bacaea762af7bb5f8dac40c08f0a2a549";

test("credentials sealed by another implementation are opened", () => {
  assert.deepEqual({ ...new CredentialCipher(KEY_HEX).open(SEALED) }, { apiKey: "sk-test" });
});

test("sealed credentials are AES-256-GCM with a 12-byte IV and a 16-byte tag over their JSON", () => {
  const sealed = new CredentialCipher(KEY_HEX).seal({ apiKey: "geheim €", region: 1 });
  assert.match(sealed, /^[0-9a-f]{24}:[0-9a-f]{32}:[0-9a-f]+$/);
  const [iv = "", tag = "", ciphertext = ""] = sealed.split(":");
  const decipher = createDecipheriv(
    "aes-256-gcm",
    Buffer.from(KEY_HEX, "hex"),
    Buffer.from(iv, "hex"),
  );
  decipher.setAuthTag(Buffer.from(tag, "hex"));
  const json = decipher.update(ciphertext, "hex", "utf8") + decipher.final("utf8");
  assert.equal(json, '{"apiKey":"geheim €","region":1}');
});

test("the same credentials are never sealed into the same text", () => {
  const cipher = new CredentialCipher(KEY_HEX);
  assert.notEqual(cipher.seal({ apiKey: "a" }), cipher.seal({ apiKey: "a" }));
});

test("sealed credentials are refused if any part of them was changed", () => {
  const cipher = new CredentialCipher(KEY_HEX);
  const [iv = "", tag = "", ciphertext = ""] = SEALED.split(":");
  const flip = (hex: string) => (hex.startsWith("0") ? "1" : "0") + hex.slice(1);
  for (const changed of [
    `${flip(iv)}:${tag}:${ciphertext}`,
    `${iv}:${flip(tag)}:${ciphertext}`,
    `${iv}:${tag}:${flip(ciphertext)}`,
    `${iv}:${tag}:${ciphertext.slice(2)}`,
  ]) {
    assert.throws(() => cipher.open(changed), changed);
  }
});

test("a shortened tag is refused even if it is a prefix of the right one", () => {
  const [iv, tag = "", ciphertext] = SEALED.split(":");
  const cipher = new CredentialCipher(KEY_HEX);
  assert.throws(() => cipher.open(`${iv}:${tag.slice(0, 8)}:${ciphertext}`), /stored format/);
});

test("credentials sealed under another key are refused", () => {
  assert.throws(() => new CredentialCipher("ff".repeat(32)).open(SEALED));
});

test("sealed text that contains no JSON object is refused", () => {
  const cipher = createCipheriv("aes-256-gcm", Buffer.from(KEY_HEX, "hex"), Buffer.alloc(12));
  const ciphertext = cipher.update('"sk-test"', "utf8", "hex") + cipher.final("hex");
  const sealed = `${"00".repeat(12)}:${cipher.getAuthTag().toString("hex")}:${ciphertext}`;
  assert.throws(() => new CredentialCipher(KEY_HEX).open(sealed));
});

test("a key that is not 64 hexadecimal characters is refused, and the error does not repeat it", () => {
  for (const keyHex of ["", "ab".repeat(31), `${"ab".repeat(31)}zz`, "ab".repeat(33)]) {
    assert.throws(() => new CredentialCipher(keyHex), {
      message: "the encryption key must be 64 hexadecimal characters",
    });
  }
});

const OLD_KEY_HEX = "0f".repeat(32);
const OLDER_KEY_HEX = "f0".repeat(32);

test("an old key opens credentials, and new ones are sealed only under the current key", () => {
  const old = new CredentialCipher(OLD_KEY_HEX).seal({ apiKey: "old" });
  const older = new CredentialCipher(OLDER_KEY_HEX).seal({ apiKey: "older" });
  const cipher = new CredentialCipher(KEY_HEX, [OLD_KEY_HEX, OLDER_KEY_HEX]);
  assert.deepEqual({ ...cipher.open(old) }, { apiKey: "old" });
  assert.deepEqual({ ...cipher.open(older) }, { apiKey: "older" });
  assert.deepEqual({ ...cipher.open(SEALED) }, { apiKey: "sk-test" });
  const sealed = cipher.seal({ apiKey: "new" });
  assert.deepEqual({ ...new CredentialCipher(KEY_HEX).open(sealed) }, { apiKey: "new" });
  assert.deepEqual(
    [SEALED, old, older, sealed].map((each) => cipher.keyPosition(each)),
    [0, 1, 2, 0],
  );
});

test("resealed credentials have the same bytes under the current key", () => {
  const cipher = createCipheriv("aes-256-gcm", Buffer.from(OLD_KEY_HEX, "hex"), Buffer.alloc(12));
  const text = '{ "rate": 1.0, "apiKey": "geheim €" }';
  const ciphertext = cipher.update(text, "utf8", "hex") + cipher.final("hex");
  const old = `${"00".repeat(12)}:${cipher.getAuthTag().toString("hex")}:${ciphertext}`;
  const resealed = new CredentialCipher(KEY_HEX, [OLD_KEY_HEX]).reseal(old);
  const [iv = "", tag = "", moved = ""] = (resealed ?? "").split(":");
  assert.notEqual(iv, "00".repeat(12));
  const decipher = createDecipheriv(
    "aes-256-gcm",
    Buffer.from(KEY_HEX, "hex"),
    Buffer.from(iv, "hex"),
  );
  decipher.setAuthTag(Buffer.from(tag, "hex"));
  assert.equal(decipher.update(moved, "hex", "utf8") + decipher.final("utf8"), text);
});

test("tampering is detected with any number of keys", () => {
  const cipher = new CredentialCipher(OLD_KEY_HEX, [OLDER_KEY_HEX, KEY_HEX]);
  const tampered = SEALED.slice(0, -1) + (SEALED.endsWith("0") ? "1" : "0");
  assert.equal(cipher.keyPosition(SEALED), 2);
  assert.throws(() => cipher.open(tampered), /none of the keys/);
  for (const wrong of [tampered, SEALED.slice(0, -2), "", "a:b:c"]) {
    assert.equal(cipher.keyPosition(wrong), undefined);
    assert.equal(cipher.reseal(wrong), undefined);
  }
});

test("an old key that is not 64 hexadecimal characters is refused, and the error does not repeat it", () => {
  assert.throws(() => new CredentialCipher(KEY_HEX, [OLD_KEY_HEX, "zz".repeat(32)]), {
    message: "the encryption key must be 64 hexadecimal characters",
  });
});
