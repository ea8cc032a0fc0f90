import { mkdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { ViewerBrowser, type ViewerPage } from "../../bench/livestream/viewer-browser.js";
import { ended } from "../system/events.js";
import { type Customer, TestServer } from "../system/test-server.js";
import { type Visit, visitConsole } from "./console-visit.js";

/**
 * `node dist/test/browser-system/console-pictures.js FOLDER [WORD]` pictures every page of the console, or those whose name has the
 * word, for somebody to look at: on a desk and on a phone, light and dark, side by side in one file each.
 */
const [folder = "pictures", word = ""] = process.argv.slice(2);
const DESK = { width: 1280, height: 800 };
const PHONE = { width: 390, height: 844 };
const LOOKS: readonly Visit[] = [
  { colorScheme: "light", viewport: DESK },
  { colorScheme: "dark", viewport: PHONE },
  { colorScheme: "dark", viewport: DESK },
  { colorScheme: "light", viewport: PHONE },
];
const LONG = "Réception ".repeat(50).trim();
const ARABIC = "مكتب الاستقبال الرئيسي 🛎";
const SETTLED_MS = 700;
const FAULT_TOLD_MAX_MS = 10_000;

type Page = ViewerPage["page"];

interface Picture {
  readonly name: string;
  readonly path: string;
  readonly as: Customer;
  readonly prepare?: (page: Page) => Promise<unknown>;
  readonly act?: (page: Page) => Promise<unknown>;
}

const server = await TestServer.start();
const browser = await ViewerBrowser.start();
const busy = await busyCustomer();
const nobody = await server.customer();
const agents = await server.database.agents.list(busy.tenant.organization.id);
const agentId = agents[0]?.id ?? "";
const call = await server.endedCall(busy);

async function busyCustomer(): Promise<Customer> {
  const customer = await server.customer();
  await server.agent(customer, { name: "Front desk", persona: { greeting: "Good day." } });
  await server.agent(customer, { name: LONG });
  await server.agent(customer, { name: ARABIC });
  const caller = await server.call(customer);
  if (!caller.events.some(ended)) await caller.until(ended);
  await caller.say("my name is Ada");
  await caller.until(ended);
  await caller.hangUp();
  return customer;
}

const API = "**/api/dashboard/**";
const hold = (page: Page) => page.route(API, () => new Promise(() => undefined));
const fail = (page: Page) =>
  page.route(API, (route) =>
    route.fulfill({ status: 500, json: { error: "something went wrong", requestId: "req-1" } }),
  );

/** What does not arrive is asked for again before it is given up. */
const untilTold = (page: Page) =>
  page
    .getByRole("alert")
    .first()
    .waitFor({ timeout: FAULT_TOLD_MAX_MS })
    .catch(() => undefined);

const PATHS: readonly (readonly [name: string, path: string])[] = [
  ["home", ""],
  ["agents", "/agents"],
  ["agent", `/agents/${agentId}`],
  ["calls", "/calls"],
  ["call", `/calls/${call.id}`],
  ["numbers", "/numbers"],
  ["providers", "/providers"],
  ["usage", "/usage"],
  ["keys", "/settings"],
  ["members", "/settings/members"],
  ["organization", "/settings/organization"],
  ["audit", "/settings/audit"],
  ["talk", "/talk"],
  ["start", "/start"],
  ["start-talk", `/start/${agentId}?template=support`],
  ["nowhere", "/nowhere"],
];

const pictures: readonly Picture[] = PATHS.flatMap(([name, path]) => [
  { name, path, as: busy },
  { name: `${name}-empty`, path, as: nobody },
  { name: `${name}-loading`, path, as: busy, prepare: hold },
  { name: `${name}-error`, path, as: busy, prepare: fail, act: untilTold },
  { name: `${name}-offline`, path, as: busy, act: (page) => page.context().setOffline(true) },
]);

const open = new Map<string, Promise<ViewerPage>>();

/** One page for all pictures of a customer and a look. */
function viewerOf(as: Customer, look: Visit): Promise<ViewerPage> {
  const key = `${as.email} ${JSON.stringify(look)}`;
  const viewer = open.get(key) ?? visitConsole(browser, server, as, look);
  open.set(key, viewer);
  return viewer;
}

async function pictured({ path, as, prepare, act }: Picture, look: Visit): Promise<string> {
  const { page } = await viewerOf(as, look);
  await prepare?.(page);
  await page.goto(`${server.url}/console${path}`);
  await page.waitForTimeout(SETTLED_MS);
  await act?.(page);
  if (act !== undefined) await page.waitForTimeout(SETTLED_MS);
  const image = await page.screenshot({ fullPage: true });
  await page.context().setOffline(false);
  await page.unrouteAll({ behavior: "ignoreErrors" });
  return image.toString("base64");
}

mkdirSync(folder, { recursive: true });
const sheet = await browser.prepare({ viewport: { width: 1_400, height: 400 } });
for (const picture of pictures.filter(({ name }) => name.includes(word))) {
  const isState = picture.prepare !== undefined || picture.act !== undefined;
  const images: string[] = [];
  for (const look of LOOKS.slice(0, isState ? 2 : LOOKS.length)) {
    images.push(await pictured(picture, look));
  }
  const shown = images.map(
    (image, at) =>
      `<img src="data:image/png;base64,${image}" width="${at % 2 === 0 ? 1_000 : 330}">`,
  );
  const style = "margin:0;background:#888;display:flex;flex-wrap:wrap;gap:8px;align-items:start";
  await sheet.page.setContent(`<body style="${style}">${shown.join("")}</body>`);
  await sheet.page.screenshot({ path: join(folder, `${picture.name}.png`), fullPage: true });
  process.stdout.write(`${resolve(folder, `${picture.name}.png`)}\n`);
}
await browser.stop();
await server.close();
