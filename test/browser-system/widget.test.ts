import assert from "node:assert/strict";
import { after, before, type TestContext, test } from "node:test";
import { ViewerBrowser, type ViewerPage } from "../../bench/livestream/viewer-browser.js";
import { TestServer } from "../system/test-server.js";
import { PageSite } from "./page-site.js";
import { SPOKEN_MICROPHONE } from "./spoken-words.js";

const FAKE_DEVICE = "--use-fake-device-for-media-stream";
const NO_PERMISSION = "--deny-permission-prompts";

const GREETING = "Hello, this is the shop.";

let server: TestServer;
let site: PageSite;
before(async () => {
  server = await TestServer.start();
  const { host } = new URL(server.url);
  const policy = `default-src 'none'; script-src http://${host}; connect-src 'self' ws://${host}`;
  site = await PageSite.start(server.url, {}, policy);
});
after(async () => {
  site.close();
  await server.close();
});

/** A page of another site than the server's, as careful as it can be with a widget. */
async function pageWith(
  context: TestContext,
  attributes: string,
  hasMicrophone = true,
): Promise<ViewerPage> {
  const body = `<!doctype html><html lang="en"><title>Shop</title>
    <script src="${server.url}/widget.js" defer></script><a href="#top">First</a>
    <parley-agent ${attributes}></parley-agent></html>`;
  site.put("/shop", { contentType: "text/html", body });
  const browser = await ViewerBrowser.start([FAKE_DEVICE, NO_PERMISSION]);
  context.after(() => browser.stop());
  const viewer = await browser.prepare();
  // The fake device beeps, which interrupts the agent.
  if (hasMicrophone) await viewer.page.addInitScript(SPOKEN_MICROPHONE);
  await viewer.page.goto(`${site.origin}/shop`);
  return viewer;
}

test("by keyboard alone: the widget opens, talks, shows the words as text, mutes, and closes", async (context) => {
  const customer = await server.customer();
  const publicOrigins = [site.origin];
  const { id } = await server.agent(customer, { persona: { greeting: GREETING }, publicOrigins });
  const { page, faults } = await pageWith(context, `agent="${id}"`);
  await page.getByRole("button", { name: "Talk to us" }).waitFor();
  await page.keyboard.press("Tab");
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  const dialog = page.getByRole("dialog");
  await dialog.waitFor();
  // The panel has put the focus where one goes on.
  await page.keyboard.press("Enter");
  const said = page.getByRole("log").getByText(GREETING);
  await said.waitFor();
  // Only what is final is read aloud.
  await page.locator('parley-agent p[aria-hidden="false"]').filter({ hasText: "Hello" }).waitFor();
  await page.getByRole("heading", { name: "Reception" }).waitFor();
  await page.keyboard.press("Tab");
  await page.keyboard.press("Space");
  await page.getByRole("button", { name: "Mute", pressed: true }).waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: /call is in progress/ }).waitFor();
  assert.equal(await page.evaluate("document.activeElement.tagName"), "PARLEY-AGENT");
  await page.keyboard.press("Enter");
  await page.getByRole("button", { name: "Hang up" }).click();
  await page.getByText("The call has ended.").waitFor();
  assert.deepEqual(faults, []);
  assert.equal((await server.endedCall(customer)).status, "completed");
});

test("a refused microphone is explained, and can be tried again", async (context) => {
  const customer = await server.customer();
  const { id } = await server.agent(customer, { publicOrigins: [site.origin] });
  const attributes = `agent="${id}" mode="inline"`;
  const { page } = await pageWith(context, attributes, false);
  await page.getByRole("button", { name: "Start talking" }).click();
  const alert = page.getByRole("alert").filter({ hasText: "The microphone is not allowed here." });
  await alert.waitFor();
  await page.getByRole("button", { name: "Start talking" }).waitFor();
});

test("on a site that the agent is not public at, the widget says that it may not call", async (context) => {
  const customer = await server.customer();
  const { id } = await server.agent(customer, { publicOrigins: ["https://shop.example.com"] });
  const { page } = await pageWith(context, `agent="${id}" mode="inline"`);
  await page.getByRole("button", { name: "Start talking" }).click();
  await page.getByRole("alert").filter({ hasText: "missing, wrong or revoked" }).waitFor();
});
