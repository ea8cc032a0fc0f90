import { ShareUsedUpError } from "./organization-connections.js";

/** Requests of tools that one organization has in progress at the same time; the next ones wait. */
export const TOOLS_RUNNING_PER_ORGANIZATION_MAX = 256;
/** As many may wait, which is 16 tools in each of 250 calls; the next one fails at once. */
export const TOOLS_WAITING_PER_ORGANIZATION_MAX = 4_000;
/** Begun between two looks at the sockets of calls, of all organizations together: each takes some 0.3 ms of the event loop. */
const STARTS_PER_LOOP_TURN_MAX = 4;

interface Waiting {
  readonly start: () => void;
}

interface OrganizationTurns {
  running: number;
  readonly waiting: Set<Waiting>;
}

/**
 * Whose tool is next: organizations take turns, a few at a time between two rounds of the event loop, so that one whose calls
 * all use tools at once holds up its own tools and not the sound of other calls.
 */
export class FairTurns {
  readonly #byOrganization = new Map<string, OrganizationTurns>();
  #startedInTurn = 0;
  #isPumping = false;

  /** Resolves with what is to be called when the work is over. Rejects with a ShareUsedUpError, or the signal's reason. */
  async begin(orgId: string, signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted();
    const turns = this.#of(orgId);
    const mayStart =
      turns.running < TOOLS_RUNNING_PER_ORGANIZATION_MAX &&
      turns.waiting.size === 0 &&
      this.#startedInTurn < STARTS_PER_LOOP_TURN_MAX;
    if (mayStart) this.#start(turns);
    else await this.#wait(turns, signal);
    let isOver = false;
    return () => {
      if (isOver) return;
      isOver = true;
      turns.running -= 1;
      if (turns.waiting.size > 0) this.#pump();
      else if (turns.running === 0) this.#byOrganization.delete(orgId);
    };
  }

  #of(orgId: string): OrganizationTurns {
    const known = this.#byOrganization.get(orgId);
    if (known !== undefined) return known;
    const turns = { running: 0, waiting: new Set<Waiting>() };
    this.#byOrganization.set(orgId, turns);
    return turns;
  }

  #start(turns: OrganizationTurns): void {
    turns.running += 1;
    this.#startedInTurn += 1;
    this.#pump();
  }

  #wait(turns: OrganizationTurns, signal: AbortSignal): Promise<void> {
    if (turns.waiting.size >= TOOLS_WAITING_PER_ORGANIZATION_MAX) {
      throw new ShareUsedUpError("tools", TOOLS_WAITING_PER_ORGANIZATION_MAX);
    }
    return new Promise((resolve, reject) => {
      const giveUp = (): void => {
        turns.waiting.delete(waiting);
        reject(signal.reason);
      };
      const waiting: Waiting = {
        start: () => {
          signal.removeEventListener("abort", giveUp);
          resolve();
        },
      };
      turns.waiting.add(waiting);
      signal.addEventListener("abort", giveUp, { once: true });
      this.#pump();
    });
  }

  #pump(): void {
    if (this.#isPumping) return;
    this.#isPumping = true;
    setImmediate(() => {
      this.#isPumping = false;
      this.#startedInTurn = 0;
      while (this.#startedInTurn < STARTS_PER_LOOP_TURN_MAX && this.#startNext());
    });
  }

  /** The organization whose turn it was goes to the end. */
  #startNext(): boolean {
    for (const [orgId, turns] of this.#byOrganization) {
      const [next] = turns.waiting;
      if (next === undefined || turns.running >= TOOLS_RUNNING_PER_ORGANIZATION_MAX) continue;
      turns.waiting.delete(next);
      this.#byOrganization.delete(orgId);
      this.#byOrganization.set(orgId, turns);
      this.#start(turns);
      next.start();
      return true;
    }
    return false;
  }
}
