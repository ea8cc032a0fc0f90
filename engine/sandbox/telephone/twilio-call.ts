import { randomBytes } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import type { PhoneCaller } from "./phone-caller.js";
import { type DialInstruction, dialledIn, signatureHeader } from "./phone-webhook.js";
import type { TakenCall, Telephone } from "./telephone.js";

/** The other side is the server under test; a report that it does not take is repeated by nobody. */
const REPORT_MAX_MS = 5_000;
/** The vendor's own default for `Timeout`. */
const RING_MAX_SEC = 60;

/** What becomes of a call. */
export type Fate = "answers" | "busy" | "no-answer" | "failed" | "machine" | "rings";

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
  readonly fate: Fate;
  readonly ringMs: number;
  /** A call that another one is handed on to. */
  readonly parentSid?: string;
  /** A call that began at the telephone has an id and an open stream already. */
  readonly begun?: { readonly callSid: string; readonly taken: TakenCall };
  /** Hands the call on; the other call's life has not begun. */
  readonly dial: (dialled: DialInstruction, from: TwilioCall) => TwilioCall;
  readonly onStatus: (call: TwilioCall) => void;
}

/** A call as the vendor keeps it, from its ringing to its end. */
export class TwilioCall {
  readonly sid: string;
  /** The answer of the server to each report, in order. */
  readonly reports: string[] = [];
  /** The fields of each update over REST. */
  readonly updates: URLSearchParams[] = [];
  readonly #options: TwilioCallOptions;
  readonly #hungUp = new AbortController();
  #status = "queued";
  #taken: TakenCall | undefined;
  #dialled: DialInstruction | undefined;
  #answeredNs: bigint | undefined;
  #talkedSec = 0;
  #next: TwilioCall | undefined;

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

  /** How long somebody talked, in whole seconds. */
  get talkedSec(): number {
    return this.#talkedSec;
  }

  /** Who has answered in this process; undefined until then, and when the call is over. */
  get caller(): PhoneCaller | undefined {
    return this.#taken?.caller;
  }

  /** Resolves when the call is over. Never rejects: a server that cannot be reached stands among the reports. */
  async live(): Promise<void> {
    const { begun } = this.#options;
    if (begun === undefined) return this.#ring();
    this.#status = "in-progress";
    await this.#talk(begun.taken);
    await this.#report("completed");
  }

  /** Does what a request to Twilio's REST API asks. */
  async update(form: URLSearchParams): Promise<void> {
    this.updates.push(form);
    this.#dialled = dialledIn(form.get("Twiml") ?? "");
    if (this.#dialled === undefined) await this.hangUp();
    else await this.#taken?.leave();
  }

  async hangUp(): Promise<void> {
    this.#hungUp.abort();
    await this.#next?.hangUp();
    await this.#taken?.leave();
  }

  /** Breaks everything off. */
  drop(): void {
    this.#hungUp.abort();
    this.#taken?.drop();
  }

  async #ring(): Promise<void> {
    const { fate, ringMs, telephone, authToken } = this.#options;
    await this.#report("ringing");
    const timeoutMs = 1_000 * Number(this.form.get("Timeout") ?? RING_MAX_SEC);
    await this.#pause(fate === "rings" ? timeoutMs : Math.min(ringMs, timeoutMs));
    if (this.#hungUp.signal.aborted) return this.#report("canceled");
    if (fate === "rings") return this.#report("no-answer");
    if (fate !== "answers" && fate !== "machine") return this.#report(fate);
    if (telephone.isBusy) return this.#report("busy");
    await this.#report("in-progress");
    const { sid: callSid, from, to } = this;
    const webhookUrl = this.form.get("Url") ?? "";
    try {
      const taken = await telephone.answer({ webhookUrl, callSid, from, to, authToken });
      await this.#talk(taken, fate === "machine" ? "machine_start" : "human");
    } catch (error) {
      this.reports.push(String(error));
    }
    await this.#report("completed");
    // With it goes the audio that was heard.
    this.#taken = undefined;
  }

  async #talk(taken: TakenCall, answeredBy?: string): Promise<void> {
    if (answeredBy !== undefined && this.form.get("MachineDetection") === "Enable") {
      const url = this.form.get("AsyncAmdStatusCallback") ?? "";
      await this.#post(url, { AnsweredBy: answeredBy });
    }
    let stream: TakenCall | undefined = taken;
    while (stream !== undefined) {
      this.#taken = stream;
      if (this.#hungUp.signal.aborted) void stream.leave();
      await stream.left;
      stream = await this.#handOn();
    }
  }

  /** After a stream: whoever is dialled talks; then the document's `action` says what comes next, another stream for one. */
  async #handOn(): Promise<TakenCall | undefined> {
    const dialled = this.#dialled;
    this.#dialled = undefined;
    if (dialled === undefined || this.#hungUp.signal.aborted) return undefined;
    const next = this.#options.dial(dialled, this);
    this.#next = next;
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
    const { telephone, authToken } = this.#options;
    const { sid: callSid, from, to } = this;
    const asked = { webhookUrl: dialled.action, callSid, from, to, authToken, fields };
    try {
      return await telephone.answer(asked);
    } catch (error) {
      this.reports.push(String(error));
      return undefined;
    }
  }

  async #pause(ms: number): Promise<void> {
    const { signal } = this.#hungUp;
    if (ms > 0) await pause(ms, undefined, { signal, ref: false }).catch(() => undefined);
  }

  /** Tells the status callback of the events that were asked for, and of every end. */
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
    await this.#post(url, { CallStatus: status, ANewField: "of the future" });
  }

  async #post(url: string, told: Readonly<Record<string, string>>): Promise<void> {
    const fields = { CallSid: this.sid, To: this.to, ...told };
    const what = told["CallStatus"] ?? told["AnsweredBy"];
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
