import assert from "node:assert/strict";
import { test } from "node:test";
import { type Customer, VENDOR_KEY } from "../system/test-server.js";
import { barriers } from "./axe.js";
import { standOfFile } from "./browser-stand.js";
import { type Visit, visitConsole } from "./console-visit.js";

const { server, browser } = await standOfFile({ environment: { NODE_NAME: "kitchen" } });

/** More organizations than two pages show. */
const ORGANIZATIONS = 45;

async function operator(): Promise<Customer> {
  const customer = await server.customer();
  const user = await server.database.users.findByEmail(customer.email);
  assert.ok(user);
  await server.database.users.setOperator(user.id, true);
  return customer;
}

async function visitPlatform(customer: Customer, visit: Visit = {}) {
  const viewer = await visitConsole(browser, server, customer, visit);
  await viewer.page.getByRole("link", { name: "Platform" }).click();
  await viewer.untilText("h1", /Platform/);
  return viewer;
}

async function statusOf({ tenant }: Customer): Promise<string | undefined> {
  const found = await server.database.organizations.findById(tenant.organization.id);
  return found?.status;
}

test("an operator finds an organization, suspends it, activates it again and changes its plan", async () => {
  const customers: Customer[] = [];
  while (customers.length < ORGANIZATIONS) customers.push(await server.customer("free"));
  const [wanted] = customers;
  assert.ok(wanted);
  const { id } = wanted.tenant.organization;
  await server.database.organizations.rename(id, "Engines <b>& Co</b>", Date.now());
  const viewer = await visitPlatform(await operator());
  const { page } = viewer;
  await page.getByText(`1 to 20 of ${ORGANIZATIONS + 1}`).waitFor();
  assert.equal(await page.getByRole("link", { name: "Newer" }).count(), 0);
  await page.getByRole("link", { name: "Older" }).click();
  await page.getByText("21 to 40 of").waitFor();
  await page.getByRole("link", { name: "Older" }).click();
  await page.getByText("41 to 46 of").waitFor();
  assert.equal(await page.getByRole("link", { name: "Older" }).count(), 0);

  // With the keyboard alone, from a page that does not contain the name.
  await page.keyboard.press("/");
  await page.keyboard.type("engines <B>");
  await page.keyboard.press("Enter");
  await page.getByText("1 to 1 of 1").waitFor();
  await page.getByRole("heading", { level: 1 }).click();
  await page.keyboard.press("j");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { level: 1, name: "Engines <b>& Co</b>" }).waitFor();

  await page.getByRole("button", { name: "Suspend" }).click();
  await page.getByRole("button", { name: "Leave it active" }).click();
  assert.equal(await statusOf(wanted), "active");
  await page.getByRole("button", { name: "Suspend" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Suspend" }).click();
  await page.getByRole("button", { name: "Activate" }).waitFor();
  assert.equal(await statusOf(wanted), "pending");
  await page.getByRole("button", { name: "Activate" }).click();
  await page.getByRole("button", { name: "Suspend" }).waitFor();
  assert.equal(await statusOf(wanted), "active");

  await page.getByLabel("Plan").selectOption("pro");
  await page.getByRole("button", { name: "Change the plan" }).click();
  await page.getByRole("heading", { level: 2, name: "Plan Pro" }).waitFor();
  await page.getByRole("link", { name: "All organizations" }).click();
  await page.getByLabel("Status").selectOption("pending");
  await page.getByText("No organizations match").waitFor();
  assert.deepEqual(viewer.faults, []);
});

test("an operator gives one organization limits of its own, and a refused limit is explained", async () => {
  const customer = await server.customer("free");
  const { id } = customer.tenant.organization;
  const viewer = await visitPlatform(await operator());
  const { page } = viewer;
  await page.goto(`${server.url}/console/platform/organizations/${id}`);
  const calls = page.getByLabel("Calls at once");
  await calls.fill("-1");
  await page.getByRole("button", { name: "Save the limits" }).click();
  await calls.and(page.locator("[aria-invalid]:focus")).waitFor();
  assert.deepEqual(await barriers(viewer), []);
  await calls.fill("40");
  await page.getByRole("button", { name: "Save the limits" }).click();
  await page.getByText("0 of 40").waitFor();
  const found = await server.database.organizations.findById(id);
  assert.notEqual(found?.planId, customer.tenant.organization.planId, "it has a plan of its own");
  assert.deepEqual(viewer.faults, []);
});

test("an operator adds a provider for all organizations, changes it and deletes it", async () => {
  const viewer = await visitPlatform(await operator());
  const { page } = viewer;
  await page.getByRole("link", { name: "Providers" }).last().click();
  await page.getByText("from the environment").first().waitFor();
  await page.getByRole("button", { name: "New provider" }).click();
  await page.getByLabel("Vendor", { exact: true }).selectOption({ label: "OpenAI (LLM)" });
  await page.getByLabel("Name", { exact: true }).fill("Second account");
  await page.getByLabel("API key").fill(VENDOR_KEY);
  await page.getByRole("button", { name: "Test", exact: true }).click();
  await page
    .getByRole("dialog")
    .getByText(/It answered in/)
    .waitFor();
  assert.deepEqual(await barriers(viewer), []);
  await page.getByRole("button", { name: "Add the provider" }).click();
  const row = page.getByRole("row").filter({ hasText: "Second account" });
  await row.getByText("active").waitFor();
  await page.getByRole("button", { name: "Test Second account" }).click();
  await row.getByText(/It answered in/).waitFor();
  assert.deepEqual(await barriers(viewer), []);
  await page.getByRole("button", { name: "Change Second account" }).click();
  await page.getByLabel("Switched on").uncheck();
  await page.getByRole("button", { name: "Save" }).click();
  await row.getByText("switched off").waitFor();
  await page.getByRole("button", { name: "Delete Second account" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
  await row.waitFor({ state: "detached" });
  assert.deepEqual(viewer.faults, []);
});

test("the server is shown with its calls, version and load", async () => {
  const viewer = await visitPlatform(await operator());
  const { page } = viewer;
  await page.getByRole("link", { name: "Servers" }).click();
  const row = page.getByRole("row", { name: /kitchen/ });
  await row.getByText("takes calls").waitFor();
  // It is the only server: if it were drained, no server would take calls.
  assert.equal(await row.getByRole("button").count(), 0);
  assert.deepEqual(viewer.faults, []);
});

test("a user who is not an operator sees no link to the platform's pages, and is refused on them", async () => {
  const viewer = await visitConsole(browser, server, await server.customer());
  const { page } = viewer;
  assert.equal(await page.getByRole("link", { name: "Platform" }).count(), 0);
  for (const path of ["", "/servers", "/organizations/any"]) {
    await page.goto(`${server.url}/console/platform${path}`);
    await page.getByText("Only operators of the platform may do this.").first().waitFor();
  }
});

test("an operator whose own organization is pending can still use the platform's pages", async () => {
  const customer = await operator();
  const { id } = customer.tenant.organization;
  await server.database.organizations.setStatus(id, "pending", Date.now());
  const viewer = await visitConsole(browser, server, customer, {}, /Almost there/);
  await viewer.page.getByRole("link", { name: "Look after the platform" }).click();
  await viewer.untilText("h1", /Platform/);
  assert.deepEqual(viewer.faults, []);
});

test("the platform's pages are accessible in both themes and on a phone", async () => {
  const customer = await operator();
  const { id } = customer.tenant.organization;
  for (const visit of [
    { colorScheme: "light", viewport: { width: 1280, height: 800 } },
    { colorScheme: "dark", viewport: { width: 390, height: 844 } },
  ] as const) {
    const viewer = await visitConsole(browser, server, customer, visit);
    for (const path of ["", "?words=nobody", "/servers", `/organizations/${id}`]) {
      await viewer.page.goto(`${server.url}/console/platform${path}`);
      await viewer.page.getByRole("heading", { level: 1 }).waitFor();
      await viewer.page.getByLabel("Loading").first().waitFor({ state: "detached" });
      assert.deepEqual(await barriers(viewer), [], `${path}, ${visit.colorScheme}`);
      const width = await viewer.page.evaluate("document.documentElement.scrollWidth");
      assert.equal(width, visit.viewport.width, `${path} is wider than its screen`);
    }
    assert.deepEqual(viewer.faults, []);
  }
});
