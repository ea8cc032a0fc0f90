import assert from "node:assert/strict";
import crypto, { scryptSync } from "node:crypto";
import { syncBuiltinESMExports } from "node:module";
import { type TestContext, test } from "node:test";
import {
  hashPassword,
  matchPassword,
  passwordMark,
  verifyPassword,
} from "../../../engine/security/password.js";

test("a password is stored as a 16-byte salt and a 64-byte hash in hexadecimal", async () => {
  const stored = await hashPassword("correct horse");
  assert.match(stored, /^[0-9a-f]{32}:[0-9a-f]{128}$/);
});

test("the stored hash is scrypt of the password with the bytes of the salt, at Node's default cost", async () => {
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

test("the same password is never stored as the same text", async () => {
  assert.notEqual(await hashPassword("correct horse"), await hashPassword("correct horse"));
});

test("a stored text without the stored format matches no password", async () => {
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

test("the mark of a stored password has 96 bits and stays the same, since valid tokens contain it", () => {
  assert.equal(passwordMark("00:11"), passwordMark("00:11"));
  assert.notEqual(passwordMark("00:11"), passwordMark("00:12"));
  assert.match(passwordMark("00:11"), /^[\w-]{16}$/);
});

/** Hashing that finishes, or fails with the given error, when the test says so. */
function heldHashing(context: TestContext) {
  const held: ((error: Error | null, hash: Buffer) => void)[] = [];
  context.mock.method(crypto, "scrypt", (...given: readonly unknown[]) => {
    const done = given.at(-1);
    if (typeof done === "function") held.push((error, hash) => void done(error, hash));
  });
  syncBuiltinESMExports();
  context.after(() => {
    context.mock.restoreAll();
    syncBuiltinESMExports();
  });
  const end = (error: Error | null = null) => {
    for (const done of held.splice(0)) done(error, Buffer.alloc(64));
  };
  return { held, end };
}

test("two passwords are hashed at the same time and 128 wait; others are refused with a delay for the retry", async (t) => {
  const { held, end } = heldHashing(t);
  const taken = Array.from({ length: 130 }, () => hashPassword("correct horse"));
  await assert.rejects(hashPassword("correct horse"), {
    name: "RequestError",
    code: "overloaded",
    retryAfterSec: 3,
  });
  assert.equal(held.length, 2);
  const all = Promise.all(taken);
  for (let round = 0; round < 65; round += 1) {
    end();
    await new Promise(setImmediate);
  }
  assert.equal((await all).length, 130);
});

test("a hash that cannot be computed is an error, not a wrong password", async (t) => {
  const { end } = heldHashing(t);
  const hashed = assert.rejects(hashPassword("correct horse"), /no memory/);
  await new Promise(setImmediate);
  end(new Error("no memory"));
  await hashed;
});

test("a password matches in every Unicode form, also against a hash of the form that another system typed", async () => {
  const [composed, decomposed, wide] = [
    "caf\u00e9 12",
    "cafe\u0301 12",
    "caf\u00e9\u00a0\uff11\uff12",
  ];
  const stored = await hashPassword(decomposed);
  for (const typed of [composed, decomposed, wide]) {
    assert.equal(await matchPassword(typed, stored), "normalized");
  }
  assert.equal(await matchPassword("cafe 12", stored), undefined);
  const salt = Buffer.alloc(16, 7);
  const asTyped = (password: string) =>
    `${salt.toString("hex")}:${scryptSync(password, salt, 64).toString("hex")}`;
  assert.equal(await matchPassword(wide, asTyped(wide)), "otherForm");
  for (const typed of [composed, decomposed]) {
    assert.equal(await matchPassword(typed, asTyped(decomposed)), "otherForm");
  }
});
