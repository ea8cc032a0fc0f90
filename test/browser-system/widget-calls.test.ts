import assert from "node:assert/strict";
import { once } from "node:events";
import { rm } from "node:fs/promises";
import { after, test } from "node:test";
import { WebSocket } from "ws";
import type { ViewerPage } from "../../bench/livestream/viewer-browser.js";
import { ClientTokens } from "../../engine/security/client-token.js";
import { VirtualClock } from "../doubles/virtual-clock.js";
import { JWT_SECRET } from "../system/test-customers.js";
import { type Customer, newDataDir, TestServer } from "../system/test-server.js";
import { barriers } from "./axe.js";
import { standOfFile } from "./browser-stand.js";
import { WidgetSite } from "./widget-site.js";

const THEIRS = "https://shop.example.com";
const LIGHT = "rgb(255, 255, 255)";
const DARK = "rgb(20, 32, 31)";

const { server, browser } = await standOfFile({
  flags: ["--use-fake-device-for-media-stream", "--deny-permission-prompts"],
});
const site = await WidgetSite.start(server);
after(() => site.close());

type Page = ViewerPage["page"];

/** The visitor has no microphone here, and types. */
async function begin(page: Page): Promise<void> {
  await page.getByRole("button", { name: "Start talking" }).click();
  await page.getByText("Waiting for your words").waitFor();
}

async function write(page: Page, text: string): Promise<void> {
  await page.getByLabel("Write to the agent").fill(text);
  await page.keyboard.press("Enter");
}

async function hangUp(page: Page): Promise<void> {
  await page.getByRole("button", { name: "Hang up" }).click();
  await page.getByText("The call has ended.").waitFor();
}

function tokenOfYesterday({ tenant }: Customer, agentId: string): string {
  const clock = new VirtualClock(Date.now() - 86_400_000);
  const claims = { orgId: tenant.organization.id, agentId, variables: {} };
  const tokens = new ClientTokens({ secret: JWT_SECRET, clock });
  const origin = site.origin;
  return tokens.issue({ ...claims, callMaxSec: undefined, origin }, 3_600)?.token ?? "";
}

test("a token that is expired, already used, or for another origin begins no call", async () => {
  const customer = await server.customer();
  const { id } = await server.agent(customer);
  const { page, faults } = await site.open(browser, `${site.tokenAttributes} mode="inline"`);
  const stolen = await site.tokenFor(customer, id);
  const address = `${server.url.replace("http", "ws")}/ws/voice?audio=stream&token=${stolen}`;
  const thief = new WebSocket(address, { origin: site.origin });
  await once(thief, "message");
  const foreign = await site.tokenFor(customer, id, THEIRS);
  for (const token of [tokenOfYesterday(customer, id), stolen, foreign]) {
    site.giveOut(token);
    await page.getByRole("button", { name: "Start talking" }).click();
    await page
      .getByRole("alert")
      .filter({ hasText: "This page is not allowed to call." })
      .waitFor();
    await page.getByText("The call could not be started.").waitFor();
  }
  assert.equal((await server.calls(customer)).length, 1, "the call that used the token first");
  site.giveOut(await site.tokenFor(customer, id));
  await begin(page);
  await hangUp(page);
  thief.close();
  await server.endedCalls(customer, 2);
  assert.deepEqual(faults, []);
});

test("the widget waits for a server that restarts during a call, and the conversation continues", async (context) => {
  const dataDir = await newDataDir();
  let running = await TestServer.start({ dataDir });
  context.after(async () => {
    site.leadTo(server.url);
    await running.stop();
    await rm(dataDir, { recursive: true });
  });
  const customer = await running.customer();
  const { id } = await running.agent(customer, { allowedOrigins: [site.origin] });
  site.leadTo(running.url);
  const attributes = `agent="${id}" server="${site.origin}" mode="inline"`;
  const { page, faults } = await site.open(browser, attributes);
  await begin(page);
  await write(page, "My name is Ada.");
  const heard = page.locator('parley-agent p[aria-hidden="false"]');
  await heard.filter({ hasText: "How can I help you in this sandbox?" }).waitFor();
  await running.stop();
  await page.getByText("The connection was lost. Trying again…").waitFor();
  running = await TestServer.start({ dataDir });
  site.leadTo(running.url);
  await page.getByText("Waiting for your words").waitFor();
  await write(page, "What is my name?");
  await heard.filter({ hasText: "Your name is Ada." }).waitFor();
  await hangUp(page);
  await running.settled();
  assert.deepEqual(faults, []);
});

test("words that the visitor interrupted and did not hear are struck out", async () => {
  const customer = await server.customer();
  const { id } = await server.agent(customer, { allowedOrigins: [site.origin] });
  const { page, faults } = await site.open(browser, `agent="${id}" mode="inline"`);
  await begin(page);
  await write(page, "Please count to 30.");
  await page
    .getByRole("log")
    .getByText(/Number 2\./)
    .waitFor();
  await write(page, "What is my name?");
  const unheard = page.locator("parley-agent s").filter({ hasText: /not heard.*Number \d+\./ });
  await unheard.waitFor();
  await page
    .getByRole("log")
    .getByText(/so just say it\./)
    .waitFor();
  await hangUp(page);
  await server.endedCall(customer);
  assert.deepEqual(faults, []);
});

test("the widget follows the system's or the page's theme, uses the page's colours, and is accessible", async () => {
  const viewer = await site.open(browser, 'agent="nobody"');
  const { page } = viewer;
  assert.deepEqual(await barriers(viewer), []);
  await page.getByRole("button", { name: "Talk to us" }).click();
  const element = 'document.querySelector("parley-agent")';
  const ground = (selector: string) =>
    page.evaluate(
      `getComputedStyle(${element}.shadowRoot.querySelector("${selector}")).backgroundColor`,
    );
  for (const [system, theme, expected] of [
    ["light", "", LIGHT],
    ["dark", "", DARK],
    ["dark", "light", LIGHT],
    ["light", "dark", DARK],
  ] as const) {
    await page.emulateMedia({ colorScheme: system });
    await page.evaluate(`${element}.setAttribute("theme", "${theme}")`);
    assert.equal(await ground(".panel"), expected, `${system}, ${theme}`);
    assert.deepEqual(await barriers(viewer), [], `${system}, ${theme}`);
  }
  await page.evaluate(`${element}.style.setProperty("--parley-accent", "rgb(1, 2, 3)")`);
  assert.equal(await ground("button.main"), "rgb(1, 2, 3)");
  assert.deepEqual(viewer.faults, []);
});
