import { OrganizationCounts } from "../../organization-counts.js";
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
  readonly #counts = new OrganizationCounts();

  get count(): number {
    return this.#orgByCall.size;
  }

  countOf(orgId: string): number {
    return this.#counts.of(orgId);
  }

  /** The organizations that have calls in progress. */
  get orgIds(): readonly string[] {
    return this.#counts.orgIds;
  }

  callsOf(orgId: string): readonly string[] {
    return [...this.#orgByCall].filter(([, owner]) => owner === orgId).map(([callId]) => callId);
  }

  /** As in `Slots`. */
  acquire(orgId: string, callId: string, callsMax: number, replaces?: string): boolean {
    if (replaces !== undefined && this.#orgByCall.get(replaces) === orgId) this.release(replaces);
    if (this.#counts.of(orgId) >= callsMax || this.#orgByCall.has(callId)) return false;
    this.#orgByCall.set(callId, orgId);
    this.#counts.add(orgId);
    return true;
  }

  release(callId: string): void {
    const orgId = this.#orgByCall.get(callId);
    if (orgId === undefined) return;
    this.#orgByCall.delete(callId);
    this.#counts.remove(orgId);
  }

  /** Gives back the slots of calls that are not alive any more, and says how many there were: each one is a bug. */
  reconcile(isAlive: (callId: string) => boolean): number {
    const dead = [...this.#orgByCall.keys()].filter((callId) => !isAlive(callId));
    for (const callId of dead) this.release(callId);
    return dead.length;
  }
}
