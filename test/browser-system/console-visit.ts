import type { ViewerBrowser, ViewerPage } from "../../bench/livestream/viewer-browser.js";
import type { Customer, TestServer } from "../system/test-server.js";
import { userToken } from "../system/user-token.js";

/** Runs in the page of a call: whether the turn that is playing is inside the window. */
export const NOW_IN_SIGHT = `(() => {
  const row = document.querySelector(".turn[aria-current=true]")?.getBoundingClientRect();
  return row !== undefined && row.top >= 0 && row.bottom <= innerHeight;
})()`;

export type Visit = Parameters<ViewerBrowser["open"]>[1];

/** Opens the console, signed in as the owner. */
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

/** Opens an address of the console in a browser that has stored this token. */
export async function openWithToken(
  browser: ViewerBrowser,
  address: string,
  token: string,
  visit: Visit = {},
  basePath = "",
): Promise<ViewerPage> {
  const viewer = await browser.open(address, visit);
  const name = JSON.stringify(`parley.token${basePath}`);
  await viewer.page.evaluate(`localStorage.setItem(${name}, ${JSON.stringify(token)})`);
  await viewer.page.reload();
  return viewer;
}
