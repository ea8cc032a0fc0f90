import type { CallEnding, MemberLink } from "./box-questions.js";
import type { OtherNodes } from "./other-nodes.js";
import type { SlotLedger } from "./slot-ledger.js";

type Members = ReadonlyMap<number, { readonly link: MemberLink }>;
type Nodes = Pick<OtherNodes, "endCall" | "hasCall">;

/** Which session process of the box, or which other node, has a call: who has its slot. */
export class CallHolders {
  readonly slots: SlotLedger;
  readonly #members: Members;
  readonly #nodes: Nodes | undefined;

  constructor(members: Members, slots: SlotLedger, nodes?: Nodes) {
    this.#members = members;
    this.slots = slots;
    this.#nodes = nodes;
  }

  of(callId: string): MemberLink | undefined {
    const holder = this.slots.holderOf(callId);
    return holder === undefined ? undefined : this.#members.get(holder)?.link;
  }

  other(asker: number, callId: string): MemberLink | undefined {
    return this.slots.holderOf(callId) === asker ? undefined : this.of(callId);
  }

  isHere(callId: string): boolean {
    return this.slots.holderOf(callId) !== undefined;
  }

  /** Whether only another node can have the call. */
  isElsewhere(callId: string): boolean {
    return this.#nodes !== undefined && !this.isHere(callId);
  }

  /** Whether any process of the box or of the other nodes has it. */
  async isAnywhere(callId: string): Promise<boolean> {
    return this.isHere(callId) || ((await this.#nodes?.hasCall(callId)) ?? false);
  }

  /** False where neither another process of the box nor another node can have the call. */
  async end(asker: number, call: CallEnding): Promise<boolean> {
    if (this.isElsewhere(call.callId)) return (await this.#nodes?.endCall(call)) ?? false;
    return tellOfEnd(this.other(asker, call.callId), call);
  }

  /** False where no process of the box has the call. */
  endHere(call: CallEnding): boolean {
    return tellOfEnd(this.of(call.callId), call);
  }
}

function tellOfEnd(holder: MemberLink | undefined, call: CallEnding): boolean {
  holder?.tell("endCall", call);
  return holder !== undefined;
}
