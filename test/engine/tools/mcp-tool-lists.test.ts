import assert from "node:assert/strict";
import { after, type TestContext, test } from "node:test";
import { mcpOffer } from "../../../engine/tools/mcp-offer.js";
import { McpToolLists, type OpenMcpServer } from "../../../engine/tools/mcp-tool-lists.js";
import { Connections } from "../../../engine/vendors/transport/connections.js";
import type { McpServer } from "../../../storage/tenancy/mcp-server.js";
import { Changes } from "../../doubles/changes.js";
import { RecordingLogger } from "../../doubles/recording-logger.js";
import { VirtualClock } from "../../doubles/virtual-clock.js";
import { never } from "../vendors/sandboxed-vendors.js";
import { ScriptedWebServer } from "../vendors/scripted-web-server.js";
import { McpStand, mcpServer } from "./mcp-stand.js";

const clock = new VirtualClock();
const connections = new Connections({ clock, allowPrivateAddresses: true });
const guarded = new Connections({ clock, allowPrivateAddresses: false });
after(() => Promise.all([connections.close(), guarded.close()]));

const FIND = {
  name: "find.order",
  description: "Finds an order",
  inputSchema: { type: "object", properties: { id: { type: "string" } }, required: ["id"] },
  run: ({ id }: { readonly id?: unknown }) => ({ id, state: "sent" }),
};

function listsOf(context: TestContext, through = connections) {
  const log = new RecordingLogger();
  const outcomes: string[] = [];
  const changes = new Changes();
  const lists = new McpToolLists({
    context: { clock, connections: through },
    log,
    onRequest: (operation, outcome) => {
      outcomes.push(`${operation} ${outcome}`);
      changes.tell();
    },
  });
  context.after(() => lists.close());
  return { lists, log, outcomes, changes };
}

async function standOf(context: TestContext): Promise<McpStand> {
  const stand = new McpStand();
  stand.tools = [FIND];
  await stand.start();
  context.after(() => stand.close());
  return stand;
}

async function scriptedOf(context: TestContext): Promise<ScriptedWebServer> {
  const server = new ScriptedWebServer();
  await server.start();
  context.after(() => server.close());
  return server;
}

function opened(server: McpServer, secrets: OpenMcpServer["secrets"] = { headers: {} }) {
  return { server, secrets, orgId: "org" };
}

async function called(
  lists: McpToolLists,
  open: OpenMcpServer,
  offeredAs = "crm_find_order",
  given: object = { id: "7" },
): Promise<unknown> {
  const { tools = [] } = await lists.read(open, false);
  const offer = mcpOffer([open.server], () => tools, []);
  const tool = offer.tools.find((each) => each.offeredAs === offeredAs);
  assert.ok(tool, `no ${offeredAs} in ${JSON.stringify(offer)}`);
  const call = { argumentsJson: JSON.stringify(given), idempotencyKey: "call/1" };
  return JSON.parse((await lists.call(tool, open, call, never())).content);
}

test("a server of the stateless revision is asked once for its list and once for each tool call", async (context) => {
  const stand = await standOf(context);
  const { lists, outcomes } = listsOf(context);
  const open = opened(mcpServer(stand.url));
  const { protocolVersion, error } = await lists.read(open, false);
  assert.deepEqual([protocolVersion, error], ["2026-07-28", undefined]);
  assert.deepEqual(stand.takeSeen(), ["server/discover", "tools/list"]);
  assert.equal(lists.peek(open)?.length, 1);
  assert.deepEqual(await called(lists, open), { ok: true, result: { id: "7", state: "sent" } });
  assert.equal(stand.seen[0]?.headers["idempotency-key"], "call/1");
  assert.deepEqual(stand.takeSeen(), ["tools/call"]);
  assert.deepEqual(outcomes, ["list ok", "call ok"]);
});

test("an older server shakes hands once, and then is asked once for each tool call", async (context) => {
  const stand = await standOf(context);
  stand.isLegacy = true;
  const { lists } = listsOf(context);
  const open = opened(mcpServer(stand.url));
  const { protocolVersion } = await lists.read(open, false);
  assert.equal(protocolVersion, "2025-11-25");
  stand.takeSeen();
  assert.deepEqual(await called(lists, open), { ok: true, result: { id: "7", state: "sent" } });
  assert.deepEqual(stand.takeSeen(), ["tools/call"]);
});

const REGIONAL = {
  name: "query",
  inputSchema: {
    type: "object",
    properties: {
      region: { type: "string", "x-mcp-header": "Region" },
      limit: { type: "integer", "x-mcp-header": "Limit" },
      isDry: { type: "boolean", "x-mcp-header": "Dry" },
      where: {
        type: "object",
        properties: { city: { type: "string", "x-mcp-header": "City" } },
      },
    },
  },
  run: (given: object) => given,
};

test("arguments that a schema marks are in headers too, as the official server checks them", async (context) => {
  const stand = await standOf(context);
  stand.tools = [REGIONAL];
  const { lists } = listsOf(context);
  const open = opened(mcpServer(stand.url));
  for (const given of [
    { region: "eu-west", limit: 3, isDry: false, where: { city: "Köln\r\nCookie: a=b" } },
    { region: " eu ", limit: -1 },
    { region: "=?base64?eA==?=" },
    { region: "" },
    {},
  ]) {
    assert.deepEqual(await called(lists, open, "crm_query", given), { ok: true, result: given });
  }
  const calls = stand.seen.filter(({ rpcMethod }) => rpcMethod === "tools/call");
  const sent = calls.map(({ headers }) =>
    Object.fromEntries(Object.entries(headers).filter(([name]) => name.startsWith("mcp-param"))),
  );
  const encoded = (text: string) => `=?base64?${Buffer.from(text).toString("base64")}?=`;
  assert.deepEqual(sent[0], {
    "mcp-param-region": "eu-west",
    "mcp-param-limit": "3",
    "mcp-param-dry": "false",
    "mcp-param-city": encoded("Köln\r\nCookie: a=b"),
  });
  assert.deepEqual(sent[1], { "mcp-param-region": encoded(" eu "), "mcp-param-limit": "-1" });
  assert.deepEqual(sent.at(-1), {});
  assert.equal(calls[0]?.headers["cookie"], undefined);
});

test("an argument that is too long for a header is the LLM's mistake, and an older server gets no headers", async (context) => {
  const stand = await standOf(context);
  stand.tools = [REGIONAL];
  const { lists } = listsOf(context);
  const open = opened(mcpServer(stand.url));
  await lists.read(open, false);
  stand.takeSeen();
  const long = await called(lists, open, "crm_query", { region: "x".repeat(1_025) });
  assert.match(String(Object(long).error), /^region: too long/);
  assert.deepEqual(stand.takeSeen(), []);
  const older = await standOf(context);
  older.tools = [REGIONAL];
  older.isLegacy = true;
  const given = { region: "eu" };
  const openOlder = opened(mcpServer(older.url));
  const answer = await called(lists, openOlder, "crm_query", given);
  assert.deepEqual(answer, { ok: true, result: given });
  const names = older.seen.flatMap(({ headers }) => Object.keys(headers));
  assert.ok(!names.some((name) => name.startsWith("mcp-param")), names.join());
});

test("a server that wants other headers by now is asked for its list, and once more for the tool", async (context) => {
  const stand = await standOf(context);
  const { properties } = REGIONAL.inputSchema;
  const plain = { type: "object", properties: { ...properties, region: { type: "string" } } };
  stand.tools = [{ ...REGIONAL, inputSchema: plain }];
  const { lists } = listsOf(context);
  const open = opened(mcpServer(stand.url));
  await lists.read(open, false);
  stand.takeSeen();
  stand.tools = [REGIONAL];
  const given = { region: "eu" };
  assert.deepEqual(await called(lists, open, "crm_query", given), { ok: true, result: given });
  assert.deepEqual(stand.takeSeen(), ["tools/call", "tools/list", "tools/call"]);
  assert.deepEqual(await called(lists, open, "crm_query", given), { ok: true, result: given });
  assert.deepEqual(stand.takeSeen(), ["tools/call"]);
});

test("a server that refuses headers for ever is asked twice, and the tool fails", async (context) => {
  const server = await misbehaving(context, (rpc, response) => {
    if (!isCall(rpc)) return false;
    response.writeHead(400, { "content-type": "application/json" });
    const error = { code: -32020, message: "no" };
    response.end(JSON.stringify({ jsonrpc: "2.0", id: rpc.id, error }));
    return true;
  });
  const { lists, outcomes } = listsOf(context);
  const answer = await called(lists, opened(mcpServer(server.url)));
  assert.equal(Object(answer).ok, false);
  assert.deepEqual(outcomes, ["list ok", "list ok", "call refused"]);
});

for (const [title, status] of [
  ["as the specification says", 404],
  ["as the examples of the official package do", 400],
] as const) {
  test(`an older server's session is kept for all calls, and made anew when the server has forgotten it and says so ${title}`, async (context) => {
    const server = await scriptedOf(context);
    const seen: string[] = [];
    let sessions = 0;
    server.answer = (response, { method, headers, body }) => {
      if (method !== "POST") {
        response.writeHead(405).end();
        return;
      }
      const rpc: Rpc = JSON.parse(body);
      const session = String(headers["mcp-session-id"] ?? "none");
      seen.push(`${rpc.method} ${session}`);
      const isFirst = rpc.method === "initialize";
      if (isFirst) sessions += 1;
      const current = `session-${sessions}`;
      if (!isFirst && session !== current) {
        const error = { code: -32_000, message: "Bad Request: No valid session ID provided" };
        response.writeHead(session === "none" ? 400 : status, {
          "content-type": "application/json",
        });
        response.end(JSON.stringify({ jsonrpc: "2.0", error, id: null }));
        return;
      }
      response.setHeader("mcp-session-id", current);
      if (rpc.method.startsWith("notifications/")) {
        response.writeHead(202).end();
        return;
      }
      const about = { protocolVersion: "2025-06-18", serverInfo: { name: "old", version: "1" } };
      const results: Readonly<Record<string, object>> = {
        initialize: { ...about, capabilities: { tools: {} } },
        "tools/list": { tools: [{ name: "find.order", inputSchema: { type: "object" } }] },
        "tools/call": { content: [{ type: "text", text: "found" }] },
      };
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify({ jsonrpc: "2.0", id: rpc.id, result: results[rpc.method] }));
    };
    const { lists, outcomes } = listsOf(context);
    const open = opened(mcpServer(server.url));
    const { protocolVersion, error } = await lists.read(open, false);
    assert.deepEqual([protocolVersion, error], ["2025-06-18", undefined]);
    seen.length = 0;
    assert.deepEqual(await called(lists, open), { ok: true, result: "found" });
    assert.deepEqual(seen, ["tools/call session-1"]);
    sessions += 1;
    seen.length = 0;
    assert.deepEqual(await called(lists, open), { ok: true, result: "found" });
    assert.equal(seen[0], "tools/call session-1");
    assert.equal(seen.at(-1), "tools/call session-3");
    assert.deepEqual(await called(lists, open), { ok: true, result: "found" });
    assert.equal(seen.filter((each) => each.startsWith("initialize")).length, 1);
    sessions += 1;
    assert.equal((await lists.read(open, true)).error, undefined);
    assert.deepEqual(outcomes, ["list ok", "call ok", "call ok", "call ok", "list ok"]);
  });
}

test("a tool call that an older server refuses with 400 is not repeated, and the session is kept", async (context) => {
  const server = await scriptedOf(context);
  const seen: string[] = [];
  server.answer = (response, { method, headers, body }) => {
    if (method !== "POST") {
      response.writeHead(405).end();
      return;
    }
    const rpc: Rpc = JSON.parse(body);
    const session = headers["mcp-session-id"];
    seen.push(rpc.method);
    if (rpc.method === "tools/call" || (session === undefined && rpc.method !== "initialize")) {
      response.writeHead(400).end("Bad Request: the order is too old");
      return;
    }
    response.setHeader("mcp-session-id", "session-1");
    if (rpc.method.startsWith("notifications/")) {
      response.writeHead(202).end();
      return;
    }
    const about = { protocolVersion: "2025-06-18", serverInfo: { name: "old", version: "1" } };
    const tools = [{ name: "find.order", inputSchema: { type: "object" } }];
    const result =
      rpc.method === "initialize" ? { ...about, capabilities: { tools: {} } } : { tools };
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify({ jsonrpc: "2.0", id: rpc.id, result }));
  };
  const { lists, outcomes } = listsOf(context);
  const open = opened(mcpServer(server.url));
  assert.equal((await lists.read(open, false)).error, undefined);
  seen.length = 0;
  await called(lists, open);
  await called(lists, open);
  assert.deepEqual(seen, ["tools/call", "tools/call"]);
  assert.deepEqual(outcomes.slice(0, 1), ["list ok"]);
});

test("a list is refreshed off the path of calls, once an hour when no call uses it, and is dropped after eight days", async (context) => {
  const stand = await standOf(context);
  const { lists, changes, outcomes } = listsOf(context);
  const open = opened(mcpServer(stand.url));
  await lists.read(open, false);
  stand.takeSeen();
  stand.tools = [FIND, { ...FIND, name: "second" }];
  assert.equal(lists.peek(open)?.length, 1);
  assert.deepEqual(stand.takeSeen(), [], "a call's start makes no request");
  clock.advance(5 * 60_000);
  await changes.until("the list is refreshed", () => lists.peek(open)?.length === 2);
  assert.deepEqual(stand.takeSeen(), ["tools/list"]);
  const refreshes = async (afterMs: number) => {
    const before = outcomes.length;
    clock.advance(afterMs - 1);
    assert.equal(outcomes.length, before);
    clock.advance(1);
    await changes.until("the list is refreshed", () => outcomes.length === before + 1);
  };
  for (let count = 0; count < 13; count += 1) await refreshes(4.5 * 60_000);
  for (let count = 0; count < 2; count += 1) await refreshes(59.5 * 60_000);
  clock.advance(8 * 24 * 60 * 60_000);
  assert.equal(lists.peek(open), undefined);
});

test("a server that fails at a call's start is asked again, with growing pauses, until no call wants its tools", async (context) => {
  const stand = await standOf(context);
  stand.status = 503;
  const { lists, outcomes, changes, log } = listsOf(context);
  const open = opened(mcpServer(stand.url));
  assert.equal(lists.peek(open), undefined);
  const asked = (count: number) =>
    changes.until(`${count} requests`, () => outcomes.length === count);
  await asked(1);
  for (const [at, pauseMs] of [1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000].entries()) {
    // The failure is noted before its retry is set.
    await new Promise(setImmediate);
    clock.advance(pauseMs - 1);
    assert.equal(outcomes.length, at + 1);
    assert.equal(lists.peek(open), undefined, "a turn in between makes no request");
    assert.equal(outcomes.length, at + 1);
    clock.advance(1);
    await asked(at + 2);
  }
  // The newest turn was two minutes ago.
  for (let count = 9; count <= 11; count += 1) {
    await new Promise(setImmediate);
    clock.advance(30_000);
    await asked(count);
  }
  await new Promise(setImmediate);
  clock.advance(10 * 60_000);
  await new Promise(setImmediate);
  assert.equal(outcomes.length, 11);
  assert.equal(log.ofLevel("warn").length, 1);
});

test("a bearer token is sent; a wrong one is said to the agent's author, and stands in no log", async (context) => {
  const stand = await standOf(context);
  stand.bearer = "right-token";
  const { lists, log, outcomes } = listsOf(context);
  const server = mcpServer(stand.url, { auth: { type: "bearer" } });
  const wrong = await lists.read(opened(server, { headers: {}, secret: "wrong-token" }), false);
  assert.match(wrong.error ?? "", /did not accept the credentials/);
  assert.doesNotMatch(JSON.stringify(log.lines), /wrong-token|127\.0\.0\.1/);
  assert.equal(log.lines[0]?.fields["mcpServer"], "crm");
  const right = await lists.read(opened(server, { headers: {}, secret: "right-token" }), false);
  assert.equal(right.tools?.length, 1);
  assert.deepEqual(outcomes, ["list unauthorized", "list ok"]);
});

test("client credentials get a token, which is kept until it ends and made anew when it is refused", async (context) => {
  const stand = await standOf(context);
  const issuer = await scriptedOf(context);
  let issued = 0;
  issuer.answer = (response) => {
    issued += 1;
    response.end(JSON.stringify({ access_token: `token-${issued}`, expires_in: 600 }));
  };
  stand.bearer = "token-1";
  const { lists } = listsOf(context);
  const auth = {
    type: "clientCredentials",
    tokenUrl: `${issuer.url}/token`,
    clientId: "parley",
    scope: "tools",
  } as const;
  const open = opened(mcpServer(stand.url, { auth }), { headers: {}, secret: "client-secret" });
  await called(lists, open);
  assert.equal(issued, 1);
  const [request] = issuer.requests;
  assert.equal(request?.body, "grant_type=client_credentials&scope=tools");
  const basic = Buffer.from("parley:client-secret").toString("base64");
  assert.equal(request?.headers.authorization, `Basic ${basic}`);
  stand.bearer = "token-2";
  assert.deepEqual(await called(lists, open), { ok: true, result: { id: "7", state: "sent" } });
  assert.equal(issued, 2);
});

test("a private address is refused, also where a token is requested", async (context) => {
  const stand = await standOf(context);
  const { lists } = listsOf(context, guarded);
  const { error } = await lists.read(opened(mcpServer(stand.url)), false);
  assert.match(error ?? "", /its address is private/);
  assert.deepEqual(stand.seen, []);
});

test("a redirect is not followed", async (context) => {
  const stand = await standOf(context);
  const server = await scriptedOf(context);
  server.answer = (response) => response.writeHead(307, { location: stand.url }).end();
  const { lists } = listsOf(context);
  const { error } = await lists.read(opened(mcpServer(server.url)), false);
  assert.match(error ?? "", /redirects, which is not followed/);
  assert.deepEqual(stand.seen, []);
});

interface Rpc {
  readonly id: number;
  readonly method: string;
  readonly params?: { readonly cursor?: string };
}

/** Answers discovery and the list as a server of the stateless revision, and tool calls as a test says. */
async function misbehaving(
  context: TestContext,
  answer: (rpc: Rpc, response: Parameters<ScriptedWebServer["answer"]>[0]) => boolean,
): Promise<ScriptedWebServer> {
  const server = await scriptedOf(context);
  server.answer = (response, { body }) => {
    const rpc: Rpc = JSON.parse(body);
    if (answer(rpc, response)) return;
    const shared = { resultType: "complete", ttlMs: 0, cacheScope: "private" };
    const results: Readonly<Record<string, object>> = {
      "server/discover": { supportedVersions: ["2026-07-28"], capabilities: { tools: {} } },
      "tools/list": { tools: [{ name: "find.order", inputSchema: { type: "object" } }] },
    };
    const result = { ...shared, ...results[rpc.method] };
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify({ jsonrpc: "2.0", id: rpc.id, result }));
  };
  return server;
}

function isCall({ method }: Rpc): boolean {
  return method === "tools/call";
}

test("a tool that never answers fails by its own time limit, and the other tools stay", async (context) => {
  const server = await misbehaving(context, isCall);
  const { lists, outcomes } = listsOf(context);
  const open = opened(mcpServer(server.url));
  await lists.read(open, false);
  const outcome = called(lists, open);
  await server.changes.until("the tool is called", () => server.requests.length === 3);
  clock.advance(2_000);
  assert.match(String(Object(await outcome).error), /did not answer in time/);
  assert.equal(outcomes.at(-1), "call timeout");
  assert.equal(lists.peek(open)?.length, 1);
});

test("a stream that does not end is cut off by the time limit", async (context) => {
  const server = await misbehaving(context, (rpc, response) => {
    if (!isCall(rpc)) return false;
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write(": still here\n\n");
    return true;
  });
  const { lists } = listsOf(context);
  const open = opened(mcpServer(server.url));
  await lists.read(open, false);
  const outcome = called(lists, open);
  await server.changes.until("the tool is called", () => server.requests.length === 3);
  clock.advance(2_000);
  assert.match(String(Object(await outcome).error), /did not answer in time/);
});

const BROKEN_ANSWERS: readonly (readonly [string, (rpc: Rpc) => string])[] = [
  [
    "to another request",
    ({ id }) => JSON.stringify({ jsonrpc: "2.0", id: id + 1_000, result: {} }),
  ],
  ["that is no JSON", () => "<html>"],
  ["that is no result", ({ id }) => JSON.stringify({ jsonrpc: "2.0", id, result: { content: 7 } })],
  [
    "of 50 MB",
    ({ id }) => `{"jsonrpc":"2.0","id":${id},"result":{"a":"${"x".repeat(50_000_000)}"}}`,
  ],
];

for (const [name, text] of BROKEN_ANSWERS) {
  test(`an answer ${name} fails the tool call at once`, async (context) => {
    const server = await misbehaving(context, (rpc, response) => {
      if (!isCall(rpc)) return false;
      response.setHeader("content-type", "application/json");
      response.end(text(rpc));
      return true;
    });
    const { lists, outcomes } = listsOf(context);
    const open = opened(mcpServer(server.url));
    assert.match(String(Object(await called(lists, open)).error), /answer could not be used/);
    assert.equal(outcomes.at(-1), "call badAnswer");
  });
}

test("a tool's own refusal reaches the LLM in the server's words", async (context) => {
  const server = await misbehaving(context, (rpc, response) => {
    if (!isCall(rpc)) return false;
    response.setHeader("content-type", "application/json");
    const error = { code: -32602, message: "No order 7" };
    response.end(JSON.stringify({ jsonrpc: "2.0", id: rpc.id, error }));
    return true;
  });
  const { lists } = listsOf(context);
  const open = opened(mcpServer(server.url));
  assert.match(String(Object(await called(lists, open)).error), /No order 7/);
});

test("a tool that wants to ask more, and one that failed, are errors for the LLM; pictures are left out", async (context) => {
  let result: object = {};
  const server = await misbehaving(context, (rpc, response) => {
    if (!isCall(rpc)) return false;
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify({ jsonrpc: "2.0", id: rpc.id, result }));
    return true;
  });
  const { lists } = listsOf(context);
  const open = opened(mcpServer(server.url));
  const text = { type: "text", text: "out of stock" };
  result = { resultType: "complete", content: [text], isError: true };
  assert.deepEqual(await called(lists, open), { ok: false, error: "out of stock" });
  result = {
    resultType: "complete",
    content: [text, { type: "image", data: "AA==", mimeType: "image/png" }],
  };
  const shown = { ok: true, result: "out of stock", note: "left out: image" };
  assert.deepEqual(await called(lists, open), shown);
  result = { resultType: "complete", content: [], structuredContent: { left: 2 } };
  assert.deepEqual(await called(lists, open), { ok: true, result: { left: 2 } });
  result = { resultType: "complete", content: [{ ...text, text: "y".repeat(20_000) }] };
  const long = Object(await called(lists, open));
  assert.deepEqual(
    [long.result.length, long.note],
    [16_384, "the result was longer and has been cut"],
  );
});

test("a status that is none of HTTP's is a named error", async (context) => {
  const server = await scriptedOf(context);
  server.answer = (response) => response.writeHead(700).end("what");
  const { lists } = listsOf(context);
  const { error } = await lists.read(opened(mcpServer(server.url)), false);
  assert.match(error ?? "", /status 700/);
});

test("a list that was pushed out while it was on its way does not come back for good", async (context) => {
  const held: (() => void)[] = [];
  const description = "d".repeat(500_000);
  const listed = [{ name: "find", description, inputSchema: { type: "object" } }];
  const server = await misbehaving(context, (rpc, response) => {
    if (rpc.method !== "tools/list") return false;
    const result = { resultType: "complete", ttlMs: 0, cacheScope: "private", tools: listed };
    const answer = () => {
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify({ jsonrpc: "2.0", id: rpc.id, result }));
    };
    if (held.length === 0) held.push(answer);
    else answer();
    return true;
  });
  const { lists } = listsOf(context);
  const first = opened(mcpServer(server.url));
  const reading = lists.read(first, false);
  await server.changes.until("the first list is requested", () => held.length === 1);
  for (let count = 0; count < 68; count += 1) {
    await lists.read(opened(mcpServer(`${server.url}/${count}`)), false);
  }
  held[0]?.();
  assert.equal((await reading).tools?.length, 1);
  assert.equal(lists.peek(first), undefined);
});

test("10,000 tools in one answer are a named error; in pages, the first 1,000 are read and the LLM gets 48", async (context) => {
  const some = (from: number, count: number) =>
    Array.from({ length: count }, (_, index) => ({
      name: `t${from + index}`,
      description: "d".repeat(100),
      inputSchema: { type: "object" },
    }));
  let isPaged = false;
  const server = await misbehaving(context, (rpc, response) => {
    if (rpc.method !== "tools/list") return false;
    const from = Number(rpc.params?.cursor ?? 0);
    const shared = { resultType: "complete", ttlMs: 0, cacheScope: "private" };
    const result = isPaged
      ? { ...shared, tools: some(from, 100), nextCursor: String(from + 100) }
      : { ...shared, tools: some(0, 10_000) };
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify({ jsonrpc: "2.0", id: rpc.id, result }));
    return true;
  });
  const { lists } = listsOf(context);
  const open = opened(mcpServer(server.url));
  const whole = await lists.read(open, false);
  assert.match(whole.error ?? "", /larger than 524288 bytes/);
  isPaged = true;
  const { tools = [], isCut, error } = await lists.read(open, true);
  assert.deepEqual([tools.length, isCut, error], [1_000, true, undefined]);
  const offer = mcpOffer([open.server], () => tools, []);
  assert.equal(offer.tools.length, 48);
  assert.equal(offer.omitted.get(open.server)?.[0]?.reason, "overLimit");
});

test("each request to a server of the stateless revision says in headers and body what it is", async (context) => {
  const server = await misbehaving(context, () => false);
  const { lists } = listsOf(context);
  await called(lists, opened(mcpServer(server.url)));
  const version = "2026-07-28";
  const said = server.requests.map(({ headers, body }) => {
    const { method, params } = JSON.parse(String(body));
    const { _meta: about = {} } = params;
    assert.match(String(headers["accept"]), /application\/json.*text\/event-stream/);
    assert.equal(headers["content-type"], "application/json");
    assert.equal(headers["mcp-protocol-version"], version);
    assert.equal(headers["mcp-method"], method);
    assert.equal(headers["mcp-session-id"], undefined);
    assert.equal(about["io.modelcontextprotocol/protocolVersion"], version);
    assert.equal(about["io.modelcontextprotocol/clientInfo"].name, "Parley");
    assert.deepEqual(about["io.modelcontextprotocol/clientCapabilities"], {}, "nothing is asked");
    return [method, headers["mcp-name"]];
  });
  assert.deepEqual(said, [
    ["server/discover", undefined],
    ["tools/list", undefined],
    ["tools/call", "find.order"],
  ]);
});

test("an older server reads the revision that it has chosen in each request after the handshake", async (context) => {
  const stand = await standOf(context);
  stand.isLegacy = true;
  const { lists } = listsOf(context);
  await called(lists, opened(mcpServer(stand.url)));
  const versions = stand.seen
    .filter(({ rpcMethod }) => !["server/discover", "initialize"].includes(rpcMethod))
    .map(({ rpcMethod, headers }) => [rpcMethod, headers["mcp-protocol-version"]]);
  assert.deepEqual(
    versions,
    ["notifications/initialized", "tools/list", "tools/call"].map((each) => [each, "2025-11-25"]),
  );
});

/** One event of a stream. */
function eventOf(message: object, id = ""): string {
  return `${id === "" ? "" : `id: ${id}\n`}data: ${JSON.stringify({ jsonrpc: "2.0", ...message })}\n\n`;
}

test("news and pings in a stream before the answer change nothing", async (context) => {
  const server = await misbehaving(context, (rpc, response) => {
    if (!isCall(rpc)) return false;
    response.writeHead(200, { "content-type": "text/event-stream" });
    const progress = { progressToken: 1, progress: 1, total: 2 };
    response.write(`retry: 1\n: still here\n\n${eventOf({ method: "made/up", params: {} })}`);
    response.write(eventOf({ method: "notifications/progress", params: progress }, "1"));
    const note = { level: "info", data: "half done" };
    response.write(eventOf({ method: "notifications/message", params: note }, "2"));
    const content = [{ type: "text", text: "done" }];
    response.end(eventOf({ id: rpc.id, result: { resultType: "complete", content } }, "3"));
    return true;
  });
  const { lists } = listsOf(context);
  const outcome = await called(lists, opened(mcpServer(server.url)));
  assert.deepEqual(outcome, { ok: true, result: "done" });
});

test("a stream that ends before its answer fails the tool at once, and the tool is not called again", async (context) => {
  const server = await misbehaving(context, (rpc, response) => {
    if (!isCall(rpc)) return false;
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.end("id: 1\nretry: 1\ndata: \n\n");
    return true;
  });
  const { lists, outcomes } = listsOf(context);
  const outcome = Object(await called(lists, opened(mcpServer(server.url))));
  assert.equal(outcome.ok, false);
  assert.match(outcome.error, /answer could not be used/);
  assert.equal(outcomes.at(-1), "call badAnswer");
  const sent = server.requests.map(({ method, body }) => [method, JSON.parse(String(body)).method]);
  assert.deepEqual(sent.at(-1), ["POST", "tools/call"]);
  assert.equal(sent.length, 3);
});

test("an older server that asks the caller something during a tool is refused, and the tool goes on", async (context) => {
  let end: ((answer: string) => void) | undefined;
  const refusals: unknown[] = [];
  const server = await scriptedOf(context);
  server.answer = (response, { body }) => {
    const rpc = JSON.parse(body);
    const json = (result: object) => {
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify({ jsonrpc: "2.0", id: rpc.id, result }));
    };
    switch (rpc.method) {
      case "server/discover":
        response.writeHead(400).end("Bad Request");
        return;
      case "initialize":
        assert.deepEqual(rpc.params.capabilities, {}, "nothing is promised");
        json({
          protocolVersion: "2025-06-18",
          capabilities: { tools: {} },
          serverInfo: { name: "older", version: "1" },
        });
        return;
      case "tools/list":
        json({ tools: [{ name: "find.order", inputSchema: { type: "object" } }] });
        return;
      case "tools/call": {
        response.writeHead(200, { "content-type": "text/event-stream" });
        const requestedSchema = { type: "object", properties: {} };
        const params = { message: "Which size?", requestedSchema };
        response.write(eventOf({ id: "ask", method: "elicitation/create", params }));
        const content = [{ type: "text", text: "done without" }];
        end = () => response.end(eventOf({ id: rpc.id, result: { content } }));
        return;
      }
      default:
        response.writeHead(202).end();
        if (rpc.id !== "ask") return;
        refusals.push(rpc.error?.code);
        end?.("");
    }
  };
  const { lists } = listsOf(context);
  const outcome = await called(lists, opened(mcpServer(server.url)));
  assert.deepEqual(outcome, { ok: true, result: "done without" });
  assert.deepEqual(refusals, [-32601]);
});

test("a schema's reference to another address is not followed", async (context) => {
  const server = await scriptedOf(context);
  const address = `${server.url}/order.json`;
  server.answer = (response, { body }) => {
    const { id, method } = JSON.parse(body);
    const inputSchema = { type: "object", properties: { order: { $ref: address } } };
    const tools = [{ name: "find.order", inputSchema }];
    const found =
      method === "tools/list"
        ? { tools }
        : { supportedVersions: ["2026-07-28"], capabilities: { tools: {} } };
    const result = { resultType: "complete", ttlMs: 0, cacheScope: "private", ...found };
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify({ jsonrpc: "2.0", id, result }));
  };
  const { lists } = listsOf(context);
  const { tools } = await lists.read(opened(mcpServer(server.url)), false);
  assert.match(JSON.stringify(tools), /"refusal":"[^"]*\$ref/);
  assert.deepEqual(
    server.requests.map(({ method }) => method),
    ["POST", "POST"],
  );
});
