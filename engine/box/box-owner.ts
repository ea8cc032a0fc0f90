import type { Database } from "../../storage/database.js";
import type { Logger } from "../log.js";
import { boxMetricsText, type Metric } from "../metrics/box-metrics.js";
import { usedStreamNonces } from "../security/stream-token.js";
import { StreamUuids } from "../security/stream-uuid.js";
import { TokenUses } from "../security/token-uses.js";
import type { UsedNonces } from "../security/used-nonces.js";
import { AnsweredWebhooks } from "../telephony/answered-webhooks.js";
import type { CancelTimer, Clock } from "../time/clock.js";
import { within } from "../time/deadline.js";
import type {
  BoxState,
  CallEnding,
  LimitName,
  MemberLink,
  MemberQuestions,
  MemberState,
  OwnerQuestions,
  PlacedCallReport,
  SentNews,
  WantedNews,
} from "./box-questions.js";
import { type Handlers, Link, type Parcel } from "./link.js";
import { NewsLedger } from "./news-ledger.js";
import { SlotLedger } from "./slot-ledger.js";

/** A session process that says nothing for so long is left out of the page of metrics. */
const METRICS_MAX_MS = 2_000;
/** How old what the session processes know of each other may be. */
const STATE_MS = 250;

export interface BoxOwnerOptions {
  readonly limits: Readonly<Record<LimitName, { take(key: string): number }>>;
  readonly database: Pick<Database, "relay" | "look">;
  /** The metrics of this process. */
  readonly metrics: () => Promise<readonly Metric[]>;
  readonly clock: Clock;
  readonly log: Logger;
}

/** What goes to and comes from a session process beside its questions to the owner. */
export interface MemberDoors {
  readonly post: (parcel: Parcel) => void;
  /** It listens, on this port. */
  readonly started: (port: number) => void;
}

interface Member {
  readonly link: MemberLink;
  state: MemberState;
}

const STARTING: MemberState = { isServing: false, isLate: false };

/** What must be one for a box, for its session processes: they ask, and there is no lock. */
export class BoxOwner {
  readonly #options: BoxOwnerOptions;
  readonly #members = new Map<number, Member>();
  readonly #slots = new SlotLedger();
  readonly #news = new NewsLedger();
  readonly #nonces: UsedNonces;
  readonly #tokens: TokenUses;
  readonly #webhooks: AnsweredWebhooks;
  readonly #uuids: StreamUuids;
  readonly #stopTelling: CancelTimer;
  #told: BoxState = { callCount: 0, taking: [] };

  constructor(options: BoxOwnerOptions) {
    const { clock } = options;
    this.#options = options;
    this.#nonces = usedStreamNonces(clock);
    this.#tokens = new TokenUses(clock);
    this.#webhooks = new AnsweredWebhooks(clock);
    this.#uuids = new StreamUuids(clock);
    this.#stopTelling = clock.every(STATE_MS, () => this.#tellState());
  }

  get callCount(): number {
    return this.#slots.callCount;
  }

  /** A session process begins. */
  join(name: number, { post, started }: MemberDoors): MemberLink {
    const handlers = { ...this.#handlers(name), started };
    const link = new Link<MemberQuestions, OwnerQuestions>(post, handlers, this.#options.log);
    this.#members.set(name, { link, state: STARTING });
    link.tell("box", this.#told);
    for (const topic of this.#news.topics) link.tell("newsWanted", { topic, isWanted: true });
    return link;
  }

  /** A session process has ended: its slots are free. Says how many they were. */
  leave(name: number): number {
    this.#members.get(name)?.link.close("a session process of the box has ended");
    this.#members.delete(name);
    const count = this.#slots.freeAllOf(name);
    for (const topic of this.#news.leave(name)) this.#tellWanted({ topic, isWanted: false });
    this.#tellState();
    return count;
  }

  close(): void {
    this.#stopTelling();
  }

  #handlers(name: number): Omit<Handlers<OwnerQuestions>, "started"> {
    const { limits, database } = this.#options;
    return {
      takeSlot: ({ orgId, callId, callsMax }) => this.#slots.take(name, orgId, callId, callsMax),
      freeSlot: (callId) => this.#slots.free(name, callId),
      countSlots: (orgId) => this.#slots.countOf(orgId),
      use: ({ limit, key }) => limits[limit].take(key),
      useNonce: (nonce) => this.#nonces.use(nonce),
      answerWebhook: ({ answer, ...webhook }) => this.#webhooks.answerTo(webhook, () => answer),
      takeToken: ({ historyKey, ...token }) => this.#tokens.take(token, historyKey),
      tokenOpened: ({ historyKey, ...token }) => this.#tokens.opened(token, historyKey),
      giveTokenBack: (token) => this.#tokens.giveBack(token),
      mintUuid: (claims) => this.#uuids.mint(claims),
      redeemUuid: (uuid) => this.#uuids.redeem(uuid),
      isRinging: async (callId) =>
        (await this.#otherHolder(name, callId)?.ask("isRinging", callId)) ?? false,
      handOver: (call) => this.#handOver(name, call),
      report: (report) => this.#report(name, report),
      metrics: () => this.#metrics(),
      state: (state) => this.#noteState(name, state),
      endCall: (call) => this.#endCall(name, call),
      wantNews: (wanted) => {
        if (this.#news.want(name, wanted.topic, wanted.isWanted)) this.#tellWanted(wanted);
      },
      news: (sent) => this.#passOn(name, sent),
      store: (request) => database.relay(request),
      lookAtStore: () => database.look(),
    };
  }

  #endCall(asker: number, call: CallEnding): boolean {
    const holder = this.#otherHolder(asker, call.callId);
    holder?.tell("endCall", call);
    return holder !== undefined;
  }

  #tellWanted(wanted: WantedNews): void {
    for (const { link } of this.#members.values()) link.tell("newsWanted", wanted);
  }

  #passOn(from: number, sent: SentNews): void {
    for (const name of this.#news.othersThan(from, sent.topic)) {
      this.#members.get(name)?.link.tell("news", sent);
    }
  }

  #otherHolder(asker: number, callId: string): MemberLink | undefined {
    const holder = this.#slots.holderOf(callId);
    return holder === undefined || holder === asker ? undefined : this.#members.get(holder)?.link;
  }

  async #handOver(asker: number, call: OwnerQuestions["handOver"]["asks"]) {
    const handed = await this.#otherHolder(asker, call.callId)?.ask("handOver", call);
    // The asker may have ended meanwhile: then the call has nobody, and its slot is free.
    if (handed !== undefined) this.#slots.move(call.callId, asker);
    if (!this.#members.has(asker)) this.#slots.freeAllOf(asker);
    return handed;
  }

  async #report(asker: number, report: PlacedCallReport): Promise<boolean> {
    const holder = this.#otherHolder(asker, report.claims.callId);
    if (holder === undefined) return false;
    await holder.ask("report", report);
    return true;
  }

  async #metrics(): Promise<string> {
    const { clock, metrics } = this.#options;
    const pages: (readonly Metric[])[] = [await metrics()];
    const asked = [...this.#members.values()].map(async ({ link }) => {
      // One that ends meanwhile has no metrics.
      const page = await link.ask("metrics", undefined).catch(() => undefined);
      if (page !== undefined) pages.push(page);
    });
    await within(clock, METRICS_MAX_MS, Promise.all(asked));
    return boxMetricsText([...pages]);
  }

  #noteState(name: number, state: MemberState): void {
    const member = this.#members.get(name);
    if (member === undefined) return;
    member.state = state;
    this.#tellState();
  }

  #tellState(): void {
    const taking = [...this.#members]
      .filter(([, { state }]) => state.isServing && !state.isLate)
      .map(([name]) => name);
    const { callCount } = this.#slots;
    const told = this.#told;
    if (told.callCount === callCount && told.taking.join() === taking.join()) return;
    this.#told = { callCount, taking };
    for (const { link } of this.#members.values()) link.tell("box", this.#told);
  }
}
