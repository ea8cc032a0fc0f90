import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { ViewerBrowser, type ViewerPage } from "../../bench/livestream/viewer-browser.js";
import { LoopbackPlatform, type Tenancy } from "../api/http/loopback-platform.js";

let platform: LoopbackPlatform;
let tenancy: Tenancy;
let browser: ViewerBrowser;
/** Requests to addresses other than this server. */
let strays: string[];

before(async () => {
  platform = await LoopbackPlatform.start();
  tenancy = await platform.newTenancy();
  browser = await ViewerBrowser.start();
});
after(async () => {
  await browser.stop();
  await platform.close();
});

async function openDocs(
  colorScheme: "light" | "dark",
  viewport = { width: 1280, height: 800 },
): Promise<ViewerPage> {
  const viewer = await browser.open("about:blank", { colorScheme, viewport });
  const own = `http://127.0.0.1:${platform.port}/`;
  strays = [];
  await viewer.page.context().route(
    (url) => !url.href.startsWith(own) && url.protocol !== "data:",
    (route) => {
      strays.push(route.request().url());
      return route.abort();
    },
  );
  await viewer.page.goto(`${own}api/docs`);
  await viewer.page.locator("#operations-Service-getHealth").waitFor();
  return viewer;
}

test("the page shows every endpoint with files of this server only, within its policy", async () => {
  const viewer = await openDocs("light");
  for (const words of ["Getting started", "Voice WebSocket", "Telephony"]) {
    await viewer.page.getByRole("heading", { name: words, exact: true }).waitFor();
  }
  const shown = await viewer.page.locator(".opblock").count();
  const { body } = await platform.client.get("/api/openapi.json");
  const operations = Object.values(Object(body).paths).flatMap((path) => Object.keys(Object(path)));
  assert.equal(shown, operations.length);
  // One endpoint of each section is unfolded, since its content may load more files; each click takes this page a
  // second.
  for (const section of await viewer.page.locator(".opblock-tag-section").all()) {
    const fold = section.locator(".opblock-summary-control").first();
    await fold.click();
    await section.locator(".opblock-body").first().waitFor();
    await fold.click();
  }
  await viewer.page.locator("#operations-Agents-createAgent .opblock-summary-control").click();
  await viewer.page.locator("#operations-Agents-createAgent .highlight-code").first().waitFor();
  assert.deepEqual([strays, viewer.faults], [[], []]);
  await viewer.close();
});

test("the page follows the colour scheme of the reader's system", async () => {
  for (const [scheme, isDark] of [
    ["light", false],
    ["dark", true],
  ] as const) {
    const viewer = await openDocs(scheme);
    const ground = await viewer.page.evaluate("getComputedStyle(document.body).backgroundColor");
    const [red = 255] = /\d+/.exec(String(ground))?.map(Number) ?? [];
    assert.equal(red > 0 && red < 64, isDark, `${scheme}: ${String(ground)}`);
    await viewer.close();
  }
});

test("a reader tries an endpoint with an API key", async () => {
  const { page, faults } = await openDocs("light");
  await page.getByRole("button", { name: "Authorize" }).first().click();
  const scheme = page.locator(".auth-container", { hasText: "x-api-key" });
  await scheme.locator("input").fill(tenancy.byKey["x-api-key"] ?? "");
  await scheme.getByRole("button", { name: "Apply credentials" }).click();
  await page.locator(".close-modal").click();
  const operation = page.locator("#operations-Agents-listAgents");
  await operation.locator(".opblock-summary-control").click();
  await operation.getByRole("button", { name: "Try it out" }).click();
  await operation.getByRole("button", { name: "Execute" }).click();
  await operation
    .locator(".live-responses-table .response-col_status", { hasText: "200" })
    .waitFor();
  assert.deepEqual([strays, faults], [[], []]);
  await page.context().close();
});

test("on a phone the page is as wide as the screen", async () => {
  const viewer = await openDocs("dark", { width: 390, height: 844 });
  await viewer.page.getByRole("heading", { name: "Voice WebSocket", exact: true }).waitFor();
  const overflow = await viewer.page.evaluate("document.documentElement.scrollWidth - innerWidth");
  assert.equal(overflow, 0);
  assert.deepEqual([strays, viewer.faults], [[], []]);
  await viewer.close();
});
