import type { Database } from "../../storage/database.js";
import type { EventType } from "../../storage/webhooks/event-record.js";
import { ReadCache } from "../tenancy/read-cache.js";
import type { Clock } from "../time/clock.js";

/** Organizations whose endpoints are remembered by a process; one that falls out is read again. */
const KEPT_MAX = 10_000;

export type EventWish = (type: EventType) => boolean;

const EVERYTHING: EventWish = () => true;

/**
 * Which events the active webhook endpoints of organizations want, so that a turn of a call makes nothing that is not sent. An
 * endpoint that is new counts in each process as soon as that hears of the change, and within `KEPT_MAX_MS` in any case.
 */
export class WantedEvents {
  readonly #webhooks: Pick<Database["webhooks"], "wantedTypes">;
  readonly #kept: ReadCache<EventWish>;

  constructor(
    {
      webhooks,
      recordChanges: changes,
    }: {
      readonly webhooks: Pick<Database["webhooks"], "wantedTypes">;
      readonly recordChanges: Pick<Database["recordChanges"], "count">;
    },
    clock: Pick<Clock, "monotonicMs">,
  ) {
    this.#webhooks = webhooks;
    this.#kept = new ReadCache({ changes, clock, entriesMax: KEPT_MAX });
  }

  /** Never rejects: where it cannot be read every event is made, and the commit decides what is stored. */
  async of(orgId: string): Promise<EventWish> {
    const read = async (): Promise<EventWish> => {
      const types = await this.#webhooks.wantedTypes(orgId);
      return (type) => types.has(type);
    };
    try {
      return (await this.#kept.get(orgId, read)) ?? EVERYTHING;
    } catch {
      return EVERYTHING;
    }
  }
}
