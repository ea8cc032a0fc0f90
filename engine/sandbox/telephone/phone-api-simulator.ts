import { setTimeout as pause } from "node:timers/promises";
import type { Exchange } from "../exchange.js";
import type { Simulator } from "../simulator.js";
import { hearBriefing } from "./asterisk-briefing.js";
import {
  type ConferenceInstruction,
  type ConferenceStay,
  Conferences,
  type SpokenInstruction,
} from "./conferences.js";
import { SimulatedPhoneAccount } from "./phone-account-apis.js";
import {
  type CallInstruction,
  VENDOR_CALL_DOCUMENTS,
  type VendorCallDocuments,
} from "./phone-api-documents.js";
import {
  type ApiOrder,
  PHONE_API_WIRES,
  type PhoneApiWire,
  type PlacedOrder,
  type PlacedState,
  type SimulatedCallIds,
  type Verdict,
} from "./phone-api-wires.js";
import { personReply } from "./phone-person.js";

/** Timeout of a report to the server under test. A failed report is not repeated. */
const REPORT_MAX_MS = 5_000;
/** Calls that are over are dropped beyond it, oldest first; more concurrent ones are refused. */
const CALLS_MAX = 1_000;
/** How often the dialplan asks what follows a briefing while no server answers. */
const TRIES_MAX = 10;
/** A number that the vendor refuses. */
const INVALID_NUMBER_END = "0009";

/** `quietMachine`: a machine of which the vendor says nothing until a test has it say so. */
type Outcome =
  | Extract<PlacedState, "busy" | "noAnswer" | "failed">
  | "rings"
  | "machine"
  | "quietMachine"
  | "unjudged";

/** The outcome of a call, by the last digits of the called number; other numbers answer. */
const OUTCOMES: ReadonlyMap<string, Outcome> = new Map([
  ["0001", "busy"],
  ["0002", "noAnswer"],
  ["0003", "failed"],
  ["0004", "machine"],
  ["0005", "rings"],
  // The vendor's verdict comes when the test says so.
  ["0012", "unjudged"],
  ["0015", "quietMachine"],
]);

export interface SimulatedCallOptions {
  readonly wire: PhoneApiWire;
  /** Undefined where this vendor's documents are not followed. */
  readonly documents: VendorCallDocuments | undefined;
  readonly conferences: Conferences;
  readonly authorization: string;
  readonly sign: RequestSigner | undefined;
  /** How long a person who has entered a conference stays in it. */
  readonly conferenceMs: number;
  /** How long a dialplan waits before it asks again: on hold, and when no server has answered. */
  readonly askAgainMs: AskAgainMs;
  /** Whether there is a channel of that id. */
  readonly isLive: (id: string) => boolean;
}

interface AskAgainMs {
  readonly onHold: number;
  readonly unanswered: number;
}

const DIALPLAN_ASKS_AGAIN_MS: AskAgainMs = { onHold: 1_000, unanswered: 2_000 };

/** The headers with which the vendor signs a request. */
export type RequestSigner = (url: string, body: string) => Readonly<Record<string, string>>;

/** A call at the vendor, from its order or its ringing here to its end. */
export class SimulatedCall implements SimulatedCallIds {
  readonly id: string;
  readonly order: PlacedOrder;
  /** The reported states, each with the server's response. */
  readonly reports: string[] = [];
  /** The documents that the call has left its stream for. */
  readonly transferredTo: string[] = [];
  /** The documents with a media stream, or another leg: the test follows these. */
  readonly documents: string[] = [];
  /** What becomes of an order of a transfer: it is carried out and never answered, or it never arrives. */
  transferFault: "none" | "answerLost" | "orderLost" = "none";
  /** Orders that never arrived. */
  lostOrders = 0;
  /** The sounds and words that the person has heard, in order. */
  readonly briefings: (Uint8Array | string)[] = [];
  readonly #options: SimulatedCallOptions;
  readonly #ended = new AbortController();
  #isAnswered: boolean;
  #recognition: Promise<void> | undefined;
  #stay: ConferenceStay | undefined;
  #isOnHold = false;
  /** What a dialplan's extension `h` posts, and where; undefined if it posts nothing. */
  #hangUpReport: { readonly url: string; readonly body: string } | undefined;
  /** Each redirection begins another one: what the call did before is over. */
  #step = 0;

  /** `begunId`: the call is one that the test has made, and talks already. */
  constructor(options: SimulatedCallOptions, order: PlacedOrder, begunId?: string) {
    this.#options = options;
    this.order = order;
    this.id = begunId ?? options.wire.newId();
    this.#isAnswered = begunId !== undefined;
  }

  get to(): string {
    return this.order.to;
  }

  get from(): string {
    return this.order.from;
  }

  get isOver(): boolean {
    return this.#ended.signal.aborted;
  }

  get isAnswered(): boolean {
    return this.#isAnswered;
  }

  /** Whether it is in a conference, with others or alone, or on hold in a dialplan. */
  get isInConference(): boolean {
    return this.#stay !== undefined || this.#isOnHold;
  }

  /** The server's response when the call was answered; undefined until then. */
  get document(): string | undefined {
    return this.documents[0];
  }

  /** Never rejects: a failed report is part of the reports. */
  async live(): Promise<void> {
    const outcome = OUTCOMES.get(this.to.slice(-4));
    await this.#report("ringing");
    if (outcome === "rings") return;
    if (outcome === undefined) return this.answer("human");
    if (outcome === "machine" || outcome === "quietMachine" || outcome === "unjudged")
      return this.answer(outcome);
    this.#ended.abort();
    return this.#report(outcome);
  }

  /** A telephone that rings is answered. `unjudged`: the vendor says nothing of a person until a test has it say so. */
  async answer(by: "human" | "machine" | "quietMachine" | "unjudged" = "human"): Promise<void> {
    const { wire } = this.#options;
    const isMachine = by === "machine" || by === "quietMachine";
    if (this.isOver) return;
    this.#isAnswered = true;
    await this.#report("answered");
    const document = await this.#post(this.order.answerUrl, wire.answered(this), "answer");
    if (by === "machine") this.#recognition = this.recognizeMachine();
    const followed = this.#follow(document, isMachine);
    if (by === "human") await this.reportVerdict("human");
    else if (by === "machine") await this.#recognition;
    // A person who has done what the documents say is gone.
    if (await followed) await this.end();
  }

  /** The vendor says that a machine has answered, unless it says that only at the end of the machine's greeting. */
  async recognizeMachine(): Promise<void> {
    const isEndAwaited =
      this.#options.wire.hasOneVerdict === true && this.order.detectsMessageEnd === true;
    if (!isEndAwaited) await this.reportVerdict("machine");
  }

  /** The greeting of the machine that has answered is over, which not all vendors report. */
  async endGreeting(): Promise<void> {
    if (this.order.detectsMessageEnd === true) await this.reportVerdict("messageEnd");
  }

  async reportVerdict(verdict: Verdict): Promise<void> {
    const body = this.#options.wire.verdict(this, verdict);
    const { machineUrl } = this.order;
    if (machineUrl !== undefined && body !== undefined)
      await this.#post(machineUrl, body, "verdict");
  }

  /** A telephone that rings is not answered. */
  async ringOut(): Promise<void> {
    this.#ended.abort();
    await this.#report("noAnswer");
  }

  /** Hangs up: the callee, or the server over REST. */
  async end(): Promise<void> {
    if (this.isOver) return;
    this.#ended.abort();
    this.#stay?.exit();
    await this.#report(this.#isAnswered ? "completed" : "canceled");
    const { url, body } = this.#hangUpReport ?? {};
    if (url !== undefined && body !== undefined) await this.#post(url, body, "hang-up");
  }

  /** Repeats a report, as vendors do without a confirmation in time. */
  async repeat(state: PlacedState): Promise<void> {
    await this.#report(state);
  }

  /** The server has the call leave what it does for the document at that address. */
  async redirect(url: string): Promise<void> {
    const { documents } = this.#options;
    if (documents === undefined) return;
    const document = await this.#post(url, documents.asked(this), "redirect");
    this.#interrupt();
    await this.#followAsCaller(document);
  }

  /** As `redirect`, with the document itself. */
  async transfer(document: string): Promise<void> {
    this.transferredTo.push(document);
    this.#interrupt();
    if (this.#options.documents?.read(document).kind !== "other")
      await this.#followAsCaller(document);
  }

  /** Follows what the server has answered a dialplan whose stream has ended. */
  goOn(document: string): Promise<void> {
    return this.#followAsCaller(document);
  }

  #interrupt(): void {
    this.#step += 1;
    this.#stay?.exit();
  }

  async #followAsCaller(document: string): Promise<void> {
    const isDone = await this.#follow(document, false);
    if (isDone) await this.end();
  }

  /** Resolves with true when there is nothing left to do, and with false if something else decides what the call does. */
  async #follow(document: string, isMachine: boolean): Promise<boolean> {
    const { documents } = this.#options;
    if (documents === undefined) {
      this.documents.push(document);
      return false;
    }
    const step = this.#step;
    let current: string | undefined = document;
    while (current !== undefined && current !== "" && !this.isOver) {
      const instruction = documents.read(current);
      switch (instruction.kind) {
        case "other":
          this.documents.push(current);
          return false;
        case "hangUp":
          return true;
        case "ask":
          current = await this.#post(instruction.url, documents.asked(this), "next");
          break;
        case "question":
          current = await this.#answerTo(instruction, documents, isMachine);
          break;
        case "wait":
          current = await this.#holdOn(instruction, documents, step);
          break;
        case "briefing":
          current = await this.#beBriefed(instruction, documents);
          break;
        case "awaitBridge":
          this.#hangUpReport = undefined;
          await this.#enterBridge(this.id, false);
          return true;
        case "bridge":
          return true;
        case "conference":
          current = await this.#confer(instruction.conference, documents, step);
          break;
      }
      if (step !== this.#step) return false;
    }
    return true;
  }

  /** Listens to the question and answers; the next document. */
  async #answerTo(
    { question, unansweredUrl }: Extract<CallInstruction, { kind: "question" }>,
    documents: VendorCallDocuments,
    isMachine: boolean,
  ): Promise<string | undefined> {
    await this.#listenTo([...question.introduction, ...question.question]);
    // The vendor has heard the machine before the question is over.
    if (isMachine) await this.#recognition;
    const reply = isMachine ? {} : personReply(this.to);
    if (reply.hangsUp === true) return undefined;
    const isSilent = reply.digits === undefined && reply.speech === undefined;
    const url = isSilent ? unansweredUrl : question.action;
    return url === "" ? undefined : this.#post(url, documents.replied(this, reply), "reply");
  }

  async #confer(
    conference: ConferenceInstruction,
    documents: VendorCallDocuments,
    step: number,
  ): Promise<string | undefined> {
    const stay = this.#options.conferences.enter(conference);
    this.#stay = stay;
    if (conference.startsOnEnter) void this.#leaveLater(stay);
    await stay.over;
    this.#stay = undefined;
    const isInterrupted = step !== this.#step;
    const left = documents.left(this, !this.isOver);
    if (conference.action === "" || left === undefined) return undefined;
    // TwiML's vendors request it also then, and ignore the answer.
    const document = await this.#post(conference.action, left, "conference");
    if (!isInterrupted) return document;
    if (documents.followsInterrupted === true && !/^\s*(\[\s*\])?\s*$/.test(document))
      await this.#followAsCaller(document);
    return undefined;
  }

  /** The next document when the caller has waited, or has talked to the person. */
  async #holdOn(
    { askUrl, resultUrl }: Extract<CallInstruction, { kind: "wait" }>,
    documents: VendorCallDocuments,
    step: number,
  ): Promise<string | undefined> {
    const { askAgainMs, isLive } = this.#options;
    const reportOver = (status: "ANSWER" | "CANCEL") => {
      this.#hangUpReport = { url: resultUrl, body: documents.legOver?.(status, false) ?? "" };
    };
    reportOver("CANCEL");
    this.#isOnHold = true;
    try {
      while (!this.isOver && step === this.#step) {
        await this.#pause(askAgainMs.onHold);
        if (this.isOver) return undefined;
        const document = await this.#post(askUrl, documents.asked(this), "hold");
        const next = documents.read(document);
        if (next.kind === "ask") {
          this.#hangUpReport = undefined;
          return document;
        }
        // Asterisk goes on with BRIDGERESULT NONEXISTENT.
        if (next.kind !== "bridge" || !isLive(next.channelId)) continue;
        reportOver("ANSWER");
        await this.#enterBridge(next.channelId, true);
        if (this.isOver) return undefined;
        this.#hangUpReport = undefined;
        return await this.#post(resultUrl, documents.legOver?.("ANSWER", true) ?? "", "result");
      }
    } finally {
      this.#isOnHold = false;
    }
    return undefined;
  }

  /** A bridge is over with either channel; one whose channel has begun it leaves after a while. */
  async #enterBridge(name: string, begins: boolean): Promise<void> {
    const bridge = { name, startsOnEnter: begins, endsOnExit: true, action: "" };
    const stay = this.#options.conferences.enter(bridge);
    this.#stay = stay;
    if (begins) void this.#leaveLater(stay);
    await stay.over;
    this.#stay = undefined;
  }

  /** The document that follows the briefing; undefined for a person who has hung up. */
  async #beBriefed(
    { token, asked, answerUrl }: Extract<CallInstruction, { kind: "briefing" }>,
    documents: VendorCallDocuments,
  ): Promise<string | undefined> {
    const { statusUrl } = this.order;
    this.#hangUpReport = { url: statusUrl, body: documents.legOver?.("ANSWER", true) ?? "" };
    const reply = personReply(this.to);
    if (reply.hangsUp === true) return undefined;
    const stream = { answerUrl, token, asked, channelId: this.id, reply };
    const sound = await hearBriefing(stream, this.#ended.signal);
    if (sound.byteLength > 0) this.briefings.push(sound);
    for (let tries = 0; tries <= TRIES_MAX && !this.isOver; tries += 1) {
      const document = await this.#post(answerUrl, documents.asked(this), "briefed");
      if (document !== "") return document;
      await this.#pause(this.#options.askAgainMs.unanswered);
    }
    return undefined;
  }

  /** Ends early with the call. */
  async #pause(lengthMs: number): Promise<void> {
    const { signal } = this.#ended;
    await pause(lengthMs, undefined, { signal, ref: false }).catch(() => undefined);
  }

  /** The one whose entry has begun the conference talks for a while, and leaves. */
  async #leaveLater(stay: ConferenceStay): Promise<void> {
    const { signal } = this.#ended;
    const talk = pause(this.#options.conferenceMs, undefined, { signal, ref: false });
    await Promise.race([talk.catch(() => undefined), stay.over]);
    stay.exit();
  }

  async #listenTo(spoken: readonly SpokenInstruction[]): Promise<void> {
    for (const { verb, content } of spoken) {
      if (verb === "Say") {
        this.briefings.push(content);
        continue;
      }
      const response = await fetch(content, { signal: AbortSignal.timeout(REPORT_MAX_MS) });
      const sound = new Uint8Array(await response.arrayBuffer());
      this.briefings.push(response.ok ? sound : `error ${response.status}`);
    }
  }

  async #report(state: PlacedState): Promise<void> {
    if (this.order.statusUrl === "") return;
    const body = this.#options.wire.report(this, state);
    if (body !== undefined) await this.#post(this.order.statusUrl, body, state);
  }

  async #post(url: string, body: string, what: string): Promise<string> {
    const type = body.startsWith("{") ? "application/json" : "application/x-www-form-urlencoded";
    const { wire, sign, authorization } = this.#options;
    const signed = sign?.(url, body) ?? wire.sign?.(authorization, url, body);
    try {
      const response = await fetch(url, {
        method: "POST",
        headers: { "content-type": type, ...signed },
        body,
        signal: AbortSignal.timeout(REPORT_MAX_MS),
      });
      const answer = await response.text();
      this.reports.push(`${what} ${response.status}`);
      return answer;
    } catch (error) {
      this.reports.push(`${what} ${String(error)}`);
      return "";
    }
  }
}

export interface PhoneApiSimulatorOptions {
  /** How long a person who answers stays, if neither side hangs up before. */
  readonly talkMs?: number;
  readonly conferenceMs?: number;
  /** Shorter than those of the real dialplan. */
  readonly askAgainMs?: AskAgainMs;
  /** Where the REST account alone does not sign. */
  readonly sign?: RequestSigner;
}

/**
 * One vendor's REST API of calls: takes orders, reports on them, requests instructions when a person answers, and
 * hangs up. The other end does not talk: the test opens the stream of the document. Questions and conferences are followed here.
 */
export class PhoneApiSimulator implements Simulator {
  readonly account: SimulatedPhoneAccount;
  readonly #wire: PhoneApiWire;
  readonly #documents: VendorCallDocuments | undefined;
  readonly #options: PhoneApiSimulatorOptions;
  readonly #conferences = new Conferences();
  readonly #closed = new AbortController();
  #calls: SimulatedCall[] = [];

  constructor(vendor: keyof typeof PHONE_API_WIRES, options: PhoneApiSimulatorOptions = {}) {
    this.#wire = PHONE_API_WIRES[vendor];
    // TwilioSimulator follows Twilio's documents.
    this.#documents = vendor === "twilio" ? undefined : VENDOR_CALL_DOCUMENTS[vendor];
    this.account = new SimulatedPhoneAccount(vendor);
    this.#options = options;
  }

  /** Oldest first. */
  get calls(): readonly SimulatedCall[] {
    return this.#calls;
  }

  async handleRequest(exchange: Exchange): Promise<void> {
    const authorization = exchange.header("authorization") ?? "";
    const { method = "" } = exchange.request;
    const body = (await exchange.readText()) ?? "";
    const ofAccount = this.account.answerTo({ method, url: exchange.url, authorization, body });
    if (ofAccount !== undefined) return answer(exchange, ofAccount);
    const read = this.#wire.read({ method, path: exchange.url.pathname, authorization, body });
    if (read === undefined) return answer(exchange, [404, { error: "no such address" }]);
    if (read.kind === "unauthorized") return answer(exchange, this.#wire.unauthorized);
    if (read.kind === "wrong") return answer(exchange, this.#wire.refused);
    if (read.kind !== "place") return this.#serveCall(exchange, read);
    if (read.order.to.endsWith(INVALID_NUMBER_END) || !this.#hasRoom())
      return answer(exchange, this.#wire.refused);
    const call = this.#add(read.order, authorization);
    answer(exchange, this.#wire.placed(call));
    void call.live();
    const { talkMs } = this.#options;
    if (talkMs !== undefined) void this.#endLater(call, talkMs);
  }

  /** A call that a test has made to the server; one that has the same id is over. */
  adopt({ id, from, to }: SimulatedCallIds): SimulatedCall {
    this.#calls = this.#calls.filter((call) => call.id !== id);
    const order = { from, to, answerUrl: "", statusUrl: "", machineUrl: undefined };
    return this.#add(order, "", id);
  }

  #add(order: PlacedOrder, authorization: string, begunId?: string): SimulatedCall {
    const { sign, conferenceMs = 0, askAgainMs = DIALPLAN_ASKS_AGAIN_MS } = this.#options;
    const options = {
      wire: this.#wire,
      documents: this.#documents,
      conferences: this.#conferences,
      authorization,
      sign,
      conferenceMs,
      askAgainMs,
      isLive: (id: string) => this.#calls.some((call) => call.id === id && !call.isOver),
    };
    const call = new SimulatedCall(options, order, begunId);
    this.#calls.push(call);
    return call;
  }

  async #serveCall(
    exchange: Exchange,
    order: Extract<ApiOrder, { readonly id: string }>,
  ): Promise<void> {
    const { unknownCall, hungUp, notHungUp = unknownCall, redirected = hungUp } = this.#wire;
    const call = this.#calls.find(({ id }) => id === order.id);
    if (call === undefined || call.isOver) return answer(exchange, unknownCall);
    if (order.kind === "look")
      return answer(exchange, this.#wire.live?.(call.isAnswered) ?? unknownCall);
    if (order.kind === "stasis") return answer(exchange, this.#wire.notInStasis ?? unknownCall);
    if (order.kind === "hangUp") {
      const { ends } = order;
      const isEnded = ends === undefined || (ends === "answered") === call.isAnswered;
      answer(exchange, isEnded ? hungUp : notHungUp);
      if (isEnded) await call.end();
      return;
    }
    if (order.kind === "transfer" && call.transferFault === "orderLost") {
      call.lostOrders += 1;
      return;
    }
    const isAnswerLost = order.kind === "transfer" && call.transferFault === "answerLost";
    if (!isAnswerLost) answer(exchange, redirected);
    if (order.kind === "redirect") return call.redirect(order.url);
    return call.transfer(order.document);
  }

  close(): void {
    this.#closed.abort();
  }

  async #endLater(call: SimulatedCall, talkMs: number): Promise<void> {
    const { signal } = this.#closed;
    await pause(talkMs, undefined, { signal, ref: false }).catch(() => undefined);
    if (!signal.aborted) await call.end();
  }

  #hasRoom(): boolean {
    if (this.#calls.length < CALLS_MAX) return true;
    const oldest = this.#calls.find(({ isOver }) => isOver);
    this.#calls = this.#calls.filter((call) => call !== oldest);
    return oldest !== undefined;
  }
}

function answer(exchange: Exchange, [status, body]: readonly [number, unknown]): void {
  if (body === undefined) exchange.answerText(status, "");
  else exchange.answerJson(status, body);
}
