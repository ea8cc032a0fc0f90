import type { Database } from "../../storage/database.js";
import type {
  AgentRecord,
  CallChannel,
  HistoryMessage,
  LanguageTexts,
  Persona,
  PlanRecord,
  StockPhrases,
} from "../../storage/records.js";
import { isRetryable } from "../../storage/statements/storage-error.js";
import { UniqueViolationError } from "../../storage/statements/unique-violation.js";
import type { InputFormat } from "../audio/audio-format.js";
import { BeepDetector } from "../audio/beep-detector.js";
import {
  type CallAudioTap,
  ConversationActor,
  LiveConversation,
  type UnavailableCategory,
} from "../conversation/actor.js";
import {
  CALLER_LEFT,
  type Ending,
  LISTENING_FAILED,
  unsupportedAudio,
} from "../conversation/call-end.js";
import type { CallerChannel } from "../conversation/caller-channel.js";
import type { ContinuedControl } from "../conversation/control-command.js";
import { type CallRecorder, EffectRunner } from "../conversation/effect-runner.js";
import { type ContinuedAnswerer, NO_WORDS, type TurnSave } from "../conversation/effects.js";
import type { LegAudio } from "../conversation/leg-audio.js";
import { screeningAnswer, stockPhrases } from "../conversation/lexicon.js";
import { controlOutcome } from "../conversation/live-control.js";
import type { PreparedPhrases } from "../conversation/prepared-phrases.js";
import type { SpeechCache, VoicePaces } from "../conversation/speech-cache.js";
import {
  type ConversationSettings,
  type LanguageSettings,
  newConversation,
  type OutboundSettings,
} from "../conversation/state.js";
import type { PlayoutDelays } from "../conversation/synthesis.js";
import { CallKnowledge, type CallKnowledgeDeps } from "../knowledge/call-knowledge.js";
import type { Logger } from "../log.js";
import type { Metrics } from "../metrics/metrics.js";
import type { CallInfo } from "../telephony/call-info.js";
import { type CallValues, mergedValues } from "../telephony/call-values.js";
import { phoneVendor } from "../telephony/phone-vendors.js";
import { numberRefusal } from "../telephony/refused-numbers.js";
import type { TransferResult } from "../telephony/transfer-report.js";
import {
  type AgentForCall,
  AgentUnavailableError,
  simulatedCategories,
} from "../tenancy/agents/agent-for-call.js";
import type { Agents } from "../tenancy/agents/agents.js";
import type { DialTargets } from "../tenancy/agents/dial-targets.js";
import type { Tenant } from "../tenancy/tenant.js";
import type { Clock } from "../time/clock.js";
import { within } from "../time/deadline.js";
import { sessionTools, withTransfers } from "../tools/agent-toolbox.js";
import { type OpenToolCall, OpenToolCalls } from "../tools/open-tool-calls.js";
import { ToolLog } from "../tools/tool-log.js";
import { withSentences } from "../tools/tool-sentences.js";
import { type SpeechStream, VendorError } from "../vendors/contracts.js";
import { voiceFault } from "../vendors/registry.js";
import { primaryLanguage } from "../vendors/spoken-language.js";
import {
  type Admission,
  type CallTerms,
  type MinutesStores,
  MonthlyMinutes,
  type PlanPlaceDeps,
  type Slots,
  takePlace,
  withTerms,
} from "./admission.js";
import { type AgentVendors, type AgentVendorsOptions, agentVendors } from "./agent-vendors.js";
import type { CallFeed } from "./call-feed.js";
import { answeredByIn, type CallEntry, type CallJournal } from "./call-journal.js";
import { ListenedCall, tapsTogether } from "./call-listening.js";
import {
  agentRefused,
  CallRefusedError,
  cannotBeStored,
  eventDelayed,
  type RefusalReason,
  serverStops,
  tooManyCalls,
} from "./call-refused-error.js";
import { type CallFacts, CallVariables, usesValueOf } from "./call-variables.js";
import type { PhoneConversation } from "./continuations.js";
import { type Conversation, Conversations } from "./conversations.js";
import type { LiveCalls } from "./live-calls.js";
import { type MachineDetection, verdictOf } from "./outbound/placed-calls.js";
import { requestPreCall } from "./pre-call.js";
import type { PreemptiveBudget } from "./preemptive-budget.js";
import type { Recordings } from "./recording/recordings.js";
import type { StoreHealth } from "./store-health.js";

/** On the telephone a silent caller may have put the receiver aside. */
const IDLE_TIMEOUT_ON_TELEPHONE_MS = 10_000;

export interface CallCircumstances {
  readonly promptChars: number;
  readonly isPaced: boolean;
  readonly isStreamed: boolean;
  /** The caller talked to the agent a moment ago, and was cut off. */
  readonly wasBroken: boolean;
  /** The transfer of the caller failed, and the caller is back with the agent. */
  readonly failedTransfer?: TransferResult | undefined;
  /** What the conversation has come to in an earlier call; one that the agent does not have is ignored. */
  readonly language?: string | undefined;
  /** Only of a placed call. */
  readonly outbound?: OutboundSettings | undefined;
}

function textsIn(persona: Persona, tag: string): Omit<LanguageTexts, "language"> | undefined {
  if (tag === persona.language) return persona;
  return persona.languageTexts.find(({ language }) => language === tag);
}

/** What the agent says by itself in a language, the author's own phrases before those of the language. */
export function phrasesIn(persona: Persona, tag: string): StockPhrases {
  return { ...stockPhrases(tag), ...textsIn(persona, tag)?.stockPhrases };
}

/** The behaviour of one call, from the agent's settings and its plan. */
export function sessionSettings(
  agent: AgentRecord,
  plan: PlanRecord,
  circumstances: CallCircumstances,
): ConversationSettings {
  const { promptChars, isPaced, isStreamed, wasBroken, failedTransfer } = circumstances;
  const { language, outbound } = circumstances;
  const { thresholds, persona } = agent;
  const tags = [persona.language, ...otherLanguages(persona)];
  const first = tags.find((tag) => tag === language) ?? persona.language;
  const toolsIn = (tag: string) =>
    tag === persona.language
      ? agent
      : withSentences(
          agent,
          persona.languageTexts.find(({ language: other }) => other === tag)?.toolSentences ?? {},
        );
  const stock = phrasesIn(persona, first);
  const greeting = textsIn(persona, first)?.greeting ?? persona.greeting;
  const { fillerAfterMs } = thresholds;
  const idleTimeoutMs = thresholds.idleTimeoutMs ?? (isPaced ? IDLE_TIMEOUT_ON_TELEPHONE_MS : 0);
  const saysOwnWords = fillerAfterMs > 0 || idleTimeoutMs > 0;
  const onUnrecognizedSpeech =
    thresholds.onUnrecognizedSpeech ?? (isPaced && saysOwnWords ? "ask" : "ignore");
  const backAgain = failedTransfer && wordsAfterTransfer(stock, failedTransfer);
  const durationSec = Math.min(thresholds.maxCallDurationSec, plan.limits.maxCallDurationSec);
  const speaking = (languageTag: string, words: StockPhrases): LanguageSettings => ({
    languageTag,
    language: primaryLanguage(languageTag),
    apology: words.apology,
    transferring: words.transferring,
    cannotTransfer: words.cannotTransfer,
    suspended: words.suspended,
    callEndedByOrganization: words.callEndedByOrganization,
    phrases: saysOwnWords ? words : undefined,
    repeatRequest: onUnrecognizedSpeech === "ask" ? words.notRecognized : "",
    tools: sessionTools(toolsIn(languageTag)),
  });
  const languages = tags.map((tag) => speaking(tag, phrasesIn(persona, tag)));
  return {
    ...speaking(first, stock),
    languages: languages.length === 1 ? [] : languages,
    greeting: backAgain ?? (wasBroken ? stock.interrupted : greeting),
    fillerAfterMs,
    idleTimeoutMs,
    sensitivity: thresholds.interruptionSensitivity,
    backchannels: thresholds.backchannels,
    backchannelPhrases: thresholds.backchannelPhrases,
    interruptionPhrases: thresholds.interruptionPhrases,
    preemptiveGeneration: thresholds.preemptiveGeneration,
    // The target has just failed; the caller is not transferred there again and again.
    onProviderFailure: failedTransfer === undefined ? thresholds.onProviderFailure : "end",
    silenceTimeoutMs: thresholds.silenceTimeoutMs,
    maxEndpointingDelayMs: thresholds.maxEndpointingDelayMs,
    dtmfDigits: thresholds.dtmfDigits,
    durationMaxMs: durationSec * 1_000,
    isPaced,
    isStreamed,
    ...(outbound !== undefined && { outbound }),
    systemPromptChars: promptChars,
  };
}

/** What the agent says on a call that it has placed, before it talks to a person. */
export function outboundSettings(
  { name, persona }: Pick<AgentRecord, "name" | "persona">,
  about: {
    readonly organization: string;
    readonly detection: MachineDetection;
    /** Who was at the other end of the broken call that this one continues. */
    readonly continued?: ContinuedAnswerer | undefined;
    readonly isBeepReported: boolean;
    /** The greeting holds values of this call. */
    readonly isGreetingPrivate: boolean;
  },
): OutboundSettings {
  const { outbound, language } = persona;
  const { organization, detection, continued, isBeepReported, isGreetingPrivate } = about;
  const isPersonMet = continued?.kind === "person";
  const own = { agent: name, organization };
  return {
    awaitsVerdict: continued === undefined ? detection !== "none" : !isPersonMet,
    greetsPersonOnly: outbound.whileDetecting === "wait" || isGreetingPrivate,
    voicemailMessage: outbound.voicemailMessage ?? "",
    isBeepReported,
    screeningAnswer: outbound.screeningAnswer ?? screeningAnswer(language, own),
    ...(continued !== undefined && { continued }),
  };
}

/** A person whose call broke off; also of a placed call whose vendor does not look for machines. */
const PERSON: ContinuedAnswerer = { kind: "person", isGreetingDue: false, screeningAnswers: 0 };

/** Who is at the other end of a placed call as it begins. */
function answererOf(outbound: OutboundSettings | undefined): ContinuedAnswerer | undefined {
  if (outbound === undefined) return undefined;
  const { continued, awaitsVerdict, greetsPersonOnly } = outbound;
  if (continued !== undefined || !awaitsVerdict) return continued;
  return { kind: "pending", isGreetingDue: greetsPersonOnly, screeningAnswers: 0 };
}

function reportsBeeps(vendor: string | undefined): boolean {
  return vendor !== undefined && phoneVendor(vendor)?.capabilities.machineDetection === "beep";
}

/** The results of a transfer that no person answered, or whose question got no answer from a person. */
const NOT_ANSWERED: ReadonlySet<TransferResult> = new Set(["noAnswer", "notAccepted", "machine"]);

/** The further languages that STT can tell from the first one, by the first parts of their tags. */
function otherLanguages({ language, languages }: Persona): readonly string[] {
  const own = primaryLanguage(language);
  return languages.filter((tag) => primaryLanguage(tag) !== own);
}

function wordsAfterTransfer(stock: StockPhrases, result: TransferResult): string {
  if (result === "busy") return stock.lineBusy;
  return NOT_ANSWERED.has(result) ? stock.noAnswer : stock.cannotTransfer;
}

export interface ConversationParts {
  readonly callId: string;
  readonly orgId: string;
  readonly settings: ConversationSettings;
  readonly history: readonly HistoryMessage[];
  /** What is kept of the call before it; undefined for a call that continues none. */
  readonly control?: ContinuedControl | undefined;
  readonly vendors: AgentVendors;
  readonly caller: CallerChannel;
  readonly entry: CallEntry;
  readonly openToolCalls: Pick<OpenToolCalls, "used">;
  /** The agent's documents; undefined for an agent without documents. */
  readonly knowledge?: CallKnowledge | undefined;
  /** The format that STT receives. */
  readonly input: InputFormat;
  /** Receives the audio of a recorded call; undefined for other calls. */
  readonly tap: CallAudioTap | undefined;
}

export interface AssemblyDeps {
  readonly cache: SpeechCache;
  readonly playoutDelays: PlayoutDelays;
  readonly voicePaces: VoicePaces;
  readonly phrases: PreparedPhrases;
  readonly preemptiveBudget: PreemptiveBudget;
  readonly liveCalls: LiveCalls;
  readonly slots: Slots;
  readonly clock: Clock;
  readonly log: Logger;
}

const INTERNAL_ERROR: Ending = {
  reason: "internalError",
  status: "failed",
  message: "internal error",
};

/** Joins actor and effects into a conversation that is recorded, and whose slot is freed, however it ends. */
export function assembleConversation(
  parts: ConversationParts,
  deps: AssemblyDeps,
): LiveConversation {
  const { callId, settings, history, caller, entry, knowledge } = parts;
  const { llm, ttsIn, answers } = parts.vendors;
  const tts = ttsIn(settings.languageTag);
  const { cache, playoutDelays, voicePaces, phrases, clock, liveCalls, slots, log } = deps;
  const tools = new ToolLog(clock);
  const toolbox = tools.watch(parts.vendors.toolbox);
  const openAfter = ({ added }: TurnSave) =>
    parts.openToolCalls.used(added.flatMap(({ tools: exchanges = [] }) => exchanges));
  const vendorFailed = once((category, error) => entry.vendorFailed(category, error));
  answers.notify(vendorFailed);
  const recorder: CallRecorder = {
    addMessages: (message) => {
      entry.addMessages(message);
      if (message.type === "transcript" && message.role === "user") knowledge?.hear(message.text);
    },
    bargedIn: (turnId, bargeIn) => entry.bargedIn(turnId, bargeIn),
    callerTurnEnded: (turnId, end) => entry.callerTurnEnded(turnId, end),
    languageSwitched: (language) => entry.languageSwitched(language),
    agentMuted: (isMuted) => entry.agentMuted(isMuted),
    contextAdded: (context) => entry.contextAdded(context),
    textOrdered: (unspoken) => entry.textOrdered(unspoken),
    answererChanged: (answerer) => entry.answererChanged(answerer),
    turnSaved: (save) =>
      entry.turnSaved(
        { ...save, added: tools.withoutSecrets(save.added) },
        answers.take(),
        { ...tools.take(), ...knowledge?.take(save.report?.turn) },
        openAfter(save),
      ),
    vendorFailed,
    ended: (ending, save) => {
      session.release();
      liveCalls.remove(callId);
      slots.release(callId);
      entry.ended(ending, save, openAfter(save));
    },
  };
  const voice = { tts, ttsIn, cache, playoutDelays, voicePaces, phrases };
  const preemptiveReplies = deps.preemptiveBudget.of(parts.orgId);
  const surroundings = {
    clock,
    llm,
    ...voice,
    toolbox,
    preemptiveReplies,
    caller,
    recorder,
    log,
    earlier: entry.earlier,
    knowledge,
  };
  const runner = new EffectRunner(surroundings, clock.monotonicMs());
  const { control } = parts;
  const begun = newConversation(settings, history, voicePaces.of(tts.cacheKey), control);
  const actor = new ConversationActor(begun, runner, (error) => {
    log.error({ callId, error }, "the conversation failed; ending the call");
    caller.send({
      type: "error",
      reason: INTERNAL_ERROR.reason,
      message: INTERNAL_ERROR.message,
    });
    caller.end(INTERNAL_ERROR);
    recorder.ended(INTERNAL_ERROR, rescue(actor));
  });
  runner.deliverTo((event) => actor.send(event));
  const vendorLog = { vendorFailed, wasDeaf: (sttOutageMs: number) => entry.wasDeaf(sttOutageMs) };
  const session: LiveConversation = new LiveConversation(
    callId,
    runner,
    vendorLog,
    parts.input,
    (command) => controlOutcome(actor.state, command),
    parts.tap,
    settings.outbound?.awaitsVerdict === true ? new BeepDetector(parts.input) : undefined,
  );
  entry.attach(llm, () => session.receivedMs, settings.durationMaxMs);
  return session;
}

/** The chain reports each failure, and the conversation reports the chain's last one: each is recorded once. */
function once(tell: CallRecorder["vendorFailed"]): CallRecorder["vendorFailed"] {
  const reported = new WeakSet<Error>();
  return (category, error) => {
    const isReported =
      reported.has(error) || (error.cause instanceof Error && reported.has(error.cause));
    reported.add(error);
    if (!isReported) tell(category, error);
  };
}

/** What can still be stored of a call whose step threw. */
function rescue(actor: ConversationActor): TurnSave {
  const { unsaved, metrics } = actor.state.record;
  return { messages: unsaved, metrics, report: undefined, added: [] };
}

export interface OpenRequest {
  readonly tenant: Tenant;
  readonly agentId: string | undefined;
  /** The `historyKey` of an earlier session to continue. */
  readonly historyKey: string | undefined;
  /** The conversation of a telephone call, instead of a `historyKey`; this may be its first session, or a later one. */
  readonly conversation?: PhoneConversation;
  readonly channel: CallChannel;
  readonly audio: LegAudio;
  /** The call can be transferred to another number; omitted: it cannot. */
  readonly canTransfer?: boolean;
  /** The id of a call that this server placed, which already holds its slot. */
  readonly placedCallId?: string | undefined;
  /** What becomes of a placed call that a machine answers; omitted for other calls. */
  readonly detection?: MachineDetection | undefined;
  readonly terms?: CallTerms | undefined;
  /** The calling and the called number of a telephone call; the record of the call before it takes precedence. */
  readonly callInfo?: CallInfo | undefined;
}

/** The event of a refusal is stored within milliseconds; after this time a slower store no longer delays the caller. */
const REFUSAL_STORED_MAX_MS = 5_000;
/** Refusals without an event: the store refuses writes, or the call has a record with its end. */
const UNREPORTED_REFUSALS: ReadonlySet<string> = new Set<RefusalReason>([
  "storeFailing",
  "callerLeft",
]);

/** A call that is refused before it has a record. */
export interface RefusedCall extends Pick<OpenRequest, "tenant" | "agentId" | "channel"> {
  readonly callInfo?: CallInfo | undefined;
  /** The same for each refusal of the same call; omitted: a new one. */
  readonly callId?: string | undefined;
}

type Admitted = Pick<OpenRequest, "tenant" | "agentId" | "placedCallId"> & {
  /** The caller had a call here before, and returns to the agent. */
  readonly isReturning?: boolean;
};

interface Opening {
  readonly admitted: AgentForCall;
  readonly callId: string;
  readonly conversation: Conversation;
}

/** What the caller's client learns when the call is ready. */
export interface OpenedCall {
  /** The id of the call record. */
  readonly callId: string;
  readonly agentName: string;
  readonly historyKey: string;
  /** Receives the agent's audio; absent if the call is not recorded. */
  readonly tap?: CallAudioTap | undefined;
}

export interface OpenerDeps extends AssemblyDeps {
  readonly database: ConstructorParameters<typeof Conversations>[0]["database"] &
    MinutesStores & { readonly knowledge: CallKnowledgeDeps["store"] } & Pick<Database, "writers">;
  /** Undefined: documents are searched by full text alone. */
  readonly vectorSearch?: CallKnowledgeDeps["vectors"];
  readonly agents: Pick<Agents, "forCall">;
  readonly vendors: AgentVendorsOptions;
  readonly journal: Pick<
    CallJournal,
    | "start"
    | "link"
    | "transferNotMade"
    | "annotate"
    | "noteToolCalls"
    | "stored"
    | "recordFailed"
    | "refused"
  >;
  readonly recordings: Pick<Recordings, "startRecording" | "converters">;
  readonly feed: Pick<CallFeed, "hasWatchers" | "publishAudio">;
  readonly metrics: Pick<Metrics, "callReady" | "callRefused" | "knowledgeSearched" | "lookedUp">;
  /** Undefined with a simulated vendor: callers may be transferred to any number. */
  readonly dialTargets: Pick<DialTargets, "mayReach"> | undefined;
  /** Whether the sandbox stands at the address of every vendor of the platform. */
  readonly isSandboxed?: boolean;
  readonly admission: Pick<Admission, "refusal" | "refusalOfReturning" | "noteReturning">;
  readonly storeWatch: Pick<StoreHealth, "refusal">;
  /** As in `ConversationDeps`. */
  readonly hasOtherNodes: (callId: string) => Promise<boolean>;
  readonly endCall: PlanPlaceDeps["endCall"];
  readonly newId: () => string;
}

/** Opens a call: agent, limits, slot, record, vendors, in this order; a failure frees what was taken before. */
export class CallOpener {
  readonly #deps: OpenerDeps;
  readonly #conversations: Conversations;
  readonly #minutes: MonthlyMinutes;
  #stopping = false;

  constructor(deps: OpenerDeps) {
    this.#deps = deps;
    const { database, clock } = deps;
    this.#conversations = new Conversations(deps);
    this.#minutes = new MonthlyMinutes(database, clock);
  }

  /** From now on every new call is refused. */
  stop(): void {
    this.#stopping = true;
  }

  get stopping(): boolean {
    return this.#stopping;
  }

  /** Removes the conversations that can no longer be continued. */
  purgeHistory(): Promise<number> {
    return this.#conversations.purge();
  }

  /**
   * Rejects with a CallRefusedError. `announce` is called with the message for the caller's client once it is
   * connected; `signal` aborts when the caller has left.
   */
  async open(
    request: OpenRequest,
    caller: CallerChannel,
    announce: (call: OpenedCall) => void,
    signal: AbortSignal,
  ): Promise<LiveConversation> {
    const beganAtMs = this.#deps.clock.monotonicMs();
    try {
      const session = await this.#open(request, caller, announce, signal);
      this.#deps.metrics.callReady(this.#deps.clock.monotonicMs() - beganAtMs);
      return session;
    } catch (error) {
      if (!(error instanceof CallRefusedError)) throw error;
      const told = (await this.#noteUnopened(request, error.reason)) ? error : eventDelayed(error);
      this.#deps.metrics.callRefused(told.reason);
      throw told;
    }
  }

  /** A placed call gets a record of its failure; a call to a server that stops comes back. */
  async #noteUnopened(request: OpenRequest, reason: RefusalReason): Promise<boolean> {
    if (request.placedCallId !== undefined || reason === "serverStopping") return true;
    return this.noteRefusal({ ...request, callId: request.conversation?.sessionId }, reason);
  }

  /**
   * A call is refused for good, without a record: the organization's endpoints are notified. Resolves when the
   * event is stored, so that a process that dies after it has answered the caller loses no event. False: the event is
   * not stored in time, and the answer must not promise it.
   */
  async noteRefusal(
    { tenant, agentId, channel, callInfo, callId = this.#deps.newId() }: RefusedCall,
    reason: RefusalReason | "rateLimited",
  ): Promise<boolean> {
    if (UNREPORTED_REFUSALS.has(reason)) return true;
    const { journal, clock } = this.#deps;
    const orgId = tenant.organization.id;
    const call = { callId, orgId, agentId: agentId ?? null, channel, callInfo, reason };
    const stored = journal.refused(call);
    return (await within(clock, REFUSAL_STORED_MAX_MS, stored)) && (await stored);
  }

  /**
   * A telephone call whose audio cannot be decoded gets a record that says so; one without an agent is refused.
   * Rejects with a CallRefusedError.
   */
  async recordUnsupported(
    request: Admitted &
      Pick<OpenRequest, "callInfo"> & { readonly conversation: PhoneConversation },
    format: string,
  ): Promise<void> {
    const { journal, newId } = this.#deps;
    const { sessionId, historyKey } = request.conversation;
    const { agent } = await this.#agentFor(request).catch(async (error: unknown) => {
      if (!(error instanceof CallRefusedError)) throw error;
      const refused = { ...request, channel: "phone", callId: sessionId } as const;
      throw (await this.noteRefusal(refused, error.reason)) ? error : eventDelayed(error);
    });
    const ids = { callId: newId(), orgId: request.tenant.organization.id, agentId: agent.id };
    const { callInfo, tenant } = request;
    const { apiKeyId } = tenant;
    const call = { ...ids, sessionId, historyKey, channel: "phone", apiKeyId, callInfo } as const;
    journal.recordFailed(call, unsupportedAudio(format));
  }

  /** Why a call would be refused right now; undefined if it would be accepted. Rejects as `open` does otherwise. */
  async refusal(request: Admitted): Promise<CallRefusedError | undefined> {
    try {
      await this.#admit(request);
      const { organization, plan } = request.tenant;
      const { maxConcurrentCalls } = plan.limits;
      const count = await this.#deps.slots.countOf(organization.id);
      if (count < maxConcurrentCalls) return undefined;
      return tooManyCalls(maxConcurrentCalls);
    } catch (error) {
      if (error instanceof CallRefusedError) return error;
      throw error;
    }
  }

  /** Whether the agent leaves messages on answering machines. */
  async leavesMessages(request: Admitted): Promise<boolean> {
    const admitted = await this.#agentFor(request).catch(() => undefined);
    return (admitted?.agent.persona.outbound.voicemailMessage ?? null) !== null;
  }

  /** Why the agent's TTS cannot have this voice; undefined if it can, or no agent is available. */
  async voiceFault(request: Admitted, voice: string): Promise<string | undefined> {
    const admitted = await this.#agentFor(request).catch(() => undefined);
    return admitted && voiceFault(admitted.tts, voice);
  }

  async #admit(request: Admitted): Promise<AgentForCall> {
    if (this.#stopping) throw serverStops();
    const { refusal: ofNew, refusalOfReturning } = this.#deps.admission;
    const overload = request.isReturning === true ? refusalOfReturning : ofNew;
    if (overload !== undefined && !request.placedCallId)
      throw new CallRefusedError("overloaded", overload);
    const { refusal } = this.#deps.storeWatch;
    if (refusal !== undefined) throw cannotBeStored(refusal);
    const agent = await this.#agentFor(request);
    await this.#minutes.demand(request.tenant);
    return agent;
  }

  async #open(
    request: OpenRequest,
    caller: CallerChannel,
    announce: (call: OpenedCall) => void,
    signal: AbortSignal,
  ): Promise<LiveConversation> {
    const { slots, liveCalls, admission } = this.#deps;
    const { organization, plan } = request.tenant;
    const { maxConcurrentCalls } = plan.limits;
    const { placedCallId } = request;
    // A call that continues after a break is another one than the one that was checked.
    const isFirst = request.conversation?.before.length === 0;
    const told = isFirst ? request.callInfo?.preCall?.callId : undefined;
    const callId = placedCallId ?? told ?? this.#deps.newId();
    try {
      const isReturning = await this.#isReturning(request);
      const agent = await this.#admit({ ...request, isReturning });
      const orgId = organization.id;
      const isOneConversation = request.terms?.isOneConversation === true;
      const conversation = await this.#conversations.find(orgId, agent.agent.id, {
        ...request,
        isOnlyOne: isOneConversation,
      });
      const terms = isOneConversation
        ? this.#remainingTerms(request.terms, conversation)
        : request.terms;
      if (!placedCallId) {
        const place = { orgId, callId, callsMax: maxConcurrentCalls, isOneConversation };
        if (!(await takePlace(this.#deps, place, conversation))) {
          throw tooManyCalls(maxConcurrentCalls);
        }
        if (isReturning) admission.noteReturning();
        // A server that is stopping did not wait for a call that it did not know of.
        if (this.#stopping) throw serverStops();
      }
      // Until the conversation replaces it: the slot belongs to a live call, which can be told to end.
      let requestedEnd: Ending | undefined;
      liveCalls.add({ callId, end: (ending) => (requestedEnd = ending) });
      const opening = { admitted: agent, callId, conversation };
      const session = await this.#connect({ ...request, terms }, opening, caller, announce, signal);
      if (requestedEnd !== undefined) session.end(requestedEnd);
      return session;
    } catch (error) {
      liveCalls.remove(callId);
      slots.release(callId);
      if (error instanceof UniqueViolationError && request.terms?.isOneConversation === true) {
        const message = "another client resumed this conversation at the same moment";
        throw new CallRefusedError("limitReached", message, {
          cause: error,
          code: "conversation_limit_reached",
        });
      }
      throw isRetryable(error) ? cannotBeStored("it could not be stored", error) : error;
    }
  }

  /** Whether the telephone call has a record already; looked up only where that makes a difference. */
  async #isReturning({ tenant, conversation }: OpenRequest): Promise<boolean> {
    const { admission, database } = this.#deps;
    const { before = [] } = conversation ?? {};
    if (before.length === 0 || admission.refusal === undefined) return false;
    return (await database.calls.findLastOf(tenant.organization.id, before)) !== undefined;
  }

  /** The conversation's time limit covers all of its calls. */
  #remainingTerms(
    terms: CallTerms | undefined,
    { beganAtMs }: Conversation,
  ): CallTerms | undefined {
    if (terms?.callMaxSec === undefined || beganAtMs === undefined) return terms;
    const passedSec = Math.max(0, this.#deps.clock.epochMs() - beganAtMs) / 1_000;
    const callMaxSec = Math.floor(terms.callMaxSec - passedSec);
    if (callMaxSec < 1) {
      throw new CallRefusedError("limitReached", "the time of this conversation is over", {
        code: "conversation_limit_reached",
      });
    }
    return { ...terms, callMaxSec };
  }

  async #agentFor({ tenant, agentId }: Admitted): Promise<AgentForCall> {
    try {
      return await this.#deps.agents.forCall(tenant, agentId);
    } catch (error) {
      if (!(error instanceof AgentUnavailableError)) throw error;
      throw agentRefused(error);
    }
  }

  async #connect(
    request: OpenRequest,
    { admitted, callId, conversation }: Opening,
    caller: CallerChannel,
    announce: (call: OpenedCall) => void,
    signal: AbortSignal,
  ): Promise<LiveConversation> {
    const { audio, channel, tenant } = request;
    const orgId = tenant.organization.id;
    const mayReach = (to: string) =>
      numberRefusal(to) === undefined && (this.#deps.dialTargets?.mayReach(orgId, to) ?? true);
    const values = await this.#valuesFor(request, { admitted, callId, conversation }, signal);
    const known = conversation.callInfo ?? request.callInfo;
    const callInfo = known && { ...known, ...values };
    const facts = { callId, channel, callInfo, atMs: this.#deps.clock.epochMs() };
    const { variables = {}, overrides } = values;
    const { callMaxSec } = request.terms ?? {};
    const own = withTerms(admitted.agent, { callMaxSec, variables, overrides }, facts);
    const agent = await withTransfers(own, request.canTransfer === true, mayReach);
    const isVoiceGiven = overrides?.voice !== undefined;
    const replacedVoice = isVoiceGiven ? admitted.agent.ttsConfig.voice : undefined;
    const forCall = { ...admitted, agent, replacedVoice };
    const texts = new CallVariables(agent.persona, variables, facts);
    const knowledge = await this.#knowledgeOf(agent, callId);
    const { journal, clock } = this.#deps;
    const { openToolCalls: earlier = [] } = conversation;
    const store = (calls: readonly OpenToolCall[]) => journal.noteToolCalls(callId, calls);
    const openToolCalls = new OpenToolCalls({ earlier, clock, store });
    const about = { callId, texts, open: openToolCalls, documents: knowledge?.wholeNote };
    const vendors = agentVendors(forCall, audio, this.#deps.vendors, callInfo, about);
    vendors.llm.client.warm();
    vendors.tts.client.warm();
    const { key: historyKey, messages: history, before, wasBroken = false } = conversation;
    const { sessionId, spareSessionId, failedTransfer, unreportedTransfer, control } = conversation;
    const outbound = this.#outboundOf(request, { admitted, callId, conversation }, agent, callInfo);
    const entry = await this.#deps.journal.start({
      callId,
      orgId,
      agentId: agent.id,
      sessionId: request.placedCallId ?? sessionId,
      spareSessionId,
      historyKey,
      earlier: history,
      isAnalyzed: agent.analysis !== null,
      channel,
      apiKeyId: tenant.apiKeyId,
      simulated: simulatedCategories(admitted, this.#deps.isSandboxed === true),
      callInfo,
      values,
      control,
      openToolCalls: earlier,
      answerer: answererOf(outbound),
    });
    if (before !== undefined) this.#deps.journal.link(callId, before, control?.unspoken);
    if (before !== undefined && unreportedTransfer !== undefined)
      this.#deps.journal.transferNotMade({ id: before, orgId }, unreportedTransfer);
    const promptChars = vendors.llm.systemPrompt.length;
    const { isPaced } = audio;
    const isStreamed = audio.speech.encoding !== "mp3";
    const settings = sessionSettings(agent, tenant.plan, {
      promptChars,
      isPaced,
      isStreamed,
      // A person who has not been greeted has noticed no break.
      wasBroken: wasBroken && outbound?.continued?.isGreetingDue !== true,
      failedTransfer,
      language: conversation.language,
      outbound,
    });
    const { languageTag: language } = settings;
    if (language !== agent.persona.language) this.#deps.journal.annotate(callId, { language });
    const tap = this.#tapOf({ callId, orgId }, agent, audio);
    const parts = {
      callId,
      orgId,
      settings,
      history,
      control,
      vendors,
      caller,
      entry,
      openToolCalls,
      knowledge,
      input: audio.input,
      tap,
    };
    const session = assembleConversation(parts, this.#deps);
    this.#deps.liveCalls.add(session);
    await this.#deliverEarlierVerdict(request, session, outbound);
    const listening = await this.#listen(request, forCall, vendors, session, entry, signal);
    announce({ callId, agentName: agent.name, historyKey, tap });
    this.#deps.log.info({ callId, orgId, agentId: agent.id }, "call started");
    if ("error" in listening) session.startWithout(listening);
    else session.start(listening, conversation.resumed);
    return session;
  }

  /** Undefined for a call that was not placed. */
  #outboundOf(
    { tenant, placedCallId, detection = "none", conversation: phone }: OpenRequest,
    { admitted, conversation }: Opening,
    agent: AgentRecord,
    callInfo: CallInfo | undefined,
  ): OutboundSettings | undefined {
    const isContinued = conversation.before !== undefined;
    if (placedCallId === undefined && (phone?.placedCallId === undefined || !isContinued))
      return undefined;
    const { overrides, variables = {} } = callInfo ?? {};
    return outboundSettings(agent, {
      organization: tenant.organization.name,
      detection,
      ...(isContinued && { continued: conversation.answerer ?? PERSON }),
      isBeepReported: reportsBeeps(callInfo?.phoneVendor),
      isGreetingPrivate:
        overrides?.greeting !== undefined ||
        usesValueOf(admitted.agent.persona.greeting, variables),
    });
  }

  /** The vendor may have said who has answered while the call had no stream. */
  async #deliverEarlierVerdict(
    { tenant, conversation }: OpenRequest,
    session: LiveConversation,
    outbound: OutboundSettings | undefined,
  ): Promise<void> {
    const first = conversation?.placedCallId;
    if (first === undefined || outbound?.continued === undefined) return;
    const record = await this.#deps.database.calls.findById(tenant.organization.id, first);
    const verdict = record && verdictOf(answeredByIn(record));
    if (verdict !== undefined) session.answeredBy(verdict);
  }

  /** What hears the call beside its parties: its recording, and people of the organization who listen in. */
  #tapOf(
    { callId, orgId }: { readonly callId: string; readonly orgId: string },
    agent: AgentRecord,
    format: LegAudio,
  ): CallAudioTap {
    const { recordings, feed, log } = this.#deps;
    const recording = recordings.converters(orgId);
    const listened = new ListenedCall({ orgId, callId, format, feed, recording, log });
    const recorded = recordings.startRecording({ callId, orgId }, agent, format);
    return recorded === undefined ? listened : tapsTogether([recorded, listened]);
  }

  /**
   * The values that the call was given on its way here, plus those from the organization's service if it was not
   * asked yet.
   */
  async #valuesFor(
    { channel, callInfo, terms }: OpenRequest,
    { admitted, callId, conversation }: Opening,
    signal: AbortSignal,
  ): Promise<CallValues> {
    const known = conversation.callInfo ?? callInfo;
    const given = mergedValues(conversation.values, known, terms);
    if (given.preCall !== undefined || admitted.agent.preCall === null) return given;
    const info = known && { ...known, ...given };
    const facts = { callId, channel, callInfo: info };
    return mergedValues(given, await this.#preCall(admitted, facts, signal));
  }

  /**
   * Requests the organization's data about a ringing telephone call, so that the response is there when the call
   * is answered. Empty if the agent has no such request, or no agent is available for the call.
   */
  async preCall(
    request: Admitted,
    about: { readonly callId?: string; readonly callInfo: CallInfo },
    signal: AbortSignal,
  ): Promise<CallValues> {
    const { callId = this.#deps.newId(), callInfo } = about;
    const admitted = await this.#agentFor(request).catch(() => undefined);
    if (admitted === undefined) return {};
    return this.#preCall(admitted, { callId, channel: "phone", callInfo }, signal);
  }

  #preCall(
    { agent, tts }: AgentForCall,
    facts: Omit<CallFacts, "atMs">,
    signal: AbortSignal,
  ): Promise<CallValues> {
    const { vendors, log } = this.#deps;
    const voiceFaultOf = (voice: string) => voiceFault(tts, voice);
    return requestPreCall(agent, facts, { ...vendors, log, voiceFaultOf }, signal);
  }

  #knowledgeOf({ orgId, knowledge }: AgentRecord, callId: string) {
    const { database, clock, log, metrics } = this.#deps;
    const store = database.writers === "one" ? "sqlite" : "postgresql";
    return CallKnowledge.open(orgId, knowledge.documentIds, {
      store: database.knowledge,
      vectors: this.#deps.vectorSearch,
      clock,
      onError: (error) => log.warn({ callId, error }, "documents could not be searched"),
      onSearch: (durationMs) => metrics.knowledgeSearched(store, durationMs),
      onLookup: (outcome) => metrics.lookedUp(outcome),
    });
  }

  /** If no vendor of a category is available, returns the category and the reason: the agent says so in the call. */
  async #listen(
    request: OpenRequest,
    { agent, sttModelId }: AgentForCall,
    { stt, unavailable }: AgentVendors,
    session: LiveConversation,
    entry: CallEntry,
    signal: AbortSignal,
  ): Promise<SpeechStream | UnavailableCategory> {
    if (unavailable !== undefined) return unavailable;
    const { input: format } = request.audio;
    const language = agent.persona.language;
    const { endpointingMs, preemptiveGeneration: eagerTurns } = agent.thresholds;
    const keyterms = agent.persona.keyterms.filter((term) => term !== "");
    const turns = { endpointingMs, eagerTurns };
    const others = otherLanguages(agent.persona);
    const terms = {
      ...(keyterms.length > 0 && { keyterms }),
      ...(others.length > 0 && { otherLanguages: others }),
    };
    const options = { language, modelId: sttModelId, format, ...turns, ...terms };
    try {
      return await stt.open(options, session, signal);
    } catch (error) {
      if (error instanceof VendorError && !signal.aborted) return { category: "stt", error };
      session.release();
      if (signal.aborted) {
        entry.ended(CALLER_LEFT, NO_WORDS);
        throw new CallRefusedError("callerLeft", "the caller left before the call began", {
          cause: error,
        });
      }
      entry.ended(LISTENING_FAILED, NO_WORDS);
      throw error;
    }
  }
}
