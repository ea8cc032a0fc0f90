import { access, constants, writeFile } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { Caller } from "../../../engine/sandbox/caller.js";
import { readSandboxNote, type SandboxNote } from "../../../engine/sandbox/sandbox-note.js";
import { SANDBOX_TWILIO } from "../../../engine/sandbox/telephone/sandbox-telephony.js";
import { readDemo } from "../../../engine/tenancy/seeding/demo-file.js";
import type { Command } from "../command.js";
import { CommandFault } from "../command-fault.js";
import { type CommandSettings, readCommandSettings } from "../data-folder.js";
import { sizeText } from "../measures.js";
import type { Terminal } from "../terminal.js";
import { CallEnded, explainEnd } from "./call-ended.js";
import { type CallOptions, type Detail, readCallOptions } from "./call-options.js";
import { CallScreen } from "./call-screen.js";
import { Conversation, type ConversationOptions } from "./conversation.js";
import type { CallReport, Display } from "./display.js";
import { JsonLines } from "./json-lines.js";
import { type Medium, type VoiceCall, WEB } from "./medium.js";
import { perform } from "./performance.js";
import { awaitPlacedCall, dialAgent } from "./phone-dialing.js";
import { TELEPHONE } from "./phone-medium.js";
import { QuietScreen } from "./quiet-screen.js";
import { STREAM_FORMAT, WEB_STREAM } from "./stream-medium.js";
import { sayTypedLines } from "./typed-lines.js";

const USAGE = `Usage: npm run call -- [options]

A caller in the terminal, on the real voice WebSocket or the telephone. It speaks the sandbox's tone code, so it needs a server whose vendors
are simulated to be understood. Without --text and --interactive it plays a conversation of three turns.

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
  readonly patienceMs?: number;
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
      if (options.saveFile !== undefined) await demandFolder(options.saveFile);
      const display = displayOf(options.detail, terminal);
      const dialling = { options, url, apiKey, settings, display };
      const conversation = await connect(
        {
          url,
          medium: mediumOf(options),
          dial: () => dial(dialling),
          sessionId: options.sessionId,
          patienceMs: surroundings.patienceMs,
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
      if (!report.replyHeard) throw new CommandFault("no reply was heard");
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

/** The sandbox of the server at that address, when it runs on this machine and data folder. */
async function sandboxOf(url: string, dataDir: string): Promise<SandboxNote | undefined> {
  const note = await readSandboxNote(dataDir).catch((cause: unknown) => {
    throw new CommandFault(`sandbox.json in ${dataDir} cannot be read: start the server again`, {
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

/** Always hangs up; the answer is what went wrong, so that the turns until then can still be shown. */
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
    return hangUp?.aborted === true && error instanceof CallEnded ? undefined : error;
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
  if (!(error instanceof CallEnded)) return error;
  return new CommandFault(await explainEnd(error, url, wasConnected));
}

async function demoKey(dataDir: string): Promise<string> {
  const demo = await readDemo(dataDir).catch((cause: unknown) => {
    throw new CommandFault(`demo.json in ${dataDir} cannot be read; give a key with --key`, {
      cause,
    });
  });
  if (demo !== undefined) return demo.apiKey;
  throw new CommandFault(
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

/** Before the call: nobody wants to learn after it that nothing could be kept. */
async function demandFolder(file: string): Promise<void> {
  const folder = dirname(resolve(file));
  try {
    await access(folder, constants.W_OK);
  } catch (cause) {
    throw new CommandFault(`--save: nothing can be written into ${folder}`, { cause });
  }
}

async function save(file: string, bytes: Uint8Array): Promise<number> {
  try {
    await writeFile(file, bytes);
    return bytes.byteLength;
  } catch (cause) {
    throw new CommandFault(`--save: ${file} could not be written`, { cause });
  }
}
