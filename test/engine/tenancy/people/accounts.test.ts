import assert from "node:assert/strict";
import crypto from "node:crypto";
import { syncBuiltinESMExports } from "node:module";
import { test } from "node:test";
import { platformOfFile, refusal, type SeededPlatform } from "../seeded-platform.js";

const sharedPlatform = platformOfFile();

let newcomers = 0;

async function organizationsOf(platform: SeededPlatform, email: string): Promise<number> {
  const all = await platform.organizations.list();
  return all.filter(({ organization }) => organization.ownerEmail === email).length;
}

function newcomer() {
  return { name: "Ada", email: `ada${++newcomers}@example.com`, password: "correct horse" };
}

test("signing up creates a pending organization on the free plan, its admin and a token", async () => {
  const platform = await sharedPlatform();
  const ada = newcomer();
  const { user, organization, token } = await platform.accounts.signUp(ada);
  assert.deepEqual(
    [user.email, user.name, user.role, user.orgId],
    [ada.email, "Ada", "admin", organization.id],
  );
  assert.equal((await platform.database.users.findById(user.id))?.isOperator, false);
  assert.deepEqual(
    [organization.name, organization.status, organization.ownerEmail],
    ["Organization", "pending", ada.email],
  );
  assert.match(user.passwordHash, /^[0-9a-f]{32}:[0-9a-f]{128}$/);
  const authenticated = await platform.accounts.authenticateUser(token);
  assert.equal(authenticated?.tenant.plan.slug, "free");
});

test("an organization is not created if its plan is unknown or it cannot be stored", async (t) => {
  const platform = await sharedPlatform();
  const owner = { ...newcomer(), status: "pending" } as const;
  await assert.rejects(platform.accounts.createOwner({ ...owner, planSlug: "gold" }), {
    code: "plan_not_found",
    message: 'there is no plan "gold"',
  });
  const full = new Error("the disk is full");
  t.mock.method(platform.database.organizations, "insertWithOwner", () => Promise.reject(full));
  await assert.rejects(platform.accounts.createOwner({ ...owner, planSlug: "free" }), full);
});

test("a new organization gets the name from the sign-up", async () => {
  const platform = await sharedPlatform();
  const ada = newcomer();
  const { organization } = await platform.accounts.signUp({ ...ada, orgName: "Engines" });
  assert.equal(organization.name, "Engines");
});

test("a second sign-up with the same e-mail is refused, whatever its capitals and spaces", async () => {
  const platform = await sharedPlatform();
  const ada = newcomer();
  await platform.accounts.signUp(ada);
  await assert.rejects(
    platform.accounts.signUp({ ...ada, email: ` ${ada.email.toUpperCase()} ` }),
    refusal("email_taken", "email"),
  );
  assert.equal(await organizationsOf(platform, ada.email), 1);
});

test("one of two concurrent sign-ups with the same e-mail succeeds, and the other stores nothing", async () => {
  const platform = await sharedPlatform();
  const ada = newcomer();
  const outcomes = await Promise.allSettled([
    platform.accounts.signUp(ada),
    platform.accounts.signUp(ada),
  ]);
  assert.deepEqual(outcomes.map((outcome) => outcome.status).sort(), ["fulfilled", "rejected"]);
  const refused = outcomes.find((outcome) => outcome.status === "rejected");
  refusal("email_taken", "email")(refused?.reason);
  assert.equal(await organizationsOf(platform, ada.email), 1);
});

test("a user signs in with the password, whatever the capitals of the e-mail", async () => {
  const platform = await sharedPlatform();
  const ada = newcomer();
  const { user } = await platform.accounts.signUp(ada);
  const signedIn = await platform.accounts.signIn({
    email: `${ada.email.toUpperCase()} `,
    password: ada.password,
  });
  assert.equal(signedIn.user.id, user.id);
  assert.equal(signedIn.organization.status, "pending");
  const authenticated = await platform.accounts.authenticateUser(signedIn.token);
  assert.equal(authenticated?.user.id, user.id);
});

test("a wrong password and an unknown e-mail get the same refusal after the same hashing", async (t) => {
  const platform = await sharedPlatform();
  const ada = newcomer();
  await platform.accounts.signUp(ada);
  const scrypt = t.mock.method(crypto, "scrypt");
  syncBuiltinESMExports();
  t.after(() => syncBuiltinESMExports());

  const messages: string[] = [];
  for (const email of [ada.email, "nobody@example.com"]) {
    await assert.rejects(platform.accounts.signIn({ email, password: "wrong horse" }), (error) => {
      messages.push(String(error));
      return refusal("wrong_credentials")(error);
    });
  }
  assert.equal(messages[0], messages[1]);
  const [known, unknown] = scrypt.mock.calls.map((call) => call.arguments);
  assert.equal(scrypt.mock.callCount(), 2);
  assert.deepEqual(known?.slice(2, 4), unknown?.slice(2, 4));
});

test("the profile contains the user and the organization", async () => {
  const platform = await sharedPlatform();
  const ada = newcomer();
  const { user, organization } = await platform.accounts.signUp(ada);
  assert.deepEqual(await platform.accounts.currentAccount(user.id), { user, organization });
  assert.equal(await platform.accounts.currentAccount("nobody"), undefined);
});

test("a token names the user and carries both scopes", async () => {
  const platform = await sharedPlatform();
  const ada = newcomer();
  const { user, organization, token } = await platform.accounts.signUp(ada);
  const authenticated = await platform.accounts.authenticateUser(token);
  assert.deepEqual(authenticated?.tenant.organization, organization);
  assert.equal(authenticated.tenant.userId, user.id);
  assert.equal(authenticated.tenant.apiKeyId, undefined);
  assert.deepEqual(authenticated.tenant.scopes, ["voice", "dashboard"]);
});

test("a token that has expired, or whose user or organization is unknown, is refused", async () => {
  const platform = await sharedPlatform();
  const ada = newcomer();
  const { user, token } = await platform.accounts.signUp(ada);
  const other = await platform.tenantOn("free");
  const claims = { userId: user.id, orgId: user.orgId, email: user.email };
  const nobodys = await platform.tokens.issue({ ...claims, userId: "nobody" });
  const misplaced = await platform.tokens.issue({ ...claims, orgId: other.organization.id });
  const homeless = await platform.tokens.issue({ ...claims, orgId: "nowhere" });
  for (const wrong of [nobodys, misplaced, homeless, "", "no token"]) {
    assert.equal(await platform.accounts.authenticateUser(wrong), undefined);
  }
  platform.clock.advance(3_600_000);
  assert.equal(await platform.accounts.authenticateUser(token), undefined);
});

test("the hash of an earlier release, which did not normalize passwords, is replaced at the next sign-in", async () => {
  const platform = await sharedPlatform();
  const { user } = await platform.accounts.signUp({ ...newcomer(), password: "caf\u00e9 horse" });
  const salt = Buffer.alloc(16, 7);
  const asTyped = crypto.scryptSync("cafe\u0301 horse", salt, 64).toString("hex");
  const { users } = platform.database;
  await users.replacePassword(user, `${salt.toString("hex")}:${asTyped}`);
  const signIn = (password: string) => platform.accounts.signIn({ email: user.email, password });
  const first = await signIn("caf\u00e9 horse");
  const stored = await users.findById(user.id);
  assert.doesNotMatch(stored?.passwordHash ?? "", new RegExp(asTyped));
  assert.equal((await platform.accounts.authenticateUser(first.token))?.user.id, user.id);
  await signIn("cafe\u0301 horse");
  assert.equal((await users.findById(user.id))?.passwordHash, stored?.passwordHash);
});
