import { createHash } from "node:crypto";
import * as v from "valibot";
import type { AnalysisOutcome } from "../../storage/calls/call-analyses.js";
import type { Database } from "../../storage/database.js";
import type { ClaimedJob } from "../../storage/jobs/job-record.js";
import {
  type AgentAnalysis,
  type AnalysisError,
  type CallAnalysis,
  type CallRecord,
  isJsonObject,
  type JsonObject,
} from "../../storage/records.js";
import { callEventId, type NewEvent, newEvent } from "../../storage/webhooks/event-record.js";
import type { AgentLlm } from "../conversation/effect-runner.js";
import { schemaMisfit } from "../conversation/toolbox.js";
import { type FixedLimits, FixedLimitsJob, type JobOutcome } from "../jobs/job-runner.js";
import type { Clock } from "../time/clock.js";
import { type ChatMessage, VendorError } from "../vendors/contracts.js";
import type { AgentForJob, AgentLlms } from "./agent-llms.js";
import { completeForJob } from "./job-completion.js";
import { jsonObjectsOf, TRANSCRIPT_IS_DATA, transcriptRequest } from "./transcript-request.js";

/** Maximum length of a transcript; of a longer call only the end is analyzed. */
const INPUT_CHARACTERS_MAX = 40_000;
const REASON_CHARACTERS_MAX = 1_000;
/** Maximum size of an event's data in bytes of JSON, since a delivery has less than 20 kB. */
const EVENT_DATA_MAX_BYTES = 12_000;
const TOKENS_MAX = 2_000;
const CHARS_MAX = 20_000;
/** LLM requests per attempt; the second one reports the fault of the first answer to the LLM. */
const ASKED_MAX = 2;

/** Each organization has its own queue. */
const LIMITS: FixedLimits = {
  runningMax: 8,
  runningPerQueueMax: 4,
  delaysMs: [10_000, 60_000, 10 * 60_000, 60 * 60_000],
};

const Payload = v.object({ callId: v.string(), runId: v.exactOptional(v.string()) });
const Answer = v.object({
  data: v.optional(v.custom<JsonObject>(isJsonObject)),
  success: v.optional(v.boolean()),
  reason: v.optional(v.string()),
});

/** Returns the messages that ask the LLM for the analysis that the agent defines. */
export function analysisMessages(
  { schema, successCriteria }: AgentAnalysis,
  transcript: CallRecord["transcript"],
): readonly ChatMessage[] {
  const fields = [
    ...(schema === null ? [] : ['"data": {...}']),
    ...(successCriteria === null ? [] : ['"success": true|false']),
    '"reason": "..."',
  ];
  const instruction = [
    "You analyze a finished phone call between a caller and an agent.",
    TRANSCRIPT_IS_DATA,
    `Answer with one JSON object and nothing else: {${fields.join(", ")}}.`,
    ...(schema === null
      ? []
      : [
          `data: what the transcript says, and nothing else, by this JSON Schema: ${JSON.stringify(schema)}`,
        ]),
    ...(successCriteria === null
      ? []
      : [`success: whether the call meets these criteria: ${JSON.stringify(successCriteria)}`]),
    "reason: one sentence that says what in the transcript decides it.",
  ].join("\n");
  return transcriptRequest(instruction, transcript, INPUT_CHARACTERS_MAX);
}

type Found = Pick<CallAnalysis, "data" | "success" | "reason">;

/** Reads the LLM's answer. A string says what is wrong with it. */
export function parseAnalysis(
  { schema, successCriteria }: AgentAnalysis,
  text: string,
): Found | string {
  let fault = "it holds no JSON object";
  for (const candidate of jsonObjectsOf(text)) {
    const parsed = v.safeParse(Answer, candidate);
    if (!parsed.success) {
      fault = "a field is of the wrong type";
      continue;
    }
    const { data, success, reason } = parsed.output;
    if (schema !== null && data === undefined) {
      fault = "data is missing";
      continue;
    }
    const misfit = schema === null || data === undefined ? undefined : schemaMisfit(schema, data);
    if (misfit !== undefined) {
      fault = `data does not fit the schema: ${misfit}`;
      continue;
    }
    if (successCriteria !== null && success === undefined) {
      fault = "success is missing";
      continue;
    }
    return {
      data: schema === null ? null : (data ?? null),
      success: successCriteria === null ? null : (success ?? null),
      reason: reason?.slice(0, REASON_CHARACTERS_MAX) ?? null,
    };
  }
  return fault;
}

/** Depends only on the call's id, so that a call is always in the sample or never. */
export function isSampled(callId: string, sampleRate: number): boolean {
  const share = createHash("sha256").update(callId).digest().readUInt32BE(0) / 2 ** 32;
  return share < sampleRate;
}

export interface AnalysisJobOptions {
  readonly database: Pick<Database, "calls" | "analyses" | "usage">;
  readonly llms: Pick<AgentLlms, "of">;
  readonly clock: Clock;
}

/** Analyzes ended calls as their agents define it. A failed analysis is stored in the call's record, too. */
export class AnalysisJob extends FixedLimitsJob {
  readonly #options: AnalysisJobOptions;

  constructor(options: AnalysisJobOptions) {
    super(LIMITS);
    this.#options = options;
  }

  override async run(job: ClaimedJob, signal: AbortSignal): Promise<JobOutcome> {
    const { database, llms } = this.#options;
    const { callId, runId } = v.parse(Payload, job.payload);
    const call = await database.calls.findById(job.orgId, callId);
    if (call === undefined) return this.#leaveOut(job, { callId, runId });
    const found = await llms.of(job.orgId, call.agentId, "analysis");
    const analysis = found?.agent.analysis ?? null;
    if (analysis === null) {
      // The agent's analysis was removed after the call, and the call belongs to no run that counts the result.
      if (runId === undefined) return this.#leaveOut(job, { callId, runId });
      return this.#fail(job, { call, runId }, "analysisRemoved");
    }
    if (!isWanted(call, analysis, runId)) return this.#leaveOut(job, { callId, runId });
    if (found?.llm === undefined) return this.#fail(job, { call, runId }, "noLlm");
    const { llm, answeredBy } = found;
    return this.#analyze(job, { call, runId }, { analysis, llm, answeredBy }, signal);
  }

  async #analyze(
    job: ClaimedJob,
    about: Analyzed,
    { analysis, llm, answeredBy }: Analyst,
    signal: AbortSignal,
  ): Promise<JobOutcome> {
    const { clock, database } = this.#options;
    const startedMs = clock.monotonicMs();
    let messages = analysisMessages(analysis, about.call.transcript);
    const spent = { promptTokens: 0, completionTokens: 0, model: llm.modelId };
    let fault = "";
    try {
      for (let count = 0; count < ASKED_MAX; count += 1) {
        const request = { messages, maxTokens: TOKENS_MAX, charsMax: CHARS_MAX };
        const asked = { orgId: job.orgId, llm };
        const answer = await completeForJob({ database, clock }, asked, request, signal);
        spent.model = answeredBy() ?? llm.modelId;
        spent.promptTokens += answer.promptTokens;
        spent.completionTokens += answer.completionTokens;
        const found = parseAnalysis(analysis, answer.text);
        if (typeof found !== "string") {
          const durationMs = Math.round(clock.monotonicMs() - startedMs);
          const result = {
            status: "completed",
            error: null,
            ...found,
            ...spent,
            durationMs,
          } as const;
          await database.analyses.finish(job, this.#outcome(about, result));
          return { kind: "done" };
        }
        fault = found;
        messages = [...messages, { role: "assistant", content: answer.text }, correction(found)];
      }
    } catch (error) {
      if (!(error instanceof VendorError)) throw error;
      if (signal.aborted || !this.#isLastTry(job)) {
        const afterMs = error.retryAfterMs ?? 0;
        return { kind: "retry", error: `the LLM failed: ${error.fault}`, afterMs };
      }
      return this.#fail(job, about, "llmFailed", spent);
    }
    if (this.#isLastTry(job)) return this.#fail(job, about, "invalidAnswer", spent);
    return { kind: "retry", error: `the LLM's answer is invalid: ${fault}` };
  }

  #isLastTry({ attempts }: ClaimedJob): boolean {
    return attempts >= this.triesMax;
  }

  async #leaveOut(
    job: ClaimedJob,
    { callId, runId }: Pick<AnalysisOutcome, "callId" | "runId">,
  ): Promise<JobOutcome> {
    const { analyses } = this.#options.database;
    await analyses.finish(job, { callId, runId, analysis: undefined, event: undefined });
    return { kind: "done" };
  }

  async #fail(
    job: ClaimedJob,
    about: Analyzed,
    error: AnalysisError,
    spent: Pick<CallAnalysis, "promptTokens" | "completionTokens" | "model"> = NOTHING_SPENT,
  ): Promise<JobOutcome> {
    const { clock, database } = this.#options;
    const outcome = this.#outcome(about, { ...NOTHING_FOUND, ...spent, error });
    await database.analyses.fail(job, outcome, error, clock.epochMs());
    return { kind: "failed", error };
  }

  #outcome({ call, runId }: Analyzed, result: Omit<CallAnalysis, "analyzedAtMs">): AnalysisOutcome {
    const analysis = { ...result, analyzedAtMs: this.#options.clock.epochMs() };
    const event = analyzedEvent(call, analysis, runId);
    return { callId: call.id, runId, analysis, event };
  }
}

interface Analyst extends Pick<AgentForJob, "answeredBy"> {
  readonly analysis: AgentAnalysis;
  readonly llm: AgentLlm;
}

interface Analyzed {
  readonly call: CallRecord;
  readonly runId: string | undefined;
}

const NOTHING_SPENT = { promptTokens: 0, completionTokens: 0, model: null };
const NOTHING_FOUND = {
  status: "failed",
  data: null,
  success: null,
  reason: null,
  durationMs: 0,
} as const;

/** A run includes all calls that are long enough, also those outside of the sample. */
function isWanted(
  { id, transcript, durationSec }: CallRecord,
  { minDurationSec, sampleRate }: AgentAnalysis,
  runId: string | undefined,
): boolean {
  if ((durationSec ?? 0) < minDurationSec) return false;
  if (!transcript.some(({ role }) => role === "user")) return false;
  return runId !== undefined || isSampled(id, sampleRate);
}

function correction(fault: string): ChatMessage {
  const content = `That cannot be used: ${fault}. Answer with the JSON object alone.`;
  return { role: "user", content };
}

/** Each analysis of a call has one event; a failed one that succeeds in a retry has a second event. */
function analyzedEvent(
  call: CallRecord,
  analysis: CallAnalysis,
  runId: string | undefined,
): NewEvent {
  const { analyzedAtMs, data, ...facts } = analysis;
  const isCut = data !== null && Buffer.byteLength(JSON.stringify(data)) > EVENT_DATA_MAX_BYTES;
  const run = runId === undefined ? "" : `-${runId}`;
  return newEvent({
    id: callEventId(call.id, `analysis${run}-${analysis.status}`),
    orgId: call.orgId,
    type: "call.analyzed",
    callId: call.id,
    atMs: analyzedAtMs,
    data: {
      agentId: call.agentId,
      ...facts,
      data: isCut ? null : data,
      isCut,
      analyzedAt: new Date(analyzedAtMs).toISOString(),
    },
  });
}
