import { randomBytes } from "node:crypto";
import type { Exchange } from "./exchange.js";
import { PhoneCaller } from "./phone-caller.js";
import { signatureHeader } from "./phone-webhook.js";
import type { Simulator } from "./simulator.js";

/** What becomes of a call, by the last digits of the number that is called; other numbers answer. */
const FATES: ReadonlyMap<string, Fate> = new Map([
  ["0001", "busy"],
  ["0002", "no-answer"],
  ["0003", "failed"],
  ["0004", "machine"],
  ["0005", "rings"],
]);
/** A number that the vendor refuses. */
const INVALID_NUMBER_END = "0009";
const INVALID_NUMBER_CODE = 21_211;
const PATH = /^\/2010-04-01\/Accounts\/(AC[0-9a-f]{32})\/Calls(?:\/(CA[0-9a-f]{32}))?\.json$/;
/** The other side is the server under test; a report that it does not take is repeated by nobody. */
const REPORT_MAX_MS = 5_000;

type Fate = "answers" | "busy" | "no-answer" | "failed" | "machine" | "rings";

/** A call as the vendor keeps it. */
export interface SimulatedCall {
  readonly sid: string;
  readonly form: URLSearchParams;
  status: string;
  /** The answer of the server to each report, in order. */
  readonly reports: string[];
  /** The fields of each update over REST. */
  readonly updates: URLSearchParams[];
  /** Who has answered; undefined until then. */
  caller: PhoneCaller | undefined;
}

/**
 * Twilio's REST API of calls: takes calls, and lets somebody answer them over a true media stream, reports on them, hangs
 * up and redirects. Believes in any account and signs with its password, as the vendor does.
 */
export class TwilioSimulator implements Simulator {
  readonly calls: SimulatedCall[] = [];
  readonly #onChange: () => void;

  /** `onChange` is called after each thing that happens to a call. */
  constructor(onChange: () => void = () => undefined) {
    this.#onChange = onChange;
  }

  async handleRequest(exchange: Exchange): Promise<void> {
    const [, account, sid] = PATH.exec(exchange.url.pathname) ?? [];
    if (account === undefined) return answerError(exchange, 404, 20_404);
    const authToken = passwordOf(exchange, account);
    if (authToken === undefined) return answerError(exchange, 401, 20_003);
    const form = new URLSearchParams(await exchange.readText());
    if (sid === undefined) this.#place(exchange, form, authToken);
    else await this.#update(exchange, sid, form, authToken);
  }

  close(): void {
    for (const { caller } of this.calls) caller?.drop();
  }

  #place(exchange: Exchange, form: URLSearchParams, authToken: string): void {
    const to = form.get("To") ?? "";
    if (to.endsWith(INVALID_NUMBER_END)) {
      return answerError(exchange, 400, INVALID_NUMBER_CODE, `The number ${to} is not valid`);
    }
    const sid = `CA${randomBytes(16).toString("hex")}`;
    const call: SimulatedCall = {
      sid,
      form,
      status: "queued",
      reports: [],
      updates: [],
      caller: undefined,
    };
    this.calls.push(call);
    exchange.answerJson(201, { sid, status: "queued", to, from: form.get("From") });
    this.#onChange();
    void this.#noting(call, this.#ring(call, authToken));
  }

  /** A server that cannot be reached is no fault of the vendor's: it stands among the reports. */
  async #noting(call: SimulatedCall, work: Promise<void>): Promise<void> {
    try {
      await work;
    } catch (error) {
      call.reports.push(String(error));
      this.#onChange();
    }
  }

  async #ring(call: SimulatedCall, authToken: string): Promise<void> {
    const fate = FATES.get((call.form.get("To") ?? "").slice(-4)) ?? "answers";
    await this.#report(call, "ringing", authToken);
    if (fate === "rings") return;
    if (fate !== "answers" && fate !== "machine") return this.#report(call, fate, authToken);
    await this.#report(call, "in-progress", authToken);
    const caller = await this.#answer(call, authToken);
    if (caller === undefined) return this.#report(call, "completed", authToken);
    call.caller = caller;
    this.#onChange();
    const ended = caller.until(({ type }) => type === "closed", 2 ** 31 - 1);
    if (call.form.get("MachineDetection") === "Enable") {
      const answeredBy = fate === "machine" ? "machine_start" : "human";
      const url = call.form.get("AsyncAmdStatusCallback") ?? "";
      await this.#post(call, url, { AnsweredBy: answeredBy }, authToken);
    }
    await ended;
    await this.#report(call, "completed", authToken);
  }

  /** Undefined when the document says something else than a stream. */
  #answer(call: SimulatedCall, authToken: string): Promise<PhoneCaller | undefined> {
    return PhoneCaller.call({
      webhookUrl: call.form.get("Url") ?? "",
      from: call.form.get("From") ?? "",
      to: call.form.get("To") ?? "",
      callSid: call.sid,
      authToken,
    }).catch((error: unknown) => {
      call.reports.push(String(error));
      return undefined;
    });
  }

  async #update(
    exchange: Exchange,
    sid: string,
    form: URLSearchParams,
    authToken: string,
  ): Promise<void> {
    const call = this.calls.find((each) => each.sid === sid);
    if (call === undefined || FINAL.has(call.status)) return answerError(exchange, 404, 20_404);
    call.updates.push(form);
    exchange.answerJson(200, { sid, status: call.status });
    this.#onChange();
    if (call.caller !== undefined) await call.caller.hangUp();
    else if (form.get("Status") !== null) {
      await this.#noting(call, this.#report(call, "canceled", authToken));
    }
  }

  /** Of the events, those that were asked for; an end without asking too. */
  async #report(call: SimulatedCall, status: string, authToken: string): Promise<void> {
    call.status = status;
    const url = call.form.get("StatusCallback");
    const asked = new Set(call.form.getAll("StatusCallbackEvent"));
    const event = EVENT_BY_STATUS.get(status) ?? "completed";
    if (url === null || (event !== "completed" && !asked.has(event))) return;
    await this.#post(call, url, { CallStatus: status, ANewField: "of the future" }, authToken);
  }

  async #post(
    call: SimulatedCall,
    url: string,
    told: Readonly<Record<string, string>>,
    authToken: string,
  ): Promise<void> {
    const fields = { CallSid: call.sid, To: call.form.get("To") ?? "", ...told };
    const response = await fetch(url, {
      method: "POST",
      headers: {
        "content-type": "application/x-www-form-urlencoded",
        ...signatureHeader(url, fields, authToken),
      },
      body: new URLSearchParams(fields).toString(),
      signal: AbortSignal.timeout(REPORT_MAX_MS),
    });
    await response.arrayBuffer();
    call.reports.push(`${told["CallStatus"] ?? told["AnsweredBy"]} ${response.status}`);
    this.#onChange();
  }
}

const FINAL = new Set(["completed", "busy", "no-answer", "failed", "canceled"]);
const EVENT_BY_STATUS = new Map([
  ["ringing", "ringing"],
  ["in-progress", "answered"],
]);

function passwordOf(exchange: Exchange, account: string): string | undefined {
  const basic = /^Basic (\S+)$/.exec(exchange.header("authorization") ?? "")?.[1] ?? "";
  const [name, password] = Buffer.from(basic, "base64").toString("utf8").split(/:(.*)/s);
  return name === account && password !== "" ? password : undefined;
}

function answerError(exchange: Exchange, status: number, code: number, message = "refused"): void {
  const more_info = `https://www.twilio.com/docs/errors/${code}`;
  exchange.answerJson(status, { code, message, more_info, status });
}
