import assert from "node:assert/strict";
import type { ViewerBrowser, ViewerPage } from "../../bench/livestream/viewer-browser.js";
import { AccessTokens } from "../../engine/security/access-token.js";
import { SystemClock } from "../../engine/time/clock.js";
import { type Customer, JWT_SECRET, type TestServer } from "../system/test-server.js";

export type Visit = Parameters<ViewerBrowser["open"]>[1];

/** The console, where the owner is signed in. */
export async function visitConsole(
  browser: ViewerBrowser,
  server: TestServer,
  customer: Customer,
  visit: Visit = {},
): Promise<ViewerPage> {
  const { id: orgId } = customer.tenant.organization;
  const user = await server.database.users.findByEmail(customer.email);
  assert.ok(user);
  const tokens = new AccessTokens({
    secret: JWT_SECRET,
    expiresIn: "1h",
    clock: new SystemClock(),
  });
  const token = await tokens.issue({ userId: user.id, orgId, email: customer.email });
  const viewer = await openWithToken(browser, `${server.url}/console`, token, visit);
  await viewer.untilText("h1", /Home/);
  return viewer;
}

/** An address of the console, whose browser has kept this token. */
export async function openWithToken(
  browser: ViewerBrowser,
  address: string,
  token: string,
  visit: Visit = {},
): Promise<ViewerPage> {
  const viewer = await browser.open(address, visit);
  await viewer.page.evaluate(`localStorage.setItem("parley.token", ${JSON.stringify(token)})`);
  await viewer.page.reload();
  return viewer;
}
