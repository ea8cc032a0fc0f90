import assert from "node:assert/strict";
import { after, test } from "node:test";
import { CredentialCipher } from "../../../engine/security/credential-cipher.js";
import { fixedKey } from "../../../engine/tenancy/agents/agent-tools.js";
import { agentToolbox, sessionTools, withTransfers } from "../../../engine/tools/agent-toolbox.js";
import { Connections } from "../../../engine/vendors/transport/connections.js";
import { Changes } from "../../doubles/changes.js";
import { RecordingCaller } from "../../doubles/recording-caller.js";
import { VirtualClock } from "../../doubles/virtual-clock.js";
import { agentRecord } from "../../storage/sample-records.js";
import { never } from "../vendors/sandboxed-vendors.js";
import { ScriptedWebServer } from "../vendors/scripted-web-server.js";

const AGENT = agentRecord({
  tools: [{ type: "hangup" }, { type: "transfer", to: "+493012345678" }],
});

test("an agent on a line that nobody can hand on has all tools but the transfer", async () => {
  const others = { ...AGENT, tools: [{ type: "hangup" }] };
  assert.deepEqual(await withTransfers(AGENT, false, () => true), others);
  assert.deepEqual(await withTransfers(AGENT, true, () => false), others);
  assert.deepEqual(await withTransfers(AGENT, true, (target) => target === "+493012345678"), AGENT);
});

test("the session knows a tool of the caller's page by its own name", () => {
  const show = { name: "show", description: "Shows it", parameters: {}, timeoutMs: 5_000 };
  const agent = agentRecord({ tools: [{ type: "client", ...show }] });
  assert.deepEqual(sessionTools(agent), [{ kind: "client", name: "show" }]);
  const beside = { onStart: "One moment.", background: "reply" } as const;
  const quick = agentRecord({ tools: [{ type: "client", ...show, ...beside }] });
  assert.deepEqual(sessionTools(quick), [{ kind: "client", name: "show", ...beside }]);
});

test("the session is told what a tool says when it takes long or fails, and whether it can be aborted", () => {
  const server = { name: "crm", url: "https://crm.example/mcp", auth: { type: "none" } } as const;
  const rest = { headerNames: [], allowedTools: null, timeoutMs: 5_000 };
  const spoken = { onDelay: "It takes longer.", onFailure: "It did not work." };
  const agent = agentRecord({ mcpServers: [{ ...server, ...rest, ...spoken, cancellable: true }] });
  const told = { kind: "mcp", name: "crm", onFailure: spoken.onFailure, isCancellable: true };
  const onDelay = { text: spoken.onDelay, afterMs: 3_000 };
  assert.deepEqual(sessionTools(agent), [{ ...told, onDelay }]);
  const soon = { ...server, ...rest, ...spoken, onDelayMs: 800, cancellable: false };
  const [tool] = sessionTools(agentRecord({ mcpServers: [soon] }));
  assert.deepEqual(tool, {
    kind: "mcp",
    name: "crm",
    onFailure: spoken.onFailure,
    onDelay: { text: spoken.onDelay, afterMs: 800 },
  });
});

test("a service that fails is a failure of the tool; arguments that do not fit are none", async (context) => {
  const server = new ScriptedWebServer();
  await server.start();
  context.after(() => server.close());
  server.answer = (response) => response.writeHead(500).end("broken");
  const parameters = { type: "object", required: ["number"] };
  const find = { name: "find", description: "Finds it", parameters, timeoutMs: 5_000 };
  const http = { url: server.url, method: "POST", headerNames: [], speak: true } as const;
  const agent = agentRecord({ tools: [{ type: "http", ...find, ...http }] });
  const toolbox = agentToolbox(agent, cipher, { clock, connections });
  const misused = await toolbox.run(called("find"), new RecordingCaller(), never());
  assert.equal(misused.isFailed, undefined, misused.content);
  const failed = await toolbox.run(called("find", { number: 1 }), new RecordingCaller(), never());
  assert.equal(failed.isFailed, true, failed.content);
  server.answer = (response) => response.end("found");
  const done = await toolbox.run(called("find", { number: 2 }), new RecordingCaller(), never());
  assert.deepEqual([done.isFailed, done.spoken], [undefined, "found"]);
});

test("the session is told which tools end the call, and where a transfer leads", () => {
  assert.deepEqual(sessionTools(AGENT), [
    { kind: "hangup", name: "hangup" },
    { kind: "transfer", name: "transfer", to: "+493012345678" },
  ]);
});

const cipher = new CredentialCipher("5a".repeat(32));
const clock = new VirtualClock();
const connections = new Connections({ clock, allowPrivateAddresses: true });
after(() => connections.close());

function called(name: string, given: object = {}) {
  return { id: "1", name, argumentsJson: JSON.stringify(given) };
}

test("an agent without tools has nothing that its model could use", async () => {
  const toolbox = agentToolbox(agentRecord({ tools: [] }), cipher, { clock, connections });
  assert.deepEqual([toolbox.definitions, toolbox.secrets], [[], undefined]);
  const { content } = await toolbox.run(called("hangup"), new RecordingCaller(), never());
  assert.equal(content, "There is no such tool.");
});

test("each tool is done where it belongs, and one that the agent does not have is not done", async (context) => {
  const server = new ScriptedWebServer();
  await server.start();
  context.after(() => server.close());
  server.answer = (response) => response.end("found");
  const parameters = { type: "object" };
  const find = { name: "find", description: "Finds it", parameters, timeoutMs: 5_000 };
  const [headerNames, url] = [["x-key"], `${server.url}/find`];
  const agent = agentRecord({
    tools: [
      { type: "http", ...find, method: "GET", url, headerNames, speak: false },
      { type: "http", ...find, name: "open", method: "GET", url, headerNames: [], speak: false },
      { type: "client", ...find, name: "show" },
      { type: "sendDigits" },
      { type: "hangup" },
    ],
    sealedToolHeaders: cipher.seal({ find: { "x-key": "the-secret" } }),
  });
  const toolbox = agentToolbox(agent, cipher, { clock, connections });
  assert.deepEqual(toolbox.secrets, ["the-secret"]);
  assert.deepEqual(
    toolbox.definitions.map(({ name }) => name),
    ["find", "open", "show", "sendDigits", "hangup"],
  );
  const caller = new RecordingCaller();
  const told = async (name: string, given?: object) =>
    (await toolbox.run(called(name, given), caller, never())).content;
  assert.equal(await told("find"), '{"ok":true,"status":200,"body":"found"}');
  await told("open");
  assert.deepEqual(
    server.requests.map(({ headers }) => headers["x-key"]),
    ["the-secret", undefined],
  );
  assert.equal(server.requests[0]?.headers["user-agent"], "Parley");
  assert.equal(server.requests[0].headers["content-type"], undefined);
  assert.equal(await told("show", { order: 1 }), '{"ok":true,"result":"done"}');
  assert.deepEqual(caller.toolCalls, [{ name: "show", arguments: { order: 1 } }]);
  assert.equal(await told("sendDigits", { digits: "12#" }), '{"ok":true}');
  assert.deepEqual(caller.digits, ["12#"]);
  assert.match(await told("sendDigits", { digits: "x" }), /^\{"ok":false,"error":"/);
  assert.deepEqual(caller.digits, ["12#"]);
  for (const [outcome, error] of [
    ["unavailable", "this line has no keys"],
    ["cutOff", "the keys were cut off"],
  ] as const) {
    caller.sendDigits = () => Promise.resolve(outcome);
    const content = await told("sendDigits", { digits: "1" });
    assert.deepEqual(JSON.parse(content), { ok: false, error });
  }
  for (const name of ["hangup", "made up"])
    assert.equal(await told(name), "There is no such tool.");
});

test("a call's values fill address, headers and fixed parameters, which the model cannot overrule", async (context) => {
  const server = new ScriptedWebServer();
  await server.start();
  context.after(() => server.close());
  server.answer = (response) => response.end("found");
  const properties = { order: { type: "string" }, customer: { type: "string" } };
  const agent = agentRecord({
    tools: [
      {
        type: "http",
        name: "find",
        description: "Finds it",
        parameters: { type: "object", properties },
        timeoutMs: 5_000,
        method: "POST",
        url: `${server.url}/customers/{{id|none}}`,
        headerNames: ["x-name"],
        fixedParameterNames: ["customer"],
        speak: false,
      },
    ],
    sealedToolHeaders: cipher.seal({
      find: { "x-name": "{{id|none}}", authorization: "Bearer secret-{{id|none}}" },
      "fixed find": { customer: "{{id|none}}" },
    }),
  });
  const values = {
    fill: (text: string, written = String) => text.replace("{{id|none}}", written("a/b")),
  };
  const call = { callId: "call-1", texts: values };
  const toolbox = agentToolbox(agent, cipher, { clock, connections }, call);
  assert.ok(toolbox.secrets?.includes("secret-a/b"), String(toolbox.secrets));
  const wanted = called("find", { order: "1", customer: "mallory" });
  await toolbox.run({ ...wanted, id: "tool 7" }, new RecordingCaller(), never());
  const [request] = server.requests;
  assert.equal(request?.url, "/customers/a%2Fb");
  assert.equal(request.headers["x-name"], "a/b");
  assert.equal(request.headers["idempotency-key"], "call-1/tool%207");
  assert.deepEqual(JSON.parse(String(request.body)), { order: "1", customer: "a/b" });
  // An LLM without ids of its own: its next reply has the same one for something else.
  await toolbox.run(
    { ...called("find", { order: "2" }), id: "tool 7" },
    new RecordingCaller(),
    never(),
  );
  assert.equal(server.requests[1]?.headers["idempotency-key"], "call-1/tool%207.2");
});

test("the same call with the same arguments is not started twice while it runs", async (context) => {
  const server = new ScriptedWebServer();
  await server.start();
  context.after(() => server.close());
  const held: (() => void)[] = [];
  let tellAsked = () => {};
  const asked = new Promise<void>((resolve) => {
    tellAsked = resolve;
  });
  server.answer = (response) => {
    held.push(() => response.end("found"));
    tellAsked();
  };
  const parameters = { type: "object" };
  const find = { name: "find", description: "Finds it", parameters, timeoutMs: 5_000 };
  const url = `${server.url}/find`;
  const agent = agentRecord({
    tools: [{ type: "http", ...find, method: "GET", url, headerNames: [], speak: false }],
  });
  const toolbox = agentToolbox(agent, cipher, { clock, connections });
  const run = () => toolbox.run(called("find"), new RecordingCaller(), never());
  const both = [run(), run()];
  await asked;
  for (const answer of held.splice(0)) answer();
  const [first, second] = await Promise.all(both);
  assert.deepEqual(first, second);
  assert.equal(server.requests.length, 1);
  server.answer = (response) => response.end("again");
  await run();
  assert.equal(server.requests.length, 2, "once it is done, it may be asked anew");
});

test("arguments that do the same are the same call, however the LLM writes them", async (context) => {
  const server = new ScriptedWebServer();
  await server.start();
  context.after(() => server.close());
  const held: (() => void)[] = [];
  const changes = new Changes();
  server.answer = (response) => {
    held.push(() => response.end("booked"));
    changes.tell();
  };
  const book = { name: "book", description: "Books", parameters: {}, timeoutMs: 5_000 };
  const rest = {
    method: "POST",
    url: `${server.url}/book`,
    headerNames: [],
    speak: false,
  } as const;
  const agent = agentRecord({
    tools: [{ type: "http", ...book, ...rest, fixedParameterNames: ["shop"] }],
    sealedToolHeaders: cipher.seal({ [fixedKey("book")]: { shop: "north" } }),
  });
  const toolbox = agentToolbox(agent, cipher, { clock, connections }, { callId: "call-1" });
  const forms = [
    '{"day":{"on":"a","at":1},"seats":2}',
    '{ "day": {"on": "a", "at": 1}, "seats": 2 }',
    '{"seats":2,"day":{"at":1,"on":"a"}}',
    '{"seats":2.0,"day":{"at":1,"on":"a"},"shop":"south"}',
  ];
  const runs = forms.map((argumentsJson, at) =>
    toolbox.run({ id: `t${at}`, name: "book", argumentsJson }, new RecordingCaller(), never()),
  );
  const other = { id: "t9", name: "book", argumentsJson: '{"day":{"on":"b","at":1},"seats":2}' };
  runs.push(toolbox.run(other, new RecordingCaller(), never()));
  await changes.until("two requests", () => held.length === 2);
  for (const answer of held) answer();
  await Promise.all(runs);
  const keys = server.requests.map(({ headers }) => headers["idempotency-key"]);
  assert.equal(keys.length, 2);
  assert.deepEqual(new Set(keys), new Set(["call-1/t0", "call-1/t9"]));
});

test("the caller's page is not asked twice for the same while it works", async () => {
  const show = { name: "show", description: "Shows it", parameters: {}, timeoutMs: 5_000 };
  const agent = agentRecord({ tools: [{ type: "client", ...show }] });
  const toolbox = agentToolbox(agent, cipher, { clock, connections });
  const caller = new RecordingCaller();
  const forms = ['{"order":1,"open":true}', '{"open": true, "order": 1}', '{"order":2}'];
  const outcomes = await Promise.all(
    forms.map((argumentsJson, at) =>
      toolbox.run({ id: `t${at}`, name: "show", argumentsJson }, caller, never()),
    ),
  );
  assert.deepEqual(
    caller.toolCalls.map(({ arguments: given }) => given),
    [{ order: 1, open: true }, { order: 2 }],
  );
  assert.equal(outcomes[0], outcomes[1]);
});
