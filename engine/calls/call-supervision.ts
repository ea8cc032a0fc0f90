import type { CallStore } from "../../storage/calls/call-store.js";
import { type Ending, ORGANIZATION_ENDED } from "../conversation/call-end.js";
import { RequestError } from "../request-error.js";
import type { Standing } from "../tenancy/people/standing.js";
import type { Tenant } from "../tenancy/tenant.js";
import type { Clock } from "../time/clock.js";
import type { MaybePromise } from "../time/maybe-promise.js";
import type { CallFeed } from "./call-feed.js";
import type { CallJournal } from "./call-journal.js";
import type { Watcher } from "./topic-watchers.js";

type Watching = Pick<Tenant, "organization" | "userId" | "apiKeyId">;

export interface CallSupervisionOptions {
  readonly calls: Pick<CallStore, "findById">;
  readonly feed: Pick<CallFeed, "requireRoom" | "watch">;
  readonly journal: Pick<CallJournal, "annotate">;
  /** False where no process of this server has the call. */
  readonly endCall: (callId: string, ending: Ending) => MaybePromise<boolean>;
  /** Whether who watches may still do so. */
  readonly standing: Pick<Standing, "holds">;
  readonly clock: Pick<Clock, "every">;
}

/** A watch ends so soon after its API key was revoked, or its user removed. */
const STANDING_CHECK_MS = 500;

export interface CallWatch {
  /** Called once; resolves when the watch is over. */
  readonly run: (watcher: Watcher, signal: AbortSignal) => Promise<void>;
}

/** What people of an organization can do about its calls in progress. */
export class CallSupervision {
  readonly #options: CallSupervisionOptions;

  constructor(options: CallSupervisionOptions) {
    this.#options = options;
  }

  /** A watch of all calls of the organization, without their words. RequestError `rate_limited`. */
  watchAll(tenant: Watching): CallWatch {
    return this.#watch(tenant, { orgId: tenant.organization.id });
  }

  /** A watch of one call, with its words. Failures `notFound`, `rateLimited`. */
  async watchOne(tenant: Watching, id: string): Promise<CallWatch> {
    const orgId = tenant.organization.id;
    const { callId } = await this.#find(orgId, id);
    return this.#watch(tenant, { orgId, callId });
  }

  /** Has the agent say goodbye and hang up. Failures `notFound`, and `conflict` of a call that has ended or is elsewhere. */
  async end({ organization, userId, apiKeyId }: Tenant, id: string): Promise<void> {
    const { callId, isActive } = await this.#find(organization.id, id);
    if (!isActive) throw new RequestError("call_ended", "the call has already ended");
    if (!(await this.#options.endCall(callId, ORGANIZATION_ENDED))) {
      throw new RequestError("call_ended", "the call is not on this server, or has just ended");
    }
    const endedBy =
      userId === undefined ? { type: "apiKey", id: apiKeyId } : { type: "user", id: userId };
    this.#options.journal.annotate(callId, { endedBy });
  }

  #watch(
    { userId, apiKeyId }: Watching,
    watched: { readonly orgId: string; readonly callId?: string },
  ): CallWatch {
    const { feed, standing, clock } = this.#options;
    const { orgId } = watched;
    feed.requireRoom(orgId);
    return {
      run: async (watcher, signal) => {
        const over = new AbortController();
        const end = (): void => over.abort();
        // A store that does not answer ends no watch: it ends by itself within a minute.
        const check = async (): Promise<void> => {
          if (!(await standing.holds({ orgId, userId, apiKeyId }).catch(() => true))) end();
        };
        const stop = clock.every(STANDING_CHECK_MS, () => void check());
        signal.addEventListener("abort", end);
        if (signal.aborted) end();
        try {
          await feed.watch(watched, watcher, over.signal);
        } finally {
          stop();
          signal.removeEventListener("abort", end);
        }
      },
    };
  }

  async #find(orgId: string, id: string) {
    const call = await this.#options.calls.findById(orgId, id);
    if (call === undefined) throw new RequestError("not_found", "there is no such call");
    return { callId: call.id, isActive: call.status === "active" };
  }
}
