import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import * as v from "valibot";
import { SignedUp } from "../../../api/contract/account.js";
import { LoopbackPlatform } from "../http/loopback-platform.js";
import { PASSWORD } from "../http/tenancy-owner.js";

const ADA = { name: "Ada", email: "Ada@Example.com", password: "12345678" };
let platform: LoopbackPlatform;

before(async () => {
  platform = await LoopbackPlatform.start();
});

after(() => platform.close());

test("signing up creates a user of a pending organization, who can see only their own account", async () => {
  const { client } = platform;
  const answer = await client.post("/api/auth/signup", ADA);
  assert.equal(answer.status, 201);
  const { user, token } = v.parse(SignedUp, answer.body);
  assert.deepEqual(user, { id: user.id, email: "ada@example.com", name: "Ada", role: "admin" });
  const byToken = { authorization: `bearer ${token}` };
  const me = await client.get("/api/auth/me", byToken);
  const organization = await platform.database.organizations.findByOwnerEmail("ada@example.com");
  assert.deepEqual(me.body, {
    user,
    organization: { id: organization?.id, name: "Organization", status: "pending" },
    status: "pending",
  });
  assert.equal((await client.get("/api/dashboard/agents", byToken)).status, 403);
});

test("signing in reports the organization as pending only while it is", async () => {
  const { client } = platform;
  const { email } = await platform.newTenancy("free", "pending");
  const pending = await client.post("/api/auth/signin", { email, password: PASSWORD });
  assert.equal(pending.status, 200);
  assert.ok(hasField(pending.body, "status"));
  await platform.services.organizations.activate(email);
  const active = await client.post("/api/auth/signin", { email, password: PASSWORD });
  assert.ok(!hasField(active.body, "status"));
});

test("a wrong password and an unknown e-mail get the same refusal", async () => {
  const { client } = platform;
  const { email } = await platform.newTenancy();
  const wrong = await client.post("/api/auth/signin", { email, password: "another one" });
  const unknown = await client.post("/api/auth/signin", { email: "x@example.com", password: "p" });
  assert.equal(wrong.status, 401);
  assert.deepEqual([wrong.status, wrong.body], [unknown.status, unknown.body]);
});

test("if two users sign up with one e-mail at once, only one succeeds", async () => {
  const twin = { ...ADA, email: "twin@example.com" };
  const answers = await Promise.all([
    platform.client.post("/api/auth/signup", twin),
    platform.client.post("/api/auth/signup", { ...twin, email: "TWIN@example.com" }),
  ]);
  assert.deepEqual(
    answers.map(({ status }) => status).sort((a, b) => a - b),
    [201, 409],
  );
});

test("every field of a sign-up is checked and named", async () => {
  const wrong: readonly (readonly [string, unknown])[] = [
    ["name", ""],
    ["name", "   "],
    ["name", 7],
    ["name", "a".repeat(201)],
    ["name", "a\u0000b"],
    ["name", "\ud800"],
    ["email", "nobody"],
    ["email", null],
    ["email", `${"a".repeat(250)}@example.com`],
    ["password", "1234567"],
    ["password", "x".repeat(257)],
    ["password", ["12345678"]],
    ["orgName", ""],
    ["orgName", {}],
  ];
  for (const [field, value] of wrong) {
    const answer = await platform.client.post("/api/auth/signup", { ...ADA, [field]: value });
    assert.equal(answer.status, 400, `${field} ${JSON.stringify(value)}`);
    assert.match(answer.text, new RegExp(`"error":"${field}: expected `));
  }
  const none = await platform.client.post("/api/auth/signup", {});
  assert.match(none.text, /name: expected .*email: expected .*password: expected/);
});

test("a password of only blanks, or with control characters, is refused", async () => {
  const passwords = [
    " ".repeat(8),
    "\t".repeat(8),
    "\u00a0\u2003".repeat(8),
    "correct\u0000horse",
    "correct\nhorse",
    "correct\u007fhorse",
    "correct\u0085horse",
  ];
  for (const password of passwords) {
    const { status, text } = await platform.client.post("/api/auth/signup", { ...ADA, password });
    assert.equal(status, 400, JSON.stringify(password));
    assert.match(text, /password: .*not only blanks, without control characters/);
  }
  for (const [index, password] of ["correct horse", " 🐎 battery ", "pässwört"].entries()) {
    const email = `typeable${index}@example.com`;
    const { status } = await platform.client.post("/api/auth/signup", { ...ADA, email, password });
    assert.equal(status, 201, password);
  }
});

test("a missing body, or one that is not JSON, is refused", async () => {
  const { client } = platform;
  const path = "/api/auth/signup";
  assert.equal((await client.send("POST", path)).status, 400);
  assert.equal((await client.send("POST", path, { raw: "{" })).status, 400);
  assert.equal((await client.send("POST", path, { raw: "[]" })).status, 400);
  assert.equal((await client.send("POST", path, { raw: Buffer.from([0xff]) })).status, 400);
  const form = { "content-type": "application/x-www-form-urlencoded" };
  assert.equal((await client.send("POST", path, { raw: "a=b", headers: form })).status, 415);
  assert.equal((await client.send("POST", path, { raw: Buffer.alloc(2_000_000) })).status, 413);
});

function hasField(body: unknown, name: string): boolean {
  return typeof body === "object" && body !== null && name in body;
}
