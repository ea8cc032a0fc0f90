import { CallSlots, type Slots } from "../calls/opening/call-slots.js";
import type { OwnerLink } from "./box-questions.js";

/** The slots of a session process: its owner counts for the box, and here stands which of them are this process's. */
export class BoxSlots implements Slots {
  readonly #owner: OwnerLink;
  readonly #own = new CallSlots();

  constructor(owner: OwnerLink) {
    this.#owner = owner;
  }

  async acquire(
    orgId: string,
    callId: string,
    callsMax: number,
    replaces?: string,
  ): Promise<boolean> {
    const isTaken = await this.#owner.ask("takeSlot", { orgId, callId, callsMax, replaces });
    if (isTaken) this.adopt(orgId, callId);
    return isTaken;
  }

  release(callId: string): void {
    if (this.forget(callId)) this.#owner.tell("freeSlot", callId);
  }

  countOf(orgId: string): Promise<number> {
    return this.#owner.ask("countSlots", orgId);
  }

  get count(): number {
    return this.#own.count;
  }

  get orgIds(): readonly string[] {
    return this.#own.orgIds;
  }

  callsOf(orgId: string): readonly string[] {
    return this.#own.callsOf(orgId);
  }

  reconcile(isAlive: (callId: string) => boolean): number {
    const dead = this.orgIds.flatMap((orgId) => this.callsOf(orgId)).filter((id) => !isAlive(id));
    for (const callId of dead) this.release(callId);
    return dead.length;
  }

  /** The owner knows already that the call is this process's. */
  adopt(orgId: string, callId: string): void {
    this.#own.acquire(orgId, callId, Number.POSITIVE_INFINITY);
  }

  /** The owner knows already that the call is another process's. False when it was not this one's. */
  forget(callId: string): boolean {
    const before = this.#own.count;
    this.#own.release(callId);
    return this.#own.count < before;
  }
}
