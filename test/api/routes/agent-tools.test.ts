import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import * as v from "valibot";
import { LoopbackPlatform, type Tenancy } from "../http/loopback-platform.js";
import { agentDraft, idIn } from "./agent-drafts.js";

const AGENTS = "/api/dashboard/agents";
const SECRET = "Bearer top-secret";
let platform: LoopbackPlatform;
let tenancy: Tenancy;
let draft: Awaited<ReturnType<typeof agentDraft>>;

before(async () => {
  platform = await LoopbackPlatform.start();
  tenancy = await platform.newTenancy("enterprise");
  draft = await agentDraft(platform, tenancy);
});

after(() => platform.close());

const LOOK_UP = {
  type: "http",
  name: "look_up",
  description: "Finds an order by its number",
  parameters: {
    type: "object",
    properties: { order: { type: "string", description: "its number" } },
    required: ["order"],
  },
  url: "https://orders.example.com/find?region=eu",
  method: "POST",
} as const;

const SHOW = {
  type: "client",
  name: "show_order",
  description: "Shows an order to the caller",
  parameters: LOOK_UP.parameters,
} as const;

function create(...tools: readonly unknown[]) {
  return platform.client.post(AGENTS, { ...draft, tools }, tenancy.byKey);
}

function change(id: string, body: object) {
  return platform.client.send("PATCH", `${AGENTS}/${id}`, { headers: tenancy.byKey, body });
}

const Shown = v.object({ tools: v.array(v.looseObject({ type: v.string() })) });

function toolsIn(answer: { readonly body: unknown; readonly text: string }) {
  return v.parse(Shown, answer.body, { message: answer.text }).tools;
}

test("an agent's tools are returned with their defaults, and with only the names of their headers", async () => {
  const headers = { Authorization: SECRET, "X-Region": "eu" };
  const transfer = { type: "transfer", to: "+15550100", description: "For complaints" };
  const given = [
    { type: "hangup" },
    transfer,
    { type: "sendDigits" },
    { ...LOOK_UP, headers },
    SHOW,
  ];
  const created = await create(...given);
  assert.equal(created.status, 201, created.text);
  const shown = [
    ...given.slice(0, 3),
    { ...LOOK_UP, headerNames: ["authorization", "x-region"], timeoutMs: 5_000, speak: false },
    { ...SHOW, timeoutMs: 5_000 },
  ];
  assert.deepEqual(toolsIn(created), shown);
  const path = `${AGENTS}/${idIn(created.body)}`;
  const read = await platform.client.get(path, tenancy.byKey);
  const listed = await platform.client.get(AGENTS, tenancy.byKey);
  const renamed = await change(idIn(created.body), { name: "Another" });
  assert.deepEqual(toolsIn(read), shown);
  assert.deepEqual(toolsIn(renamed), shown);
  for (const { text } of [created, read, listed, renamed]) {
    assert.doesNotMatch(text, /top-secret|sealed/i);
  }
});

test("tools are replaced as a list, and the response can be sent back unchanged", async () => {
  const created = await create({ type: "hangup" }, { ...LOOK_UP, headers: { "x-key": SECRET } });
  const id = idIn(created.body);
  const again = await change(id, { tools: toolsIn(created) });
  assert.deepEqual(toolsIn(again), toolsIn(created));
  assert.deepEqual(toolsIn(await change(id, { tools: [{ type: "hangup" }] })), [
    { type: "hangup" },
  ]);
  assert.deepEqual(toolsIn(await change(id, { tools: [] })), []);
});

test("every field of a tool is checked and named", async () => {
  const http = (changes: object) => ({ ...LOOK_UP, ...changes });
  const transfer = (to: unknown) => ({ type: "transfer", to });
  const wrong: readonly (readonly [string, unknown])[] = [
    ["tools.0", "hangup"],
    ["tools.0.type", {}],
    ["tools.0.type", { type: "fly" }],
    ["tools.0.to", { type: "transfer" }],
    ["tools.0.to", transfer("15550100")],
    ["tools.0.to", transfer("+0555")],
    ["tools.0.to", transfer("sip:nobody")],
    ["tools.0.to", transfer("sip:a@b\r\nInvite: c")],
    ["tools.0.name", http({ name: "1st" })],
    ["tools.0.name", http({ name: "x".repeat(65) })],
    ["tools.0.name", http({ name: "hangup" })],
    ["tools.0.name", http({ name: "constructor" })],
    ["tools.0.name", http({ name: undefined })],
    ["tools.0.description", http({ description: 5 })],
    ["tools.0.parameters", http({ parameters: "{}" })],
    ["tools.0.parameters", http({ parameters: [] })],
    ["tools.0.parameters", http({ parameters: { type: "string" } })],
    ["tools.0.url", http({ url: "ftp://orders.example.com" })],
    ["tools.0.url", http({ url: "orders.example.com" })],
    ["tools.0.url", http({ url: "https://user:word@orders.example.com" })],
    ["tools.0.method", http({ method: "DELETE" })],
    ["tools.0.timeoutMs", http({ timeoutMs: 99 })],
    ["tools.0.timeoutMs", http({ timeoutMs: 10_001 })],
    ["tools.0.speak", http({ speak: "yes" })],
    ["tools.0.name", { ...SHOW, name: "transfer" }],
    ["tools.0.parameters", { ...SHOW, parameters: { type: "string" } }],
    ["tools.0.timeoutMs", { ...SHOW, timeoutMs: 10_001 }],
    ["tools.0.headers.x-key", http({ headers: { "x-key": 5 } })],
    ["tools.0.headers.x-key", http({ headers: { "x-key": `${SECRET}\r\nHost: b` } })],
    ["tools.0.headers.Host", http({ headers: { Host: "b" } })],
    ["tools.0.headers.content-length", http({ headers: { "content-length": "0" } })],
    ["tools.0.headers.a b", http({ headers: { "a b": "c" } })],
  ];
  for (const [path, tool] of wrong) {
    const answer = await create(tool);
    assert.equal(answer.status, 400, `${path}: ${answer.text}`);
    assert.ok(answer.text.startsWith(`{"error":"${path}: expected `), answer.text);
    assert.doesNotMatch(answer.text, /top-secret/);
  }
});

test("tool names are unique, and an agent has at most 16 tools", async () => {
  for (const tools of [
    [{ type: "hangup" }, { type: "hangup" }],
    [LOOK_UP, { ...LOOK_UP, description: "Another" }],
    [LOOK_UP, { ...SHOW, name: LOOK_UP.name }],
    [
      { type: "transfer", to: "+15550100" },
      { type: "transfer", to: "+15550101" },
    ],
  ]) {
    const answer = await create(...tools);
    assert.equal(answer.status, 400);
    assert.ok(
      answer.text.startsWith('{"error":"tools.1: expected a tool with a name'),
      answer.text,
    );
  }
  const many = Array.from({ length: 17 }, (_, n) => ({ ...LOOK_UP, name: `tool_${n}` }));
  const tooMany = await create(...many);
  assert.ok(tooMany.text.startsWith('{"error":"tools: expected '), tooMany.text);
  assert.equal((await create(...many.slice(1))).status, 201);
});

test("a service's address may have the maximum length, and no more", async () => {
  const url = `https://orders.example.com/${"x".repeat(2_000 - 27)}`;
  assert.equal((await create({ ...LOOK_UP, url })).status, 201);
  assert.equal((await create({ ...LOOK_UP, url: `${url}x` })).status, 400);
});

test("secrets that were entered for one server are not sent to another", async () => {
  const created = await create({ ...LOOK_UP, headers: { "x-key": SECRET } });
  const url = "https://elsewhere.example.com/find";
  const moved = await change(idIn(created.body), { tools: [{ ...LOOK_UP, url }] });
  assert.equal(moved.status, 400);
  assert.match(moved.text, /tools\.0\.headers: expected them again/);
  const given = { ...LOOK_UP, url, headers: {} };
  const [tool] = toolsIn(await change(idIn(created.body), { tools: [given] }));
  assert.deepEqual(tool?.["headerNames"], []);
});
