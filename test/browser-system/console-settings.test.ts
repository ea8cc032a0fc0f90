import assert from "node:assert/strict";
import { after, test } from "node:test";
import { SERVER_ACTOR } from "../../engine/tenancy/audit-entry.js";
import { type Customer, VENDOR_KEY } from "../system/test-server.js";
import { TwilioStand } from "../system/twilio-stand.js";
import { userToken } from "../system/user-token.js";
import { barriers } from "./axe.js";
import { standOfFile } from "./browser-stand.js";
import { openWithToken } from "./console-visit.js";

/** At the simulated telephone company, the line of such a number is busy. */
const BUSY = "+15550100001";
const FROM = "+15550407777";
const NAME = "مكتب <b>Engines</b> & Co 🛎";

const stand = await TwilioStand.start();
const { server, browser } = await standOfFile({ environment: stand.environment });
after(() => stand.close());
await stand.leadTo(server.parley.port);

/** Opens a page of the console as the user with this e-mail. */
async function visit(path: string, { email }: Pick<Customer, "email">) {
  const token = await userToken(server.database, email);
  return openWithToken(browser, `${server.url}/console${path}`, token);
}

async function statusWith(apiKey: string): Promise<number> {
  const headers = { "x-api-key": apiKey };
  return (await fetch(`${server.url}/api/dashboard/agents`, { headers })).status;
}

test("a key is created and shown once, has its permissions, and has none once it is revoked", async () => {
  const viewer = await visit("/settings", await server.customer());
  const { page } = viewer;
  await page.getByRole("button", { name: "New key" }).click();
  const form = page.getByRole("dialog", { name: "New key" });
  await form.getByLabel("Name").fill(NAME);
  await form.getByLabel("voice", { exact: true }).uncheck();
  const make = form.getByRole("button", { name: "Make the key" });
  assert.equal(await make.isDisabled(), true, "a key without permissions cannot be created");
  await form.getByLabel("dashboard", { exact: true }).check();
  await make.click();
  const shown = page.getByRole("dialog", { name: "The new key" });
  const rawKey = (await shown.locator("code").textContent()) ?? "";
  assert.deepEqual(await barriers(viewer), []);
  assert.equal(await statusWith(rawKey), 200);
  await shown.getByRole("button", { name: "Done" }).click();
  const row = page.getByRole("row").filter({ hasText: NAME });
  await row.getByText("opens dashboard").waitFor();
  assert.ok(!(await page.content()).includes(rawKey), "it is shown once");

  const revoke = row.getByRole("button", { name: "Revoke" });
  await revoke.click();
  await page.getByRole("dialog").getByRole("button", { name: "Keep it" }).click();
  assert.equal(await statusWith(rawKey), 200);
  await revoke.click();
  await page.getByRole("dialog").getByRole("button", { name: "Revoke" }).click();
  await row.getByText("revoked").waitFor();
  assert.equal(await statusWith(rawKey), 401);
  assert.deepEqual(viewer.faults, []);
});

test("a renamed organization has its new name on every page at once", async () => {
  const customer = await server.customer();
  const { page, faults } = await visit("/settings/organization", customer);
  await page.getByLabel("Name of the organization").fill(NAME);
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByRole("banner").getByText(NAME, { exact: true }).waitFor();
  const { id } = customer.tenant.organization;
  assert.equal((await server.database.organizations.findById(id))?.name, NAME);
  assert.deepEqual(faults, []);
});

test("an agent is deleted after confirmation, and an empty list shows the next step", async () => {
  const customer = await server.customer();
  const { id } = await server.agent(customer, { name: NAME });
  const viewer = await visit(`/agents/${id}`, customer);
  const { page } = viewer;
  await page.getByRole("heading", { level: 1, name: NAME }).waitFor();
  const agents = () => server.database.agents.list(customer.tenant.organization.id);
  const remove = page.getByRole("button", { name: "Delete", exact: true });
  await remove.click();
  const asking = page.getByRole("dialog", { name: `Delete ${NAME}?` });
  await asking.getByRole("button", { name: "Keep it" }).click();
  assert.equal((await agents()).length, 1);
  await remove.click();
  await asking.getByRole("button", { name: "Delete" }).click();
  await page.getByRole("heading", { name: "No agent yet" }).waitFor();
  assert.deepEqual(await agents(), []);
  assert.deepEqual(await barriers(viewer), []);
  assert.deepEqual(viewer.faults, []);
});

test("a member who is not an admin sees the organization's members, and cannot change them", async () => {
  const owner = await server.customer();
  const { id } = owner.tenant.organization;
  const email = `mia-${id}@example.com`;
  const mia = { email, name: NAME, password: "long enough for this", role: "member" } as const;
  await server.tenancy.members.add(id, mia, SERVER_ACTOR);
  const { page, faults } = await visit("/settings/members", { email });
  const own = page.getByRole("row").filter({ hasText: `${email}, you` });
  await own.getByRole("cell", { name: "Member", exact: true }).waitFor();
  await page.getByRole("cell", { name: "Owner", exact: true }).waitFor();
  await page.getByRole("button", { name: "Change my password" }).waitFor();
  assert.equal(await page.getByRole("button", { name: "New member" }).count(), 0);
  assert.equal(await page.getByRole("button", { name: /^Remove/ }).count(), 0);
  assert.equal(await page.getByRole("combobox").count(), 0);
  assert.deepEqual(faults, []);
});

test("an own provider can be added with a key of valid format, which is encrypted", async () => {
  const customer = await server.customer();
  const { page, faults } = await visit("/providers", customer);
  await page.getByRole("button", { name: "Own account" }).click();
  const form = page.getByRole("dialog");
  await form.getByLabel("Vendor", { exact: true }).selectOption({ label: "Groq (LLM)" });
  await form.getByLabel("Name", { exact: true }).fill(NAME);
  const key = form.getByLabel("The vendor’s API key");
  await key.fill("no key has spaces");
  await form.getByRole("button", { name: "Add the provider" }).click();
  await key.and(page.locator("[aria-invalid]")).waitFor();
  await key.fill(VENDOR_KEY);
  await form.getByRole("button", { name: "Add the provider" }).click();
  const card = page.getByRole("article").filter({ hasText: NAME });
  await card.getByText("groq · your own").waitFor();
  const [own] = await server.database.providers.listOwned(customer.tenant.organization.id);
  assert.equal(own?.name, NAME);
  assert.ok(own.sealedCredentials && !own.sealedCredentials.includes(VENDOR_KEY));
  assert.deepEqual(faults, []);
});

test("a vendor can be tested, and the page shows the result in words", async () => {
  const { page, faults } = await visit("/providers", await server.customer());
  const id = await server.providerId("llm", "openai");
  const card = page.locator(`#provider-${id}`);
  const ask = card.getByRole("button", { name: /^Test/ });
  await ask.click();
  await card.getByRole("status").getByText("It answered in").waitFor();
  server.sandbox.faults.openai = { fault: "unauthorized" };
  await ask.click();
  await card.getByRole("status").getByText("openai rejects the credentials").waitFor();
  server.sandbox.faults.openai = {};
  assert.deepEqual(faults, []);
});

test("a call can be placed to an allowed number, and is listed under Calls with its outcome", async () => {
  const customer = await server.customer();
  const agent = await server.agent(customer);
  const { page, faults } = await visit("/numbers", customer);
  await page.getByLabel("Number to call").fill(BUSY);
  await page.getByLabel("From", { exact: true }).fill(FROM);
  const place = page.getByRole("button", { name: "Place the call" });
  await place.click();
  await page.getByRole("alert").waitFor();
  assert.deepEqual(await server.calls(customer), []);
  await page.getByText("no number yet").waitFor();
  await server.tenancy.phoneNumbers.allow(customer.email, FROM);
  await server.tenancy.dialTargets.allow(customer.email, "+1555");
  await page.reload();
  await page.getByText("+1555", { exact: true }).waitFor();
  const answering = page.getByLabel(`Agent that answers ${FROM}`);
  await answering.selectOption({ label: agent.name });
  await server.changes.until("the number's agent", async () => {
    const found = await server.database.phoneNumbers.find(FROM);
    return found?.agentId === agent.id ? found : undefined;
  });
  await page.getByLabel("From", { exact: true }).selectOption(FROM);
  await page.getByLabel("Number to call").fill(BUSY);
  await place.click();
  await page.getByText("It rings in a moment").waitFor();
  assert.equal((await server.endedCall(customer)).metadata["endReason"], "busy");
  await page.getByRole("link", { name: "Calls", exact: true }).click();
  await page.getByRole("link").filter({ hasText: "the line was busy" }).first().waitFor();
  assert.deepEqual(faults, []);
});

test("numbers can be added to the do-not-call list and removed from it", async () => {
  const customer = await server.customer();
  await server.agent(customer);
  const viewer = await visit("/numbers", customer);
  const { page, faults } = viewer;
  await page.getByText("No number is on the list.").waitFor();
  await page
    .getByLabel("Numbers that are not to be called")
    .fill("+1 (555) 010-1000\n+15550101001,");
  await page.getByLabel("Note (optional)").fill("asked on a call");
  await page.getByRole("button", { name: "Add to the list" }).click();
  await page.getByText("2 on the list now.").waitFor();
  await page.getByText("+15550101000", { exact: true }).waitFor();
  assert.deepEqual(await barriers(viewer), []);
  await page.getByRole("button", { name: "Remove +15550101000" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Remove" }).click();
  await page.getByText("+15550101000", { exact: true }).waitFor({ state: "detached" });
  await page.getByText("+15550101001", { exact: true }).waitFor();
  assert.deepEqual(faults, []);
});

test("a telephony account can be added and tested, and its number imported, assigned and released", async () => {
  const customer = await server.customer();
  const agent = await server.agent(customer, { name: NAME });
  const viewer = await visit("/numbers", customer);
  const { page } = viewer;
  await page.getByRole("button", { name: "Add an account" }).click();
  const form = page.getByRole("dialog", { name: "Add a telephony account" });
  await form.getByLabel("Vendor").selectOption({ label: "Telnyx" });
  await form.getByLabel("Vendor").selectOption({ label: "Twilio" });
  await form.getByLabel("Account SID").fill("not an id");
  await form.getByLabel("Auth token").fill("our-own-token");
  await form.getByRole("button", { name: "Add the account" }).click();
  await form.getByText("expected 1 to 64 letters").waitFor();
  assert.deepEqual(await barriers(viewer), []);
  await form.getByLabel("Account SID").fill("AC1");
  await form.getByRole("button", { name: "Add the account" }).click();
  const account = page.getByRole("group", { name: "Account Twilio" });
  await account.getByRole("button", { name: "Test" }).click();
  await account.getByText("It works").waitFor();
  assert.ok(!(await page.content()).includes("our-own-token"));
  await account.getByRole("button", { name: "Import numbers" }).click();
  await account.getByLabel("Imported numbers are answered by").selectOption({ label: NAME });
  const { number } = stand.simulator.account.numbers[0] ?? { number: "" };
  await account.getByRole("button", { name: `Import ${number}` }).click();
  await account.getByText("imported", { exact: true }).waitFor();
  assert.match(
    stand.simulator.account.webhookOf(number),
    /\/api\/telephony\/voice\?vendor=twilio&account=/,
  );
  const answering = page.getByLabel(`Agent that answers ${number}`);
  await answering.waitFor();
  assert.equal(await answering.inputValue(), agent.id);
  assert.deepEqual(await barriers(viewer), []);
  await page.getByRole("button", { name: "Release" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Release" }).click();
  await account.getByRole("button", { name: `Import ${number}` }).waitFor();
  await account.getByRole("button", { name: "Delete" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
  await account.waitFor({ state: "detached" });
  assert.deepEqual(viewer.faults, []);
});
