import { CallSlots } from "../calls/opening/call-slots.js";

/** More than any plan allows: what all nodes count together, a box only keeps. */
export const NO_LIMIT = Number.POSITIVE_INFINITY;

/** Which session process has which call, and how many calls each organization has on the box: the owner's. */
export class SlotLedger {
  readonly #slots = new CallSlots();
  readonly #holderByCall = new Map<string, number>();

  get callCount(): number {
    return this.#slots.count;
  }

  countOf(orgId: string): number {
    return this.#slots.countOf(orgId);
  }

  /** False when the organization already has `callsMax` calls on the box. */
  take(holder: number, orgId: string, callId: string, callsMax: number): boolean {
    if (!this.#slots.acquire(orgId, callId, callsMax)) return false;
    this.#holderByCall.set(callId, holder);
    return true;
  }

  /** False when another process has the call: what comes late of its former holder does not concern it. */
  free(holder: number, callId: string): boolean {
    if (this.#holderByCall.get(callId) !== holder) return false;
    this.#holderByCall.delete(callId);
    this.#slots.release(callId);
    return true;
  }

  /** Whoever has the call has lost its slot to another call of the same organization. */
  give(orgId: string, callId: string): void {
    const holder = this.#holderByCall.get(callId);
    if (holder !== undefined && this.#slots.callsOf(orgId).includes(callId)) {
      this.free(holder, callId);
    }
  }

  holderOf(callId: string): number | undefined {
    return this.#holderByCall.get(callId);
  }

  move(callId: string, to: number): void {
    if (this.#holderByCall.has(callId)) this.#holderByCall.set(callId, to);
  }

  /** The process is gone, and its calls with it; says which they were. */
  freeAllOf(holder: number): readonly string[] {
    const calls = [...this.#holderByCall].filter(([, each]) => each === holder);
    for (const [callId] of calls) this.free(holder, callId);
    return calls.map(([callId]) => callId);
  }
}
