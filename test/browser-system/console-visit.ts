import type { ViewerBrowser, ViewerPage } from "../../bench/livestream/viewer-browser.js";
import type { Customer, TestServer } from "../system/test-server.js";
import { userToken } from "../system/user-token.js";

export type Visit = Parameters<ViewerBrowser["open"]>[1];

/** The console, where the owner is signed in. */
export async function visitConsole(
  browser: ViewerBrowser,
  server: TestServer,
  customer: Customer,
  visit: Visit = {},
  heading = /Home/,
): Promise<ViewerPage> {
  const token = await userToken(server.database, customer.email);
  const viewer = await openWithToken(browser, `${server.url}/console`, token, visit);
  await viewer.untilText("h1", heading);
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
