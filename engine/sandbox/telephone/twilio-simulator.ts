import { setTimeout as pause } from "node:timers/promises";
import type { Exchange } from "../exchange.js";
import {
  noFaults,
  type SandboxFaults,
  TWILIO_FATES,
  TWILIO_REFUSALS,
  type TwilioFate,
  type TwilioRefusal,
  takeFault,
} from "../faults.js";
import { Journal } from "../journal.js";
import type { Simulator, Upgrade } from "../simulator.js";
import type { PhoneCaller } from "./phone-caller.js";
import type { DialInstruction } from "./phone-webhook.js";
import { simulatedTelephone, type Telephone } from "./telephone.js";
import { type OwnCall, TelephoneExchange } from "./telephone-exchange.js";
import { type Fate, TwilioCall } from "./twilio-call.js";

/** What becomes of a call, by the last digits of the number that is called; other numbers answer. */
const FATES: ReadonlyMap<string, Fate> = new Map([
  ["0001", "busy"],
  ["0002", "no-answer"],
  ["0003", "failed"],
  ["0004", "machine"],
  ["0005", "rings"],
]);
const FATE_BY_FAULT: Readonly<Record<TwilioFate, Fate>> = {
  busy: "busy",
  noAnswer: "no-answer",
  failed: "failed",
  machine: "machine",
  rings: "rings",
};
/** A number that the vendor refuses. */
const INVALID_NUMBER_END = "0009";
const PATH = /^\/2010-04-01\/Accounts\/(AC[0-9a-f]{32})\/Calls(?:\/(CA[0-9a-f]{32}))?\.json$/;
/** Calls that are over are forgotten beyond it, the oldest first; more than these at once are refused. */
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
  /** What a simulated person does who was called; left out, whoever has the call's `caller` speaks through it. */
  readonly talk?: (caller: PhoneCaller) => Promise<void>;
}

/**
 * Twilio's REST API of calls: takes calls, and lets somebody answer them over a true media stream, reports on them, hangs
 * up and hands them on. Believes in any account and signs with its password, as the vendor does.
 */
export class TwilioSimulator implements Simulator {
  readonly #faults: SandboxFaults;
  readonly #journal: Journal;
  readonly #person: Telephone;
  readonly #exchange = new TelephoneExchange((call) => this.#adopt(call));
  #calls: TwilioCall[] = [];

  constructor({ faults, journal, talk }: TwilioSimulatorOptions = {}) {
    this.#faults = faults ?? noFaults();
    this.#journal = journal ?? new Journal(false);
    this.#person = simulatedTelephone(talk ?? (() => Promise.resolve()));
  }

  /** The oldest first. */
  get calls(): readonly TwilioCall[] {
    return this.#calls;
  }

  async handleRequest(exchange: Exchange): Promise<void> {
    const request = this.#journal.nextRequest();
    const [, account, sid] = PATH.exec(exchange.url.pathname) ?? [];
    this.#journal.record("twilio", "request", request, sid === undefined ? "place" : "update");
    const fault = takeFault(this.#faults, "twilio", TWILIO_REFUSALS);
    if (fault !== undefined && isRefusal(fault)) return refuse(exchange, fault);
    if (account === undefined) return answerError(exchange, 404, 20_404);
    const authToken = passwordOf(exchange, account);
    if (authToken === undefined) return refuse(exchange, "unauthorized");
    const form = new URLSearchParams(await exchange.readText());
    if (sid === undefined) return this.#place(exchange, form, authToken);
    const call = this.#calls.find((each) => each.sid === sid);
    if (call === undefined || call.isOver) return answerError(exchange, 404, 20_404);
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

  #place(exchange: Exchange, form: URLSearchParams, authToken: string): void {
    const to = form.get("To") ?? "";
    if (to.endsWith(INVALID_NUMBER_END)) return refuse(exchange, "invalidNumber");
    if (!this.#hasRoom()) return refuse(exchange, "rateLimited");
    const telephone = this.#exchange.at(to) ?? this.#person;
    const call = this.#add({ form, authToken, telephone, onStatus: tell(telephone) });
    exchange.answerJson(201, { sid: call.sid, status: "queued", to, from: form.get("From") });
    void call.live();
  }

  /** A call that a telephone makes to the server by itself. */
  #adopt({ callSid, from, to, taken, telephone }: OwnCall): void {
    if (!this.#hasRoom()) return taken.drop();
    const form = new URLSearchParams({ From: from, To: to });
    const begun = { callSid, taken };
    const onStatus = tell(telephone);
    void this.#add({ form, authToken: "", telephone, begun, onStatus }).live();
  }

  #add(
    options: Omit<ConstructorParameters<typeof TwilioCall>[0], "fate" | "ringMs" | "dial">,
  ): TwilioCall {
    const { onStatus } = options;
    const number = this.#journal.nextRequest();
    const call = new TwilioCall({
      ...options,
      fate: this.#fateOf(options.form.get("To") ?? ""),
      ringMs: this.#faults.twilio.ringMs ?? 0,
      dial: (dialled, from) => this.#handOn(dialled, from, onStatus),
      onStatus: (each) => {
        this.#journal.record("twilio", "event", number, each.status);
        onStatus(each);
      },
    });
    this.#calls.push(call);
    return call;
  }

  /** Whoever is called then talks to the first caller, and no media stream has part in it. */
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

  #fateOf(to: string): Fate {
    const byNumber = FATES.get(to.slice(-4));
    if (byNumber !== undefined) return byNumber;
    const fault = takeFault(this.#faults, "twilio", TWILIO_FATES);
    return fault === undefined || isRefusal(fault) ? "answers" : FATE_BY_FAULT[fault];
  }

  #hasRoom(): boolean {
    const oldest = this.#calls.find(({ isOver }) => isOver);
    if (this.#calls.length < CALLS_MAX) return true;
    this.#calls = this.#calls.filter((call) => call !== oldest);
    return oldest !== undefined;
  }
}

function tell(telephone: Telephone): (call: TwilioCall) => void {
  return (call) => telephone.told(call.to, call.status);
}

/** Two people, whose words are nobody's business. */
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
    told() {},
  };
}

function isRefusal(fault: TwilioFate | TwilioRefusal): fault is TwilioRefusal {
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
