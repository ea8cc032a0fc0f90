import { randomInt } from "node:crypto";
import * as v from "valibot";
import type { SandboxNote } from "../../../engine/sandbox/sandbox-note.js";
import {
  CallRefusedByServerError,
  WebhookError,
} from "../../../engine/sandbox/telephone/phone-webhook.js";
import { TelephoneConnection } from "../../../engine/sandbox/telephone/telephone-connection.js";
import type { ToTelephone } from "../../../engine/sandbox/telephone/telephone-message.js";
import { serverAddress } from "../../client/call-address.js";
import { CommandError } from "../command-error.js";
import { printable } from "../terminal.js";
import { type FollowedCall, followReplies } from "./agent-words.js";
import { diagnose } from "./call-ended.js";
import type { VoiceCall } from "./medium.js";
import { type NextStream, PhoneVoiceCall } from "./phone-voice-call.js";

const UNAUTHORIZED = 401;
const FORBIDDEN = 403;
const NOT_FOUND = 404;

const RefusalText = v.pipe(v.string(), v.parseJson(), v.object({ error: v.string() }));

/** A telephone call was not established; the message says why, for a person. */
export async function explainDialling(error: unknown, url: string): Promise<Error> {
  if (error instanceof CommandError) return error;
  if (error instanceof CallRefusedByServerError) {
    return new CommandError(`the caller is told: "${printable(error.words)}"`, { cause: error });
  }
  if (error instanceof WebhookError) {
    return new CommandError(await wordsFor(error, url), { cause: error });
  }
  // `fetch` rejects with these if the connection is refused or the request times out.
  const isUnheard =
    error instanceof TypeError || (error instanceof Error && error.name === "TimeoutError");
  if (isUnheard) return new CommandError(await diagnose(url), { cause: error });
  const reason = error instanceof Error ? printable(error.message) : "";
  return new CommandError(
    `the media stream could not be opened (${reason}): does PUBLIC_BASE_URL lead to the server?`,
    { cause: error },
  );
}

async function wordsFor({ status, body }: WebhookError, url: string): Promise<string> {
  const parsed = v.safeParse(RefusalText, body);
  const words = parsed.success ? `: ${printable(parsed.output.error)}` : "";
  switch (status) {
    case UNAUTHORIZED:
      return "the API key was not accepted. Give another one with --key";
    case FORBIDDEN:
      return words.includes("X-Twilio-Signature")
        ? "the server checks Twilio's signature: set the server's TWILIO_AUTH_TOKEN"
        : `the call was not allowed${words}`;
    case NOT_FOUND:
      return diagnose(url);
    default:
      return `the server refused the call with status ${status}${words}`;
  }
}

const ANSWER_MAX_MS = 15_000;

const Agents = v.array(v.object({ _id: v.string(), status: v.optional(v.string()) }));
const Refusal = v.object({ error: v.string() });

export interface CallOrder {
  /** The server's URL, with its sub-path if it has one. */
  readonly url: string;
  readonly apiKey: string;
  /** If undefined, the organization's first active agent. */
  readonly agentId: string | undefined;
  readonly to: string;
  readonly from: string;
}

/** Sends `POST /api/dashboard/calls`. Rejects with a CommandError that contains the server's message. */
export async function placeCall({ url, apiKey, to, from, ...order }: CallOrder): Promise<void> {
  const base = url.replace(/^ws/, "http");
  const agentId = order.agentId ?? (await firstAgent(base, apiKey));
  await requestJson(base, "/api/dashboard/calls", apiKey, { agentId, to, from });
}

async function firstAgent(base: string, apiKey: string): Promise<string> {
  const agents = v.safeParse(Agents, await requestJson(base, "/api/dashboard/agents", apiKey));
  if (!agents.success)
    throw new CommandError(`the program that answers at ${base} is not a Parley server`);
  const agent = agents.output.find(({ status }) => status === undefined || status === "active");
  if (agent === undefined) throw new CommandError("the organization has no active agent");
  return agent._id;
}

async function requestJson(
  base: string,
  path: string,
  apiKey: string,
  body?: object,
): Promise<unknown> {
  const response = await fetch(serverAddress(base, path), {
    method: body === undefined ? "GET" : "POST",
    headers: { "x-api-key": apiKey, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(ANSWER_MAX_MS),
  });
  const answer: unknown = await response.json().catch(() => undefined);
  if (response.ok) return answer;
  const refusal = v.safeParse(Refusal, answer);
  const words = refusal.success ? `: ${printable(refusal.output.error)}` : "";
  throw new CommandError(`the server refused with status ${response.status}${words}`);
}

/** The number that the caller dials. */
const AGENTS_NUMBER = "+15550002222";
/** Twilio lets a phone ring for one minute. */
const RING_MAX_MS = 90_000;
/** A transferred call goes on without this telephone, for as long as the sandbox's people talk. */
const AFTER_CALL_MAX_MS = 30_000;
/** The longest delay of a Node timer: the vendor ends the call earlier. */
const WHOLE_CALL_MS = 2 ** 31 - 1;
const FINAL = new Set(["completed", "busy", "no-answer", "failed", "canceled"]);

export interface PhoneDialOptions {
  /** The server's URL, with its sub-path if it has one. */
  readonly url: string;
  readonly apiKey: string;
  readonly agentId: string | undefined;
  /** Signs the requests that Twilio would sign. */
  readonly authToken: string;
  /** The address of that server's sandbox, if the server runs on this machine. */
  readonly sandbox: SandboxNote | undefined;
  /** Called with Twilio's call status of a number. */
  readonly onStatus: (number: string, status: string, atNs: bigint) => void;
}

/** Calls the agent as a telephone does. Rejects with a CommandError that says what to do about it. */
export async function dialAgent(options: PhoneDialOptions): Promise<VoiceCall> {
  const { url, apiKey, agentId, authToken, sandbox } = options;
  const from = someNumber();
  const webhook = serverAddress(url.replace(/^ws/, "http"), "/api/telephony/voice");
  webhook.searchParams.set("api_key", apiKey);
  if (agentId !== undefined) webhook.searchParams.set("agent_id", agentId);
  const plug = sandbox && (await plugIn(sandbox, from, options));
  try {
    const to = AGENTS_NUMBER;
    const dialled = { webhookUrl: webhook.href, from, to, authToken };
    const agentName = "the agent on the telephone";
    const vendor = plug && new VendorSide(plug, to, options, { from });
    const call = await PhoneVoiceCall.dial(dialled, agentName, () => vendor?.nextStream());
    follow(call, options, { from });
    if (plug === undefined || vendor === undefined) return call;
    vendor.follow(call);
    plug.send({ event: "calling", callSid: call.callSid, to });
    return new PluggedCall(call, plug, vendor.over);
  } catch (error) {
    plug?.close();
    throw await explainDialling(error, url);
  }
}

/**
 * Has the server call this process's telephone and answers the call. Rejects with a CommandError, for example when the
 * line is busy.
 */
export async function awaitPlacedCall(
  options: PhoneDialOptions & { readonly to: string | undefined },
): Promise<VoiceCall> {
  const { url, sandbox, to = someNumber() } = options;
  if (sandbox === undefined) {
    throw new CommandError(
      "--placed needs a server on this machine with simulated vendors: run npm start without vendor keys",
    );
  }
  const plug = await plugIn(sandbox, to, options);
  try {
    await placeCall({ ...options, to, from: someNumber() });
    const outcome = await plug.until(
      (event) => event.event === "answer" || isEnd(event),
      RING_MAX_MS,
    );
    if (outcome.event === "status") {
      throw new CommandError(`the call was not answered: ${outcome.status}`);
    }
    if (outcome.event !== "answer") throw new CommandError("the call was not answered");
    const vendor = new VendorSide(plug, to, options, { to });
    const nextStream = () => vendor.nextStream();
    const call = await PhoneVoiceCall.dial(outcome.call, "the agent, who called", nextStream);
    follow(call, options, { to });
    vendor.follow(call);
    plug.send({ event: "connected" });
    return new PluggedCall(call, plug, vendor.over);
  } catch (error) {
    plug.send({ event: "over" });
    plug.close();
    throw await explainDialling(error, url);
  }
}

function follow(
  call: PhoneVoiceCall,
  { url, apiKey }: PhoneDialOptions,
  numbers: FollowedCall["numbers"],
): void {
  const onReply = (text: string) => call.addReply(text);
  void followReplies({ url, apiKey, numbers, over: call.over, onReply });
}

/** Follows what the vendor does with a call, from its place at the exchange. */
class VendorSide {
  readonly #plug: TelephoneConnection;
  readonly #options: PhoneDialOptions;
  readonly #numbers: FollowedCall["numbers"];
  #call: PhoneVoiceCall | undefined;
  /** Resolves when the vendor says that the call is over, or is gone. */
  readonly over: Promise<unknown>;

  /** `number`: the number that was called. `numbers` are those by which the server's record is found. */
  constructor(
    plug: TelephoneConnection,
    number: string,
    options: PhoneDialOptions,
    numbers: FollowedCall["numbers"],
  ) {
    this.#plug = plug;
    this.#options = options;
    this.#numbers = numbers;
    this.over = plug.until((event) => isEnd(event, number), WHOLE_CALL_MS).catch(() => undefined);
  }

  /** The vendor takes this call out of its stream from now on. */
  follow(call: PhoneVoiceCall): void {
    this.#call = call;
    void this.#leaveWhenAsked(call).catch(() => undefined);
  }

  /** Tells the vendor that the stream has ended, and waits for another one; undefined if the call is over. */
  async nextStream(): Promise<NextStream | undefined> {
    this.#plug.send({ event: "over" });
    const answer = this.#plug.until(({ event }) => event === "answer", AFTER_CALL_MAX_MS);
    const following = await Promise.race([answer, this.over.then(() => undefined)]);
    answer.catch(() => undefined);
    if (following?.event !== "answer") return undefined;
    const onTried = (isOpen: boolean) => {
      this.#plug.send({ event: isOpen ? "connected" : "over" });
      if (isOpen && this.#call !== undefined) follow(this.#call, this.#options, this.#numbers);
    };
    // The exchange does not know what signs a call that it did not place.
    return { options: { ...following.call, authToken: this.#options.authToken }, onTried };
  }

  async #leaveWhenAsked(call: PhoneVoiceCall): Promise<void> {
    for (;;) {
      await this.#plug.until(({ event }) => event === "leave", WHOLE_CALL_MS);
      await call.leaveStream();
    }
  }
}

/** Tells the sandbox that the telephone has hung up, and waits for what follows, such as a transfer. */
class PluggedCall implements VoiceCall {
  readonly historyKey = "";
  readonly #call: PhoneVoiceCall;
  readonly #plug: TelephoneConnection;
  readonly #over: Promise<unknown>;

  constructor(call: PhoneVoiceCall, plug: TelephoneConnection, over: Promise<unknown>) {
    this.#call = call;
    this.#plug = plug;
    this.#over = over;
  }

  say(...args: Parameters<VoiceCall["say"]>): ReturnType<VoiceCall["say"]> {
    return this.#call.say(...args);
  }

  interrupt(...args: Parameters<VoiceCall["interrupt"]>): ReturnType<VoiceCall["interrupt"]> {
    return this.#call.interrupt(...args);
  }

  until(...args: Parameters<VoiceCall["until"]>): ReturnType<VoiceCall["until"]> {
    return this.#call.until(...args);
  }

  async hangUp(): Promise<void> {
    await this.#call.hangUp();
    this.#plug.send({ event: "over" });
    let giveUp: NodeJS.Timeout | undefined;
    const enough = new Promise<void>((resolve) => {
      giveUp = setTimeout(resolve, AFTER_CALL_MAX_MS);
    });
    await Promise.race([this.#over, enough]);
    clearTimeout(giveUp);
    this.#plug.close();
  }
}

async function plugIn(
  { twilioUrl }: SandboxNote,
  number: string,
  { onStatus }: PhoneDialOptions,
): Promise<TelephoneConnection> {
  const onEvent = (event: ToTelephone) => {
    if (event.event === "status") onStatus(event.number, event.status, process.hrtime.bigint());
  };
  try {
    return await TelephoneConnection.connect(twilioUrl, number, onEvent);
  } catch (cause) {
    throw new CommandError("the server's sandbox does not respond: is the server still running?", {
      cause,
    });
  }
}

function isEnd(event: ToTelephone, number?: string): boolean {
  if (event.event !== "status" || !FINAL.has(event.status)) return false;
  return number === undefined || event.number === number;
}

/** An unassigned number; the sandbox answers calls to it. */
function someNumber(): string {
  return `+1555${randomInt(1_000_000, 10_000_000).toString().slice(0, 6)}7`;
}
