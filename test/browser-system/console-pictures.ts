import { mkdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { ViewerBrowser, type ViewerPage } from "../../bench/livestream/viewer-browser.js";
import { auditEntry } from "../../engine/tenancy/audit-entry.js";
import type { WebhookEndpointRecord } from "../../storage/webhooks/webhook-store.js";
import { McpStand } from "../engine/tools/mcp-stand.js";
import { ended } from "../system/events.js";
import { eventually } from "../system/eventually.js";
import { heard, ring } from "../system/telephone-stand.js";
import { type Customer, TestServer, VENDOR_KEY } from "../system/test-server.js";
import { type Visit, visitConsole } from "./console-visit.js";
import { seedCallLists, seedFailedCall, seedToldCall } from "./seeded-calls.js";

/**
 * `node dist/test/browser-system/console-pictures.js FOLDER [NAME...]` takes pictures of every page of the console, or
 * of those with these names, for review: on a desktop and on a phone, light and dark, side by side in one file each.
 */
const [folder = "pictures", ...names] = process.argv.slice(2);
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
const CALLED_AT_MS = Date.now() - 3_600_000;
const BOOKED = {
  name: "book_table",
  input: '{"guests":4,"name":"آدا"}',
  output: '{"ok":true,"status":200,"body":"رزرو شد"}',
  ok: true,
  ms: 412.5,
};
const NO_TAXI = "The next one is in a neighbouring town. ".repeat(30).trim();
const LOST_TAXI = { name: "call_taxi", input: "{}", output: `${NO_TAXI}…`, ok: false, ms: 3_000 };
const STOPPED_TAXI = { name: "call_taxi", input: "{}", ok: false, ms: 800 };
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

const server = await TestServer.start({
  environment: {
    ALLOW_PRIVATE_PROVIDERS: "true",
    EMBEDDING_MODELS: "openai/text-embedding-3-small,openai/text-embedding-3-large",
  },
});
const browser = await ViewerBrowser.start();
const busy = await busyCustomer();
const nobody = await server.customer();
const operator = await operatorOfMany();
const stand = new McpStand();
const shop = await customerOfShop();
const reader = await customerWithEmbeddings();
const live = await server.customer();
await server.agent(live, { name: "Front desk", persona: { greeting: "Good day." } });
const liveCaller = await server.call(live);
if (!liveCaller.events.some(ended)) await liveCaller.until(ended);
await liveCaller.say("Count to 100.");
const called = await server.customer();
await server.agent(called, { name: "Front desk", persona: { greeting: "Good day." } });
const phoneCaller = await ring(server, called);
await heard(phoneCaller, "Good day.");
const [phoneCall] = await server.calls(called);
const agents = await server.database.agents.list(busy.tenant.organization.id);
const agentId = agents[0]?.id ?? "";
const call = await server.endedCall(busy);
const failedId = await seedFailedCall(server.database, busy, agentId);
const toldId = await seedToldCall(server.database, busy, agentId, {
  transcript: [
    { role: "user", text: "برای چهار نفر یک میز می‌خواهم.", timestamp: CALLED_AT_MS },
    {
      role: "assistant",
      text: "میز شما برای ساعت ۲۰:۰۰ رزرو شد.",
      timestamp: CALLED_AT_MS + 4_000,
    },
    { role: "user", text: "And a taxi, please.", timestamp: CALLED_AT_MS + 9_000 },
    {
      role: "assistant",
      text: "I am sorry, no taxi can be reached.",
      timestamp: CALLED_AT_MS + 15_000,
    },
  ],
  turns: [
    { turn: 1, kind: "reply", outcome: "played", tools: [BOOKED], searchWasLate: true },
    { turn: 2, kind: "reply", outcome: "played", tools: [LOST_TAXI, STOPPED_TAXI], moreTools: 3 },
  ],
  metadata: {},
  summary: { summary: "A table for four was booked.", sentiment: "neutral" },
});
const [liveCall] = await server.calls(live);

async function busyCustomer(): Promise<Customer> {
  const customer = await server.customer();
  await server.agent(customer, { name: "Front desk", persona: { greeting: "Good day." } });
  await server.agent(customer, { name: LONG });
  await server.agent(customer, { name: ARABIC });
  const models = [{ modelId: "own", label: "Our own" }];
  const own = { category: "llm", providerKey: "openai", name: "Ours", models } as const;
  await server.tenancy.providers.create(customer.tenant, {
    ...own,
    credentials: { apiKey: VENDOR_KEY },
  });
  const caller = await server.call(customer);
  if (!caller.events.some(ended)) await caller.until(ended);
  await caller.say("my name is Ada");
  await caller.until(ended);
  await caller.hangUp();
  return customer;
}

/** An agent with an HTTP tool, and a server with a tool that is left out. */
async function customerOfShop(): Promise<{ readonly customer: Customer; readonly path: string }> {
  const properties = {
    guests: { type: "integer", description: "How many people come." },
    isOutside: { type: "boolean" },
    days: { type: "array", items: { type: "string" } },
  };
  const inputSchema = { type: "object", properties, required: ["guests"] };
  const run = (given: object) => ({ table: ARABIC, given, note: NO_TAXI });
  stand.tools = ["book_table", "delete_all"].map((name) => ({
    name,
    description: `Does ${name.replace("_", " ")}.`,
    inputSchema,
    run,
  }));
  await stand.start();
  const customer = await server.customer();
  const { id } = await server.agent(customer, {
    tools: [
      {
        type: "http",
        name: "find_order",
        description: "Finds an order.",
        parameters: { type: "object", properties: {} },
        url: "https://shop.example/orders",
        method: "GET",
        timeoutMs: 5_000,
        speak: false,
      },
    ],
    mcpServers: [
      {
        name: "shop",
        url: stand.url,
        auth: { type: "bearer", token: "the-secret-token" },
        allowedTools: ["book_table"],
        timeoutMs: 5_000,
      },
    ],
  });
  return { customer, path: `/agents/${id}?tab=tools` };
}

async function tryTool(page: Page): Promise<void> {
  const trials = page.getByRole("region", { name: "Try a tool" });
  await trials.getByLabel("Tool").selectOption("shop_book_table");
  await trials.getByLabel("guests", { exact: true }).fill("4");
  await trials.getByRole("button", { name: "Run the tool" }).click();
  await trials.getByText(/It worked, in/).waitFor();
}

async function operatorOfMany(): Promise<Customer> {
  const customer = await server.customer();
  const user = await server.database.users.findByEmail(customer.email);
  await server.database.users.setOperator(user?.id ?? "", true);
  const { id } = customer.tenant.organization;
  await server.database.organizations.rename(id, LONG, Date.now());
  return customer;
}

const API = "**/api/dashboard/**";
const OPERATORS_API = "**/api/operator/**";
async function hold(page: Page): Promise<void> {
  for (const path of [API, OPERATORS_API]) {
    await page.route(path, () => new Promise(() => undefined));
  }
}

async function fail(page: Page): Promise<void> {
  const json = { error: "something went wrong", requestId: "req-1" };
  for (const path of [API, OPERATORS_API]) {
    await page.route(path, (route) => route.fulfill({ status: 500, json }));
  }
}

/** Pages that watch calls request them again when they become visible. */
const startReply = (page: Page) =>
  page.evaluate('document.dispatchEvent(new Event("visibilitychange"))');

async function refuse(page: Page): Promise<void> {
  const json = { error: "the token is wrong or has expired" };
  await page.route("**/api/**", (route) => route.fulfill({ status: 401, json }));
  await startReply(page);
}

async function refuseSaving(page: Page): Promise<void> {
  await page.getByLabel("First sentence").fill("Typed before the session was over.");
  await refuse(page);
  await page.getByRole("button", { name: "Save" }).click();
}

async function signInAgain(page: Page): Promise<void> {
  await refuse(page);
  await page.getByRole("button", { name: "Sign in again" }).click();
}

async function signInEnded(page: Page): Promise<void> {
  await page.evaluate('localStorage.setItem("parley.token", "of-yesterday")');
  await page.reload();
}

async function answerNothing(page: Page): Promise<void> {
  await page.route("**/api/**", (route) => route.abort());
  await startReply(page);
}

/** A failed request is retried before it is given up. */
const untilTold = (page: Page) =>
  page
    .getByRole("alert")
    .first()
    .waitFor({ timeout: FAULT_TOLD_MAX_MS })
    .catch(() => undefined);

/**
 * Creates a disabled endpoint, one that works, a long response, and a failed job. Returns the id of the second
 * endpoint.
 */
async function seedWebhooks({ tenant }: Customer): Promise<string> {
  const orgId = tenant.organization.id;
  const { webhooks } = server.database;
  const atMs = Date.now() - 60_000;
  const endpoint = {
    orgId,
    url: "https://example.com/webhooks",
    eventTypes: ["call.ended", "call.failed"],
    includeTranscript: true,
    sealedSecrets: "",
    state: "active",
    disabledReason: null,
    failingSinceMs: null,
    createdAtMs: atMs,
    updatedAtMs: atMs,
  } as const;
  const actor = { type: "administrator", id: "pictures" } as const;
  const insert = (record: WebhookEndpointRecord) => {
    const target = { type: "webhook", id: record.id, orgId, name: record.name } as const;
    const about = { id: `${record.id}-audit`, atMs, actor, target, changes: [] };
    return webhooks.insertWithin(record, 10, auditEntry({ ...about, action: "webhook.create" }));
  };
  const id = `${orgId}-crm`;
  const gone = {
    state: "disabled",
    disabledReason: "the receiver answered 410: it is gone",
  } as const;
  await insert({ ...endpoint, ...gone, id: `${orgId}-gone`, name: LONG });
  await insert({ ...endpoint, id, name: ARABIC, failingSinceMs: atMs });
  const delivery = { orgId, endpointId: id, type: "call.ended", requestBytes: 1_234 } as const;
  for (const [attempt, status] of [
    [1, null],
    [2, 500],
    [3, 204],
  ] as const) {
    await webhooks.addDelivery({
      ...delivery,
      id: `${id}-${attempt}`,
      eventId: `evt_${orgId}_end`,
      attempt,
      atMs: atMs + attempt,
      durationMs: 120 * attempt,
      status,
      error: status === null ? "connection refused" : null,
      answer: status === 500 ? `<h1>${NO_TAXI}</h1>` : "",
    });
  }
  return id;
}

const webhookId = await seedWebhooks(busy);
const callListId = await seedCallLists(server.database, busy, agentId);

const PATHS: readonly (readonly [name: string, path: string])[] = [
  ["home", ""],
  ["agents", "/agents"],
  ["agent", `/agents/${agentId}`],
  ...["voice", "model", "turns", "tools", "channels", "analysis", "advanced"].map(
    (tab) => [`agent-${tab}`, `/agents/${agentId}?tab=${tab}`] as const,
  ),
  ["calls", "/calls"],
  ["call", `/calls/${call.id}`],
  ["failed-call", `/calls/${failedId}`],
  ["call-lists", "/call-lists"],
  ["call-list", `/call-lists/${callListId}`],
  ["call-list-paused", `/call-lists/${callListId}-paused`],
  ["call-list-held", `/call-lists/${callListId}-held`],
  ["call-list-waiting", `/call-lists/${callListId}-waiting`],
  ["call-list-completed", `/call-lists/${callListId}-completed`],
  ["numbers", "/numbers"],
  ["providers", "/providers"],
  ["usage", "/usage"],
  ["keys", "/settings"],
  ["members", "/settings/members"],
  ["organization", "/settings/organization"],
  ["webhooks", "/settings/webhooks"],
  ["webhook", `/settings/webhooks/${webhookId}`],
  ["jobs", "/settings/jobs"],
  ["audit", "/settings/audit"],
  ["talk", "/talk"],
  ["start", "/start"],
  ["start-talk", `/start/${agentId}?template=support`],
  ["nowhere", "/nowhere"],
];

const OPERATORS_PATHS: typeof PATHS = [
  ["organizations", "/platform"],
  ["no-organization", "/platform?words=nobody"],
  ["organization-of-platform", `/platform/organizations/${operator.tenant.organization.id}`],
  ["global-providers", "/platform/providers"],
  ["servers", "/platform/servers"],
];

const statesOf = (as: Customer, [name, path]: (typeof PATHS)[number]): readonly Picture[] => [
  { name, path, as },
  { name: `${name}-loading`, path, as, prepare: hold },
  { name: `${name}-error`, path, as, prepare: fail, act: untilTold },
  { name: `${name}-offline`, path, as, act: (page) => page.context().setOffline(true) },
];

const pictures: readonly Picture[] = [
  ...PATHS.flatMap(([name, path]) => [
    ...statesOf(busy, [name, path]),
    { name: `${name}-empty`, path, as: nobody },
  ]),
  ...OPERATORS_PATHS.flatMap((place) => statesOf(operator, place)),
  { name: "refused-organizations", path: "/platform", as: nobody },
  ...statesOf(live, ["live-calls", "/calls"]),
  ...statesOf(live, ["live-call", `/calls/${liveCall?.id}`]),
  {
    name: "live-transfer",
    path: `/calls/${phoneCall?.id}`,
    as: called,
    act: press("Transfer the call"),
  },
  { name: "live-phone-call", path: `/calls/${phoneCall?.id}`, as: called },
  { name: "live-calls-over", path: "/calls", as: live, act: refuse },
  { name: "live-call-over", path: `/calls/${liveCall?.id}`, as: live, act: refuse },
  { name: "tools", path: `/calls/${toldId}`, as: busy, act: unfold },
  { name: "tool-trial", path: shop.path, as: shop.customer, act: tryTool },
  { name: "more-filters", path: "/calls", as: busy, act: press("More filters") },
  { name: "new-provider", path: "/providers", as: busy, act: press("Own account") },
  { name: "change-provider", path: "/providers", as: busy, act: press("Change Ours") },
  { name: "delete-provider", path: "/providers", as: busy, act: press("Delete Ours") },
  { name: "new-call-list", path: "/call-lists", as: busy, act: press("Upload a list") },
  { name: "new-webhook", path: "/settings/webhooks", as: busy, act: press("New endpoint") },
  {
    name: "replay-webhook",
    path: `/settings/webhooks/${webhookId}`,
    as: busy,
    act: press("Replay"),
  },
  { name: "knowledge", path: "/knowledge", as: reader },
  { name: "knowledge-none", path: "/knowledge", as: nobody },
  { name: "embeddings", path: "/knowledge", as: reader, act: press("Change the model") },
  { name: "platform-embeddings", path: "/knowledge", as: reader, act: choosePlatformModel },
  { name: "plan", path: "/settings/organization", as: busy, act: unfold },
  { name: "home-over", path: "", as: busy, act: refuse },
  { name: "home-unanswered", path: "", as: busy, act: answerNothing },
  { name: "agent-over", path: `/agents/${agentId}`, as: busy, act: refuseSaving },
  { name: "sign-in-again", path: "/calls", as: busy, act: signInAgain },
  { name: "sign-in-ended", path: "/usage", as: await server.customer(), act: signInEnded },
];

/** Documents in several states: embedded, whole in the prompt, and one that the vendor refuses to embed. */
async function customerWithEmbeddings(): Promise<Customer> {
  const customer = await server.customer();
  const { faults, urls } = server.sandbox;
  const { id: providerId } = await server.tenancy.providers.create(customer.tenant, {
    category: "llm",
    providerKey: "openai",
    name: "Our OpenAI",
    credentials: { apiKey: VENDOR_KEY },
    models: [{ modelId: "gpt-6-luna", label: "Luna" }],
    settings: { baseUrl: urls.openai },
  });
  const ask = async (path: string, body: string) => {
    const headers = { "x-api-key": customer.apiKey, "content-type": "application/json" };
    const url = `${server.url}/api/dashboard/knowledge/${path}`;
    const response = await fetch(url, { method: "POST", headers, body });
    if (!response.ok) throw new Error(await response.text());
  };
  const { id: orgId } = customer.tenant.organization;
  const embedded = (count: number) =>
    eventually("documents to be embedded", async () => {
      const choice = await server.database.embeddings.find(orgId);
      return choice !== undefined && choice.revision >= count ? true : undefined;
    });
  const shelves = Array.from(
    { length: 150 },
    (_each, at) => `## Shelf ${at}\n${NO_TAXI.slice(at)}`,
  );
  await ask("embeddings", JSON.stringify({ providerId, modelId: "text-embedding-3-small" }));
  await ask("documents?name=hours.md", "# Hours\nOpen at nine.");
  await ask("documents?name=stock.md", shelves.slice(0, 10).join("\n\n"));
  await embedded(1);
  faults.openaiEmbeddings = { fault: "quotaExceeded" };
  await ask(`documents?name=${encodeURIComponent(LONG.slice(0, 150))}.md`, shelves.join("\n\n"));
  await ask("documents?name=empty.pdf", "words");
  return customer;
}

function press(name: string) {
  return (page: Page) => page.getByRole("button", { name, exact: true }).click();
}

async function choosePlatformModel(page: Page): Promise<void> {
  await press("Change the model")(page);
  await page.getByLabel("Provider").selectOption({ label: "OpenAI" });
}

async function unfold(page: Page): Promise<void> {
  for (const fold of await page.locator("main summary").all()) await fold.click();
}

const open = new Map<string, Promise<ViewerPage>>();

/** One page for all pictures of a customer and a theme. */
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
const asked = pictures.filter(({ name }) => names.length === 0 || names.includes(name));
for (const picture of asked) {
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
await liveCaller.hangUp();
await phoneCaller.hangUp();
await stand.close();
await server.close();
