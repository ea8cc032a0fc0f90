import assert from "node:assert/strict";
import { test } from "node:test";
import type { ViewerPage } from "../../bench/livestream/viewer-browser.js";
import { barriers } from "./axe.js";
import { standOfFile } from "./browser-stand.js";
import { visitConsole } from "./console-visit.js";

const { server, browser } = await standOfFile();

const FOCUSED_IS_IN_SIGHT = `(() => {
  const { top, bottom } = document.activeElement.getBoundingClientRect();
  return top >= 0 && bottom <= innerHeight;
})()`;

/** Asserts the error text beside the field, which has the focus and is visible. */
async function refusalAt(page: ViewerPage["page"], label: string): Promise<string> {
  const field = page.getByLabel(label, { exact: true }).and(page.locator("[aria-invalid]"));
  await field.waitFor();
  await field.and(page.locator(":focus")).waitFor();
  assert.equal(await page.evaluate(FOCUSED_IS_IN_SIGHT), true, `${label} is in sight`);
  const describedBy = (await field.getAttribute("aria-describedby")) ?? "";
  return page.locator(`[id="${describedBy.split(" ").at(-1)}"]`).innerText();
}

test("the server's errors about an agent are shown beside their fields, in the right tab", async () => {
  const customer = await server.customer();
  const { id } = await server.agent(customer, { name: "Reception" });
  const viewer = await visitConsole(browser, server, customer, {
    viewport: { width: 390, height: 700 },
  });
  const { page } = viewer;
  await page.goto(`${server.url}/console/agents/${id}?tab=voice`);
  await page.getByLabel("Speed").fill("9");
  await page.getByRole("link", { name: /^Turn taking/ }).click();
  await page.getByLabel("Idle timeout, in ms").fill("-5");
  await page.getByRole("link", { name: "Prompt" }).click();
  await page.getByRole("button", { name: "Save" }).click();
  await page
    .getByRole("link", { name: /^Voice/ })
    .and(page.locator("[aria-current]"))
    .waitFor();
  assert.match(await refusalAt(page, "Speed"), /0\.25.*4/);
  assert.deepEqual(await barriers(viewer), []);
  await page.getByRole("link", { name: /^Turn taking/ }).click();
  await page.getByLabel("Idle timeout, in ms").and(page.locator("[aria-invalid]")).waitFor();
  await page.getByLabel("Idle timeout, in ms").fill("0");
  await page.getByRole("link", { name: /^Voice/ }).click();
  await page.getByLabel("Speed").fill("1");
  await page.getByRole("button", { name: "Undo" }).waitFor();
  assert.deepEqual(viewer.faults, []);
});

test("the server's errors about a key, an endpoint, a member and a provider are shown beside their fields", async () => {
  const viewer = await visitConsole(browser, server, await server.customer(), {
    viewport: { width: 390, height: 700 },
  });
  const { page } = viewer;
  const open = async (path: string, button: string) => {
    await page.goto(`${server.url}/console${path}`);
    await page.getByRole("button", { name: button }).first().click();
  };
  await open("/settings/keys", "New key");
  await page.getByLabel("Name", { exact: true }).fill("n".repeat(1_000));
  await page.getByRole("button", { name: "Make the key" }).click();
  assert.match(await refusalAt(page, "Name"), /characters/);

  await open("/settings/webhooks", "New endpoint");
  await page.getByLabel("Name", { exact: true }).fill("CRM");
  await page.getByLabel("URL", { exact: true }).fill("no address");
  await page.getByRole("button", { name: "Add the endpoint" }).click();
  assert.match(await refusalAt(page, "URL"), /URL|address/i);

  await open("/settings/members", "New member");
  await page.getByLabel("Name", { exact: true }).fill("Mia");
  await page.getByLabel("E-mail", { exact: true }).fill("mia@example.com");
  await page.getByLabel("First password", { exact: true }).fill("short");
  await page.getByRole("button", { name: "Add the member" }).click();
  assert.match(await refusalAt(page, "First password"), /8 to 256 characters/);

  await open("/providers", "Own account");
  await page.getByLabel("Name", { exact: true }).fill("Ours");
  await page.getByLabel("The vendor’s API key", { exact: true }).fill("a key");
  await page.getByRole("button", { name: "Add the provider" }).click();
  assert.match(await refusalAt(page, "The vendor’s API key"), /./);
  assert.deepEqual(await barriers(viewer), []);
  assert.deepEqual(viewer.faults, []);
});
