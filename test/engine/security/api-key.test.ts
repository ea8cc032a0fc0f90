import assert from "node:assert/strict";
import { test } from "node:test";
import { hashApiKey, isApiKey, newApiKey } from "../../../engine/security/api-key.js";

test("a new key is vk_ and 48 hexadecimal characters, and its prefix has ten characters", () => {
  const { rawKey, keyPrefix } = newApiKey();
  assert.match(rawKey, /^vk_[0-9a-f]{48}$/);
  assert.equal(keyPrefix, rawKey.slice(0, 10));
});

test("a key is stored as the SHA-256 of the whole key", () => {
  assert.equal(
    hashApiKey(`vk_${"0123456789abcdef".repeat(3)}`),
    "55372187986ff9c5c4dfaff26954dcd5057bb20efce29135e9f61264c0fec4c8",
  );
  assert.equal(
    hashApiKey("abc"),
    "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
    "the first example of FIPS 180",
  );
  const { rawKey, keyHash } = newApiKey();
  assert.equal(keyHash, hashApiKey(rawKey));
});

test("only text in the format of a key counts as a key", () => {
  assert.equal(isApiKey(newApiKey().rawKey), true);
  for (const text of [
    "",
    "vk_",
    `vk_${"0".repeat(47)}`,
    `VK_${"0".repeat(48)}`,
    `vk_${"g".repeat(48)}`,
  ]) {
    assert.equal(isApiKey(text), false, text);
  }
});
