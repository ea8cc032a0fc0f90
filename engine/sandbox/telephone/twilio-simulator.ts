import { randomBytes } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import type { Exchange } from "../exchange.js";
import {
  noFaults,
  type SandboxFaults,
  TWILIO_OUTCOMES,
  TWILIO_REFUSALS,
  type TwilioOutcome,
  type TwilioRefusal,
  takeFault,
} from "../faults.js";
import { Journal } from "../journal.js";
import type { Simulator, Upgrade } from "../simulator.js";
import { askWhoCalls, playVoicemail, putThrough } from "./answering-machine.js";
import {
  type ConferenceInstruction,
  type ConferenceStay,
  Conferences,
  conferenceIn,
  type GatherInstruction,
  gatherIn,
} from "./conferences.js";
import { SimulatedPhoneAccount } from "./phone-account-apis.js";
import type { PhoneCaller } from "./phone-caller.js";
import { type PersonReply, personReply } from "./phone-person.js";
import {
  type DialInstruction,
  dialledIn,
  documentOf,
  redirectIn,
  StreamlessDocumentError,
  signatureHeader,
} from "./phone-webhook.js";
import { type AnsweredCall, simulatedTelephone, type Telephone } from "./telephone.js";
import { type OwnCall, TelephoneExchange } from "./telephone-exchange.js";

/** Timeout of a report to the server under test. A failed report is not repeated. */
const REPORT_MAX_MS = 5_000;
/** The vendor's own default for `Timeout`. */
const RING_MAX_SEC = 60;

/**
 * The outcome of a call. `machine`: a silent machine. `voicemail`: one with a greeting and a beep. `lostVerdict`: the same, of
 * which the vendor says nothing. `screener`: one that asks who calls, and puts the call through. `lateVerdict`: a person whom the
 * vendor takes for a machine in the middle of the conversation.
 */
export type CallOutcome =
  | "answers"
  | "busy"
  | "no-answer"
  | "failed"
  | "machine"
  | "rings"
  | "voicemail"
  | "lostVerdict"
  | "screener"
  | "lateVerdict";

const ANSWERED: ReadonlySet<CallOutcome> = new Set([
  "answers",
  "machine",
  "voicemail",
  "lostVerdict",
  "screener",
  "lateVerdict",
]);
/** The vendor's default threshold: who speaks for this long is a machine. */
const MACHINE_SPEECH_MS = 2_400;
const LATE_VERDICT_MS = 15_000;

/** The instruction of a document for a call that has no stream. */
type NextInstruction =
  | { readonly kind: "dial"; readonly dial: DialInstruction }
  | { readonly kind: "conference"; readonly conference: ConferenceInstruction }
  | { readonly kind: "redirect"; readonly url: string };

const FINAL = new Set(["completed", "busy", "no-answer", "failed", "canceled"]);
const EVENT_BY_STATUS = new Map([
  ["ringing", "ringing"],
  ["in-progress", "answered"],
]);

export interface TwilioCallOptions {
  /** The fields of the request that placed the call. */
  readonly form: URLSearchParams;
  readonly authToken: string;
  readonly telephone: Telephone;
  readonly outcome: CallOutcome;
  readonly ringMs: number;
  /** A call that another one is transferred to. */
  readonly parentSid?: string;
  /** A call that began at the telephone already has an id and an open stream. */
  readonly begun?: { readonly callSid: string; readonly taken: AnsweredCall };
  /** Transfers the call; the other call has not started yet. */
  readonly dial: (dialled: DialInstruction, from: TwilioCall) => TwilioCall;
  readonly conferences: Conferences;
  /** How the called person answers a question, and how long they then talk in a conference. */
  readonly reply: PersonReply;
  readonly talkMs: number;
  readonly onStatus: (call: TwilioCall) => void;
}

/** A call in the vendor's records, from its ringing to its end. */
export class TwilioCall {
  readonly sid: string;
  /** The server's response to each report, in order. */
  readonly reports: string[] = [];
  /** The fields of each update over REST. */
  readonly updates: URLSearchParams[] = [];
  /** The sounds and words that the person has heard, in order. */
  readonly briefings: (Uint8Array | string)[] = [];
  readonly #options: TwilioCallOptions;
  readonly #hungUp = new AbortController();
  #status = "queued";
  #taken: AnsweredCall | undefined;
  #next: NextInstruction | undefined;
  #stay: ConferenceStay | undefined;
  #answeredNs: bigint | undefined;
  #talkedSec = 0;
  #dialledCall: TwilioCall | undefined;

  constructor(options: TwilioCallOptions) {
    this.#options = options;
    this.sid = options.begun?.callSid ?? `CA${randomBytes(16).toString("hex")}`;
  }

  get form(): URLSearchParams {
    return this.#options.form;
  }

  get to(): string {
    return this.form.get("To") ?? "";
  }

  get from(): string {
    return this.form.get("From") ?? "";
  }

  get parentSid(): string | undefined {
    return this.#options.parentSid;
  }

  get status(): string {
    return this.#status;
  }

  get isOver(): boolean {
    return FINAL.has(this.#status);
  }

  /** Whether it is in a conference, with others or alone. */
  get isInConference(): boolean {
    return this.#stay !== undefined;
  }

  /** How long the call was connected, in whole seconds. */
  get talkedSec(): number {
    return this.#talkedSec;
  }

  /** The answering caller in this process; undefined until then, and when the call is over. */
  get caller(): PhoneCaller | undefined {
    return this.#taken?.caller;
  }

  /** Resolves when the call is over. Never rejects: a failed report is part of the reports. */
  async live(): Promise<void> {
    const { begun } = this.#options;
    if (begun === undefined) return this.#ring();
    this.#status = "in-progress";
    await this.#talk(begun.taken);
    await this.#report("completed");
  }

  /** Executes a request to Twilio's REST API. */
  async update(form: URLSearchParams): Promise<void> {
    this.updates.push(form);
    // It does not affect calls in progress.
    if (form.get("Status") === "canceled" && this.#status === "in-progress") return;
    this.#next = instructionIn(form.get("Twiml") ?? "");
    if (this.#next === undefined) return this.hangUp();
    this.#stay?.exit();
    if (this.#stay === undefined) this.#requestInterrupted(this.#taken?.caller?.action, {});
    await this.#taken?.leave();
  }

  async hangUp(): Promise<void> {
    this.#hungUp.abort();
    this.#stay?.exit();
    await this.#dialledCall?.hangUp();
    await this.#taken?.leave();
  }

  /** Destroys all connections. */
  drop(): void {
    this.#hungUp.abort();
    this.#taken?.drop();
  }

  async #ring(): Promise<void> {
    const { outcome, ringMs, telephone, authToken } = this.#options;
    await this.#report("ringing");
    const timeoutMs = 1_000 * Number(this.form.get("Timeout") ?? RING_MAX_SEC);
    await this.#pause(outcome === "rings" ? timeoutMs : Math.min(ringMs, timeoutMs));
    if (this.#hungUp.signal.aborted) return this.#report("canceled");
    if (outcome === "rings") return this.#report("no-answer");
    if (!ANSWERED.has(outcome)) return this.#report(outcome);
    if (telephone.isBusy) return this.#report("busy");
    await this.#report("in-progress");
    const { sid: callSid, from, to } = this;
    const webhookUrl = this.form.get("Url") ?? "";
    try {
      const taken = await telephone.answer({ webhookUrl, callSid, from, to, authToken });
      void this.#answerAs(outcome, taken);
      await this.#talk(taken);
    } catch (error) {
      if (error instanceof StreamlessDocumentError)
        await this.#followAsPerson(error.document, outcome);
      else this.reports.push(String(error));
    }
    await this.#report("completed");
    // The heard audio goes with it.
    this.#taken = undefined;
  }

  /** What a machine says, and the vendor's verdict. Never rejects: the call may end at any moment. */
  async #answerAs(outcome: CallOutcome, { caller }: AnsweredCall): Promise<void> {
    const isEndAwaited = this.form.get("MachineDetection") === "DetectMessageEnd";
    const reportStart = async () => {
      await this.#pause(MACHINE_SPEECH_MS);
      if (!isEndAwaited) await this.#reportMachine("machine_start");
    };
    try {
      if (outcome === "voicemail" && caller !== undefined) {
        await Promise.all([playVoicemail(caller), reportStart()]);
        if (isEndAwaited) await this.#reportMachine("machine_end_beep");
      } else if (outcome === "lostVerdict" && caller !== undefined) {
        await playVoicemail(caller);
      } else if (outcome === "screener" && caller !== undefined) {
        await Promise.all([askWhoCalls(caller), reportStart()]);
        if (isEndAwaited) await this.#reportMachine("machine_end_silence");
        await putThrough(caller);
      } else if (outcome === "lateVerdict") {
        await this.#pause(LATE_VERDICT_MS);
        await this.#reportMachine("machine_start");
      } else {
        const machine = isEndAwaited ? "machine_end_silence" : "machine_start";
        await this.#reportMachine(outcome === "machine" ? machine : "human");
      }
    } catch (error) {
      this.reports.push(String(error));
    }
  }

  async #talk(taken: AnsweredCall): Promise<void> {
    let stream: AnsweredCall | undefined = taken;
    while (stream !== undefined) {
      this.#taken = stream;
      if (this.#hungUp.signal.aborted) void stream.leave();
      await stream.left;
      stream = await this.#handOn();
    }
  }

  /**
   * After a stream: the dialled person talks; then the document's `action` decides what follows, another stream
   * for example.
   */
  async #handOn(): Promise<AnsweredCall | undefined> {
    const instruction = this.#next;
    this.#next = undefined;
    if (instruction === undefined || this.#hungUp.signal.aborted) return undefined;
    if (instruction.kind === "redirect") {
      return this.#streamOf(instruction.url, { CallStatus: "in-progress" });
    }
    if (instruction.kind === "conference") return this.#confer(instruction.conference);
    const dialled = instruction.dial;
    const next = this.#options.dial(dialled, this);
    this.#dialledCall = next;
    await next.live();
    if (dialled.action === "") return undefined;
    const isThere = !this.#hungUp.signal.aborted;
    const fields = {
      DialCallSid: next.sid,
      DialCallStatus: next.status,
      DialCallDuration: String(next.talkedSec),
      CallStatus: isThere ? "in-progress" : "completed",
    };
    if (!isThere) {
      await this.#post(dialled.action, fields);
      return undefined;
    }
    return this.#streamOf(dialled.action, fields);
  }

  /** The stream that the document at that address opens; undefined if it opens none. */
  async #streamOf(
    webhookUrl: string,
    fields: Readonly<Record<string, string>>,
  ): Promise<AnsweredCall | undefined> {
    const { telephone, authToken } = this.#options;
    const { sid: callSid, from, to } = this;
    try {
      return await telephone.answer({ webhookUrl, callSid, from, to, authToken, fields });
    } catch (error) {
      this.reports.push(String(error));
      return undefined;
    }
  }

  /**
   * Twilio requests the `action` also of a verb that an update has interrupted, and does not execute the answer:
   * https://www.twilio.com/en-us/changelog/changes-to-dial-behavior-for-enhanced-programmable-sip-feature-accounts
   */
  #requestInterrupted(action: string | undefined, fields: Readonly<Record<string, string>>): void {
    if (action === undefined || action === "") return;
    void this.#post(action, { ...fields, CallStatus: "in-progress" });
  }

  /** Waits in the conference, until it is over or the server has another instruction for the call. */
  async #confer(instruction: ConferenceInstruction): Promise<AnsweredCall | undefined> {
    const stay = this.#options.conferences.enter(instruction);
    this.#stay = stay;
    this.#options.onStatus(this);
    await stay.over;
    this.#stay = undefined;
    if (this.#next !== undefined) {
      this.#requestInterrupted(instruction.action, { DialCallStatus: "answered" });
      return this.#handOn();
    }
    if (instruction.action === "") return undefined;
    const isThere = !this.#hungUp.signal.aborted;
    // Twilio says of a conference that it was answered, whoever was in it.
    const fields = {
      DialCallStatus: "answered",
      CallStatus: isThere ? "in-progress" : "completed",
    };
    if (isThere) return this.#streamOf(instruction.action, fields);
    await this.#post(instruction.action, fields);
    return undefined;
  }

  /** Listens to what a document asks, answers, and talks in a conference if the server says so. */
  async #followAsPerson(document: string, outcome: CallOutcome): Promise<void> {
    const { reply, conferences, talkMs } = this.#options;
    if (outcome === "machine") await this.#reportMachine("machine_start");
    else await this.#reportMachine("human");
    let current = document;
    while (!this.#hungUp.signal.aborted) {
      const gather = gatherIn(current);
      if (gather !== undefined) {
        await this.#listenTo(gather);
        if (reply.hangsUp === true) return;
        const given = outcome === "machine" ? {} : reply;
        const isSilent = given.digits === undefined && given.speech === undefined;
        if (isSilent && !gather.asksWithoutAnswer) return;
        current = await this.#documentOf(gather.action, {
          ...(given.digits !== undefined && { Digits: given.digits }),
          ...(given.speech !== undefined && { SpeechResult: given.speech, Confidence: "0.9" }),
        });
        continue;
      }
      const conference = conferenceIn(current);
      if (conference === undefined) return;
      const stay = conferences.enter(conference);
      this.#stay = stay;
      this.#options.onStatus(this);
      await Promise.race([stay.begun.then(() => this.#pause(talkMs)), stay.over]);
      stay.exit();
      return;
    }
  }

  async #listenTo({ introduction, question }: GatherInstruction): Promise<void> {
    for (const { verb, content } of [...introduction, ...question]) {
      if (verb === "Say") {
        this.briefings.push(content);
        continue;
      }
      const response = await fetch(content, { signal: AbortSignal.timeout(REPORT_MAX_MS) });
      const sound = new Uint8Array(await response.arrayBuffer());
      this.briefings.push(response.ok ? sound : `error ${response.status}`);
    }
  }

  async #documentOf(url: string, fields: Readonly<Record<string, string>>): Promise<string> {
    const { sid: callSid, from, to } = this;
    const { authToken } = this.#options;
    const call = { callSid, accountSid: `AC${"0".repeat(32)}`, from, to, authToken, fields };
    return documentOf(url, call, "in-progress").catch((error: unknown) => {
      this.reports.push(String(error));
      return "";
    });
  }

  async #reportMachine(answeredBy: string): Promise<void> {
    if (this.form.get("MachineDetection") === null || this.#hungUp.signal.aborted) return;
    await this.#post(this.form.get("AsyncAmdStatusCallback") ?? "", { AnsweredBy: answeredBy });
  }

  async #pause(ms: number): Promise<void> {
    const { signal } = this.#hungUp;
    if (ms > 0) await pause(ms, undefined, { signal, ref: false }).catch(() => undefined);
  }

  /** Sends the requested events, and every end, to the status callback. */
  async #report(status: string): Promise<void> {
    this.#status = status;
    const nowNs = process.hrtime.bigint();
    if (status === "in-progress") this.#answeredNs = nowNs;
    else if (this.isOver && this.#answeredNs !== undefined) {
      this.#talkedSec = Math.round(Number(nowNs - this.#answeredNs) / 1e9);
    }
    this.#options.onStatus(this);
    const url = this.form.get("StatusCallback");
    const asked = new Set(this.form.getAll("StatusCallbackEvent"));
    const event = EVENT_BY_STATUS.get(status) ?? "completed";
    if (url === null || (event !== "completed" && !asked.has(event))) return;
    const length: Readonly<Record<string, string>> =
      status === "completed" ? { CallDuration: String(this.#talkedSec) } : {};
    await this.#post(url, { CallStatus: status, ...length, ANewField: "of the future" });
  }

  async #post(url: string, report: Readonly<Record<string, string>>): Promise<void> {
    const fields = { CallSid: this.sid, To: this.to, ...report };
    const what = report["CallStatus"] ?? report["AnsweredBy"];
    try {
      const response = await fetch(url, {
        method: "POST",
        headers: {
          "content-type": "application/x-www-form-urlencoded",
          ...signatureHeader(url, fields, this.#options.authToken),
        },
        body: new URLSearchParams(fields).toString(),
        signal: AbortSignal.timeout(REPORT_MAX_MS),
      });
      await response.arrayBuffer();
      this.reports.push(`${what} ${response.status}`);
    } catch (error) {
      this.reports.push(`${what} ${String(error)}`);
    }
  }
}

function instructionIn(document: string): NextInstruction | undefined {
  const conference = conferenceIn(document);
  if (conference !== undefined) return { kind: "conference", conference };
  const dial = dialledIn(document);
  if (dial !== undefined) return { kind: "dial", dial };
  const url = redirectIn(document)?.url;
  return url === undefined ? undefined : { kind: "redirect", url };
}

/** The outcome of a call, by the last digits of the called number; other numbers answer. */
const FATES: ReadonlyMap<string, CallOutcome> = new Map([
  ["0001", "busy"],
  ["0002", "no-answer"],
  ["0003", "failed"],
  ["0004", "machine"],
  ["0005", "rings"],
  ["0011", "voicemail"],
  ["0012", "screener"],
  ["0013", "lateVerdict"],
  ["0014", "lostVerdict"],
]);
/** Answered by machines, which speak for themselves. */
const MACHINE_ENDS: ReadonlySet<string> = new Set(["0011", "0012", "0014"]);
const FATE_BY_FAULT: Readonly<Record<TwilioOutcome, CallOutcome>> = {
  busy: "busy",
  noAnswer: "no-answer",
  failed: "failed",
  machine: "machine",
  rings: "rings",
};
/** A number that the vendor refuses. */
const INVALID_NUMBER_END = "0009";
const PATH = /^\/2010-04-01\/Accounts\/(AC[0-9a-f]{32})\/Calls(?:\/(CA[0-9a-f]{32}))?\.json$/;
/** Calls that are over are dropped beyond it, oldest first; more concurrent ones are refused. */
const CALLS_MAX = 1_000;

const REFUSALS: Readonly<Record<TwilioRefusal, readonly [status: number, code: number]>> = {
  unauthorized: [401, 20_003],
  invalidNumber: [400, 21_211],
  rateLimited: [429, 20_429],
  serverError: [500, 20_500],
};

export interface TwilioSimulatorOptions {
  readonly faults?: SandboxFaults;
  readonly journal?: Journal;
  /** The behaviour of a called person; default: the test speaks through the call's `caller`. */
  readonly talk?: (caller: PhoneCaller, number: string) => Promise<void>;
}

/**
 * Twilio's REST API of calls: takes orders, answers calls over a real media stream, reports on them, hangs up and
 * transfers. Accepts any account and signs with its password, as the vendor does.
 */
export class TwilioSimulator implements Simulator {
  readonly account = new SimulatedPhoneAccount("twilio");
  readonly #faults: SandboxFaults;
  readonly #journal: Journal;
  readonly #person: Telephone;
  readonly #machine = simulatedTelephone(() => Promise.resolve());
  readonly #conferences = new Conferences();
  readonly #exchange = new TelephoneExchange((call) => this.#adopt(call));
  #calls: TwilioCall[] = [];

  constructor({ faults, journal, talk }: TwilioSimulatorOptions = {}) {
    this.#faults = faults ?? noFaults();
    this.#journal = journal ?? new Journal(false);
    this.#person = simulatedTelephone(talk ?? (() => Promise.resolve()));
  }

  /** Oldest first. */
  get calls(): readonly TwilioCall[] {
    return this.#calls;
  }

  async handleRequest(exchange: Exchange): Promise<void> {
    const request = this.#journal.nextRequest();
    const [, account, sid] = PATH.exec(exchange.url.pathname) ?? [];
    const what = account === undefined ? "account" : sid === undefined ? "place" : "update";
    this.#journal.record("twilio", "request", request, what);
    const fault = takeFault(this.#faults, "twilio", TWILIO_REFUSALS);
    if (fault !== undefined && isRefusal(fault)) return refuse(exchange, fault);
    if (account === undefined) return this.#answerOfAccount(exchange);
    const authToken = passwordOf(exchange, account);
    if (authToken === undefined) return refuse(exchange, "unauthorized");
    const form = new URLSearchParams(await exchange.readText());
    if (sid === undefined) return this.#place(exchange, form, authToken);
    const call = this.#calls.find((each) => each.sid === sid);
    if (call === undefined) return answerError(exchange, 404, 20_404);
    if (exchange.request.method === "GET") {
      exchange.answerJson(200, { sid, status: call.status });
      return;
    }
    if (call.isOver) return answerError(exchange, 400, 21_220);
    exchange.answerJson(200, { sid, status: call.status });
    await call.update(form);
  }

  handleUpgrade(upgrade: Upgrade): void {
    this.#exchange.handleUpgrade(upgrade);
  }

  close(): void {
    for (const call of this.#calls) call.drop();
    this.#exchange.close();
  }

  async #answerOfAccount(exchange: Exchange): Promise<void> {
    const authorization = exchange.header("authorization") ?? "";
    const { method = "" } = exchange.request;
    const body = (await exchange.readText()) ?? "";
    const answered = this.account.answerTo({ method, url: exchange.url, authorization, body });
    if (answered === undefined) answerError(exchange, 404, 20_404);
    else exchange.answerJson(...answered);
  }

  #place(exchange: Exchange, form: URLSearchParams, authToken: string): void {
    const to = form.get("To") ?? "";
    if (to.endsWith(INVALID_NUMBER_END)) return refuse(exchange, "invalidNumber");
    if (!this.#hasRoom()) return refuse(exchange, "rateLimited");
    const answering = MACHINE_ENDS.has(to.slice(-4)) ? this.#machine : this.#person;
    const telephone = this.#exchange.at(to) ?? answering;
    const call = this.#add({ form, authToken, telephone, onStatus: postStatus(telephone) });
    exchange.answerJson(201, { sid: call.sid, status: "queued", to, from: form.get("From") });
    void call.live();
  }

  /** A call that a telephone makes to the server itself. */
  #adopt({ callSid, from, to, taken, telephone }: OwnCall): void {
    if (!this.#hasRoom()) return taken.drop();
    const form = new URLSearchParams({ From: from, To: to });
    const begun = { callSid, taken };
    const onStatus = postStatus(telephone);
    void this.#add({ form, authToken: "", telephone, begun, onStatus }).live();
  }

  #add(
    options: Omit<
      TwilioCallOptions,
      "outcome" | "ringMs" | "dial" | "conferences" | "reply" | "talkMs"
    >,
  ): TwilioCall {
    const { onStatus } = options;
    const number = this.#journal.nextRequest();
    const call = new TwilioCall({
      ...options,
      outcome: this.#outcomeOf(options.form.get("To") ?? ""),
      ringMs: this.#faults.twilio.ringMs ?? 0,
      conferences: this.#conferences,
      reply: personReply(options.form.get("To") ?? ""),
      talkMs: this.#faults.twilio.talkMs ?? 0,
      dial: (dialled, from) => this.#handOn(dialled, from, onStatus),
      onStatus: (each) => {
        this.#journal.record("twilio", "event", number, each.status);
        onStatus(each);
      },
    });
    this.#calls.push(call);
    return call;
  }

  /** The callee then talks to the first caller, without a media stream. */
  #handOn(
    { to, timeout }: DialInstruction,
    from: TwilioCall,
    onStatus: (call: TwilioCall) => void,
  ): TwilioCall {
    const form = new URLSearchParams({ To: to, From: from.from });
    if (timeout !== "") form.set("Timeout", timeout);
    const telephone = talkingFor(this.#faults.twilio.talkMs ?? 0);
    return this.#add({ form, authToken: "", telephone, parentSid: from.sid, onStatus });
  }

  #outcomeOf(to: string): CallOutcome {
    const byNumber = FATES.get(to.slice(-4));
    if (byNumber !== undefined) return byNumber;
    const fault = takeFault(this.#faults, "twilio", TWILIO_OUTCOMES);
    return fault === undefined || isRefusal(fault) ? "answers" : FATE_BY_FAULT[fault];
  }

  #hasRoom(): boolean {
    const oldest = this.#calls.find(({ isOver }) => isOver);
    if (this.#calls.length < CALLS_MAX) return true;
    this.#calls = this.#calls.filter((call) => call !== oldest);
    return oldest !== undefined;
  }
}

function postStatus(telephone: Telephone): (call: TwilioCall) => void {
  return (call) => telephone.reportStatus(call.to, call.status);
}

/** Two people, whose words are not simulated. */
function talkingFor(talkMs: number): Telephone {
  return {
    isBusy: false,
    answer() {
      const hangUp = new AbortController();
      const { signal } = hangUp;
      const left = pause(talkMs, undefined, { signal, ref: false }).catch(() => undefined);
      const leave = () => {
        hangUp.abort();
        return Promise.resolve();
      };
      return Promise.resolve({ left, leave, drop: () => hangUp.abort() });
    },
    reportStatus() {},
  };
}

function isRefusal(fault: TwilioOutcome | TwilioRefusal): fault is TwilioRefusal {
  return Object.hasOwn(REFUSALS, fault);
}

function passwordOf(exchange: Exchange, account: string): string | undefined {
  const basic = /^Basic (\S+)$/.exec(exchange.header("authorization") ?? "")?.[1] ?? "";
  const [name, password] = Buffer.from(basic, "base64").toString("utf8").split(/:(.*)/s);
  return name === account && password !== "" ? password : undefined;
}

function refuse(exchange: Exchange, refusal: TwilioRefusal): void {
  answerError(exchange, ...REFUSALS[refusal]);
}

function answerError(exchange: Exchange, status: number, code: number): void {
  const more_info = `https://www.twilio.com/docs/errors/${code}`;
  exchange.answerJson(status, { code, message: "refused", more_info, status });
}
