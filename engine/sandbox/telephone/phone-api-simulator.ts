import { setTimeout as pause } from "node:timers/promises";
import type { Exchange } from "../exchange.js";
import type { Simulator } from "../simulator.js";
import { SimulatedPhoneAccount } from "./phone-account-apis.js";
import {
  PHONE_API_WIRES,
  type PhoneApiWire,
  type PlacedOrder,
  type PlacedState,
  type SimulatedCallIds,
  type Verdict,
} from "./phone-api-wires.js";

/** Timeout of a report to the server under test. A failed report is not repeated. */
const REPORT_MAX_MS = 5_000;
/** Calls that are over are dropped beyond it, oldest first; more concurrent ones are refused. */
const CALLS_MAX = 1_000;
/** A number that the vendor refuses. */
const INVALID_NUMBER_END = "0009";

type Outcome = Extract<PlacedState, "busy" | "noAnswer" | "failed"> | "rings" | "machine";

/** The outcome of a call, by the last digits of the called number; other numbers answer. */
const OUTCOMES: ReadonlyMap<string, Outcome> = new Map([
  ["0001", "busy"],
  ["0002", "noAnswer"],
  ["0003", "failed"],
  ["0004", "machine"],
  ["0005", "rings"],
]);

/** A call that was placed at the vendor, from its order to its end. */
export class SimulatedCall implements SimulatedCallIds {
  readonly id: string;
  readonly order: PlacedOrder;
  /** The reported states, each with the server's response. */
  readonly reports: string[] = [];
  /** The documents that the call has left its stream for. */
  readonly transferredTo: string[] = [];
  /** The server's response when the call was answered; undefined until then. */
  document: string | undefined;
  readonly #wire: PhoneApiWire;
  readonly #authorization: string;
  readonly #ended = new AbortController();
  #isAnswered = false;

  constructor(wire: PhoneApiWire, order: PlacedOrder, authorization: string) {
    this.#wire = wire;
    this.#authorization = authorization;
    this.order = order;
    this.id = wire.newId();
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

  /** Never rejects: a failed report is part of the reports. */
  async live(): Promise<void> {
    const outcome = OUTCOMES.get(this.to.slice(-4));
    await this.#report("ringing");
    if (outcome === "rings") return;
    if (outcome !== undefined && outcome !== "machine") {
      this.#ended.abort();
      return this.#report(outcome);
    }
    if (this.isOver) return;
    this.#isAnswered = true;
    await this.#report("answered");
    this.document = await this.#post(this.order.answerUrl, this.#wire.answered(this), "answer");
    const isEndAwaited = this.#wire.hasOneVerdict === true && this.order.detectsMessageEnd === true;
    if (outcome !== "machine") await this.#reportVerdict("human");
    else if (!isEndAwaited) await this.#reportVerdict("machine");
  }

  /** The greeting of the machine that has answered is over, which not all vendors report. */
  async endGreeting(): Promise<void> {
    if (this.order.detectsMessageEnd === true) await this.#reportVerdict("messageEnd");
  }

  async #reportVerdict(verdict: Verdict): Promise<void> {
    const body = this.#wire.verdict(this, verdict);
    const { machineUrl } = this.order;
    if (machineUrl !== undefined && body !== undefined)
      await this.#post(machineUrl, body, "verdict");
  }

  /** Hangs up: the callee, or the server over REST. */
  async end(): Promise<void> {
    if (this.isOver) return;
    this.#ended.abort();
    await this.#report(this.#isAnswered ? "completed" : "canceled");
  }

  /** Repeats a report, as vendors do without a confirmation in time. */
  async repeat(state: PlacedState): Promise<void> {
    await this.#report(state);
  }

  async #report(state: PlacedState): Promise<void> {
    const body = this.#wire.report(this, state);
    if (body !== undefined) await this.#post(this.order.statusUrl, body, state);
  }

  async #post(url: string, body: string, what: string): Promise<string> {
    const type = body.startsWith("{") ? "application/json" : "application/x-www-form-urlencoded";
    const signed = this.#wire.sign?.(this.#authorization, url, body);
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

/**
 * One vendor's REST API of calls: takes orders, reports on them, requests instructions when a person answers, and
 * hangs up. The other end does not talk: the test opens the stream of the document.
 */
export class PhoneApiSimulator implements Simulator {
  readonly account: SimulatedPhoneAccount;
  readonly #wire: PhoneApiWire;
  /** How long a person who answers stays, if neither side hangs up before. */
  readonly #talkMs: number;
  readonly #closed = new AbortController();
  #calls: SimulatedCall[] = [];

  constructor(vendor: keyof typeof PHONE_API_WIRES, talkMs = Number.POSITIVE_INFINITY) {
    this.#wire = PHONE_API_WIRES[vendor];
    this.account = new SimulatedPhoneAccount(vendor);
    this.#talkMs = talkMs;
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
    if (read.kind === "transfer") {
      const call = this.#calls.find(({ id }) => id === read.id);
      if (call === undefined || call.isOver) return answer(exchange, this.#wire.unknownCall);
      call.transferredTo.push(read.document);
      return answer(exchange, this.#wire.hungUp);
    }
    if (read.kind === "hangUp") {
      const call = this.#calls.find(({ id }) => id === read.id);
      if (call === undefined || call.isOver) return answer(exchange, this.#wire.unknownCall);
      answer(exchange, this.#wire.hungUp);
      return call.end();
    }
    if (read.order.to.endsWith(INVALID_NUMBER_END) || !this.#hasRoom())
      return answer(exchange, this.#wire.refused);
    const call = new SimulatedCall(this.#wire, read.order, authorization);
    this.#calls.push(call);
    answer(exchange, this.#wire.placed(call));
    void call.live();
    if (Number.isFinite(this.#talkMs)) void this.#endLater(call);
  }

  close(): void {
    this.#closed.abort();
  }

  async #endLater(call: SimulatedCall): Promise<void> {
    const { signal } = this.#closed;
    await pause(this.#talkMs, undefined, { signal, ref: false }).catch(() => undefined);
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
