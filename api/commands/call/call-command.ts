import { access, constants, writeFile } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { createInterface } from "node:readline";
import { Caller } from "../../../engine/sandbox/caller.js";
import type { Received } from "../../../engine/sandbox/caller-events.js";
import { readSandboxNote, type SandboxNote } from "../../../engine/sandbox/sandbox-note.js";
import { MULAW_8K, STREAMED_FORMATS } from "../../../engine/sandbox/sound/raw-audio.js";
import { SANDBOX_TWILIO } from "../../../engine/sandbox/telephone/sandbox-telephony.js";
import { readDemo } from "../../../engine/tenancy/seeding/demo-file.js";
import type { Command } from "../command.js";
import { CommandError, UsageError } from "../command-error.js";
import { type CommandSettings, readCommandSettings } from "../data-folder.js";
import { sizeText } from "../measures.js";
import type { Terminal } from "../terminal.js";
import { CallEndedError, explainEnd } from "./call-ended.js";
import { type CallOptions, type Detail, readCallOptions, sayable } from "./call-options.js";
import { CallScreen } from "./call-screen.js";
import { Conversation, type ConversationOptions } from "./conversation.js";
import type { CallReport, Display } from "./display.js";
import { type FrameMeasures, FrameMeter } from "./frame-meter.js";
import { type Medium, type VoiceCall, WEB } from "./medium.js";
import { perform } from "./performance.js";
import { awaitPlacedCall, dialAgent } from "./phone-dialing.js";
import { LATE_MS } from "./phone-voice-call.js";
import { RawPlayback, wavOf } from "./raw-playback.js";
import type { Turn } from "./turn.js";
import { printTurns } from "./turn-table.js";

/** Shows only the table of the turns. */
export class QuietScreen implements Display {
  readonly #terminal: Terminal;

  constructor(terminal: Terminal) {
    this.#terminal = terminal;
  }

  dialled(): void {}

  received(): void {}

  vendorSaid(): void {}

  speaking(): void {}

  fellSilent(): void {}

  turnOver(): void {}

  ended(report: CallReport): void {
    printTurns(this.#terminal, report);
  }
}

/** The audio format in which the command requests the agent's audio stream. */
export const STREAM_FORMAT = "pcm24k";
const FORMAT = STREAMED_FORMATS[STREAM_FORMAT];

/** A web call whose agent audio arrives as a stream of chunks. */
export const WEB_STREAM: Medium = {
  ...WEB,
  newPlayback: () => new RawPlayback(FORMAT),
  reportsEveryChunk: false,
  fileOf: (replies) => wavOf(replies, FORMAT),
};

/**
 * Says every line that is typed. A line typed while the agent talks interrupts it. Resolves when the input has ended
 * and the agent has finished; rejects with CallEndedError if the service ends the call.
 */
export async function sayTypedLines(conversation: Conversation, terminal: Terminal): Promise<void> {
  const lines = createInterface({ input: terminal.input, crlfDelay: Number.POSITIVE_INFINITY });
  try {
    await Promise.race([conversation.untilEnded(), sayAll(conversation, terminal, lines)]);
  } finally {
    lines.close();
  }
}

async function sayAll(
  conversation: Conversation,
  terminal: Terminal,
  lines: AsyncIterable<string>,
): Promise<void> {
  for await (const line of lines) {
    if (line.trim() === "") continue;
    await sayLine(conversation, terminal, line);
  }
  await conversation.over(conversation.lastTurn);
}

async function sayLine(
  conversation: Conversation,
  terminal: Terminal,
  line: string,
): Promise<void> {
  try {
    const text = sayable(line);
    await (conversation.isTalking ? conversation.interrupt(text) : conversation.say(text));
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    terminal.complain(error.message);
  }
}

/** Plays one reply of 8 kHz µ-law, as the vendor does. */
class PhonePlayback extends RawPlayback {
  readonly #meter = new FrameMeter();

  constructor() {
    super(MULAW_8K);
  }

  get frames(): FrameMeasures {
    return this.#meter.measures;
  }

  override play(sound: Uint8Array, atNs: bigint): void {
    this.#meter.add(sound.length, atNs);
    super.play(sound, atNs);
  }
}

export const TELEPHONE: Medium = {
  newPlayback: () => new PhonePlayback(),
  reportsEveryChunk: false,
  showsTranscripts: false,
  // The stream is open before its session is, and the server's first stream starts its audio threads.
  greetingWaitMs: 10_000,
  // A server sends only a fraction of a second ahead, so little audio is ever left to play, and a frame may be late.
  minRemainingMs: -LATE_MS,
  fileOf: (replies) => wavOf(replies, MULAW_8K),
};

/** Output for programs: one JSON object per line, each with `type` and the milliseconds since the call began. */
export class JsonLines implements Display {
  readonly #terminal: Terminal;
  #beganNs = 0n;

  constructor(terminal: Terminal) {
    this.#terminal = terminal;
  }

  dialled(url: string, atNs: bigint): void {
    this.#beganNs = atNs;
    this.#write("dialled", atNs, { url });
  }

  received(event: Received, turn: Turn | undefined): void {
    const { type, atNs } = event;
    switch (event.type) {
      case "audio":
        this.#write(type, atNs, { turn: turn?.number, bytes: event.sound.length });
        return;
      case "connected":
        this.#write(type, atNs, { agentName: event.agentName, historyKey: event.historyKey });
        return;
      case "transcript":
      case "error":
        this.#write(type, atNs, { payload: event.payload });
        return;
      case "audioStart": {
        const { turnId, encoding, sampleRateHz } = event;
        this.#write(type, atNs, { turnId, encoding, sampleRateHz });
        return;
      }
      case "unreadable":
        this.#write(type, atNs, { text: event.text });
        return;
      case "closed":
        this.#write(type, atNs, { code: event.code, reason: event.reason });
        return;
      case "audioStop":
      case "audioEnd":
        this.#write(type, atNs, { turn: turn?.number });
        return;
    }
  }

  vendorSaid(number: string, status: string, atNs: bigint): void {
    this.#write("vendor", atNs, { number, status });
  }

  speaking(turn: Turn, atNs: bigint): void {
    this.#write("speaking", atNs, { turn: turn.number, kind: turn.kind, text: turn.said });
  }

  fellSilent({ number, silencedAfterMs }: Turn): void {
    const fields = { turn: number, silencedAfterMs: rounded(silencedAfterMs) };
    this.#write("silenced", process.hrtime.bigint(), fields);
  }

  turnOver(turn: Turn): void {
    this.#write("turn", process.hrtime.bigint(), described(turn));
  }

  ended({ historyKey, replyHeard, turns }: CallReport): void {
    const fields = { historyKey, replyHeard, turns: turns.map(described) };
    this.#write("ended", process.hrtime.bigint(), fields);
  }

  #write(type: string, atNs: bigint, fields: object): void {
    const atMs = rounded(Number(atNs - this.#beganNs) / 1e6);
    this.#terminal.print(JSON.stringify({ atMs, type, ...fields }));
  }
}

function described(turn: Turn) {
  const { number, kind, said, outcome, transcript, heard, latencyMs, silencedAfterMs } = turn;
  const { count: frames, bytes, jitterMs, longestGapMs } = turn.frames ?? {};
  return {
    turn: number,
    kind,
    said,
    outcome,
    transcript,
    heard,
    latencyMs: rounded(latencyMs),
    silencedAfterMs: rounded(silencedAfterMs),
    frames,
    bytes,
    jitterMs: rounded(jitterMs),
    longestGapMs: rounded(longestGapMs),
  };
}

function rounded(valueMs: number): number;
function rounded(valueMs: number | undefined): number | undefined;
function rounded(valueMs: number | undefined): number | undefined {
  return valueMs === undefined ? undefined : Math.round(valueMs * 10) / 10;
}

const USAGE = `Usage: npm run call -- [options]

A caller in the terminal, on the real voice WebSocket or the telephone. It speaks the sandbox's tone code, so it needs a server whose STT is
simulated to be understood. What it heard is read from the agent's tones, or from the transcript where the agent speaks in words. Without --text and --interactive it plays a conversation of three turns.

  --text "…"        says this when the agent has finished; can be given several times
  --interrupt "…"   says this while the agent talks; in the order of the texts around it
  --interactive     says what is typed, line by line; a line typed while the agent talks interrupts; Ctrl-D hangs up
  --url URL         the server, else http://127.0.0.1:PORT
  --key vk_…        an API key, else that of the demo organization in DATA_DIR
  --agent ID        else the organization's first active agent
  --session KEY     goes on with an earlier conversation
  --stream          has the agent's voice streamed as it is made (audio=stream), instead of whole sentences
  --phone           calls as a telephone does: Twilio's webhook, token and media stream, 8 kHz in frames of 20 ms
  --placed          with --phone: the agent calls, over the sandbox's Twilio; --to +1555… says whom (…0001 is busy)
  --save FILE       writes the agent's voice: the received MP3s, one after another; with --stream or --phone a WAV file
  --quiet           only the table at the end
  --json            one JSON object a line, for programs
Exit code: 0 a reply was heard, 1 none was or the call failed, 2 not understood.`;

const LOOPBACK = /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;
const TYPING_HINT = "Type what you want to say and press Enter; Ctrl-D hangs up.";

export interface CallCommandOptions {
  readonly readSettings?: () => CommandSettings;
  /** Aborted when the caller wants to hang up. */
  readonly hangUp?: AbortSignal;
  readonly replyTimeoutMs?: number;
  readonly greetingWaitMs?: number;
}

export function callCommand(surroundings: CallCommandOptions = {}): Command {
  const readSettings = surroundings.readSettings ?? readCommandSettings;
  return {
    usage: USAGE,
    async run(args, terminal) {
      const options = readCallOptions(args);
      const settings = readSettings();
      const { port, dataDir } = settings;
      const url = options.url ?? `http://127.0.0.1:${port}`;
      const apiKey = options.apiKey ?? (await demoKey(dataDir));
      if (options.saveFile !== undefined) await requireFolder(options.saveFile);
      const display = displayOf(options.detail, terminal);
      const dialling = { options, url, apiKey, settings, display };
      const conversation = await connect(
        {
          url,
          medium: mediumOf(options),
          dial: () => dial(dialling),
          sessionId: options.sessionId,
          replyTimeoutMs: surroundings.replyTimeoutMs,
          greetingWaitMs: surroundings.greetingWaitMs,
        },
        display,
      );
      const fault = await talk(conversation, options, terminal, surroundings.hangUp);
      const report = reportOf(conversation);
      display.ended(report);
      if (options.saveFile !== undefined) {
        const { medium, turns } = conversation;
        const sound = medium.fileOf(turns.map(({ pieces }) => pieces));
        const byteCount = await save(options.saveFile, sound);
        if (options.detail === "events") {
          terminal.print(`The agent's voice is in ${options.saveFile} (${sizeText(byteCount)}).`);
        }
      }
      if (fault !== undefined) throw await faultFor(fault, url, true);
      if (!report.replyHeard) throw new CommandError("no reply was heard");
    },
  };
}

function mediumOf({ telephone, isStreamed }: CallOptions): Medium {
  if (telephone !== undefined) return TELEPHONE;
  return isStreamed ? WEB_STREAM : WEB;
}

interface Dialling {
  readonly options: CallOptions;
  readonly url: string;
  readonly apiKey: string;
  readonly settings: CommandSettings;
  readonly display: Display;
}

async function dial({ options, url, apiKey, settings, display }: Dialling): Promise<VoiceCall> {
  const { agentId, sessionId, telephone, isStreamed } = options;
  if (telephone === undefined) {
    return Caller.dial({
      url,
      apiKey,
      ...(agentId === undefined ? {} : { agentId }),
      ...(sessionId === undefined ? {} : { sessionId }),
      ...(isStreamed ? { stream: STREAM_FORMAT } : {}),
    });
  }
  const phone = {
    url,
    apiKey,
    agentId,
    authToken: settings.twilio?.authToken ?? SANDBOX_TWILIO.authToken,
    sandbox: await sandboxOf(url, settings.dataDir),
    onStatus: display.vendorSaid.bind(display),
  };
  const { isPlaced, to } = telephone;
  return isPlaced ? awaitPlacedCall({ ...phone, to }) : dialAgent(phone);
}

/** Returns the sandbox of the server at `url` if that server runs on this machine with this data folder. */
async function sandboxOf(url: string, dataDir: string): Promise<SandboxNote | undefined> {
  const note = await readSandboxNote(dataDir).catch((cause: unknown) => {
    throw new CommandError(`sandbox.json in ${dataDir} cannot be read: start the server again`, {
      cause,
    });
  });
  return note !== undefined && isSameServer(note.serverUrl, url) ? note : undefined;
}

function isSameServer(one: string, other: string): boolean {
  const [a, b] = [one, other].map((address) => new URL(address.replace(/^ws/, "http")));
  if (a === undefined || b === undefined || a.port !== b.port) return false;
  return a.hostname === b.hostname || (LOOPBACK.test(a.hostname) && LOOPBACK.test(b.hostname));
}

async function connect(options: ConversationOptions, display: Display): Promise<Conversation> {
  try {
    return await Conversation.open(options, display);
  } catch (error) {
    throw await faultFor(error, options.url, false);
  }
}

/** Always hangs up. Resolves to the error, so that the turns until then can still be shown. */
async function talk(
  conversation: Conversation,
  { steps, isInteractive, detail }: CallOptions,
  terminal: Terminal,
  hangUp: AbortSignal | undefined,
): Promise<unknown> {
  const leave = () => void conversation.hangUp();
  hangUp?.addEventListener("abort", leave, { once: true });
  try {
    if (steps.length > 0) await perform(conversation, steps);
    if (isInteractive) {
      if (detail === "events") terminal.print(terminal.paint("dim", TYPING_HINT));
      await sayTypedLines(conversation, terminal);
    }
    return undefined;
  } catch (error) {
    return hangUp?.aborted === true && error instanceof CallEndedError ? undefined : error;
  } finally {
    hangUp?.removeEventListener("abort", leave);
    await conversation.hangUp();
  }
}

function reportOf({ historyKey, turns }: Conversation): CallReport {
  const replyHeard = turns.some(({ kind, heard = "" }) => kind !== "greeting" && heard !== "");
  return { historyKey, turns, replyHeard };
}

async function faultFor(error: unknown, url: string, wasConnected: boolean): Promise<unknown> {
  if (!(error instanceof CallEndedError)) return error;
  return new CommandError(await explainEnd(error, url, wasConnected));
}

async function demoKey(dataDir: string): Promise<string> {
  const demo = await readDemo(dataDir).catch((cause: unknown) => {
    throw new CommandError(`demo.json in ${dataDir} cannot be read; give a key with --key`, {
      cause,
    });
  });
  if (demo !== undefined) return demo.apiKey;
  throw new CommandError(
    `${dataDir} has no demo organization: start the server once (npm start), or give a key with --key`,
  );
}

function displayOf(detail: Detail, terminal: Terminal): Display {
  switch (detail) {
    case "events":
      return new CallScreen(terminal);
    case "quiet":
      return new QuietScreen(terminal);
    case "json":
      return new JsonLines(terminal);
  }
}

/** Checked before the call, so that no call is made whose audio cannot be saved. */
async function requireFolder(file: string): Promise<void> {
  const folder = dirname(resolve(file));
  try {
    await access(folder, constants.W_OK);
  } catch (cause) {
    throw new CommandError(`--save: nothing can be written into ${folder}`, { cause });
  }
}

async function save(file: string, bytes: Uint8Array): Promise<number> {
  try {
    await writeFile(file, bytes);
    return bytes.byteLength;
  } catch (cause) {
    throw new CommandError(`--save: ${file} could not be written`, { cause });
  }
}
