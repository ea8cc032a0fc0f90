import assert from "node:assert/strict";
import { createHmac, hkdfSync } from "node:crypto";
import { test } from "node:test";
import { SignedText } from "../../../engine/security/signed-text.js";

const SECRET = "a secret of an installation, long enough";

test("a text is read up to the limit, and a longer one is refused", () => {
  const signed = new SignedText(SECRET, "label", 1_000).sign({ words: "x".repeat(100) });
  const upTo = (characters: number) => new SignedText(SECRET, "label", characters).read(signed);
  assert.deepEqual(upTo(signed.length), { words: "x".repeat(100) });
  assert.equal(upTo(signed.length - 1), undefined);
});

test("a text signed for one purpose is refused for another, and with another secret", () => {
  const signed = new SignedText(SECRET, "label", 1_000).sign("words");
  assert.equal(new SignedText(SECRET, "another", 1_000).read(signed), undefined);
  assert.equal(new SignedText(`${SECRET}!`, "label", 1_000).read(signed), undefined);
  assert.equal(new SignedText(SECRET, "label", 1_000).read(`x${signed}`), undefined);
});

test("a text signed by an earlier release is accepted: JSON and an HMAC under a key of 32 bytes", () => {
  const key = Buffer.from(hkdfSync("sha256", SECRET, "", "label", 32));
  const text = Buffer.from('{"words":"à"}').toString("base64url");
  const signature = createHmac("sha256", key).update(text).digest("base64url");
  const signed = new SignedText(SECRET, "label", 1_000);
  assert.equal(signed.sign({ words: "à" }), `${text}.${signature}`);
  assert.deepEqual(signed.read(`${text}.${signature}`), { words: "à" });
});
