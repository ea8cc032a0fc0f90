import assert from "node:assert/strict";
import { test } from "node:test";
import { consoleEndpoints } from "../../api/http/endpoints/console-endpoints.js";
import { hashPassword } from "../../engine/security/password.js";
import { EdgeOnLoopback } from "../api/http/edge-on-loopback.js";
import type { Customer } from "../system/test-server.js";
import { barriers } from "./axe.js";
import { standOfFile } from "./browser-stand.js";
import { openWithToken, visitConsole } from "./console-visit.js";

const PASSWORD = "first password";
const NEW_PASSWORD = "second password";
const TYPED = "Typed before the session was over.";

const { server, browser } = await standOfFile();

/** Signs in as the owner, and returns a function that ends the session by a password change elsewhere. */
async function session({ email }: Customer) {
  const user = await server.database.users.findByEmail(email);
  assert.ok(user);
  await server.database.users.replacePassword(user, await hashPassword(PASSWORD));
  const { accounts } = server.tenancy;
  const signedIn = await accounts.signIn({ email, password: PASSWORD });
  const change = { password: PASSWORD, newPassword: NEW_PASSWORD };
  return { token: signedIn.token, end: () => accounts.changePassword(signedIn.user, change) };
}

test("a session that ends keeps typed text, and continues after signing in again", async () => {
  const customer = await server.customer();
  const { id } = await server.agent(customer);
  const { token, end } = await session(customer);
  const viewer = await openWithToken(browser, `${server.url}/console/agents/${id}`, token);
  const { page } = viewer;
  await page.getByLabel("First sentence").fill(TYPED);
  await end();
  await page.getByRole("button", { name: "Save" }).click();
  const refused = page.getByRole("alert").filter({ hasText: "Sign in again: what you typed" });
  await refused.waitFor();
  const isInSight = "document.querySelector('.savebar .fault').getBoundingClientRect().bottom";
  assert.ok(
    Number(await page.evaluate(isInSight)) <= 720,
    "the message is shown where the user has clicked",
  );
  assert.deepEqual(await barriers(viewer), []);
  await page.getByRole("button", { name: "Sign in again" }).click();
  const dialog = page.getByRole("dialog", { name: "Sign in again" });
  await dialog.getByLabel("Password").fill(PASSWORD);
  await dialog.getByRole("button", { name: "Sign in" }).click();
  await dialog.getByText("The e-mail or the password is wrong.").waitFor();
  assert.deepEqual(await barriers(viewer), []);
  await dialog.getByLabel("Password").fill(NEW_PASSWORD);
  await dialog.getByRole("button", { name: "Sign in" }).click();
  await page.getByText("You are signed in again: try again.").waitFor();
  assert.equal(await page.getByText("Your session has expired.").count(), 0);
  assert.equal(await page.getByLabel("First sentence").inputValue(), TYPED);
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("Saved.").waitFor();
  assert.deepEqual(viewer.faults, []);
});

test("another user who signs in after a session sees their own pages", async () => {
  const customer = await server.customer();
  await server.agent(customer, { name: "Of the first" });
  const other = await server.customer();
  await session(other);
  const { token, end } = await session(customer);
  const viewer = await openWithToken(browser, `${server.url}/console/agents`, token);
  const { page } = viewer;
  await page.getByRole("link", { name: "Of the first" }).waitFor();
  await end();
  await page.getByRole("link", { name: "Settings" }).click();
  await page.getByRole("button", { name: "Sign in again" }).click();
  await page.getByRole("button", { name: "Use another account" }).click();
  await page.getByLabel("E-mail").fill(other.email);
  await page.getByLabel("Password").fill(PASSWORD);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("heading", { level: 1, name: "Settings" }).waitFor();
  await page.getByRole("link", { name: "Agents" }).click();
  await page.getByRole("heading", { name: "No agent yet" }).waitFor();
  assert.equal(await page.getByRole("link", { name: "Of the first" }).count(), 0);
  assert.deepEqual(viewer.faults, []);
});

test("every page shows a notice while the server does not respond", async () => {
  const viewer = await visitConsole(browser, server, await server.customer());
  const { page } = viewer;
  await page.route("**/api/**", (route) => route.abort());
  await page.getByRole("link", { name: "Usage" }).click();
  await page.getByRole("link", { name: "Home" }).click();
  await page.getByText("The server does not respond", { exact: true }).waitFor();
  const notice = page.getByRole("status").filter({ hasText: "The server does not respond." });
  await notice.waitFor();
  assert.deepEqual(await barriers(viewer), []);
  await page.unroute("**/api/**");
  await notice.waitFor({ state: "detached" });
  await page.getByText("Accepting calls").waitFor();
  assert.deepEqual(viewer.faults, []);
});

test("every page shows a notice while the browser is offline, and typed text is kept", async () => {
  const customer = await server.customer();
  const agent = await server.agent(customer);
  const viewer = await visitConsole(browser, server, customer);
  const { page } = viewer;
  await page.context().setOffline(true);
  await page.getByText("You are offline", { exact: true }).waitFor();
  await page.context().setOffline(false);
  await page.getByText("Accepting calls").waitFor();
  await page.goto(`${server.url}/console/agents/${agent.id}`);
  await page.getByLabel("First sentence").fill("Typed before the line broke.");
  await page.context().setOffline(true);
  await page.getByText("You are offline.").waitFor();
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByRole("alert").filter({ hasText: "The server does not respond" }).waitFor();
  await page.context().setOffline(false);
  await page.getByText("You are offline.").waitFor({ state: "detached" });
  assert.equal(
    await page.getByLabel("First sentence").inputValue(),
    "Typed before the line broke.",
  );
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("Saved.").waitFor();
});

test("a refused token leads to the sign-in, and then back to the same page", async () => {
  const viewer = await openWithToken(browser, `${server.url}/console/usage`, "wrong");
  await viewer.page.getByRole("heading", { level: 1, name: "Sign in" }).waitFor();
  await viewer.page.getByText("Your session has expired.").waitFor();
  assert.match(viewer.page.url(), /\/console\/usage$/);
});

test("a token after the address signs in only if the server has nothing but the demo: anyone could send such a link", async (t) => {
  const kept: (string | null)[] = [];
  for (const takesTokens of [false, true]) {
    const edge = await EdgeOnLoopback.start(consoleEndpoints(takesTokens));
    t.after(() => edge.close());
    const { page } = await browser.open(`http://127.0.0.1:${edge.port}/console#token=theirs`);
    await page.locator("#root > *").first().waitFor({ state: "attached" });
    kept.push(await page.evaluate('localStorage.getItem("parley.token")'));
  }
  assert.deepEqual(kept, [null, "theirs"]);
});
