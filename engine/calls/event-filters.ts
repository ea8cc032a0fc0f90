import type { Database } from "../../storage/database.js";
import type { EventType } from "../../storage/webhooks/event-record.js";
import { ReadCache } from "../tenancy/read-cache.js";
import type { Clock } from "../time/clock.js";

/** Organizations whose endpoints are remembered by a process; one that falls out is read again. */
const KEPT_MAX = 10_000;

export type EventFilter = (type: EventType) => boolean;

const EVERYTHING: EventFilter = () => true;

/**
 * Which events the active webhook endpoints of organizations want, so that a turn of a call makes nothing that is not sent. An
 * endpoint that is new counts in each process as soon as that hears of the change, and within `KEPT_MAX_MS` in any case.
 */
export class EventFilters {
  readonly #webhooks: Pick<Database["webhooks"], "subscribedTypes">;
  readonly #cache: ReadCache<EventFilter>;

  constructor(
    {
      webhooks,
      recordChanges: changes,
    }: {
      readonly webhooks: Pick<Database["webhooks"], "subscribedTypes">;
      readonly recordChanges: Pick<Database["recordChanges"], "count">;
    },
    clock: Pick<Clock, "monotonicMs">,
  ) {
    this.#webhooks = webhooks;
    this.#cache = new ReadCache({ changes, clock, entriesMax: KEPT_MAX });
  }

  /** Never rejects: where it cannot be read every event is made, and the commit decides what is stored. */
  async of(orgId: string): Promise<EventFilter> {
    const read = async (): Promise<EventFilter> => {
      const types = await this.#webhooks.subscribedTypes(orgId);
      return (type) => types.has(type);
    };
    try {
      return (await this.#cache.get(orgId, read)) ?? EVERYTHING;
    } catch {
      return EVERYTHING;
    }
  }
}
