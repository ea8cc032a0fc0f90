import assert from "node:assert/strict";
import { test } from "node:test";
import { Members } from "../../../../engine/tenancy/people/members.js";
import { platformOfFile, refusal } from "../seeded-platform.js";

const sharedPlatform = platformOfFile();
const PASSWORD = "correct horse";
const NEW_PASSWORD = "battery staple";

let newcomers = 0;

/** An organization with its owner, and one member who has signed in. */
async function team(role: "admin" | "member" = "member") {
  const platform = await sharedPlatform();
  const members = new Members(platform);
  const tenant = await platform.tenantOn("free");
  const { organization } = tenant;
  const actor = { type: "user", id: tenant.userId ?? "" } as const;
  const email = `Member${++newcomers}@Example.com`;
  const added = { name: "Mia", email, password: PASSWORD, role };
  const user = await members.add(organization.id, added, actor);
  const { token } = await platform.accounts.signIn({ email, password: PASSWORD });
  const known = () => platform.accounts.authenticateUser(token);
  const trail = async () => {
    const { items } = await platform.database.audit.list(organization.id, { skip: 0, limit: 10 });
    return items.map(({ action, targetName, changes }) => [action, targetName, ...changes]);
  };
  return { platform, members, tenant, organization, actor, user, email, known, trail };
}

test("a member signs in with the initial password and belongs to the organization", async () => {
  const { members, organization, tenant, user, email, known, trail } = await team();
  assert.equal(user.email, email.toLowerCase());
  const listed = await members.list(organization.id);
  assert.deepEqual(
    listed.map(({ id, role, isOperator }) => [id, role, isOperator]),
    [
      [tenant.userId, "admin", false],
      [user.id, "member", false],
    ],
  );
  assert.equal((await known())?.tenant.organization.id, organization.id);
  assert.deepEqual(await trail(), [["member.create", "Mia"]]);
});

test("an e-mail with an account in any organization is refused, and nothing changes", async () => {
  const { members, organization, actor, email, trail } = await team();
  const elsewhere = await team();
  const twice = { name: "Other", email: ` ${email} `, password: PASSWORD, role: "admin" } as const;
  for (const orgId of [organization.id, elsewhere.organization.id]) {
    await assert.rejects(members.add(orgId, twice, actor), refusal("email_taken", "email"));
  }
  assert.equal((await members.list(organization.id)).length, 2);
  assert.equal((await trail()).length, 1);
});

test("a role applies from the next request on", async () => {
  const { members, organization, actor, user, known, trail } = await team();
  assert.equal((await known())?.user.role, "member");
  await members.changeRole(organization, user.id, "admin", actor);
  assert.equal((await known())?.user.role, "admin");
  await members.changeRole(organization, user.id, "admin", actor);
  const changes = (await trail()).filter(([action]) => action === "member.update");
  assert.deepEqual(changes, [["member.update", "Mia", "role"]]);
});

test("a removed member loses access, and the e-mail can be used again", async () => {
  const { platform, members, organization, actor, user, email, known, trail } = await team();
  assert.ok(await known());
  await members.remove(organization, user.id, actor);
  assert.equal(await known(), undefined);
  const signIn = platform.accounts.signIn({ email, password: PASSWORD });
  await assert.rejects(signIn, refusal("wrong_credentials"));
  assert.deepEqual((await trail())[0], ["member.delete", "Mia"]);
  await platform.accounts.signUp({ name: "Mia", email, password: PASSWORD });
});

test("the owner cannot be removed or demoted, whoever requests it", async () => {
  const { members, organization, tenant, actor } = await team("admin");
  const owner = tenant.userId ?? "";
  await assert.rejects(members.remove(organization, owner, actor), refusal("owner_protected"));
  const demoted = members.changeRole(organization, owner, "member", actor);
  await assert.rejects(demoted, refusal("owner_protected"));
  assert.equal((await members.list(organization.id))[0]?.role, "admin");
});

test("a member of another organization is not found", async () => {
  const { members, organization, actor } = await team();
  const { user, known } = await team();
  for (const id of [user.id, "nobody"]) {
    await assert.rejects(members.remove(organization, id, actor), refusal("not_found"));
    const promoted = members.changeRole(organization, id, "admin", actor);
    await assert.rejects(promoted, refusal("not_found"));
  }
  assert.equal((await known())?.user.role, "member");
});

test("an organization has at most 200 members", async () => {
  const { platform, members, organization, actor, user } = await team();
  for (let count = 2; count < 200; count += 1) {
    const id = platform.newId();
    await platform.database.users.insert({ ...user, id, email: `${id}@example.com` });
  }
  const late = {
    name: "Late",
    email: "late@example.com",
    password: PASSWORD,
    role: "member",
  } as const;
  await assert.rejects(members.add(organization.id, late, actor), refusal("limit_reached"));
  assert.equal((await members.list(organization.id)).length, 200);
});

test("a new password ends every session except the one it was changed in", async () => {
  const { platform, user, email, known } = await team();
  const { accounts } = platform;
  const elsewhere = await accounts.signIn({ email, password: PASSWORD });
  const change = { password: PASSWORD, newPassword: NEW_PASSWORD };
  const token = await accounts.changePassword(user, change);
  assert.equal(await known(), undefined);
  assert.equal(await accounts.authenticateUser(elsewhere.token), undefined);
  assert.equal((await accounts.authenticateUser(token))?.user.id, user.id);
  const again = await accounts.signIn({ email, password: NEW_PASSWORD });
  assert.equal((await accounts.authenticateUser(again.token))?.user.id, user.id);
});

test("a token that another program signed with the secret has no password mark and stays valid after a change", async () => {
  const { platform, user } = await team();
  const token = await platform.tokens.issue({
    userId: user.id,
    orgId: user.orgId,
    email: user.email,
  });
  const change = { password: PASSWORD, newPassword: NEW_PASSWORD };
  await platform.accounts.changePassword(user, change);
  assert.equal((await platform.accounts.authenticateUser(token))?.user.id, user.id);
});

test("a user needs the current password to change it, and one of two concurrent changes succeeds", async () => {
  const { platform, user, email, trail } = await team();
  const { accounts } = platform;
  const wrong = accounts.changePassword(user, { password: "a guess", newPassword: NEW_PASSWORD });
  await assert.rejects(wrong, refusal("wrong_password", "password"));
  const change = { password: PASSWORD, newPassword: NEW_PASSWORD };
  const outcomes = await Promise.allSettled([
    accounts.changePassword(user, change),
    accounts.changePassword(user, change),
  ]);
  assert.deepEqual(outcomes.map(({ status }) => status).sort(), ["fulfilled", "rejected"]);
  await accounts.signIn({ email, password: NEW_PASSWORD });
  const old = accounts.signIn({ email, password: PASSWORD });
  await assert.rejects(old, refusal("wrong_credentials"));
  assert.deepEqual((await trail())[0], ["member.update", "Mia", "password"]);
});
