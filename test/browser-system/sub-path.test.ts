import assert from "node:assert/strict";
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { packageRoot } from "../../api/commands/livestream-local/package-root.js";
import { RunningPart } from "../../api/commands/livestream-local/running-part.js";
import { replaced } from "../../bench/kills/several-nginx.js";
import { freePorts } from "../../bench/livestream/free-ports.js";
import { ViewerBrowser } from "../../bench/livestream/viewer-browser.js";
import { debianProgram } from "../../bench/stand/debian-program.js";
import { PhoneCaller } from "../../engine/sandbox/telephone/phone-caller.js";
import { SystemClock } from "../../engine/time/clock.js";
import { eventually } from "../system/eventually.js";
import { heard } from "../system/telephone-stand.js";
import { TestServer } from "../system/test-server.js";
import { userToken } from "../system/user-token.js";
import { openWithToken } from "./console-visit.js";
import { WidgetSite } from "./widget-site.js";

const NGINX_BLOCKS = /```nginx\n([\s\S]*?)```/g;

const [port = 0, upstreamPort = 0] = await freePorts(2);
const base = `http://127.0.0.1:${port}/voice`;
const server = await TestServer.start({
  environment: { PORT: String(upstreamPort), PUBLIC_BASE_URL: base },
});
const folder = mkdtempSync(join(tmpdir(), "parley-sub-path-"));
const nginx = nginxAsDocumented();
nginx.start();
await eventually("nginx", () =>
  fetch(`${base}/api/health`).then(
    ({ ok }) => ok || undefined,
    () => undefined,
  ),
);
const browser = await ViewerBrowser.start([
  "--use-fake-device-for-media-stream",
  "--deny-permission-prompts",
]);
const site = await WidgetSite.start({ url: base });
after(async () => {
  site.close();
  await browser.stop();
  await nginx.stop();
  await server.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Real nginx with the configuration of docs/operations/production.md, on a free loopback port. */
function nginxAsDocumented(): RunningPart {
  chmodSync(folder, 0o755);
  const docs = readFileSync(join(packageRoot(), "docs/operations/production.md"), "utf8");
  const [locations = "", map = ""] = [...docs.matchAll(NGINX_BLOCKS)].map(
    ([, block]) => block ?? "",
  );
  const buffers = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"];
  const conf = `pid ${folder}/nginx.pid;
events { worker_connections 256; }
http {
  access_log off;
${buffers.map((name) => `  ${name}_temp_path ${folder}/${name};`).join("\n")}
${map}
  server {
    listen 127.0.0.1:${port};
    location / { return 418; }
${replaced(replaced(locations, "127.0.0.1:8080", `127.0.0.1:${upstreamPort}`), "Host $host", "Host $http_host")}
  }
}
`;
  const path = join(folder, "nginx.conf");
  writeFileSync(path, conf);
  const ignore = () => undefined;
  return new RunningPart(
    {
      name: "nginx",
      file: debianProgram("nginx"),
      args: ["-c", path, "-p", folder, "-e", "stderr", "-g", "daemon off;"],
      env: {},
      stopSignal: "SIGTERM",
    },
    { onLine: ignore, onStarted: ignore, onEnded: ignore, onGivenUp: ignore },
    new SystemClock(),
  );
}

test("the console works below a sub-path, on each of its pages and after a reload", async () => {
  const customer = await server.customer();
  const { id } = await server.agent(customer, { name: "Reception" });
  const token = await userToken(server.database, customer.email);
  const viewer = await openWithToken(browser, base, token, {}, "/voice");
  const { page } = viewer;
  await viewer.untilText("h1", /Home/);
  assert.equal(page.url(), `${base}/console`);
  await page.getByRole("link", { name: "Agents" }).first().click();
  await page.getByText("Reception").first().click();
  await page.waitForURL(`${base}/console/agents/${id}`);
  await viewer.untilText("h1", /Reception/);
  await page.reload();
  await viewer.untilText("h1", /Reception/);
  await page.goto(`${base}/console/numbers`);
  await page.getByText(`${base}/api/telephony/voice`).waitFor();
  await page.goto(`${base}/console/talk/${id}`);
  await page.locator(".talk-button").click();
  await page.getByText("Listening", { exact: true }).waitFor();
  await page.locator(".talk-button").click();
  assert.deepEqual(viewer.faults, []);
});

test("the API's page shows the document and sends its requests below a sub-path", async () => {
  const { page, faults } = await browser.open(`${base}/api/docs`);
  await page.locator("#servers option").first().waitFor({ state: "attached" });
  assert.equal(await page.locator("#servers option").first().textContent(), "/voice");
  await page.locator('[data-path="/api/health"]').click();
  await page.getByRole("button", { name: "Try it out" }).click();
  const asked = page.waitForResponse(`${base}/api/health`);
  await page.getByRole("button", { name: "Execute" }).click();
  assert.equal((await asked).status(), 200);
  assert.deepEqual(faults, []);
});

test("a widget that is loaded from a sub-path makes its calls there", async () => {
  const customer = await server.customer();
  const { id } = await server.agent(customer, { allowedOrigins: [site.origin] });
  const { page, faults } = await site.open(browser, `agent="${id}" mode="inline"`);
  await page.getByRole("button", { name: "Start talking" }).click();
  await page.getByText("Waiting for your words").waitFor();
  await page.getByLabel("Write to the agent").fill("My name is Ada.");
  await page.keyboard.press("Enter");
  await page
    .getByRole("log")
    .getByText(/Nice to meet you, Ada\./)
    .waitFor();
  await page.getByRole("button", { name: "Hang up" }).click();
  await page.getByText("The call has ended.").waitFor();
  assert.deepEqual(faults, []);
});

test("the webhook and the stream of a telephone call work below a sub-path", async () => {
  const customer = await server.customer();
  await server.agent(customer, { persona: { greeting: "Hello there." } });
  const webhookUrl = `${base}/api/telephony/voice?api_key=${customer.apiKey}`;
  const caller = await PhoneCaller.call({ webhookUrl });
  await heard(caller, "Hello there.");
  await caller.hangUp();
  for (const path of ["/metrics", "/%6detrics", "//metrics", "/api/../metrics", "/metrics?a"]) {
    assert.equal((await fetch(`${base}${path}`)).status, 404, path);
  }
});
