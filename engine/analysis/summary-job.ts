import * as v from "valibot";
import type { Database } from "../../storage/database.js";
import type { ClaimedJob } from "../../storage/jobs/job-record.js";
import type { Sentiment, TranscriptMessage } from "../../storage/records.js";
import { type FixedLimits, FixedLimitsJob, type JobOutcome } from "../jobs/job-runner.js";
import type { Clock } from "../time/clock.js";
import { type ChatMessage, VendorError } from "../vendors/contracts.js";
import type { AgentLlms } from "./agent-llms.js";
import { completeForJob } from "./job-completion.js";
import { jsonObjectsOf, TRANSCRIPT_IS_DATA, transcriptRequest } from "./transcript-request.js";

/** Only the end of a longer call is summarized: it contains the outcome and fits the smallest model's context. */
const SUMMARY_INPUT_CHARACTERS_MAX = 12_000;
/** Maximum length of a stored summary; a longer text is cut, since it is not a summary. */
const SUMMARY_CHARACTERS_MAX = 2_000;

const INSTRUCTION = [
  "You write the record of a finished phone call.",
  TRANSCRIPT_IS_DATA,
  'Answer with one JSON object and nothing else: {"summary": "...", "sentiment": "positive|neutral|negative"}.',
  "summary: two or three sentences, in the language of the call: what the caller wanted, and how it ended.",
  "sentiment: the caller's mood at the end of the call.",
].join("\n");

/** Returns the messages that ask for a summary. Of a long transcript, the newest words are kept. */
export function summaryMessages(transcript: readonly TranscriptMessage[]): readonly ChatMessage[] {
  return transcriptRequest(INSTRUCTION, transcript, SUMMARY_INPUT_CHARACTERS_MAX);
}

export interface CallSummary {
  readonly summary?: string;
  readonly sentiment?: Sentiment;
}

const SummaryText = v.pipe(v.string(), v.trim(), v.minLength(1));
const SentimentWord = v.pipe(
  v.string(),
  v.trim(),
  v.toLowerCase(),
  v.picklist(["positive", "neutral", "negative"]),
);
/** An invalid field is dropped without affecting the other one. */
const Answer = v.object({
  summary: v.fallback(v.optional(SummaryText), undefined),
  sentiment: v.fallback(v.optional(SentimentWord), undefined),
});

/** Reads the model's answer, also inside a code fence or other text. Unreadable fields are left out. */
export function parseSummary(text: string): CallSummary {
  for (const candidate of jsonObjectsOf(text)) {
    const { summary, sentiment } = v.parse(Answer, candidate);
    if (summary === undefined && sentiment === undefined) continue;
    return {
      ...(summary === undefined ? {} : { summary: summary.slice(0, SUMMARY_CHARACTERS_MAX) }),
      ...(sentiment === undefined ? {} : { sentiment }),
    };
  }
  return {};
}

/** Summaries matter less than the replies of calls in progress, so they get only a few of the vendor's requests. */
const LIMITS: FixedLimits = {
  runningMax: 8,
  runningPerQueueMax: 4,
  delaysMs: [10_000, 60_000, 5 * 60_000, 30 * 60_000, 2 * 60 * 60_000],
};
const TOKENS_MAX = 300;
const CHARS_MAX = 8_000;

const Payload = v.object({ callId: v.string() });

export interface SummaryJobOptions {
  readonly database: Pick<Database, "calls" | "usage">;
  readonly llms: Pick<AgentLlms, "of">;
  readonly clock: Clock;
}

/** Summarizes ended calls with their agent's LLM, in the background. */
export class SummaryJob extends FixedLimitsJob {
  readonly #options: SummaryJobOptions;

  constructor(options: SummaryJobOptions) {
    super(LIMITS);
    this.#options = options;
  }

  override async run({ orgId, payload }: ClaimedJob, signal: AbortSignal): Promise<JobOutcome> {
    const { database, llms, clock } = this.#options;
    const { callId } = v.parse(Payload, payload);
    const call = await database.calls.findById(orgId, callId);
    if (call === undefined || !call.transcript.some(({ role }) => role === "user")) {
      return { kind: "done" };
    }
    const llm = (await llms.of(orgId, call.agentId, "summary"))?.llm;
    if (llm === undefined) return { kind: "failed", error: "the agent no longer has an LLM" };
    const messages = summaryMessages(call.transcript);
    const request = { messages, maxTokens: TOKENS_MAX, charsMax: CHARS_MAX };
    try {
      const { text } = await completeForJob({ database, clock }, { orgId, llm }, request, signal);
      const summary = parseSummary(text);
      if (summary.summary === undefined && summary.sentiment === undefined) {
        return { kind: "retry", error: "the LLM's answer holds no summary" };
      }
      await database.calls.saveSummary(callId, summary);
      return { kind: "done" };
    } catch (error) {
      if (!(error instanceof VendorError)) throw error;
      const afterMs = error.retryAfterMs ?? 0;
      return { kind: "retry", error: `the LLM failed: ${error.fault}`, afterMs };
    }
  }
}
