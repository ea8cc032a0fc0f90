import type { Soon } from "../../time/soon.js";

/** The slots as those use them who open calls, whether this process counts them or the owner of the box does. */
export interface Slots {
  /** False when the organization already has `callsMax` calls, without `replaces`, whose slot this call is to have. */
  acquire(orgId: string, callId: string, callsMax: number, replaces?: string): Soon<boolean>;
  release(callId: string): void;
  /** The calls that the organization has on this box. */
  countOf(orgId: string): Soon<number>;
  /** The calls of this process. */
  readonly count: number;
  /** The organizations that have calls in this process. */
  readonly orgIds: readonly string[];
  /** The organization's calls in this process. */
  callsOf(orgId: string): readonly string[];
  /** Gives back the slots of calls of this process that are not alive any more, and says how many there were. */
  reconcile(isAlive: (callId: string) => boolean): number;
}

/**
 * The calls that each organization has in progress. A slot belongs to its call and is given back once, by the call's
 * own end; a second release does nothing. Where a box has several session processes, its owner counts for all of them.
 */
export class CallSlots implements Slots {
  readonly #orgByCall = new Map<string, string>();
  readonly #countByOrg = new Map<string, number>();

  get count(): number {
    return this.#orgByCall.size;
  }

  countOf(orgId: string): number {
    return this.#countByOrg.get(orgId) ?? 0;
  }

  /** The organizations that have calls in progress. */
  get orgIds(): readonly string[] {
    return [...this.#countByOrg.keys()];
  }

  callsOf(orgId: string): readonly string[] {
    return [...this.#orgByCall].filter(([, owner]) => owner === orgId).map(([callId]) => callId);
  }

  /** As in `Slots`. */
  acquire(orgId: string, callId: string, callsMax: number, replaces?: string): boolean {
    if (replaces !== undefined && this.#orgByCall.get(replaces) === orgId) this.release(replaces);
    const count = this.#countByOrg.get(orgId) ?? 0;
    if (count >= callsMax || this.#orgByCall.has(callId)) return false;
    this.#orgByCall.set(callId, orgId);
    this.#countByOrg.set(orgId, count + 1);
    return true;
  }

  release(callId: string): void {
    const orgId = this.#orgByCall.get(callId);
    if (orgId === undefined) return;
    this.#orgByCall.delete(callId);
    const count = (this.#countByOrg.get(orgId) ?? 1) - 1;
    if (count === 0) this.#countByOrg.delete(orgId);
    else this.#countByOrg.set(orgId, count);
  }

  /** Gives back the slots of calls that are not alive any more, and says how many there were: each one is a bug. */
  reconcile(isAlive: (callId: string) => boolean): number {
    const dead = [...this.#orgByCall.keys()].filter((callId) => !isAlive(callId));
    for (const callId of dead) this.release(callId);
    return dead.length;
  }
}
