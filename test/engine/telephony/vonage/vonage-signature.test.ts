import assert from "node:assert/strict";
import { createHash, createHmac } from "node:crypto";
import { test } from "node:test";
import { isVonageSignature } from "../../../../engine/telephony/vonage/vonage.js";

const SECRET = "the account's signature secret";
const NOW_SEC = 1_795_290_000;
const BODY = Buffer.from('{"uuid":"u1","from":"15550001111"}');
const HASH = createHash("sha256").update(BODY).digest("hex");
const CLAIMS = { iat: NOW_SEC, jti: "j1", iss: "Vonage", api_key: "k1", payload_hash: HASH };

const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");

/** RFC 7515, without a library. */
function bearer(
  claims: object,
  { secret = SECRET, alg = "HS256", digest = "sha256" } = {},
): string {
  const signed = `${part({ alg, typ: "JWT" })}.${part(claims)}`;
  return `Bearer ${signed}.${createHmac(digest, secret).update(signed).digest("base64url")}`;
}

const check = (authorization: string, body = BODY) =>
  isVonageSignature(SECRET, { body, authorization, nowMs: NOW_SEC * 1_000 });

test("a token of the secret for this body is right", async () => {
  assert.ok(await check(bearer(CLAIMS)));
  assert.ok(await check(bearer({ ...CLAIMS, payload_hash: HASH.toUpperCase() })));
});

test("a token without the body's hash is right only where there is no body", async () => {
  const { payload_hash: _, ...bare } = CLAIMS;
  assert.ok(!(await check(bearer(bare))));
  assert.ok(await check(bearer(bare), Buffer.alloc(0)));
  assert.ok(!(await check(bearer({ ...bare, payload_hash: "" }))));
});

test("another secret, body, algorithm or time is refused", async () => {
  assert.ok(!(await check(bearer(CLAIMS, { secret: "another" }))));
  assert.ok(!(await check(bearer(CLAIMS), Buffer.from("{}"))));
  assert.ok(!(await check(bearer(CLAIMS, { alg: "HS512", digest: "sha512" }))));
  assert.ok(!(await check(`Bearer ${part({ alg: "none" })}.${part(CLAIMS)}.`)));
  assert.ok(!(await check(bearer({ ...CLAIMS, iat: NOW_SEC - 3_600 }))));
  assert.ok(!(await check(bearer({ ...CLAIMS, iat: NOW_SEC + 3_600 }))));
  assert.ok(!(await check(bearer({ ...CLAIMS, iat: undefined }))));
  assert.ok(!(await check(bearer({ ...CLAIMS, payload_hash: 7 }))));
});

test("a token is believed for five minutes either way, as long as a replay of it is known", async () => {
  const at = (iat: number) => check(bearer({ ...CLAIMS, iat }));
  for (const sign of [1, -1]) {
    assert.ok(await at(NOW_SEC + sign * 300));
    assert.ok(!(await at(NOW_SEC + sign * 301)));
  }
});

test("a token that says how long it is good is believed for five minutes more, either way", async () => {
  const good = async (claims: object) => check(bearer({ ...CLAIMS, ...claims }));
  assert.deepEqual(
    [await good({ exp: NOW_SEC - 299 }), await good({ exp: NOW_SEC - 301 })],
    [true, false],
  );
  assert.deepEqual(
    [await good({ nbf: NOW_SEC + 300 }), await good({ nbf: NOW_SEC + 301 })],
    [true, false],
  );
});

test("what is no token is refused", async () => {
  for (const authorization of ["", "Bearer", "Bearer a.b", "Bearer a.b.c", `Basic ${SECRET}`]) {
    assert.ok(!(await check(authorization)), authorization);
  }
});
