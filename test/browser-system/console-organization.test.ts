import assert from "node:assert/strict";
import { test } from "node:test";
import { standOfFile } from "./browser-stand.js";
import { visitConsole } from "./console-visit.js";

const { server, browser } = await standOfFile();

/** More entries than a page of the audit trail shows. */
const CHANGES = 60;

test("the audit trail can be read page by page, down to the oldest change", async () => {
  const customer = await server.customer();
  for (let number = 1; number <= CHANGES; number += 1) {
    await server.tenancy.organizations.rename(customer.tenant, `Name ${number}`);
  }
  const viewer = await visitConsole(browser, server, customer);
  const { page } = viewer;
  await page.goto(`${server.url}/console/settings/audit`);
  await page.getByText("“Name 60”").waitFor();
  assert.equal(await page.getByText("“Name 10”").count(), 0);
  assert.equal(await page.getByRole("link", { name: "Newer" }).count(), 0);
  await page.getByRole("link", { name: "Older" }).click();
  await page.getByText("“Name 10”").waitFor();
  assert.match(page.url(), /\/settings\/audit\?page=2$/);
  await page.getByText(/“Name 1”/).waitFor();
  assert.equal(await page.getByRole("link", { name: "Older" }).count(), 0);
  await page.getByRole("link", { name: "Newer" }).click();
  await page.getByText("“Name 60”").waitFor();
  assert.deepEqual(viewer.faults, []);
});

test("the plan's page shows which models agents can use, and how many own accounts are allowed", async () => {
  const customer = await server.customer("starter");
  const viewer = await visitConsole(browser, server, customer);
  const { page } = viewer;
  await page.goto(`${server.url}/console/settings/organization`);
  await page.getByRole("heading", { name: "Plan Starter" }).waitFor();
  const { models, features } = customer.tenant.plan;
  const accounts = page.locator("dl > div").filter({ hasText: "accounts of your own" });
  assert.equal(await accounts.locator("dd").textContent(), String(features.maxCustomProviders));
  const [first = ""] = models.tts;
  assert.equal(await page.getByText(first).isVisible(), false, "the list is folded");
  await page.getByText(`${models.tts.length} TTS models`).click();
  await page.getByText(first).waitFor();
  assert.deepEqual(viewer.faults, []);
});

test("an agent can use any model of a long list", async () => {
  const customer = await server.customer();
  const { id } = await server.agent(customer);
  const models = Array.from({ length: 150 }, (_, index) => ({
    modelId: `own-${index}`,
    label: `Own ${index}`,
  }));
  const own = { category: "llm", providerKey: "ollama", name: "Ours", models } as const;
  await server.tenancy.providers.create(customer.tenant, own);
  const viewer = await visitConsole(browser, server, customer);
  const { page } = viewer;
  await page.goto(`${server.url}/console/agents/${id}?tab=model`);
  const field = page.getByRole("region", { name: "LLM" }).getByLabel("LLM", { exact: true });
  await field.selectOption({ label: "Ours · Own 149" });
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("Saved.").waitFor();
  const agent = await server.database.agents.findById(customer.tenant.organization.id, id);
  assert.equal(agent?.llmModelId, "own-149");
  assert.deepEqual(viewer.faults, []);
});
