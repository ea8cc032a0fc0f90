import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { callCommand } from "../../../api/commands/call/call-command.js";
import { runCommand } from "../../../api/commands/command.js";
import { readSandboxNote } from "../../../engine/sandbox/sandbox-note.js";
import { type Customer, TestServer } from "../../system/test-server.js";
import { RecordingTerminal } from "./recording-terminal.js";

const GREETING = "Hello, this is the agent.";
const TIMEOUT_MS = 60_000;

let server: TestServer;
let customer: Customer;
before(async () => {
  const environment = { NODE_ENV: "development", SANDBOX: "on", SANDBOX_VOICE: "speech" };
  server = await TestServer.start({ environment });
  const note = await readSandboxNote(server.dataDir);
  const faults = { deepgram: {}, openai: {}, openaiSpeech: {}, twilio: {} };
  await fetch(`${note?.deskUrl}/faults`, { method: "PUT", body: JSON.stringify(faults) });
  customer = await server.customer();
  await server.agent(customer, { persona: { greeting: GREETING } });
});
after(() => server.close());

for (const way of [[], ["--stream"], ["--phone"]]) {
  const title = `the words of a voice without the tone code are read from the transcript: call ${way.join(" ")}`;
  test(title.trimEnd(), { timeout: TIMEOUT_MS }, async () => {
    const terminal = new RecordingTerminal();
    const { dataDir, parley } = server;
    const readSettings = () => ({ dataDir, port: parley.port, twilio: { authToken: undefined } });
    const args = [...way, "--key", customer.apiKey, "--text", "Say thank you."];
    const command = callCommand({ readSettings, greetingWaitMs: TIMEOUT_MS });
    assert.equal(await runCommand(command, args, terminal), 0, terminal.errors);
    const heard = terminal.lines.flatMap((line) => /heard: +(.+)/.exec(line)?.[1] ?? []);
    assert.deepEqual(heard, [GREETING, "thank you."]);
  });
}
