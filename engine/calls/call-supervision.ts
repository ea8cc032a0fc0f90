import type { CallStore } from "../../storage/calls/call-store.js";
import { Failure } from "../failure.js";
import { type Ending, ORGANIZATION_ENDED } from "../session/ending.js";
import type { Tenant } from "../tenancy/tenant.js";
import type { Soon } from "../time/soon.js";
import type { CallFeed } from "./call-feed.js";
import type { CallJournal } from "./call-journal.js";
import type { Watcher } from "./topic-watchers.js";

export interface CallSupervisionOptions {
  readonly calls: Pick<CallStore, "findById">;
  readonly feed: Pick<CallFeed, "demandRoom" | "watch">;
  readonly journal: Pick<CallJournal, "annotate">;
  /** False where no process of this box has the call. */
  readonly endCall: (callId: string, ending: Ending) => Soon<boolean>;
}

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

  /** A watch of all calls of the organization, without their words. Failure `rateLimited`. */
  watchAll({ organization }: Pick<Tenant, "organization">): CallWatch {
    return this.#watch({ orgId: organization.id });
  }

  /** A watch of one call, with its words. Failures `notFound`, `rateLimited`. */
  async watchOne({ organization }: Pick<Tenant, "organization">, id: string): Promise<CallWatch> {
    const { callId } = await this.#find(organization.id, id);
    return this.#watch({ orgId: organization.id, callId });
  }

  /** Has the agent say goodbye and hang up. Failures `notFound`, and `conflict` of a call that has ended or is elsewhere. */
  async end({ organization, userId, apiKeyId }: Tenant, id: string): Promise<void> {
    const { callId, isActive } = await this.#find(organization.id, id);
    if (!isActive) throw new Failure("conflict", "the call has ended already");
    if (!(await this.#options.endCall(callId, ORGANIZATION_ENDED))) {
      throw new Failure("conflict", "the call is on no line of this server, or has just ended");
    }
    const endedBy =
      userId === undefined ? { type: "apiKey", id: apiKeyId } : { type: "user", id: userId };
    this.#options.journal.annotate(callId, { endedBy });
  }

  #watch(watched: { readonly orgId: string; readonly callId?: string }): CallWatch {
    const { feed } = this.#options;
    feed.demandRoom(watched.orgId);
    return { run: (watcher, signal) => feed.watch(watched, watcher, signal) };
  }

  async #find(orgId: string, id: string) {
    const call = await this.#options.calls.findById(orgId, id);
    if (call === undefined) throw new Failure("notFound", "there is no such call");
    return { callId: call.id, isActive: call.status === "active" };
  }
}
