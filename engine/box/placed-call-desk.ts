import type { MemberLink, OwnerQuestions, PlacedCallReport } from "./box-questions.js";
import type { CallHolders } from "./call-holders.js";
import { answered } from "./link.js";
import type { OtherNodes } from "./other-nodes.js";
import { NO_LIMIT } from "./slot-ledger.js";

type HandedCall = OwnerQuestions["handOver"]["asks"];
type Members = ReadonlyMap<number, { readonly link: MemberLink }>;
type Nodes = Pick<OtherNodes, "freeSlots" | "handOver" | "isRinging" | "report">;

/** A placed call is answered wherever the vendor's request comes: it moves there, and its reports follow it. */
export class PlacedCallDesk {
  readonly #members: Members;
  readonly #holders: CallHolders;
  readonly #nodes: Nodes | undefined;
  /** By call: those that one session process is just giving to another. */
  readonly #moving = new Map<string, Promise<unknown>>();

  constructor(members: Members, holders: CallHolders, nodes?: Nodes) {
    this.#members = members;
    this.#holders = holders;
    this.#nodes = nodes;
  }

  async isRinging(asker: number, callId: string): Promise<boolean> {
    const holders = this.#holders;
    if (holders.isElsewhere(callId)) return (await this.#nodes?.isRinging(callId)) ?? false;
    return (await holders.other(asker, callId)?.ask("isRinging", callId)) ?? false;
  }

  /** To another node, with its slot. */
  async giveAway(call: HandedCall) {
    const { slots } = this.#holders;
    const holder = slots.holderOf(call.callId);
    const handed = await this.#holders.of(call.callId)?.ask("handOver", call);
    if (handed !== undefined && holder !== undefined) slots.free(holder, call.callId);
    return handed;
  }

  async handOver(asker: number, call: HandedCall) {
    if (this.#holders.isElsewhere(call.callId)) return this.#fetch(asker, call);
    const move = this.#move(asker, call);
    this.#moving.set(call.callId, move);
    try {
      return await move;
    } finally {
      // Another process may have asked for the same call since.
      if (this.#moving.get(call.callId) === move) this.#moving.delete(call.callId);
    }
  }

  async report(asker: number, report: PlacedCallReport): Promise<boolean> {
    const { callId } = report.claims;
    // Who had the call knows it no more, and who gets it is not told yet. Where nothing moves nothing is waited for, so that the
    // report passes no later wish to have the call.
    for (let move = this.#moving.get(callId); move !== undefined; move = this.#moving.get(callId)) {
      await answered(move);
    }
    if (this.#holders.isElsewhere(callId)) return (await this.#nodes?.report(report)) ?? false;
    const holder = this.#holders.other(asker, callId);
    if (holder === undefined) return false;
    await holder.ask("report", report);
    return true;
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
