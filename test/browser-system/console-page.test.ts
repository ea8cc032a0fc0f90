import assert from "node:assert/strict";
import { test } from "node:test";
import type { ViewerPage } from "../../bench/livestream/viewer-browser.js";
import { barriers } from "./axe.js";
import { standOfFile } from "./browser-stand.js";
import { visitConsole } from "./console-visit.js";
import { layoutShifts, SHIFT_WATCH } from "./layout-shifts.js";
import { seedCalls } from "./seeded-calls.js";

const CALLS = 2_500;
/** The visible rows, and some above and below them. */
const ROWS_IN_PAGE_MAX = 80;

/** Scrolls to the end of the loaded rows, frame by frame, until all rows of 44 pixels are loaded. */
const SCROLL_TO_THE_LAST = `new Promise((resolve) => {
  const list = document.querySelector(".scroller");
  const scroll = () => {
    list.scrollTop = list.scrollHeight;
    if (list.scrollHeight >= ${CALLS * 44}) resolve();
    else requestAnimationFrame(scroll);
  };
  scroll();
})`;

const { server, browser } = await standOfFile();

async function go({ page }: ViewerPage, path: string, heading: RegExp | string): Promise<void> {
  await page.goto(`${server.url}/console${path}`);
  await page.getByRole("heading", { level: 1, name: heading }).waitFor();
}

test("a new user waits to be activated, then makes an agent and changes it", async () => {
  const viewer = await browser.open(`${server.url}/console/agents`);
  const { page } = viewer;
  const create = page.getByRole("button", { name: "Create an account" });
  await create.waitFor();
  assert.deepEqual(await barriers(viewer), []);
  await create.click();
  await page.getByLabel("Your name").fill("Ada");
  await page.getByLabel("Organization").fill("Engines <b>& Co</b>");
  await page.getByLabel("E-mail").fill("ada@example.com");
  await page.getByLabel("Password").fill("short");
  await page.getByRole("button", { name: "Create the account" }).click();
  await page.getByText(/^Expected a password of 8 to 256 characters/).waitFor();
  await page.getByLabel("Password").and(page.locator("[aria-invalid]")).waitFor();
  assert.deepEqual(await barriers(viewer), []);
  await page.getByLabel("Password").fill("long enough for this");
  await page.getByRole("button", { name: "Create the account" }).click();
  await page.getByRole("heading", { name: "Almost there" }).waitFor();
  assert.deepEqual(await barriers(viewer), []);

  await server.tenancy.organizations.activate("ada@example.com");
  await page.getByRole("button", { name: "Look again" }).click();
  await page.getByText("Engines <b>& Co</b>").waitFor();
  await page.getByRole("button", { name: "New agent" }).first().click();
  await page.getByLabel("Name").fill("Réception 🛎");
  await page.getByRole("button", { name: "Make the agent" }).click();
  await page.getByRole("heading", { level: 1, name: "Réception 🛎" }).waitFor();

  await page.getByLabel("First sentence").fill("Engines, good day.");
  await page.getByRole("link", { name: "Home" }).click();
  await page.getByRole("button", { name: "Stay" }).click();
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("Saved.").waitFor();
  const { organization } = await server.tenancy.accounts.signIn({
    email: "ada@example.com",
    password: "long enough for this",
  });
  const [agent] = await server.database.agents.list(organization.id);
  assert.equal(agent?.persona.greeting, "Engines, good day.");
  await page.getByRole("link", { name: "Home" }).click();
  await page.getByRole("heading", { name: "Get started" }).waitFor();
  assert.deepEqual(viewer.faults, []);
});

test("every page is accessible in both themes and on a phone, and violates no content policy", async () => {
  const customer = await server.customer();
  const agent = await server.agent(customer, { name: "Réception" });
  await server.agent(customer, { name: "Réception ".repeat(50).trim() });
  await seedCalls(server.database, customer, agent.id, 3);
  const pages: readonly (readonly [path: string, heading: string])[] = [
    ["", "Home"],
    ["/agents", "Agents"],
    [`/agents/${agent.id}`, "Réception"],
    ["/calls", "Calls"],
    ["/calls?status=failed", "Calls"],
    [`/calls/${customer.apiKeyId}-1?t=0.2`, "Réception with a browser"],
    ["/call-lists", "Call lists"],
    ["/numbers", "Numbers"],
    ["/providers", "Providers"],
    ["/usage", "Usage"],
    ["/settings", "Settings"],
    ["/settings/members", "Settings"],
    ["/settings/organization", "Settings"],
    ["/settings/webhooks", "Settings"],
    ["/settings/jobs", "Settings"],
    ["/settings/audit", "Settings"],
    ["/talk", "Talk"],
    ["/start", "Make an agent"],
    [`/start/${agent.id}?template=support`, "Make an agent"],
    ["/nowhere", "No such page"],
  ];
  const visits = [
    { colorScheme: "light", viewport: { width: 1280, height: 800 } },
    { colorScheme: "dark", viewport: { width: 390, height: 844 } },
  ] as const;
  for (const visit of visits) {
    const viewer = await visitConsole(browser, server, customer, visit);
    await viewer.page.addInitScript(SHIFT_WATCH);
    const shifts: string[] = [];
    for (const [path, heading] of pages) {
      await go(viewer, path, heading);
      await viewer.page.getByLabel("Loading").first().waitFor({ state: "detached" });
      assert.deepEqual(await barriers(viewer), [], `${path}, ${visit.colorScheme}`);
      const overflow = await viewer.page.evaluate(
        "document.documentElement.scrollWidth - innerWidth",
      );
      assert.equal(overflow, 0, `${path} is as wide as the screen`);
      const moved = await layoutShifts(viewer);
      shifts.push(...moved.map((what) => `${path} ${what}`));
    }
    assert.deepEqual(shifts, [], "no page shifts its layout");
    assert.deepEqual(viewer.faults, []);
    await viewer.close();
  }
});

test("a new user chooses a template, talks to the agent and sees how to connect it to a number or a page", async () => {
  const customer = await server.customer();
  const viewer = await visitConsole(browser, server, customer);
  const { page } = viewer;
  await page.getByRole("link", { name: "Choose a template" }).click();
  await page.getByRole("heading", { level: 1, name: "Make an agent" }).waitFor();
  assert.deepEqual(await barriers(viewer), []);
  await page.getByRole("button", { name: "Take Appointments" }).click();
  await page.getByRole("heading", { name: "2. Talk to Appointments" }).waitFor();
  await page.getByText("I would like an appointment next week.").waitFor();
  assert.deepEqual(await barriers(viewer), []);
  const agents = await server.database.agents.list(customer.tenant.organization.id);
  const made = agents.find(({ name }) => name === "Appointments");
  assert.equal(made?.thresholds.maxEndpointingDelayMs, 3_000);
  await page.getByText(`agent_id=${made?.id}`).waitFor();
  await page.getByText(`<parley-agent agent="${made?.id}"`).waitFor();
  await page.evaluate('Object.defineProperty(navigator, "clipboard", { value: undefined })');
  await page.getByRole("button", { name: "Copy: the two lines" }).click();
  await page.getByText("Select it and copy it by hand").waitFor();
  assert.deepEqual(viewer.faults, []);
});

test("calls can be found by their words, by their day and number, and by whether they need attention", async () => {
  const customer = await server.customer();
  const agent = await server.agent(customer);
  await seedCalls(server.database, customer, agent.id, 20);
  const orgId = customer.tenant.organization.id;
  await server.database.calls.annotate(`${customer.apiKeyId}-15`, { endReason: "callerIdle" });
  const viewer = await visitConsole(browser, server, customer);
  const { page } = viewer;
  await go(viewer, "/calls", "Calls");
  await page.getByText("20 calls").waitFor();
  await page.getByRole("button", { name: "Needs attention" }).click();
  await page.getByText("1 call", { exact: true }).waitFor();
  await page.getByText("the caller was silent").waitFor();
  await page.getByRole("button", { name: "Needs attention" }).click();
  const tomorrow = new Date(Date.now() + 86_400_000).toISOString().slice(0, 10);
  await page.getByRole("button", { name: "More filters" }).click();
  await page.getByLabel("Since").fill(tomorrow);
  await page.getByRole("heading", { name: "No calls match" }).waitFor();
  await page.getByLabel("Since").fill("");
  await page.getByLabel("Until").fill(tomorrow);
  await page.getByText("20 calls").waitFor();
  await page.getByLabel("Until").fill("");
  await page.getByLabel("From number").fill("+15550100");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "No calls match" }).waitFor();
  await page.getByLabel("From number").fill("");
  await page.getByText("20 calls").waitFor();
  await page.keyboard.press("/");
  await page.keyboard.type(`hello from ${customer.apiKeyId}-7`);
  await page.keyboard.press("Enter");
  await page.getByText("1 call", { exact: true }).waitFor();
  assert.match(page.url(), /words=hello/);
  assert.equal((await server.database.calls.list(orgId, { skip: 0, limit: 1 })).total, 20);
  assert.deepEqual(await barriers(viewer), []);
  await page.getByLabel("Words that were said").fill("");
  await page.getByText("20 calls").waitFor();
  assert.deepEqual(viewer.faults, []);
});

test("single-key shortcuts work, but not while text is typed", async () => {
  const customer = await server.customer();
  await server.agent(customer, { name: "One" });
  await server.agent(customer, { name: "Two" });
  const viewer = await visitConsole(browser, server, customer);
  const { page } = viewer;
  await go(viewer, "/agents", "Agents");
  await page.getByRole("link", { name: "Two" }).waitFor();
  await page.keyboard.press("j");
  await page.keyboard.press("j");
  await page.keyboard.press("k");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { level: 1, name: "One" }).waitFor();
  await page.getByLabel("First sentence").fill("t?");
  await page.getByRole("button", { name: "Undo" }).click();
  await page.keyboard.press("?");
  await page.getByRole("dialog", { name: "Keys" }).waitFor();
  await page.keyboard.press("Escape");
  await page.keyboard.press("t");
  await page.getByRole("heading", { level: 1, name: "Talk" }).waitFor();
  // Users of speech input, or with a tremor, can switch the shortcuts off.
  await page.getByRole("button", { name: "Account" }).click();
  const choice = page.getByLabel("Single keys");
  await choice.uncheck();
  assert.deepEqual(await barriers(viewer), []);
  await page.reload();
  await page.getByRole("heading", { level: 1, name: "Talk" }).waitFor();
  await page.keyboard.press("?");
  assert.equal(await page.getByRole("dialog").count(), 0);
  await page.getByRole("button", { name: "Account" }).click();
  await choice.check();
  await page.keyboard.press("Escape");
  await page.keyboard.press("?");
  await page.getByRole("dialog", { name: "Keys" }).waitFor();
});

test("an admin adds a member, who signs in and changes the first password", async () => {
  const owner = await server.customer();
  const viewer = await visitConsole(browser, server, owner);
  const { page } = viewer;
  await go(viewer, "/settings/members", "Settings");
  await page.getByRole("button", { name: "New member" }).click();
  await page.getByLabel("Name").fill("Mia <i>Ångström</i>");
  await page.getByLabel("E-mail").fill("mia@example.com");
  const password = await page.getByLabel("First password").inputValue();
  await page.getByRole("button", { name: "Add the member" }).click();
  await page.getByLabel("Role of Mia <i>Ångström</i>").selectOption("admin");
  assert.deepEqual(await barriers(viewer), []);
  const { page: hers } = await browser.open(`${server.url}/console/settings/members`);
  await hers.getByLabel("E-mail").fill("mia@example.com");
  await hers.getByLabel("Password").fill(password);
  await hers.getByRole("button", { name: "Sign in" }).click();
  await hers.getByRole("button", { name: "Change my password" }).click();
  await hers.getByLabel("Current password").fill(password);
  await hers.getByLabel("New password").fill("my own password");
  await hers.getByRole("button", { name: "Change it" }).click();
  await hers.getByText("The password was changed.").waitFor();
  await page.getByRole("button", { name: "Remove Mia" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Remove" }).click();
  await page.getByText("mia@example.com").waitFor({ state: "detached" });
  await hers.reload();
  await hers.getByRole("heading", { level: 1, name: "Sign in" }).waitFor();
  assert.deepEqual(viewer.faults, []);
});

test("2,500 calls can be scrolled with only the visible rows in the page", async () => {
  const customer = await server.customer();
  const agent = await server.agent(customer);
  await seedCalls(server.database, customer, agent.id, CALLS);
  const viewer = await visitConsole(browser, server, customer);
  const { page } = viewer;
  await go(viewer, "/calls", "Calls");
  await page.getByText("2,500 calls").waitFor();
  // The total is shown before the list, which waits for the calls in progress above it.
  await page.locator(".scroller [data-row]").first().waitFor();
  await page.evaluate(SCROLL_TO_THE_LAST);
  await page.locator(`a[href$="/calls/${customer.apiKeyId}-${CALLS - 1}"]`).waitFor();
  assert.ok((await page.locator("[data-row]").count()) <= ROWS_IN_PAGE_MAX);
});
