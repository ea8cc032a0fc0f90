import type { CallStore } from "../../storage/calls/call-store.js";
import type { CallRecord, JsonObject } from "../../storage/records.js";
import type { AuditAction } from "../../storage/tenancy/audit-record.js";
import {
  type Ending,
  ORGANIZATION_ENDED,
  transferredByOrganization,
} from "../conversation/call-end.js";
import {
  type CallControl,
  type ControlCommand,
  type ControlOutcome,
  SAY_WAITING_MAX,
} from "../conversation/control-command.js";
import { speakableSentences } from "../conversation/sentences.js";
import { invalidFields, RequestError } from "../request-error.js";
import { oneLine } from "../telephony/call-values.js";
import { numberRefusal } from "../telephony/refused-numbers.js";
import type { DialTargets } from "../tenancy/agents/dial-targets.js";
import type { PhoneNumbers } from "../tenancy/agents/phone-numbers.js";
import { type AuditedChange, actorOf, auditEntry } from "../tenancy/audit-entry.js";
import { type ActiveCredentials, whileActive } from "../tenancy/people/active-credentials.js";
import type { Tenant } from "../tenancy/tenant.js";
import type { Clock } from "../time/clock.js";
import { within } from "../time/deadline.js";
import type { MaybePromise } from "../time/maybe-promise.js";
import type { CallFeed } from "./call-feed.js";
import type { CallJournal } from "./call-journal.js";
import type { Watcher } from "./topic-subscribers.js";

type Watching = Pick<Tenant, "organization" | "userId" | "apiKeyId">;

export interface CallSupervisionOptions {
  readonly calls: Pick<CallStore, "findById">;
  readonly feed: Pick<CallFeed, "requireRoom" | "watch">;
  readonly journal: Pick<CallJournal, "annotate" | "recordAction">;
  /** Why the call can have no warm transfer; undefined if it can. */
  readonly warmTransferRefusal: (call: CallRecord) => Promise<string | undefined>;
  /** Writes what the person of a warm transfer hears if the order has no summary; empty if there is nothing to say. */
  readonly transferSummaries: { of(call: CallRecord): Promise<string> };
  /** False if no process of this server has the call. */
  readonly endCall: (callId: string, ending: Ending) => MaybePromise<boolean>;
  /** `elsewhere` where no process of this server has the call. */
  readonly controlCall: (call: CallControl) => MaybePromise<ControlOutcome>;
  /** Undefined with a simulated vendor: any number is allowed. */
  readonly dialTargets: Pick<DialTargets, "mayReach"> | undefined;
  /** Undefined with a simulated vendor: transfers may show every number. */
  readonly phoneNumbers: Pick<PhoneNumbers, "isAllowed"> | undefined;
  /** Whether the watcher's credentials are still valid. */
  readonly standing: Pick<ActiveCredentials, "areActive">;
  readonly clock: Clock;
  readonly newId: () => string;
}

type CallAction = AuditedChange<"call">["action"];

/** A call must be ended, or its agent muted, also while a disk is full. */
const RECORD_MAX_MS = 1_000;

/** What an order to a call is called in the audit trail. */
const COMMAND_ACTIONS = {
  say: "call.say",
  addContext: "call.addContext",
  sendDigits: "call.sendDtmf",
  mute: "call.mute",
  unmute: "call.unmute",
  transfer: "call.transfer",
} as const satisfies Record<ControlCommand["type"], AuditAction>;

export interface TransferOrder {
  /** E.164, or a SIP address. */
  readonly to: string;
  readonly mode?: "blind" | "warm" | undefined;
  /** What the person of a warm transfer hears; left out, the agent's LLM writes it. */
  readonly summary?: string | undefined;
  /** What the person sees: one of the organization's numbers, or `caller`. Left out: the number of the call. */
  readonly callerId?: string | undefined;
}

export interface CallWatch {
  /** Called once; resolves when the watch is over. */
  readonly run: (watcher: Watcher, signal: AbortSignal) => Promise<void>;
}

/** What members of an organization can do about its calls in progress. */
export class CallSupervision {
  readonly #options: CallSupervisionOptions;

  constructor(options: CallSupervisionOptions) {
    this.#options = options;
  }

  /** Watches all calls of the organization, without their words. RequestError `rate_limited`. */
  watchAll(tenant: Watching): CallWatch {
    return this.#watch(tenant, { orgId: tenant.organization.id });
  }

  /** Watches one call, with its words. RequestErrors `not_found`, `rate_limited`. */
  async watchOne(tenant: Watching, id: string): Promise<CallWatch> {
    const orgId = tenant.organization.id;
    const { callId } = await this.#find(orgId, id);
    return this.#watch(tenant, { orgId, callId });
  }

  /**
   * Has the agent say goodbye and hang up. RequestErrors `not_found`, and `conflict` if the call has ended or is
   * elsewhere.
   */
  async end(tenant: Tenant, id: string): Promise<void> {
    const { callId } = await this.findLive(tenant, id);
    await this.#recorded(callId, tenant, "call.end", () =>
      this.#endWith(callId, ORGANIZATION_ENDED),
    );
    this.#options.journal.annotate(callId, { endedBy: personOf(tenant) });
  }

  /**
   * Has the agent announce the transfer and transfer the caller; if that fails the call continues with the agent.
   * RequestErrors of `end`, `target_not_allowed`, `caller_number_not_allowed`, and `conflict` if the call is not a telephone call, is not open
   * yet, already ends or is transferred, or its vendor has no such transfer.
   */
  async transfer(tenant: Tenant, id: string, order: TransferOrder): Promise<void> {
    const { to, mode, summary, callerId } = order;
    const { dialTargets, phoneNumbers, transferSummaries } = this.#options;
    const { callId, channel } = await this.findLive(tenant, id);
    if (channel !== "phone") {
      throw new RequestError("conflict", "only telephone calls can be transferred");
    }
    const refusal = numberRefusal(to);
    if (refusal !== undefined) {
      throw new RequestError(
        "target_not_allowed",
        `to: callers cannot be transferred to ${refusal} numbers`,
      );
    }
    if (dialTargets !== undefined && !(await dialTargets.mayReach(tenant.organization.id, to))) {
      const message =
        "to: expected a target that the platform's administrator has allowed this organization to call";
      throw new RequestError("target_not_allowed", message);
    }
    const isShowable =
      callerId === undefined ||
      !callerId.startsWith("+") ||
      phoneNumbers === undefined ||
      (await phoneNumbers.isAllowed(tenant.organization.id, callerId));
    if (!isShowable) {
      const message =
        "callerId: expected a number that the platform's administrator has allowed this organization to call from";
      throw new RequestError("caller_number_not_allowed", message);
    }
    let briefing: string | undefined;
    if (mode === "warm") {
      const { call } = await this.#find(tenant.organization.id, id);
      const reason = await this.#options.warmTransferRefusal(call);
      if (reason !== undefined) {
        throw new RequestError("conflict", `mode: expected blind, since ${reason}`);
      }
      briefing = oneLine(summary ?? (await transferSummaries.of(call)));
    }
    const how = {
      ...(briefing !== undefined && { briefing }),
      ...(callerId !== undefined && { callerId }),
    };
    const ending = transferredByOrganization(to, how);
    await this.#command(tenant, callId, { type: "transfer", ending });
    this.#options.journal.annotate(callId, { transferredBy: personOf(tenant) });
  }

  /**
   * Has the agent of the call say something or send DTMF, gives its LLM a note, or mutes it. RequestErrors `invalid_request` of a text without
   * anything to speak, `not_found`, `call_ended`, and `conflict` of a call that cannot take it now.
   */
  async control(tenant: Tenant, id: string, command: ControlCommand): Promise<void> {
    const plain = "text" in command ? { ...command, text: oneLine(command.text) } : command;
    if (plain.type === "say" && speakableSentences(plain.text).length === 0) {
      const message = "expected a text in which something can be spoken";
      throw invalidFields([{ path: "text", message }]);
    }
    const { callId, channel } = await this.findLive(tenant, id);
    if (plain.type === "sendDigits" && channel !== "phone") {
      throw new RequestError("conflict", "only telephone calls take DTMF");
    }
    await this.#command(tenant, callId, plain);
    this.#options.journal.annotate(callId, { controlledBy: personOf(tenant) });
  }

  #command(tenant: Tenant, callId: string, command: ControlCommand): Promise<void> {
    return this.#recorded(callId, tenant, COMMAND_ACTIONS[command.type], async () => {
      const outcome = await this.#options.controlCall({ callId, command });
      if (outcome !== "done") throw controlRefused(outcome);
    });
  }

  /**
   * The audit trail has the command before it acts, and a second entry if it fails. While the store refuses, the
   * command acts all the same, and the entry waits in the queue of the call's writes.
   */
  async #recorded(
    callId: string,
    tenant: Tenant,
    action: CallAction,
    act: () => Promise<void>,
  ): Promise<void> {
    await within(this.#options.clock, RECORD_MAX_MS, this.#enter(callId, tenant, action));
    try {
      await act();
    } catch (error) {
      const reason = error instanceof RequestError ? error.code : "internal_error";
      void this.#enter(callId, tenant, "call.commandFailed", [action, reason]);
      throw error;
    }
  }

  /** Resolves when the entry is stored, or dropped. */
  #enter(
    callId: string,
    tenant: Tenant,
    action: CallAction,
    changes: readonly string[] = [],
  ): Promise<boolean> {
    const { journal, clock, newId } = this.#options;
    const orgId = tenant.organization.id;
    const entry = auditEntry({
      id: newId(),
      atMs: clock.epochMs(),
      actor: actorOf(tenant),
      action,
      target: { type: "call", id: callId, orgId, name: callId },
      changes,
    });
    return journal.recordAction(callId, entry);
  }

  async #endWith(callId: string, ending: Ending): Promise<void> {
    if (await this.#options.endCall(callId, ending)) return;
    throw new RequestError("call_ended", "the call is not on this server, or has just ended");
  }

  /** A call of the organization that has not ended. RequestErrors `not_found` and `call_ended`. */
  async findLive({ organization }: Tenant, id: string) {
    const { call: _call, ...found } = await this.#find(organization.id, id);
    if (!found.isActive) throw new RequestError("call_ended", "the call has already ended");
    return found;
  }

  #watch(
    { userId, apiKeyId }: Watching,
    watched: { readonly orgId: string; readonly callId?: string },
  ): CallWatch {
    const { feed } = this.#options;
    const { orgId } = watched;
    feed.requireRoom(orgId);
    return {
      run: (watcher, signal) =>
        whileActive(this.#options, { orgId, userId, apiKeyId }, signal, (until) =>
          feed.watch(watched, watcher, until),
        ),
    };
  }

  async #find(orgId: string, id: string) {
    const call = await this.#options.calls.findById(orgId, id);
    if (call === undefined) throw new RequestError("not_found", "there is no such call");
    return { callId: call.id, isActive: call.status === "active", channel: call.channel, call };
  }
}

function controlRefused(outcome: Exclude<ControlOutcome, "done">): RequestError {
  switch (outcome) {
    case "opening":
      return new RequestError("conflict", "the call is not open yet: try again");
    case "ending":
      return new RequestError("conflict", "the agent is ending or transferring the call");
    case "tooManyWaiting":
      return new RequestError(
        "conflict",
        `${SAY_WAITING_MAX} texts wait to be said: try again later, or set interrupt`,
      );
    case "ended":
      return new RequestError("call_ended", "the call has already ended");
    case "elsewhere":
      return new RequestError("call_ended", "the call is on no server, or has just ended");
  }
}

/** The person who made the request, for the call's record. */
function personOf({ userId, apiKeyId }: Tenant): JsonObject {
  return userId === undefined
    ? { type: "apiKey", ...(apiKeyId !== undefined && { id: apiKeyId }) }
    : { type: "user", id: userId };
}
