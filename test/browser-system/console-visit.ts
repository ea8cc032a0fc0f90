import assert from "node:assert/strict";
import type { ViewerBrowser, ViewerPage } from "../../bench/livestream/viewer-browser.js";
import { AccessTokens } from "../../engine/security/access-token.js";
import { SystemClock } from "../../engine/time/clock.js";
import { type Customer, JWT_SECRET, type TestServer } from "../system/test-server.js";

export type Visit = Parameters<ViewerBrowser["open"]>[1];

/** The console, opened as the address does it that `npm start` prints: with the owner's token behind the `#`. */
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
  const viewer = await browser.open(`${server.url}/console#token=${token}`, visit);
  await viewer.untilText("h1", /Home/);
  assert.doesNotMatch(viewer.page.url(), /token/);
  return viewer;
}
