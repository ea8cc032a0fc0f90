import type { Database } from "../../storage/database.js";
import type { CallChannel, HistoryMessage } from "../../storage/records.js";
import type { Logger } from "../log.js";
import type { Metrics } from "../metrics/metrics.js";
import type { CallAudioTap } from "../session/call-audio-tap.js";
import type { CallerChannel } from "../session/caller-channel.js";
import { NOTHING_SAID } from "../session/effects.js";
import { CALLER_LEFT, type Ending, LISTENING_FAILED } from "../session/ending.js";
import type { LegAudio } from "../session/leg-audio.js";
import type { PlayoutDelays } from "../session/playout-delay.js";
import type { Session } from "../session/session.js";
import type { SpeechCache } from "../session/speech-cache.js";
import { type AgentForCall, type Agents, AgentUnavailable } from "../tenancy/agents.js";
import type { Tenant } from "../tenancy/tenant.js";
import type { Clock } from "../time/clock.js";
import { withoutTransfer } from "../tools/agent-toolbox.js";
import { type SpeechStream, VendorError } from "../vendors/contracts.js";
import type { Admission } from "./admission.js";
import { type AgentVendors, type AgentVendorsOptions, agentVendors } from "./agent-vendors.js";
import type { CallEntry, CallJournal } from "./call-journal.js";
import type { CallSlots } from "./call-slots.js";
import type { LiveCalls } from "./live-calls.js";
import { OpenRefusal, type RefusalReason } from "./open-refusal.js";
import type { Recordings } from "./recordings.js";
import { assembleSession } from "./session-assembly.js";
import { sessionSettings } from "./session-settings.js";

/** The contract's life of a conversation that nobody continues. */
const HISTORY_LIFETIME_MS = 24 * 60 * 60 * 1_000;

export interface OpenRequest {
  readonly tenant: Tenant;
  readonly agentId: string | undefined;
  /** The `historyKey` of an earlier session, to be continued. */
  readonly historyKey: string | undefined;
  readonly channel: CallChannel;
  readonly audio: LegAudio;
  /** Somebody can hand the caller on to another number; left out, nobody can. */
  readonly canTransfer?: boolean;
  /** The id of a call that was placed from here, which holds its slot already. */
  readonly placedCallId?: string | undefined;
}

type Admitted = Pick<OpenRequest, "tenant" | "agentId" | "placedCallId">;

/** What the caller's client is told when the session is ready. */
export interface OpenedCall {
  readonly agentName: string;
  readonly historyKey: string;
  /** To be told what the agent says; absent when the call is not recorded. */
  readonly tap?: CallAudioTap | undefined;
}

export interface OpenerSurroundings {
  readonly database: Pick<Database, "usage" | "history">;
  readonly agents: Agents;
  readonly vendors: AgentVendorsOptions;
  readonly journal: CallJournal;
  readonly recordings: Pick<Recordings, "begin">;
  readonly slots: CallSlots;
  readonly liveCalls: LiveCalls;
  readonly cache: SpeechCache;
  readonly playoutDelays: PlayoutDelays;
  readonly metrics: Metrics;
  readonly admission: Pick<Admission, "refusal">;
  readonly clock: Clock;
  readonly newId: () => string;
  readonly log: Logger;
}

interface Conversation {
  readonly key: string;
  readonly messages: readonly HistoryMessage[];
  readonly resumed: boolean;
}

const REFUSALS: Readonly<Record<AgentUnavailable["status"], RefusalReason>> = {
  notFound: "agentNotFound",
  inactive: "agentNotFound",
  paused_provider: "providerUnavailable",
  paused_plan: "modelNotAllowed",
};

/** Brings a call to life: agent, limits, slot, record, vendors, in this order; what fails gives back what came before. */
export class CallOpener {
  readonly #around: OpenerSurroundings;
  #stopping = false;

  constructor(around: OpenerSurroundings) {
    this.#around = around;
  }

  /** From now on every new call is refused. */
  stop(): void {
    this.#stopping = true;
  }

  get stopping(): boolean {
    return this.#stopping;
  }

  /** Forgets the conversations that can no longer be continued. */
  purgeHistory(): Promise<number> {
    const { database, clock } = this.#around;
    return database.history.purge(clock.epochMs() - HISTORY_LIFETIME_MS);
  }

  /**
   * Rejects with an OpenRefusal. `announce` is called with what the caller's client is to be told when it is connected;
   * `signal` says that the caller has gone meanwhile.
   */
  async open(
    request: OpenRequest,
    caller: CallerChannel,
    announce: (call: OpenedCall) => void,
    signal: AbortSignal,
  ): Promise<Session> {
    const beganAtMs = this.#around.clock.monotonicMs();
    try {
      const session = await this.#open(request, caller, announce, signal);
      this.#around.metrics.callReady(this.#around.clock.monotonicMs() - beganAtMs);
      return session;
    } catch (error) {
      if (error instanceof OpenRefusal) this.#around.metrics.callRefused(error.reason);
      throw error;
    }
  }

  /** Why a call would be refused right now; undefined when it would be taken. Rejects as `open` does otherwise. */
  async refusal(request: Admitted): Promise<OpenRefusal | undefined> {
    try {
      await this.#admit(request);
      const { organization, plan } = request.tenant;
      const { maxConcurrentCalls } = plan.limits;
      if (this.#around.slots.countOf(organization.id) < maxConcurrentCalls) return undefined;
      return tooManyCalls(maxConcurrentCalls);
    } catch (error) {
      if (error instanceof OpenRefusal) return error;
      throw error;
    }
  }

  async #admit(request: Admitted): Promise<AgentForCall> {
    if (this.#stopping) throw new OpenRefusal("serverStopping", "the server is restarting");
    const overload = request.placedCallId ? undefined : this.#around.admission.refusal;
    if (overload !== undefined) throw new OpenRefusal("overloaded", overload);
    const agent = await this.#agentFor(request);
    await this.#demandMinutes(request.tenant);
    return agent;
  }

  async #open(
    request: OpenRequest,
    caller: CallerChannel,
    announce: (call: OpenedCall) => void,
    signal: AbortSignal,
  ): Promise<Session> {
    const { slots, liveCalls } = this.#around;
    const { organization, plan } = request.tenant;
    const { maxConcurrentCalls } = plan.limits;
    const { placedCallId } = request;
    const callId = placedCallId ?? this.#around.newId();
    try {
      const agent = await this.#admit(request);
      if (!placedCallId && !slots.acquire(organization.id, callId, maxConcurrentCalls)) {
        throw tooManyCalls(maxConcurrentCalls);
      }
      // Until the session takes its place: the slot belongs to a call that is alive, and that can be told to end.
      let told: Ending | undefined;
      liveCalls.add({ callId, end: (ending) => (told = ending) });
      const session = await this.#connect(request, agent, callId, caller, announce, signal);
      if (told !== undefined) session.end(told);
      return session;
    } catch (error) {
      liveCalls.remove(callId);
      slots.release(callId);
      throw error;
    }
  }

  async #agentFor({ tenant, agentId }: Admitted): Promise<AgentForCall> {
    try {
      return await this.#around.agents.forCall(tenant, agentId);
    } catch (error) {
      if (!(error instanceof AgentUnavailable)) throw error;
      throw new OpenRefusal(REFUSALS[error.status], error.message, { cause: error });
    }
  }

  async #demandMinutes({ organization, plan }: Tenant): Promise<void> {
    const today = new Date(this.#around.clock.epochMs()).toISOString().slice(0, 10);
    const monthBegan = `${today.slice(0, 8)}01`;
    const used = await this.#around.database.usage.minutesBetween(
      organization.id,
      monthBegan,
      today,
    );
    if (used < plan.limits.maxMonthlyMinutes) return;
    const message = `the plan's ${plan.limits.maxMonthlyMinutes} minutes of this month are used up`;
    throw new OpenRefusal("limitReached", message);
  }

  async #conversation(orgId: string, key: string | undefined): Promise<Conversation> {
    if (key !== undefined) {
      const notBeforeMs = this.#around.clock.epochMs() - HISTORY_LIFETIME_MS;
      const messages = await this.#around.database.history.load(orgId, key, notBeforeMs);
      if (messages !== undefined) return { key, messages, resumed: true };
    }
    return { key: this.#around.newId(), messages: [], resumed: false };
  }

  async #connect(
    request: OpenRequest,
    admitted: AgentForCall,
    callId: string,
    caller: CallerChannel,
    announce: (call: OpenedCall) => void,
    signal: AbortSignal,
  ): Promise<Session> {
    const orgId = request.tenant.organization.id;
    const { canTransfer = false } = request;
    const agent = canTransfer ? admitted.agent : withoutTransfer(admitted.agent);
    const forCall = { ...admitted, agent };
    const vendors = this.#vendorsOf(forCall, request.audio);
    vendors.llm.client.warm();
    vendors.tts.client.warm();
    const conversation = await this.#conversation(orgId, request.historyKey);
    const entry = await this.#around.journal.begin({
      callId,
      orgId,
      agentId: forCall.agent.id,
      sessionId: request.placedCallId ?? this.#around.newId(),
      historyKey: conversation.key,
      channel: request.channel,
    });
    const { plan } = request.tenant;
    const promptChars = vendors.llm.systemPrompt.length;
    const settings = sessionSettings(forCall.agent, plan, promptChars, request.audio.isPaced);
    const { bytesPerMs } = request.audio;
    const history = conversation.messages;
    const tap = this.#around.recordings.begin({ callId, orgId }, forCall.agent, request.audio);
    const parts = { callId, settings, history, vendors, caller, entry, bytesPerMs, tap };
    const session = assembleSession(parts, this.#around);
    this.#around.liveCalls.add(session);
    const stream = await this.#listen(request, forCall, vendors, session, entry, signal);
    announce({ agentName: forCall.agent.name, historyKey: conversation.key, tap });
    this.#around.log.info({ callId, orgId, agentId: forCall.agent.id }, "call begun");
    session.begin(stream, conversation.resumed);
    return session;
  }

  #vendorsOf(forCall: AgentForCall, audio: LegAudio): AgentVendors {
    try {
      return agentVendors(forCall, audio, this.#around.vendors);
    } catch (error) {
      if (!(error instanceof VendorError)) throw error;
      this.#around.log.warn(
        { vendor: error.vendor, reason: error.message },
        "provider is misconfigured",
      );
      const message = `the agent's provider ${error.vendor} is not configured correctly`;
      throw new OpenRefusal("providerUnavailable", message, { cause: error });
    }
  }

  async #listen(
    request: OpenRequest,
    { agent, sttModelId }: AgentForCall,
    { stt }: AgentVendors,
    session: Session,
    entry: CallEntry,
    signal: AbortSignal,
  ): Promise<SpeechStream> {
    const { encoding, sampleRateHz } = request.audio;
    const language = agent.persona.language;
    const { endpointingMs } = agent.thresholds;
    const options = { language, modelId: sttModelId, encoding, sampleRateHz, endpointingMs };
    try {
      return await stt.open(options, session, signal);
    } catch (error) {
      session.release();
      if (signal.aborted) {
        entry.ended(CALLER_LEFT, NOTHING_SAID);
        throw new OpenRefusal("callerLeft", "the caller left before the call began", {
          cause: error,
        });
      }
      entry.ended(LISTENING_FAILED, NOTHING_SAID);
      if (!(error instanceof VendorError)) throw error;
      entry.vendorFailed("stt", error);
      throw new OpenRefusal("vendorFailed", LISTENING_FAILED.message, { cause: error });
    }
  }
}

function tooManyCalls(callsMax: number): OpenRefusal {
  return new OpenRefusal("limitReached", `the plan allows ${callsMax} calls at the same time`);
}
