import type { MemberLink, OwnerQuestions, PlacedCallReport } from "./box-questions.js";
import type { CallHolders } from "./call-holders.js";
import { answered } from "./link.js";
import type { GivenCall, OtherNodes } from "./other-nodes.js";
import { NO_LIMIT } from "./slot-ledger.js";

type HandedCall = OwnerQuestions["handOver"]["asks"];
type Members = ReadonlyMap<number, { readonly link: MemberLink }>;
type Nodes = Pick<OtherNodes, "freeSlots" | "giveSlot" | "handOver" | "isRinging" | "report">;

/** A placed call is answered wherever the vendor's request comes: it moves there, and its reports follow it. */
export class PlacedCallDesk {
  readonly #members: Members;
  readonly #holders: CallHolders;
  readonly #nodes: Nodes | undefined;
  /** By call: those that a session process is just giving to another one, or to another node. */
  readonly #moving = new Map<string, Promise<unknown>>();

  constructor(members: Members, holders: CallHolders, nodes?: Nodes) {
    this.#members = members;
    this.#holders = holders;
    this.#nodes = nodes;
  }

  async isRinging(asker: number, callId: string): Promise<boolean> {
    const settled = this.#settled(callId);
    if (settled !== undefined) await settled;
    const holders = this.#holders;
    if (holders.isElsewhere(callId)) return (await this.#nodes?.isRinging(callId)) ?? false;
    return (await holders.other(asker, callId)?.ask("isRinging", callId)) ?? false;
  }

  handOver(asker: number, call: HandedCall) {
    if (this.#holders.isElsewhere(call.callId)) return this.#fetch(asker, call);
    return this.#moved(call.callId, this.#move(asker, call));
  }

  async report(asker: number, report: PlacedCallReport): Promise<boolean> {
    const { callId } = report.claims;
    // Where nothing moves nothing is waited for, so that the report passes no later wish to have the call.
    const settled = this.#settled(callId);
    if (settled !== undefined) await settled;
    // What is no other node's may have come here meanwhile.
    if (this.#holders.isElsewhere(callId) && (await this.#nodes?.report(report))) return true;
    return told(this.#holders.other(asker, callId), report);
  }

  /** Whether a call still waits for its answer, for another node. */
  async ringsHere(callId: string): Promise<boolean> {
    const settled = this.#settled(callId);
    if (settled !== undefined) await settled;
    return (await this.#holders.of(callId)?.ask("isRinging", callId)) ?? false;
  }

  /** To another node, with its slot. */
  giveAway(call: GivenCall) {
    return this.#moved(call.callId, this.#give(call));
  }

  /** What another node was told of a call; false when it is not here, or no longer. */
  async hear(report: PlacedCallReport): Promise<boolean> {
    const { callId } = report.claims;
    const settled = this.#settled(callId);
    if (settled !== undefined) await settled;
    return told(this.#holders.of(callId), report);
  }

  /** Settles when the call has a place: who had it knows it no more, and who gets it is not told yet. */
  #settled(callId: string): Promise<void> | undefined {
    return this.#moving.has(callId) ? this.#atRest(callId) : undefined;
  }

  async #atRest(callId: string): Promise<void> {
    for (let move = this.#moving.get(callId); move !== undefined; move = this.#moving.get(callId)) {
      await answered(move);
    }
  }

  async #moved<Handed>(callId: string, move: Promise<Handed>): Promise<Handed> {
    this.#moving.set(callId, move);
    try {
      return await move;
    } finally {
      // Another process may have asked for the same call since.
      if (this.#moving.get(callId) === move) this.#moving.delete(callId);
    }
  }

  async #give({ to, ...call }: GivenCall) {
    const { slots } = this.#holders;
    const { callId } = call;
    const holder = slots.holderOf(callId);
    const handed = await this.#holders.of(callId)?.ask("handOver", call);
    if (handed === undefined || holder === undefined) return handed;
    await this.#nodes?.giveSlot(callId, to);
    slots.free(holder, callId);
    return handed;
  }

  async #fetch(asker: number, call: HandedCall) {
    const { orgId, callId } = call;
    const { slots } = this.#holders;
    // First here, as a slot is taken: else the sweep would give it back.
    if (!slots.take(asker, orgId, callId, NO_LIMIT)) return undefined;
    let isHere = false;
    try {
      const handed = await this.#nodes?.handOver(call);
      isHere = handed !== undefined;
      return handed;
    } finally {
      if (!isHere) slots.free(asker, callId);
    }
  }

  async #move(asker: number, call: HandedCall) {
    const { slots } = this.#holders;
    const handed = await this.#holders.other(asker, call.callId)?.ask("handOver", call);
    // The asker may have ended meanwhile: then the call has nobody, and its slot is free.
    if (handed !== undefined) slots.move(call.callId, asker);
    if (!this.#members.has(asker)) this.#nodes?.freeSlots(slots.freeAllOf(asker));
    return handed;
  }
}

/** False where nobody has the call. */
async function told(holder: MemberLink | undefined, report: PlacedCallReport): Promise<boolean> {
  if (holder === undefined) return false;
  await holder.ask("report", report);
  return true;
}
