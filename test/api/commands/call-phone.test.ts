import assert from "node:assert/strict";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import * as v from "valibot";
import { callCommand } from "../../../api/commands/call/call-command.js";
import { runCommand } from "../../../api/commands/command.js";
import { readSandboxNote } from "../../../engine/sandbox/sandbox-note.js";
import { samplesOf } from "../../../engine/sandbox/telephone/telephone-audio.js";
import { decodeSpeech } from "../../../engine/sandbox/telephone/tone-code.js";
import { type Customer, TestServer } from "../../system/test-server.js";
import { RecordingTerminal } from "./recording-terminal.js";
import { ScriptedService } from "./scripted-service.js";

const TRANSFER_TO = "+15550103000";
const WAV_HEADER_BYTES = 44;
/** A call that fails in an unexpected way. */
const TIMEOUT_MS = 30_000;

const Ended = v.object({
  type: v.literal("ended"),
  replyHeard: v.literal(true),
  turns: v.array(
    v.object({
      outcome: v.string(),
      heard: v.string(),
      latencyMs: v.optional(v.number()),
      silencedAfterMs: v.optional(v.number()),
      frames: v.number(),
      bytes: v.number(),
      jitterMs: v.optional(v.number()),
      longestGapMs: v.optional(v.number()),
    }),
  ),
});

let server: TestServer;
let customer: Customer;
let folder: string;
let nobodysUrl: string;
before(async () => {
  const gone = await ScriptedService.start(() => {});
  nobodysUrl = gone.url;
  await gone.close();
  const environment = {
    NODE_ENV: "development",
    SANDBOX: "on",
    VENDOR_REQUESTS_PER_MINUTE: "1000",
  };
  server = await TestServer.start({ environment });
  const note = await readSandboxNote(server.dataDir);
  const faults = { deepgram: {}, openai: {}, openaiSpeech: {}, twilio: {} };
  await fetch(`${note?.deskUrl}/faults`, { method: "PUT", body: JSON.stringify(faults) });
  customer = await server.customer();
  const tools = [{ type: "transfer", to: TRANSFER_TO } as const];
  await server.agent(customer, { persona: { greeting: "Hi." }, tools });
  folder = await mkdtemp(join(tmpdir(), "parley-phone-"));
});
after(async () => {
  await server.close();
  await rm(folder, { recursive: true });
});

async function call(args: readonly string[], authToken?: string) {
  const terminal = new RecordingTerminal();
  const { dataDir, parley } = server;
  const readSettings = () => ({ dataDir, port: parley.port, twilio: { authToken } });
  const exit = await runCommand(callCommand({ readSettings }), ["--phone", ...args], terminal);
  return { exit, terminal };
}

const asCustomer = (...args: readonly string[]) => ["--key", customer.apiKey, ...args];

/** Without times, sizes and the numbers that change. */
function storyOf({ lines }: RecordingTerminal): readonly string[] {
  return lines
    .map((line) =>
      line
        .slice(10)
        .replace(/\d+(?:\.\d)? (?:ms|kB|s)\b|\d+(?= frames)/g, "#")
        .replace(/\+1555\d{6}7\b/, "ours")
        .trim(),
    )
    .filter((line) => line !== "" && !line.startsWith("# frames"));
}

describe("a call on the telephone", { concurrency: true, timeout: TIMEOUT_MS }, () => {
  test("shows the words that were heard, how long the caller waited, and the jitter of the frames", async () => {
    const file = join(folder, "reply.wav");
    const { exit, terminal } = await call(asCustomer("--text", "Say thank you.", "--save", file));
    assert.equal(exit, 0, terminal.errors);
    assert.deepEqual(storyOf(terminal).slice(0, 9), [
      `connected   the agent on the telephone at ${server.url}`,
      "audio       the agent is heard",
      "audioEnd",
      "heard:      Hi.",
      'say         "Say thank you."',
      "audio       the agent is heard, the first # after your last word",
      "audioEnd",
      "heard:      thank you.",
      "closed      1000 the call has ended",
    ]);
    assert.match(
      terminal.output,
      /\d+ frames of 20 ms, \S+ kB, jitter \S+ ms, at most \S+ m?s between/,
    );
    const [heading, , row] = terminal.lines.slice(-4);
    assert.match(heading ?? "", /^turn {2}you said +latency {2}you heard +frames +bytes +jitter$/);
    assert.match(
      row ?? "",
      /^ +1 {2}Say thank you\. +\S+ m?s {2}thank you\. +\d+ +\S+ kB +\S+ ms$/,
    );
    assert.match(terminal.lines.at(-1) ?? "", /^The agent's voice is in \S+reply\.wav/);
    const wav = await readFile(file);
    assert.equal(wav.toString("latin1", 0, 4) + wav.toString("latin1", 8, 12), "RIFFWAVE");
    assert.equal(wav.readUInt32LE(40), wav.length - WAV_HEADER_BYTES);
    const samples = samplesOf(wav.subarray(WAV_HEADER_BYTES));
    assert.equal(decodeSpeech(samples, wav.readUInt32LE(24)), "Hi. thank you.");
  });

  test("reports to programs how fast the agent stopped, and which audio arrived in which frames", async () => {
    const { exit, terminal } = await call(
      asCustomer("--json", "--text", "Count to 30.", "--interrupt", "Say bye."),
    );
    assert.equal(exit, 0, terminal.errors);
    const { turns } = v.parse(Ended, JSON.parse(terminal.lines.at(-1) ?? ""));
    const [greeting, count, bye] = turns;
    assert.deepEqual(
      turns.map(({ outcome }) => outcome),
      ["finished", "stopped", "finished"],
    );
    assert.match(count?.heard ?? "", /^Number 1\./);
    assert.doesNotMatch(count?.heard ?? "", /30/);
    assert.ok((count?.silencedAfterMs ?? 0) > 100);
    assert.ok((count?.longestGapMs ?? 0) >= (count?.jitterMs ?? 1));
    assert.equal(bye?.heard, "bye.");
    assert.ok((bye?.latencyMs ?? 0) > 0);
    for (const turn of [greeting, count, bye]) assert.equal(turn?.bytes, 160 * (turn?.frames ?? 0));
    assert.equal(terminal.output.match(/"type":"audio"/g)?.length, 3, "one line per reply");
  });

  test("is transferred when the agent says so, and shows the outcome", async () => {
    const { exit, terminal } = await call(asCustomer("--text", "Transfer me please."));
    assert.equal(exit, 0, terminal.errors);
    assert.match(terminal.output, /closed +1000 the agent transferred the call$/m);
    const vendor = storyOf(terminal).filter((line) => line.startsWith("vendor"));
    assert.deepEqual(vendor, [
      `vendor      ${TRANSFER_TO} ringing`,
      `vendor      ${TRANSFER_TO} in-progress`,
      `vendor      ${TRANSFER_TO} completed`,
      "vendor      +15550002222 completed",
    ]);
  });

  test("waits for a transfer, and goes on with the agent when the line is busy", async () => {
    const other = await server.customer();
    const tools = [{ type: "transfer", to: "+15550100001" } as const];
    await server.agent(other, { persona: { greeting: "Hi." }, tools });
    const texts = ["--text", "Transfer me please.", "--text", "Say thank you."];
    const { exit, terminal } = await call(["--key", other.apiKey, ...texts]);
    assert.equal(exit, 0, terminal.errors);
    const story = storyOf(terminal).filter((line) => /^(vendor|heard:)/.test(line));
    assert.deepEqual(story, [
      "heard:      Hi.",
      "vendor      +15550100001 ringing",
      "vendor      +15550100001 busy",
      "heard:      One moment please, I will transfer you. I am sorry, the line is busy, so I could not put you through. Is there anything else I can do?",
      "heard:      thank you.",
      "vendor      +15550002222 completed",
    ]);
    const records = await server.calls(other);
    const results = records.map(({ metadata }) => Object(metadata["transfer"]).result);
    assert.deepEqual(new Set(results), new Set(["busy", undefined]));
  });

  test("can be placed by the agent", async () => {
    const { exit, terminal } = await call(asCustomer("--placed", "--text", "Say yes."));
    assert.equal(exit, 0, terminal.errors);
    const story = storyOf(terminal);
    assert.deepEqual(story.slice(0, 4), [
      "vendor      ours ringing",
      "vendor      ours in-progress",
      `connected   the agent, who called at ${server.url}`,
      "audio       the agent is heard",
    ]);
    assert.ok(story.includes("vendor      ours completed"));
    assert.match(terminal.output, /^ +1 {2}Say yes\. +\S+ m?s {2}yes\. /m);
  });

  test("that is placed to a busy number is reported as not answered", async () => {
    const { exit, terminal } = await call(asCustomer("--placed", "--to", "+15550100001"));
    assert.equal(exit, 1);
    assert.equal(terminal.errors, "the call was not answered: busy\n");
  });
});

describe("a call on the telephone that is refused is explained in one line", () => {
  const wrong: readonly (readonly [string, () => readonly string[], RegExp, string?])[] = [
    ["without a key", () => ["--key", "vk_no"], /^the API key was not accepted\. Give another/],
    [
      "to an agent that does not exist",
      () => asCustomer("--agent", "nobody"),
      /^the caller is told: ".*there is no such agent.*"\n$/,
    ],
    [
      "signed with another token",
      () => asCustomer(),
      /^the server checks Twilio's signature: set the server's TWILIO_AUTH_TOKEN/,
      "another",
    ],
    [
      "that is to be placed without a key",
      () => ["--placed", "--key", "vk_no"],
      /^the server refused with status 401: the API key is wrong/,
    ],
    [
      "that is to be placed by a server on another machine",
      () => asCustomer("--placed", "--url", "http://127.0.0.1:9"),
      /^--placed needs a server on this machine with simulated vendors/,
    ],
    [
      "to an address without a server",
      () => asCustomer("--url", nobodysUrl),
      /^no server listens at http:\/\/127\.0\.0\.1:\d+\. Start one in another terminal: npm start/,
    ],
  ];
  for (const [what, args, message, authToken] of wrong) {
    test(what, async () => {
      const { exit, terminal } = await call(args(), authToken);
      assert.equal(exit, 1);
      assert.match(terminal.errors, message);
      assert.equal(terminal.errors.split("\n").length, 2);
    });
  }
});
