import assert from "node:assert/strict";
import { test } from "node:test";
import { ended } from "../system/events.js";
import { OWN_VENDORS_ALLOWED, OwnVendors } from "../system/own-vendors.js";
import { MODELS, VENDOR_KEY } from "../system/test-server.js";
import { barriers } from "./axe.js";
import { standOfFile } from "./browser-stand.js";
import { visitConsole } from "./console-visit.js";

const { server, browser } = await standOfFile({ environment: OWN_VENDORS_ALLOWED });

test("a card shows a vendor's state, its last error, and whose agents can use it", async (context) => {
  const providerId = await server.providerId("llm", "groq");
  const fallbacks = { llm: [{ providerId, modelId: MODELS.llm.groq }], tts: [], stt: [] };
  const faults = { openai: { fault: "unauthorized" } } as const;
  const own = await OwnVendors.of(server, context, { faults, agent: { fallbacks } });
  const caller = await own.call();
  await caller.say("say yes");
  await caller.until(ended);
  await caller.hangUp();

  const viewer = await visitConsole(browser, server, own.customer);
  const { page } = viewer;
  await page.getByRole("link", { name: "Providers" }).click();
  const failed = page.getByRole("article").filter({ hasText: "calls use their fallbacks" });
  await failed.getByText("Last fault: key rejected").waitFor();
  await failed.getByText("Used by Reception").waitFor();
  const standIn = page.getByRole("article").filter({ hasText: "Fallback for Reception" });
  await standIn.getByText("active").first().waitFor();
  assert.equal(await standIn.getByText("Last fault").count(), 0);
  assert.deepEqual(await barriers(viewer), []);
  assert.deepEqual(viewer.faults, []);
});

test("an own provider can be added with its address and models, changed, and deleted when no agent uses it", async () => {
  const customer = await server.customer();
  const orgId = customer.tenant.organization.id;
  const viewer = await visitConsole(browser, server, customer);
  const { page } = viewer;
  const stored = async () => {
    const visible = await server.database.providers.listVisible(orgId);
    const [own, ...others] = visible.filter((provider) => provider.orgId === orgId);
    assert.deepEqual(others, []);
    return own;
  };
  await page.getByRole("link", { name: "Providers" }).click();
  await page.getByRole("button", { name: "Own account" }).click();
  await page.getByLabel("Vendor", { exact: true }).selectOption({ label: "OpenAI (LLM)" });
  await page.getByLabel("Name", { exact: true }).fill("Ours <b>");
  await page.getByLabel("API key").fill(VENDOR_KEY);
  await page.getByLabel("Base URL").fill("not an address");
  await page.getByLabel("Models", { exact: true }).fill("gpt-6-luna\n own-model  Our own model ");
  await page.getByRole("button", { name: "Add the provider" }).click();
  await page.getByLabel("Base URL").and(page.locator("[aria-invalid]")).waitFor();
  assert.deepEqual(await barriers(viewer), []);
  await page.getByLabel("Base URL").fill(server.sandbox.urls.openai);
  const efforts = page.getByLabel(/^Reasoning effort/).getByRole("option");
  assert.deepEqual((await efforts.allTextContents()).slice(0, 2), ["As the vendor has it", "none"]);
  const form = page.getByRole("dialog");
  await form.getByRole("button", { name: "Test" }).click();
  await form.getByText("It answered in").waitFor();
  assert.equal(await stored(), undefined, "a test stores nothing");
  assert.deepEqual(await barriers(viewer), []);
  await page.getByRole("button", { name: "Add the provider" }).click();
  const card = page.getByRole("article").filter({ hasText: "Your own" });
  await card.getByText(/, Our own model$/).waitFor();
  await card.getByText("openai · your own · key stored").waitFor();
  const added = await stored();
  assert.ok(added);
  assert.deepEqual(added.settings, { baseUrl: server.sandbox.urls.openai });
  assert.deepEqual(
    added.models.map(({ modelId }) => modelId),
    ["gpt-6-luna", "own-model"],
  );
  await card.getByRole("button", { name: "Test Ours <b>" }).click();
  await card.getByText(/^It answered in /).waitFor();
  await page.reload();
  await card.getByText(/^It answered in .* Tried /).waitFor();

  const agent = await server.agent(customer, { name: "Desk", llmProviderId: added.id });
  await page.getByRole("button", { name: "Change Ours <b>" }).click();
  await page.getByLabel("Name", { exact: true }).fill("Ours");
  await page.getByLabel("Switched on").uncheck();
  await page.getByLabel("Base URL").fill("");
  await page.getByRole("button", { name: "Save" }).click();
  // The stored key would be sent to another server.
  await page.getByLabel("API key").and(page.locator("[aria-invalid]")).waitFor();
  await page.getByLabel("API key").fill("another-key");
  await page.getByRole("button", { name: "Save" }).click();
  await card.getByText("switched off").waitFor();
  const changed = await stored();
  assert.equal(changed?.name, "Ours");
  assert.equal(changed.active, false);
  assert.deepEqual(changed.settings, {});
  assert.notEqual(changed.sealedCredentials, added.sealedCredentials);
  assert.deepEqual(changed.models, added.models);

  await page.getByRole("button", { name: "Delete Ours" }).click();
  const asks = page.getByRole("dialog", { name: "Delete Ours?" });
  await asks.getByRole("button", { name: "Delete" }).click();
  await asks.getByText("in use by agents: Desk.").waitFor();
  await server.tenancy.agents.remove(customer.tenant, agent.id);
  await asks.getByRole("button", { name: "Delete" }).click();
  await card.waitFor({ state: "detached" });
  assert.equal(await stored(), undefined);
  assert.deepEqual(viewer.faults, []);
});
