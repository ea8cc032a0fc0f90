import assert from "node:assert/strict";
import type { ViewerBrowser, ViewerPage } from "../../bench/livestream/viewer-browser.js";
import type { Customer, TestServer } from "../system/test-server.js";
import { userToken } from "../system/user-token.js";

export type Visit = Parameters<ViewerBrowser["open"]>[1];

/** The console, opened as the address does it that `npm start` prints: with the owner's token behind the `#`. */
export async function visitConsole(
  browser: ViewerBrowser,
  server: TestServer,
  customer: Customer,
  visit: Visit = {},
  heading = /Home/,
): Promise<ViewerPage> {
  const token = await userToken(server.database, customer.email);
  const viewer = await browser.open(`${server.url}/console#token=${token}`, visit);
  await viewer.untilText("h1", heading);
  assert.doesNotMatch(viewer.page.url(), /token/);
  return viewer;
}
