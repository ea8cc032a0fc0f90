import assert from "node:assert/strict";
import { test } from "node:test";
import { SignedText } from "../../../engine/security/signed-text.js";

const SECRET = "a secret of an installation, long enough";

test("a text is read up to its limit, and a longer one is not even looked at", () => {
  const signed = new SignedText(SECRET, "label", 1_000).sign({ words: "x".repeat(100) });
  const upTo = (characters: number) => new SignedText(SECRET, "label", characters).read(signed);
  assert.deepEqual(upTo(signed.length), { words: "x".repeat(100) });
  assert.equal(upTo(signed.length - 1), undefined);
});

test("a text for one purpose is none for another, nor with another secret", () => {
  const signed = new SignedText(SECRET, "label", 1_000).sign("words");
  assert.equal(new SignedText(SECRET, "another", 1_000).read(signed), undefined);
  assert.equal(new SignedText(`${SECRET}!`, "label", 1_000).read(signed), undefined);
  assert.equal(new SignedText(SECRET, "label", 1_000).read(`x${signed}`), undefined);
});
