import assert from "node:assert/strict";
import { scryptSync } from "node:crypto";
import { test } from "node:test";
import { hashPassword, passwordMark, verifyPassword } from "../../../engine/security/password.js";

test("a password is stored as a 16-byte salt and a 64-byte hash in hexadecimal", async () => {
  const stored = await hashPassword("correct horse");
  assert.match(stored, /^[0-9a-f]{32}:[0-9a-f]{128}$/);
});

test("the stored hash is scrypt of the password with the salt's bytes, at Node's default cost", async () => {
  const stored = await hashPassword("päss wörd");
  const [saltHex = "", hashHex] = stored.split(":");
  assert.equal(scryptSync("päss wörd", Buffer.from(saltHex, "hex"), 64).toString("hex"), hashHex);
});

test("the third test vector of RFC 7914 is accepted", async () => {
  const salt = Buffer.from("SodiumChloride").toString("hex");
  const hash =
    "7023bdcb3afd7348461c06cd81fd38ebfda8fbba904f8e3ea9b543f6545da1f2" +
    "d5432955613f0fcf62d49705242a9af9e61e85dc0d651e40dfcf017b45575887";
  assert.equal(await verifyPassword("pleaseletmein", `${salt}:${hash}`), true);
  assert.equal(await verifyPassword("pleaseletmeout", `${salt}:${hash}`), false);
});

test("the same password is never stored twice in the same way", async () => {
  assert.notEqual(await hashPassword("correct horse"), await hashPassword("correct horse"));
});

test("a stored text that is not of the format matches no password", async () => {
  for (const stored of [
    "",
    ":",
    "00:00",
    "zz".repeat(16),
    `${"0".repeat(32)}:${"g".repeat(128)}`,
  ]) {
    assert.equal(await verifyPassword("", stored), false);
  }
});

test("a stored password is marked by 96 bits of what is stored, which tokens in use have in them", () => {
  assert.equal(passwordMark("00:11"), passwordMark("00:11"));
  assert.notEqual(passwordMark("00:11"), passwordMark("00:12"));
  assert.match(passwordMark("00:11"), /^[\w-]{16}$/);
});
