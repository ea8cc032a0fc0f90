/**
 * The calls that each organization has in progress. A slot belongs to its call and is given back once, by the call's
 * own end; a second release does nothing. One process holds them in memory; several would share them behind the
 * same three methods.
 */
export class CallSlots {
  readonly #orgByCall = new Map<string, string>();
  readonly #countByOrg = new Map<string, number>();

  get count(): number {
    return this.#orgByCall.size;
  }

  countOf(orgId: string): number {
    return this.#countByOrg.get(orgId) ?? 0;
  }

  /** False when the organization already has `callsMax` calls. */
  acquire(orgId: string, callId: string, callsMax: number): boolean {
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
