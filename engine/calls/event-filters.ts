import type { Database } from "../../storage/database.js";
import type { EventType } from "../../storage/webhooks/event-record.js";
import { ReadCache } from "../tenancy/read-cache.js";
import type { Clock } from "../time/clock.js";

/** Organizations whose endpoints are cached per process; a dropped one is read again. */
const KEPT_MAX = 10_000;

export type EventFilter = (type: EventType) => boolean;

const EVERYTHING: EventFilter = () => true;

/**
 * The events that active webhook endpoints of organizations want, so that a turn creates no event that is not
 * sent. A new endpoint counts in each process as soon as that process is notified, and within `KEPT_MAX_MS` in any
 * case.
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

  /** Never rejects: if the filter cannot be read, every event is created, and the commit decides what is stored. */
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
