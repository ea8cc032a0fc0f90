import assert from "node:assert/strict";
import { after, test } from "node:test";
import { CredentialCipher } from "../../../engine/security/credential-cipher.js";
import { agentToolbox, sessionTools, withTransfers } from "../../../engine/tools/agent-toolbox.js";
import { Connections } from "../../../engine/vendors/transport/connections.js";
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
