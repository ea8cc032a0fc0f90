import assert from "node:assert/strict";
import { after, type TestContext, test } from "node:test";
import { CallVariables } from "../../../engine/calls/call-variables.js";
import { CredentialCipher } from "../../../engine/security/credential-cipher.js";
import { agentToolbox } from "../../../engine/tools/agent-toolbox.js";
import { McpToolLists } from "../../../engine/tools/mcp-tool-lists.js";
import { Connections } from "../../../engine/vendors/transport/connections.js";
import { Changes } from "../../doubles/changes.js";
import { RecordingCaller } from "../../doubles/recording-caller.js";
import { RecordingLogger } from "../../doubles/recording-logger.js";
import { VirtualClock } from "../../doubles/virtual-clock.js";
import { agentRecord } from "../../storage/sample-records.js";
import { never } from "../vendors/sandboxed-vendors.js";
import { McpStand, mcpServer } from "./mcp-stand.js";

const AGENT = agentRecord({ tools: [{ type: "hangup" }] });
const cipher = new CredentialCipher("5a".repeat(32));
const clock = new VirtualClock();
const connections = new Connections({ clock, allowPrivateAddresses: true });
after(() => connections.close());

async function standOf(context: TestContext) {
  const stand = new McpStand();
  stand.tools = [{ name: "find", run: () => ({ found: true }) }];
  await stand.start();
  const changes = new Changes();
  const lists = new McpToolLists({
    context: { clock, connections },
    log: new RecordingLogger(),
    onRequest: () => setImmediate(changes.tell),
  });
  context.after(() => lists.close());
  context.after(() => stand.close());
  const agent = agentRecord({
    tools: [{ type: "hangup" }],
    mcpServers: [mcpServer(stand.url)],
  });
  const toolbox = () =>
    agentToolbox(agent, cipher, { clock, connections }, { callId: "call" }, lists);
  return { stand, lists, changes, toolbox };
}

function names({ definitions }: ReturnType<typeof agentToolbox>): readonly string[] {
  return definitions.map(({ name }) => name);
}

test("a call does not wait for a list; its tools are offered when it comes, and to the next call at once", async (context) => {
  const { stand, changes, toolbox } = await standOf(context);
  const first = toolbox();
  assert.deepEqual(names(first), ["hangup"]);
  await changes.until("the list is there", () => names(first).length === 2);
  assert.deepEqual(names(first), ["hangup", "crm_find"]);
  stand.takeSeen();
  const second = toolbox();
  assert.deepEqual(names(second), ["hangup", "crm_find"]);
  assert.equal(second.definitions, second.definitions, "the same list for every question");
  assert.deepEqual(stand.takeSeen(), []);
});

test("the tools of a server that was out of order at a call's start are offered from the next turn on", async (context) => {
  const { stand, changes, toolbox } = await standOf(context);
  stand.status = 503;
  const call = toolbox();
  assert.deepEqual(names(call), ["hangup"]);
  await changes.until("the list has failed", () => stand.takeSeen().length > 0);
  await new Promise(setImmediate);
  stand.status = undefined;
  clock.advance(1_000);
  await changes.until("the list is there", () => names(call).length === 2);
  assert.deepEqual(names(call), ["hangup", "crm_find"]);
});

test("the tools of a call stay the same when the server's list changes", async (context) => {
  const { stand, lists, changes, toolbox } = await standOf(context);
  const first = toolbox();
  await changes.until("the list is there", () => names(first).length === 2);
  stand.tools = [{ name: "renamed", run: () => ({}) }];
  clock.advance(5 * 60_000);
  await changes.until("the list is refreshed", () => names(toolbox()).includes("crm_renamed"));
  assert.deepEqual(names(first), ["hangup", "crm_find"]);
  const call = { id: "1", name: "crm_find", argumentsJson: "{}" };
  const { content } = await first.run(call, new RecordingCaller(), never());
  assert.match(content, /not found/i);
  lists.close();
});

test("tools of a list that comes later take no place of one that was offered", async (context) => {
  const { stand, lists, changes } = await standOf(context);
  const many = (word: string) =>
    Array.from({ length: 30 }, (_, n) => ({ name: `${word}${n}`, run: () => ({}) }));
  stand.tools = many("a");
  const other = new McpStand();
  other.tools = many("b");
  await other.start();
  context.after(() => other.close());
  const late = mcpServer(stand.url);
  const early = mcpServer(other.url, { name: "shop" });
  await lists.read({ server: early, secrets: { headers: {} }, orgId: AGENT.orgId }, false);
  const agent = { ...AGENT, mcpServers: [late, early] };
  const toolbox = agentToolbox(agent, cipher, { clock, connections }, { callId: "call" }, lists);
  const before = names(toolbox);
  assert.deepEqual([before.length, before[1]], [31, "shop_b0"]);
  await changes.until("the other list is there", () => names(toolbox).length > 31);
  const after48 = names(toolbox);
  assert.deepEqual(after48.slice(0, 31), before);
  assert.deepEqual([after48.length, after48[31], after48.at(-1)], [49, "crm_a0", "crm_a17"]);
});

test("the same tool with the same arguments runs once at a time, with a key of its own", async (context) => {
  const { stand, changes, toolbox } = await standOf(context);
  const call = { id: "1", name: "crm_find", argumentsJson: "{}" };
  const tools = toolbox();
  await changes.until("the list is there", () => names(tools).length === 2);
  stand.takeSeen();
  const caller = new RecordingCaller();
  const both = await Promise.all([
    tools.run(call, caller, never()),
    tools.run({ ...call, id: "2" }, caller, never()),
  ]);
  assert.deepEqual(
    both.map(({ content }) => JSON.parse(content)),
    [1, 2].map(() => ({ ok: true, result: { found: true } })),
  );
  await tools.run(call, caller, never());
  assert.deepEqual(
    stand.seen.map(({ headers }) => headers["idempotency-key"]),
    ["call/1", "call/1.2"],
  );
});

test("a call without the servers' secrets goes on without their tools", async (context) => {
  const { lists } = await standOf(context);
  const lost = new CredentialCipher("6b".repeat(32)).seal({ crm: { headers: {}, secret: "x" } });
  const agent = agentRecord({
    tools: [{ type: "hangup" }],
    mcpServers: [mcpServer("http://127.0.0.1:9/", { auth: { type: "bearer" } })],
    sealedMcpSecrets: lost,
  });
  const toolbox = agentToolbox(agent, cipher, { clock, connections }, {}, lists);
  assert.deepEqual(names(toolbox), ["hangup"]);
});

test("a header with a variable is sent with tool calls only, and calls with other values share one list", async (context) => {
  const { stand, lists, changes } = await standOf(context);
  const headers = { "x-key": "k", "x-customer": "{{id|none}}", "x-both": "secret-{{id|none}}" };
  const agent = agentRecord({
    tools: [{ type: "hangup" }],
    mcpServers: [mcpServer(stand.url, { headerNames: Object.keys(headers) })],
    sealedMcpSecrets: cipher.seal({ crm: { headers } }),
  });
  const toolboxFor = (id: string) => {
    const facts = { callId: "call", channel: "web", callInfo: undefined, atMs: 0 } as const;
    const texts = new CallVariables(agent.persona, { id }, facts);
    return agentToolbox(agent, cipher, { clock, connections }, { callId: "call", texts }, lists);
  };
  assert.ok(toolboxFor("12").secrets?.includes("secret-12"));
  const first = toolboxFor("7\r\nx-admin: yes");
  await changes.until("the list is there", () => names(first).length === 2);
  const listed = stand.seen.map(({ headers: sent }) => [sent["x-key"], sent["x-customer"]]);
  assert.ok(
    listed.length > 0 && listed.every(([key, value]) => key === "k" && value === undefined),
  );
  stand.takeSeen();
  const call = { id: "1", name: "crm_find", argumentsJson: "{}" };
  for (const toolbox of [first, toolboxFor(""), toolboxFor("Zoë")]) {
    await toolbox.run(call, new RecordingCaller(), never());
  }
  assert.deepEqual(
    stand.seen.map(({ rpcMethod, headers: sent }) => [
      rpcMethod,
      sent["x-key"],
      sent["x-customer"],
    ]),
    [
      ["tools/call", "k", "7 x-admin: yes"],
      ["tools/call", "k", "none"],
      ["tools/call", "k", "Zo%C3%AB"],
    ],
  );
});
