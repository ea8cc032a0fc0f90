import assert from "node:assert/strict";
import { test } from "node:test";
import { Continuations, SENT_BACK_PARAMETER } from "../../../engine/calls/continuations.js";
import { ON_HOLD_MAX_MS, WarmTransferJob } from "../../../engine/calls/warm-transfer-job.js";
import { WarmTransfers } from "../../../engine/calls/warm-transfers.js";
import { stockPhrases } from "../../../engine/conversation/lexicon.js";
import type { StreamClaims } from "../../../engine/security/stream-token.js";
import type { NextStep, WarmTransferApi } from "../../../engine/telephony/call-control.js";
import { VendorError } from "../../../engine/vendors/contracts.js";
import { type NewJob, WARM_TRANSFER_MAX_MS } from "../../../storage/jobs/job-record.js";
import type { CallRecord, JsonObject } from "../../../storage/records.js";
import { RecordingLogger } from "../../doubles/recording-logger.js";
import { VirtualClock } from "../../doubles/virtual-clock.js";
import { callRecord } from "../../storage/sample-records.js";

/**
 * Everything around a warm transfer whose person does not answer comes in each order that a vendor, a slow store or a dead server can
 * bring about. In none of them is the caller on hold at the end.
 */
const BASE = "https://voice.example.com";
const BUSY = { result: "busy", reason: "busy", durationSec: undefined } as const;
const STEP_MS = 5;
const COARSE_MS = 15_000;
/** The size of steps, and until when. */
const STEPS = [
  [150, STEP_MS],
  [60_000, 2_500],
  [ON_HOLD_MAX_MS, COARSE_MS],
] as const;
/** A caller of a transfer without faults is back this soon behind its outcome; the clock's steps are as long. */
const BACK_MAX_MS = 2_500;
/** And with any of the faults here: the job looks, and looks again. */
const BACK_BY_JOB_MAX_MS = 45_000;

interface Order {
  readonly vendor: "twilio" | "telnyx";
  /** From the order of the person's call to its answer, and to the report that the line is busy; undefined: it is lost. */
  readonly placeMs: number;
  readonly reportMs: number | undefined;
  /** From the order of the hold to the vendor's doing it, and from there to its answer; undefined: the answer is lost. */
  readonly holdMs: number;
  readonly holdAnswerMs: number | undefined;
  /** From the caller's leaving the stream to the vendor's question what follows. */
  readonly askMs: number;
  /** As for the hold. `dropped`: the vendor takes the first order and does nothing. */
  readonly backMs: number | "dropped" | "refused";
  /** How long the store takes to say that the call has ended. */
  readonly endStoredMs: number;
  /** When the server dies, after the order of the transfer; another one is there at once, and in-memory state is lost. */
  readonly diesMs: number | undefined;
}

interface StoredJob {
  readonly job: NewJob;
  attempts: number;
  dueMs: number;
  isRunning: boolean;
}

const never = new Promise<never>(() => undefined);

class Situation {
  readonly clock = new VirtualClock();
  readonly #startMs = this.clock.epochMs();
  caller: "agent" | "hold" | "gone" = "agent";
  /** When the caller was on hold for the last time. */
  onHoldUntilMs = 0;
  readonly #order: Order;
  readonly #claims: StreamClaims;
  readonly #records = new Map<string, CallRecord & { metadata: JsonObject }>();
  readonly #jobs: StoredJob[] = [];
  /** Counts servers: what an earlier one still does is lost. */
  #server = 0;
  #session: string;
  #backs = 0;
  #continuations: Continuations;
  #transfers: WarmTransfers;

  constructor(order: Order) {
    this.#order = order;
    const { vendor } = order;
    const ids = { orgId: "org", agentId: "agent", callerRef: "CA1", callKey: "key" };
    this.#claims = { vendor, ...ids, attempt: 0 };
    [this.#continuations, this.#transfers] = this.#newServer();
    this.#session = this.#continuations.conversationOf(this.#claims).sessionId;
    this.#begin(this.#session);
  }

  async run(): Promise<void> {
    const { diesMs } = this.#order;
    void this.#start();
    if (diesMs !== undefined) this.clock.after(diesMs, () => this.#die());
    for (const [untilMs, stepMs] of STEPS) {
      while (this.clock.epochMs() - this.#startMs < untilMs && !this.#isSettled) {
        await this.#step(stepMs);
      }
    }
  }

  /** Nothing more happens by itself. */
  get #isSettled(): boolean {
    const isIdle = this.#jobs.every(({ dueMs }) => dueMs === Number.POSITIVE_INFINITY);
    return isIdle && this.#jobs.length > 0 && this.clock.pendingTimerCount === 0;
  }

  get #metadata(): JsonObject {
    const first = this.#records.get(this.#firstSession);
    assert.ok(first);
    return first.metadata;
  }

  get #firstSession(): string {
    return this.#continuations.conversationOf(this.#claims).sessionId;
  }

  async #step(ms: number): Promise<void> {
    this.clock.advance(ms);
    await new Promise(setImmediate);
    if (this.caller === "hold") this.onHoldUntilMs = this.clock.epochMs() - this.#startMs;
    for (const entry of this.#jobs) {
      if (entry.isRunning || entry.dueMs > this.clock.epochMs()) continue;
      void this.#runJob(entry);
    }
  }

  #newServer(): [Continuations, WarmTransfers] {
    this.#server += 1;
    const { clock } = this;
    const server = this.#server;
    const log = new RecordingLogger();
    const isGone = () => server !== this.#server;
    const alive = async <T>(work: () => Promise<T>): Promise<T> => (isGone() ? never : work());
    const calls = {
      findBySession: async (_orgId: string, id: string) =>
        alive(async () => {
          const found = this.#records.get(id);
          return found && structuredClone(found);
        }),
      annotate: async (id: string, note: JsonObject) => alive(async () => this.#merge(id, note)),
      annotateIf: async (id: string, isMet: (metadata: JsonObject) => boolean, note: JsonObject) =>
        alive(async () => {
          if (!isMet(this.#records.get(id)?.metadata ?? {})) return false;
          this.#merge(id, note);
          return true;
        }),
    };
    const annotate = (id: string, note: JsonObject) => this.#merge(id, note);
    const continuations = new Continuations({
      secret: "a secret that nobody knows",
      clock,
      calls,
      liveCalls: { find: () => undefined },
      journal: { stored: async () => undefined, annotate },
      log,
    });
    const api: WarmTransferApi = {
      verify: async () => undefined,
      hangUp: async (ref) => {
        if (ref === "CA1") this.caller = "gone";
      },
      isLive: async (ref) => ref === "CA1" && this.caller !== "gone",
      place: () => alive(() => this.#place()),
      redirect: (_ref, next) => alive(() => this.#redirect(next, isGone)),
    };
    const transfers = new WarmTransfers({
      continuations,
      calls,
      jobs: { add: async (added) => alive(async () => this.#addJobs(added)) },
      callControl: { warmTransferApi: async () => api, hangUp: async () => undefined },
      voices: {
        of: async () => ({
          language: "en-US",
          phrases: stockPhrases("en-US"),
          speak: async () => undefined,
        }),
      },
      dialTargets: undefined,
      doNotCall: { has: async () => false },
      clock,
      log,
    });
    const findById = (_orgId: string, id: string) => calls.findBySession("org", id);
    this.#job = new WarmTransferJob({
      calls: { ...calls, findById },
      apis: { of: () => api },
      isListening: () => true,
      clock,
      log,
    });
    return [continuations, transfers];
  }

  #job: WarmTransferJob | undefined;

  #addJobs(added: readonly NewJob[]): void {
    for (const job of added) {
      this.#jobs.push({ job, attempts: 1, dueMs: job.runAfterMs, isRunning: false });
    }
  }

  async #runJob(entry: StoredJob): Promise<void> {
    const job = this.#job;
    assert.ok(job);
    entry.isRunning = true;
    const state = { state: "running", lane: null, lastError: null, failedAtMs: null } as const;
    const outcome = await job.run({ ...entry.job, ...state, attempts: entry.attempts, fence: 1 });
    entry.isRunning = false;
    entry.dueMs = Number.POSITIVE_INFINITY;
    if (outcome.kind === "again") entry.dueMs = this.clock.epochMs() + outcome.afterMs;
    if (outcome.kind !== "retry" || entry.attempts >= job.triesMax) return;
    const delayMs = Math.max(job.delayMs(entry.attempts), outcome.afterMs ?? 0);
    entry.dueMs = this.clock.epochMs() + delayMs;
    entry.attempts += 1;
  }

  /** Resolves with undefined where the server dies before. */
  #later<T>(delayMs: number, work: () => T): Promise<T> {
    return new Promise((resolve) => {
      this.clock.after(delayMs, () => resolve(work()));
    });
  }

  async #start(): Promise<void> {
    const order = { to: "+15550101000", summary: "", base: BASE };
    const server = this.#server;
    const isTaken = await this.#transfers.start(this.#claims, order);
    if (server !== this.#server) return;
    this.#isTransferred = isTaken;
    if (this.#hasClosed) this.#storeEnd();
  }

  #isTransferred: boolean | undefined;
  #hasClosed = false;

  /** The stream of the first session has closed. The call ends as the answer to the transfer says. */
  #closeFirst(): void {
    this.#hasClosed = true;
    if (this.#isTransferred !== undefined) this.#storeEnd();
  }

  #storeEnd(): void {
    const endReason = this.#isTransferred === true ? "transferred" : "callerLeft";
    this.clock.after(this.#order.endStoredMs, () => this.#end(this.#firstSession, endReason));
  }

  #end(id: string, endReason: string): void {
    const record = this.#records.get(id);
    if (record?.status !== "active") return;
    this.#records.set(id, { ...record, status: "completed" });
    this.#merge(id, { endReason });
  }

  #die(): void {
    [this.#continuations, this.#transfers] = this.#newServer();
    const { askMs, endStoredMs } = this.#order;
    this.clock.after(1_000 + endStoredMs, () =>
      this.#end(this.#firstSession, "a process of the server ended during the call"),
    );
    // The vendor follows the answer to its question behind a stream that broke.
    if (this.caller === "agent") this.clock.after(askMs, () => void this.#askBehindBreak());
  }

  async #askBehindBreak(): Promise<void> {
    if (this.caller !== "agent" || this.#session !== this.#firstSession) return;
    const next = await this.#continuations.next(this.#claims);
    if (this.caller !== "agent" || this.#session !== this.#firstSession) return;
    if (next.kind === "goesOn") return this.#begin(this.#sessionOf(next.claims));
    this.caller = next.kind === "onHold" ? "hold" : "gone";
  }

  #sessionOf(claims: StreamClaims): string {
    return this.#continuations.conversationOf(claims).sessionId;
  }

  #begin(id: string): void {
    const before = this.#records.get(this.#session);
    if (before !== undefined) this.#merge(before.id, { continuedBy: id });
    this.#records.set(id, {
      ...callRecord({ id, sessionId: id }),
      metadata: { direction: "inbound", to: "+15550109999" },
    });
    this.#session = id;
    this.caller = "agent";
  }

  #merge(id: string, { transfer, ...note }: JsonObject): void {
    const record = this.#records.get(id);
    assert.ok(record);
    const merged = { ...Object(record.metadata["transfer"]), ...Object(transfer) };
    const kept = Object.entries(merged).filter(([, value]) => value !== null);
    const metadata = { ...record.metadata, ...note, transfer: Object.fromEntries(kept) };
    if (kept.length === 0) delete (metadata as Record<string, unknown>)["transfer"];
    this.#records.set(id, { ...record, metadata });
  }

  async #place(): Promise<string> {
    const { placeMs, reportMs } = this.#order;
    const { startedAtMs } = Object(this.#metadata["transfer"]);
    const person = { claims: this.#claims, startedAtMs: Number(startedAtMs) };
    if (reportMs !== undefined) {
      this.clock.after(reportMs, () => {
        void this.#transfers.reported(person, { answeredBy: "" }, BUSY, BASE);
      });
    }
    return this.#later(placeMs, () => "CA2");
  }

  async #redirect(next: NextStep, isGone: () => boolean): Promise<boolean> {
    const { holdMs, holdAnswerMs, backMs } = this.#order;
    if (this.caller === "gone") return false;
    const isBack = next.document.includes(`${SENT_BACK_PARAMETER}=1`);
    if (!isBack) {
      await this.#later(holdMs, () => this.#leaveFor(next));
      if (holdAnswerMs === undefined) throw new VendorError("acme", "timeout", "no answer in time");
      await this.#later(holdAnswerMs, () => undefined);
      return isGone() ? never : true;
    }
    this.#backs += 1;
    const isFirst = this.#backs === 1;
    if (isFirst && backMs === "refused") throw new VendorError("acme", "unavailable", "no");
    if (isFirst && backMs === "dropped") return true;
    this.clock.after(typeof backMs === "number" ? backMs : 0, () => this.#leaveFor(next));
    return this.#later(STEP_MS, () => true);
  }

  /** The vendor takes the caller out of the stream or the hold. It asks what follows that, and ignores the answer. */
  #leaveFor(next: NextStep): void {
    if (this.caller === "gone") return;
    const wasWithAgent = this.caller === "agent";
    const session = this.#session;
    if (wasWithAgent && session === this.#firstSession) this.#closeFirst();
    else if (wasWithAgent) this.clock.after(STEP_MS, () => this.#end(session, "callerLeft"));
    if (wasWithAgent) this.clock.after(this.#order.askMs, () => void this.#askIgnored());
    this.caller = "hold";
    if (this.#order.vendor === "twilio") void this.#follow(next.document);
    else void this.#ask(next.url);
  }

  async #askIgnored(): Promise<void> {
    const next = await this.#continuations.next(this.#claims);
    if (next.kind === "onHold") this.#transfers.interruptedHold(this.#claims, BASE, next.isCertain);
  }

  async #ask(url: string): Promise<void> {
    await this.#later(STEP_MS, () => undefined);
    if (url.includes(`${SENT_BACK_PARAMETER}=1`)) return this.#comeBack();
    await this.#follow((await this.#transfers.hold(this.#claims, BASE)) ?? "");
  }

  async #follow(document: string): Promise<void> {
    if (document.includes("<Conference")) return;
    assert.ok(document.includes(`${SENT_BACK_PARAMETER}=1`), document);
    await this.#later(STEP_MS, () => undefined);
    await this.#comeBack();
  }

  async #comeBack(): Promise<void> {
    const next = await this.#continuations.afterTransfer(this.#claims, undefined, true, true);
    if (this.caller !== "hold") return;
    if (next.kind === "goesOn") this.#begin(this.#sessionOf(next.claims));
    else this.caller = "gone";
  }
}

function everyOrder(vendor: Order["vendor"]): readonly Order[] {
  const orders: Order[] = [];
  for (const placeMs of [0, 30])
    for (const reportMs of [5, 20, 45, 5_000, undefined])
      for (const holdMs of [0, 20])
        for (const holdAnswerMs of [0, 30, undefined])
          for (const askMs of [0, 40])
            for (const backMs of [0, 25, "dropped", "refused"] as const)
              for (const endStoredMs of [0, 3_000])
                for (const diesMs of [undefined, 10, 40])
                  orders.push({
                    vendor,
                    placeMs,
                    reportMs,
                    holdMs,
                    holdAnswerMs,
                    askMs,
                    backMs,
                    endStoredMs,
                    diesMs,
                  });
  return orders;
}

/** The latest time at which the caller may be on hold. */
function onHoldMaxMs({ reportMs, holdAnswerMs, backMs, diesMs }: Order): number {
  const hasFault = holdAnswerMs === undefined || typeof backMs === "string" || diesMs !== undefined;
  if (reportMs === undefined) return WARM_TRANSFER_MAX_MS + BACK_BY_JOB_MAX_MS + COARSE_MS;
  return reportMs + (hasFault ? BACK_BY_JOB_MAX_MS : BACK_MAX_MS);
}

for (const vendor of ["twilio", "telnyx"] as const) {
  test(`no caller stays on hold at ${vendor}, whatever order things come in`, async () => {
    for (const order of everyOrder(vendor)) {
      const situation = new Situation(order);
      await situation.run();
      const { caller, onHoldUntilMs } = situation;
      assert.equal(caller, "agent", JSON.stringify(order));
      const told = `on hold until ${onHoldUntilMs} ms: ${JSON.stringify(order)}`;
      assert.ok(onHoldUntilMs <= onHoldMaxMs(order), told);
    }
  });
}
