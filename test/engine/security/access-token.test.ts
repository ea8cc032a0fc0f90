import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { test } from "node:test";
import { AccessTokens } from "../../../engine/security/access-token.js";
import { VirtualClock } from "../../doubles/virtual-clock.js";

const SECRET = "0123456789abcdef0123456789abcdef";
const ISSUED_AT_SEC = 1_800_000_000;
const ADA = { userId: "u1", orgId: "o1", email: "ada@example.com" };
/** A token from another implementation, for ADA, issued at 1800000000 and valid for an hour. */
const ADAS_TOKEN =
  "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9." +
  "eyJ1c2VySWQiOiJ1MSIsIm9yZ0lkIjoibzEiLCJlbWFpbCI6ImFkYUBleGFtcGxlLmNvbSIsImlhdCI6MTgwMDAwMDAwMCwiZXhwIjoxODAwMDAzNjAwfQ." +
  "AUnSVxmK_wnx0jdp5llPEUxogn9-Xaq22hTz0Uxm2xA";

function tokensAt(clock: VirtualClock, expiresIn = "1h", secret = SECRET): AccessTokens {
  return new AccessTokens({ secret, expiresIn, clock });
}

function startOfTest(): VirtualClock {
  return new VirtualClock(ISSUED_AT_SEC * 1_000);
}

function signed(header: object, claims: object, algorithm = "sha256", secret = SECRET): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const input = `${part(header)}.${part(claims)}`;
  return `${input}.${createHmac(algorithm, secret).update(input).digest("base64url")}`;
}

const CLAIMS = { ...ADA, iat: ISSUED_AT_SEC, exp: ISSUED_AT_SEC + 3_600 };

test("a token is the compact HS256 JWT of its five claims", async () => {
  assert.equal(await tokensAt(startOfTest()).issue(ADA), ADAS_TOKEN);
});

test("a token of another implementation with the same secret is accepted", async () => {
  assert.deepEqual(await tokensAt(startOfTest()).verify(ADAS_TOKEN), CLAIMS);
});

test("a repeated token is not verified again, until it expires", async () => {
  const clock = startOfTest();
  const tokens = tokensAt(clock);
  const first = await tokens.verify(ADAS_TOKEN);
  clock.advance(3_599_999);
  assert.equal(await tokens.verify(ADAS_TOKEN), first);
  clock.advance(1);
  assert.equal(await tokens.verify(ADAS_TOKEN), undefined);
});

test("an internal error is thrown and does not count as a wrong token", async () => {
  const clock = startOfTest();
  clock.epochMs = () => {
    throw new RangeError("no clock");
  };
  await assert.rejects(tokensAt(clock).verify(ADAS_TOKEN), { message: "no clock" });
});

test("unknown claims are ignored", async () => {
  const token = signed({ alg: "HS256" }, { ...CLAIMS, role: "root" });
  assert.deepEqual(await tokensAt(startOfTest()).verify(token), CLAIMS);
});

for (const [expiresIn, seconds] of [
  ["45s", 45],
  ["30m", 1_800],
  ["1h", 3_600],
  ["7d", 604_800],
  ["2w", 1_209_600],
] as const) {
  test(`a token for ${expiresIn} is valid until its last second and no longer`, async () => {
    const clock = startOfTest();
    const tokens = tokensAt(clock, expiresIn);
    const token = await tokens.issue(ADA);
    clock.advance((seconds - 1) * 1_000);
    assert.equal((await tokens.verify(token))?.exp, ISSUED_AT_SEC + seconds);
    clock.advance(1_000);
    assert.equal(await tokens.verify(token), undefined);
  });
}

test("a lifetime in another format is refused at the start", () => {
  for (const expiresIn of ["", "1", "0h", "-1h", "1.5h", "1 h", "1y", "h", "1h30m", "9999999d"]) {
    assert.throws(() => tokensAt(startOfTest(), expiresIn), /lifetime/, expiresIn);
  }
});

test("a secret of fewer than 32 characters is refused, and the error does not repeat it", () => {
  const secret = SECRET.slice(1);
  assert.throws(
    () => tokensAt(startOfTest(), "1h", secret),
    (error) => error instanceof Error && !error.message.includes(secret),
  );
});

test("a token without a signature is refused, whatever its algorithm is called", async () => {
  const tokens = tokensAt(startOfTest());
  for (const alg of ["none", "None", "NONE", "HS256"]) {
    const [header = "", claims = ""] = signed({ alg, typ: "JWT" }, CLAIMS).split(".");
    assert.equal(await tokens.verify(`${header}.${claims}.`), undefined, alg);
  }
});

test("a token signed by another algorithm with the same secret is refused", async () => {
  const tokens = tokensAt(startOfTest());
  assert.equal(await tokens.verify(signed({ alg: "HS512" }, CLAIMS, "sha512")), undefined);
  assert.equal(await tokens.verify(signed({ alg: "HS384" }, CLAIMS, "sha384")), undefined);
});

test("a token signed with another secret is refused", async () => {
  const token = signed({ alg: "HS256" }, CLAIMS, "sha256", "f".repeat(32));
  assert.equal(await tokensAt(startOfTest()).verify(token), undefined);
});

test("a token whose claims or signature were changed is refused", async () => {
  const tokens = tokensAt(startOfTest());
  const [header, , signature] = ADAS_TOKEN.split(".");
  const others = Buffer.from(JSON.stringify({ ...CLAIMS, userId: "u2" })).toString("base64url");
  assert.equal(await tokens.verify(`${header}.${others}.${signature}`), undefined);
  assert.equal(await tokens.verify(ADAS_TOKEN.replace(".AUn", ".BUn")), undefined);
});

test("a token without a required claim or expiry is refused", async () => {
  const tokens = tokensAt(startOfTest());
  for (const missing of ["userId", "orgId", "email", "iat", "exp"]) {
    const claims = Object.fromEntries(Object.entries(CLAIMS).filter(([name]) => name !== missing));
    assert.equal(await tokens.verify(signed({ alg: "HS256" }, claims)), undefined, missing);
  }
});

test("text that is not a token is refused without an error", async () => {
  const tokens = tokensAt(startOfTest());
  for (const text of ["", ".", "..", "a.b.c", "vk_123", "€€€.€€€.€€€", `${ADAS_TOKEN}.x`]) {
    assert.equal(await tokens.verify(text), undefined, text);
  }
});

const NEW_SECRET = "fedcba9876543210fedcba9876543210";

function rotatedAt(clock: VirtualClock, oldSecrets: readonly string[]): AccessTokens {
  return new AccessTokens({ secret: NEW_SECRET, oldSecrets, expiresIn: "1h", clock });
}

test("a token signed with an old secret is valid until it expires", async () => {
  const clock = startOfTest();
  const tokens = rotatedAt(clock, ["x".repeat(32), SECRET]);
  assert.deepEqual(await tokens.verify(ADAS_TOKEN), CLAIMS);
  clock.advance(3_600_000);
  assert.equal(await tokens.verify(ADAS_TOKEN), undefined);
});

test("new tokens are signed with the current secret only", async () => {
  const clock = startOfTest();
  const token = await rotatedAt(clock, [SECRET]).issue(ADA);
  assert.equal(await tokensAt(clock).verify(token), undefined);
  assert.deepEqual(await tokensAt(clock, "1h", NEW_SECRET).verify(token), CLAIMS);
});

test("a token signed with a secret that was removed is refused", async () => {
  assert.equal(await rotatedAt(startOfTest(), ["x".repeat(32)]).verify(ADAS_TOKEN), undefined);
  assert.equal(await rotatedAt(startOfTest(), []).verify(ADAS_TOKEN), undefined);
});

test("an old secret allows no other algorithm", async () => {
  const tokens = rotatedAt(startOfTest(), [SECRET]);
  assert.equal(await tokens.verify(signed({ alg: "HS512" }, CLAIMS, "sha512")), undefined);
  assert.equal(await tokens.verify(signed({ alg: "none" }, CLAIMS)), undefined);
});

test("an old secret that is too short is refused, and the error does not repeat it", () => {
  assert.throws(() => rotatedAt(startOfTest(), ["short"]), {
    message: "a signing secret must have at least 32 characters",
  });
});
