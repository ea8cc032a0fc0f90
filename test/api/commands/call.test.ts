import assert from "node:assert/strict";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import * as v from "valibot";
import { type CallCommandOptions, callCommand } from "../../../api/commands/call/call-command.js";
import { runCommand } from "../../../api/commands/command.js";
import { recognizeMp3 } from "../../../engine/sandbox/sound/mp3-decoder.js";
import { samplesOf } from "../../../engine/sandbox/telephone/telephone-audio.js";
import { decodeSpeech } from "../../../engine/sandbox/telephone/tone-code.js";
import { type Customer, TestServer } from "../../system/test-server.js";
import { RecordingTerminal } from "./recording-terminal.js";

const Ended = v.object({
  type: v.literal("ended"),
  replyHeard: v.literal(true),
  turns: v.array(
    v.object({
      outcome: v.string(),
      transcript: v.string(),
      heard: v.string(),
      latencyMs: v.optional(v.number()),
      silencedAfterMs: v.optional(v.number()),
    }),
  ),
});

/** The server sends 10 s ahead of playback, some 23 numbers: later ones arrive only after some listening. */
const LISTENED = /agent … .*Number 24\./;

const WAV_HEADER_BYTES = 44;
/** More concurrent calls would delay each other too much on a busy machine. */
const CALLS_AT_ONCE = 4;
/** The awaited event arrives however busy the machine is. */
const PATIENT_MS = 60_000;

let server: TestServer;
let customer: Customer;
let folder: string;
before(async () => {
  server = await TestServer.start({ environment: { NODE_ENV: "development", SANDBOX: "off" } });
  customer = await server.customer();
  await server.agent(customer, { persona: { greeting: "Hi." } });
  folder = await mkdtemp(join(tmpdir(), "parley-call-"));
});
after(async () => {
  await server.stop();
  await rm(folder, { recursive: true });
});

/** Runs the command as the customer; `terminal` records its output. */
function call(
  args: readonly string[],
  surroundings: CallCommandOptions = {},
): { readonly terminal: RecordingTerminal; readonly exit: Promise<number> } {
  const terminal = new RecordingTerminal();
  const readSettings = () => ({ dataDir: server.dataDir, port: server.parley.port });
  const command = callCommand({
    readSettings,
    replyTimeoutMs: PATIENT_MS,
    greetingWaitMs: PATIENT_MS,
    ...surroundings,
  });
  return { terminal, exit: runCommand(command, args, terminal) };
}

const asCustomer = (...args: readonly string[]) => ["--key", customer.apiKey, ...args];

describe("a call", { concurrency: CALLS_AT_ONCE }, () => {
  test("shows the events, the words that were heard and how long the caller waited", async () => {
    const file = join(folder, "reply.mp3");
    const { terminal, exit } = call(asCustomer("--text", "Say thank you.", "--save", file));
    assert.equal(await exit, 0, terminal.errors);
    const story = terminal.lines
      .map((line) =>
        line
          .slice(10)
          .replace(/\d+ ms|\d\.\d (?:kB|s)/g, "#")
          .trim(),
      )
      .filter((line) => !line.startsWith("you …"));
    assert.deepEqual(story.slice(0, 13), [
      `connected   Reception at http://127.0.0.1:${server.parley.port}`,
      "audio       #, # of sound",
      "agent …     Hi.",
      "agent       Hi.",
      "audioEnd",
      "heard:      Hi.",
      "",
      'say         "Say thank you."',
      "you         Say thank you.",
      "audio       #, # of sound, the first # after your last word",
      "agent …     thank you.",
      "agent       thank you.",
      "audioEnd",
    ]);
    const table = terminal.lines.slice(-6);
    assert.match(table[0] ?? "", /^turn {2}you said +latency {2}you heard$/);
    assert.match(table[1] ?? "", /^ +- {2}\(greeting\) +- {2}Hi\.$/);
    assert.match(table[2] ?? "", /^ +1 {2}Say thank you\. +(?:\d+ ms|\d+\.\d s) {2}thank you\.$/);
    assert.match(table[4] ?? "", /npm run call -- --session [0-9a-f-]{36}$/);
    assert.match(table[5] ?? "", /^The agent's voice is in \S+reply\.mp3 \(\d+(\.\d)? kB\)\.$/);
    assert.equal(await recognizeMp3(await readFile(file)), "Hi. thank you.");
  });

  test("with --stream receives the agent's audio in chunks, and saves it as a WAV file", async () => {
    const file = join(folder, "reply.wav");
    const { terminal, exit } = call(asCustomer("--stream", "--text", "Say so.", "--save", file));
    assert.equal(await exit, 0, terminal.errors);
    const told = terminal.lines.map((line) => line.slice(10).trim());
    assert.ok(told.includes("audioStart  pcm24k at 24000 Hz"), terminal.output);
    assert.equal(told.filter((line) => line.startsWith("audio  ")).length, 2, "one line per reply");
    assert.match(
      terminal.output,
      /audio +the agent is heard, the first \S+ m?s after your last word/,
    );
    const wav = await readFile(file);
    assert.equal(decodeSpeech(samplesOf(wav.subarray(WAV_HEADER_BYTES)), 24_000), "Hi. so.");
  });

  test("shows only a table with --quiet", async () => {
    const { terminal, exit } = call(asCustomer("--text", "Say yes.", "--quiet"));
    assert.equal(await exit, 0, terminal.errors);
    assert.equal(terminal.lines.length, 5);
  });

  test("reports to programs how fast the agent stopped and what was heard until then", async () => {
    const { terminal, exit } = call(
      asCustomer("--json", "--text", "Count to 40.", "--interrupt", "Say bye."),
    );
    assert.equal(await exit, 0, terminal.errors);
    const { turns } = v.parse(Ended, JSON.parse(terminal.lines.at(-1) ?? ""));
    assert.deepEqual(
      turns.map(({ outcome }) => outcome),
      ["finished", "stopped", "finished"],
    );
    const [, count, bye] = turns;
    assert.match(count?.heard ?? "", /^Number 1\./);
    assert.doesNotMatch(count?.heard ?? "", /40/);
    const silencedAfterMs = count?.silencedAfterMs ?? 0;
    assert.ok(silencedAfterMs > 100, String(silencedAfterMs));
    assert.equal(bye?.heard, "bye.");
    assert.equal(bye?.transcript, "bye.");
    assert.ok((bye?.latencyMs ?? 0) > 0);
    assert.match(terminal.output, /"type":"silenced","turn":1,"silencedAfterMs":\d/);
  });

  test("finds the demo organization's key by itself", async () => {
    const { terminal, exit } = call(["--text", "Say so."]);
    assert.equal(await exit, 0, terminal.errors);
    assert.match(terminal.output, /connected +Demo agent at /);
    assert.match(terminal.output, /^ +1 {2}Say so\. +(?:\d+ ms|\d+\.\d s) {2}so\.$/m);
  });

  test("interrupts even the greeting", async () => {
    const greeting = "Hello, and welcome to the house of the many words. ".repeat(18).trim();
    const { id } = await server.agent(customer, { persona: { greeting } });
    const { terminal, exit } = call(asCustomer("--agent", id, "--interrupt", "Say so."));
    assert.equal(await exit, 0, terminal.errors);
    assert.match(terminal.output, /^[ \d].*audioStop +the agent falls silent$/m);
    assert.match(
      terminal.output,
      /audioStop came (?:\d+ ms|\d+\.\d s) after the interruption began$/m,
    );
    assert.match(terminal.output, /^ +- {2}\(greeting\) .* interrupted in (?:\d+ ms|\d+\.\d s)$/m);
    assert.match(terminal.output, /^ +1 {2}Say so\. +(?:\d+ ms|\d+\.\d s) {2}so\.$/m);
  });

  test("says typed lines, and a line typed while the agent talks interrupts it", async () => {
    const { terminal, exit } = call(asCustomer("--interactive"));
    await Promise.race([terminal.printed(/audioEnd/), exit]);
    terminal.type("Count to 40.");
    await Promise.race([terminal.printed(LISTENED), exit]);
    terminal.type(" ");
    terminal.type("x".repeat(1001));
    terminal.type("Say bye.");
    terminal.input.end();
    assert.equal(await exit, 0);
    assert.match(terminal.errors, /^a text may have at most 1000 characters\n$/);
    assert.match(terminal.output, /interrupt +"Say bye\."/);
    assert.match(terminal.output, /^ +1 {2}Count to 40\. .* interrupted in (?:\d+ ms|\d+\.\d s)$/m);
    assert.match(terminal.output, /^ +2 {2}Say bye\. +(?:\d+ ms|\d+\.\d s) {2}bye\.$/m);
  });

  test("ends at once when the caller hangs up, and shows what was heard until then", async () => {
    const hangUp = new AbortController();
    const { terminal, exit } = call(asCustomer("--text", "Count to 40."), {
      hangUp: hangUp.signal,
    });
    await Promise.race([terminal.printed(LISTENED), exit]);
    hangUp.abort();
    assert.equal(await exit, 0, terminal.errors);
    assert.match(terminal.output, /^ +1 {2}Count to 40\. .* Number 1\. .* cut off$/m);
  });

  test("continues an earlier conversation, without a second greeting", async () => {
    const first = call(asCustomer("--text", "Say yes.", "--quiet"));
    assert.equal(await first.exit, 0, first.terminal.errors);
    const historyKey = /--session (\S+)$/m.exec(first.terminal.output)?.[1] ?? "";

    const hangUp = new AbortController();
    const second = call(asCustomer("--session", historyKey, "--text", "What did I say?"), {
      hangUp: hangUp.signal,
    });
    const quoted = second.terminal.printed(/agent … +Before this you said: Say yes\./);
    await Promise.race([quoted, second.exit]);
    hangUp.abort();
    await second.exit;
    assert.match(second.terminal.output, /Before this you said: Say yes\./);
    assert.doesNotMatch(second.terminal.output, /Hi\./);
  });
});
