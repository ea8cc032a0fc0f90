import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import * as v from "valibot";
import { PasswordChanged, SignedIn } from "../../../api/contract/account.js";
import { AuditEntries } from "../../../api/contract/audit.js";
import { Member } from "../../../api/contract/member.js";
import { LoopbackPlatform, type Tenancy } from "../http/loopback-platform.js";
import { PASSWORD } from "../http/tenancy-owner.js";

const MEMBERS = "/api/dashboard/members";
const MIA = { name: "Mia", email: "mia@example.com", password: "first password", role: "member" };

let platform: LoopbackPlatform;
let tenancy: Tenancy;
let mia: v.InferOutput<typeof Member>;
let byMia: Readonly<Record<string, string>>;

before(async () => {
  platform = await LoopbackPlatform.start();
  tenancy = await platform.newTenancy();
  const added = await platform.client.post(MEMBERS, MIA, tenancy.byToken);
  assert.equal(added.status, 201, added.text);
  assert.doesNotMatch(added.text, /password/i);
  mia = v.parse(Member, added.body);
  byMia = await signedIn(MIA.password);
});

after(() => platform.close());

async function signedIn(password: string): Promise<Readonly<Record<string, string>>> {
  const { email } = MIA;
  const { status, body } = await platform.client.post("/api/auth/signin", { email, password });
  assert.equal(status, 200);
  return { authorization: `Bearer ${v.parse(SignedIn, body).token}` };
}

function send(method: string, path: string, headers: Tenancy["byToken"], body?: unknown) {
  return platform.client.send(method, path, { headers, body });
}

test("members are listed with the owner first, to every identity with access to the dashboard", async () => {
  for (const headers of [tenancy.byToken, tenancy.byKey, byMia]) {
    const { body } = await platform.client.get(MEMBERS, headers);
    const listed = v.parse(v.array(Member), body);
    assert.deepEqual(
      listed.map(({ email, role, isOwner }) => [email, role, isOwner]),
      [
        [tenancy.email, "admin", true],
        [MIA.email, "member", false],
      ],
    );
  }
});

test("neither a member nor a key may change the organization's members", async () => {
  const path = `${MEMBERS}/${mia.id}`;
  for (const headers of [byMia, tenancy.byKey]) {
    const refused = [
      await send("POST", MEMBERS, headers, { ...MIA, email: "friend@example.com" }),
      await send("PATCH", path, headers, { role: "admin" }),
      await send("DELETE", path, headers),
    ];
    for (const { status, text } of refused) {
      assert.equal(status, 403);
      assert.match(text, /admins of the organization/);
    }
  }
  assert.equal(v.parse(v.array(Member), (await list()).body).length, 2);
});

function list() {
  return platform.client.get(MEMBERS, tenancy.byToken);
}

test("an admin of a pending organization cannot add members", async () => {
  const pending = await platform.newTenancy("free", "pending");
  const body = { ...MIA, email: "early@example.com" };
  const { status, text } = await send("POST", MEMBERS, pending.byToken, body);
  assert.equal(status, 403);
  assert.match(text, /pending/);
});

test("wrong fields and addresses that have an account are refused", async () => {
  const wrong = [
    { ...MIA, role: "owner" },
    { ...MIA, email: "nobody" },
    { ...MIA, password: "short" },
    { ...MIA, name: "" },
    {},
  ];
  for (const body of wrong) {
    assert.equal((await send("POST", MEMBERS, tenancy.byToken, body)).status, 400);
  }
  const twice = await send("POST", MEMBERS, tenancy.byToken, MIA);
  assert.equal(twice.status, 409);
  assert.equal((await send("PATCH", `${MEMBERS}/${mia.id}`, tenancy.byToken, {})).status, 400);
});

test("the owner can be neither removed nor demoted", async () => {
  const [owner] = v.parse(v.array(Member), (await list()).body);
  const path = `${MEMBERS}/${owner?.id}`;
  const demoted = await send("PATCH", path, tenancy.byToken, { role: "member" });
  const removed = await send("DELETE", path, tenancy.byToken);
  assert.deepEqual([demoted.status, removed.status], [409, 409]);
});

test("a member changes the first password and needs the new token from then on; a wrong password is only reported as wrong", async () => {
  const change = (password: string) =>
    send("POST", "/api/auth/password", byMia, { password, newPassword: "second password" });
  const wrong = await change("a guess");
  assert.equal(wrong.status, 400);
  assert.match(wrong.text, /password: this is not the current password/);
  const { status, body } = await change(MIA.password);
  assert.equal(status, 200);
  assert.equal((await platform.client.get(MEMBERS, byMia)).status, 401);
  const { token } = v.parse(PasswordChanged, body);
  byMia = { authorization: `Bearer ${token}` };
  assert.equal((await platform.client.get(MEMBERS, byMia)).status, 200);
  await signedIn("second password");
  const byKey = await send("POST", "/api/auth/password", tenancy.byKey, {
    password: PASSWORD,
    newPassword: "another password",
  });
  assert.equal(byKey.status, 401);
});

test("a member who becomes an admin may add members, and one who is removed has no access", async () => {
  const path = `${MEMBERS}/${mia.id}`;
  const promoted = await send("PATCH", path, tenancy.byToken, { role: "admin" });
  assert.deepEqual(v.parse(Member, promoted.body), { ...mia, role: "admin" });
  const friend = { ...MIA, name: "Friend", email: "friend@example.com" };
  assert.equal((await send("POST", MEMBERS, byMia, friend)).status, 201);
  const removed = await send("DELETE", path, tenancy.byToken);
  assert.deepEqual([removed.status, removed.body], [200, { success: true }]);
  assert.equal((await platform.client.get(MEMBERS, byMia)).status, 401);
  const audit = await platform.client.get("/api/dashboard/audit", tenancy.byToken);
  const told = v.parse(AuditEntries, audit.body).items.filter((e) => e.targetType === "member");
  assert.deepEqual(
    told.map(({ action, targetName }) => `${action} ${targetName}`),
    [
      "member.delete Mia",
      "member.create Friend",
      "member.update Mia",
      "member.update Mia",
      "member.create Mia",
    ],
  );
});
