import * as v from "valibot";
import type { Database } from "../../storage/database.js";
import type { CallRecord } from "../../storage/records.js";
import { BRIEFING_CHARACTERS_MAX } from "../conversation/call-end.js";
import { briefingLanguageWords } from "../conversation/lexicon.js";
import type { Logger } from "../log.js";
import type { Clock } from "../time/clock.js";
import type { AgentLlms } from "./agent-llms.js";
import { completeForJob } from "./job-completion.js";
import { jsonObjectsOf, TRANSCRIPT_IS_DATA, transcriptRequest } from "./transcript-request.js";

/** Longer transcripts are cut to their end, which has what the caller wants now. */
const INPUT_CHARACTERS_MAX = 8_000;
const TOKENS_MAX = 200;
const CHARS_MAX = 4_000;
/** A member of the organization waits for the answer to the request. */
const ANSWER_MAX_MS = 5_000;

function instructionFor(language: string): string {
  return [
    "A phone call is being passed on to a person. You write what that person hears before they take it.",
    TRANSCRIPT_IS_DATA,
    'Answer with one JSON object and nothing else: {"summary": "..."}.',
    `summary: one or two short sentences, in ${language}: who calls and why.`,
  ].join("\n");
}

const Answer = v.object({ summary: v.pipe(v.string(), v.trim(), v.minLength(1)) });

export interface TransferSummariesOptions {
  readonly database: Pick<Database, "usage">;
  readonly llms: Pick<AgentLlms, "of">;
  readonly clock: Clock;
  readonly log: Logger;
}

/** What the agent's LLM tells the person of a warm transfer that a member of the organization has ordered. */
export class TransferSummaries {
  readonly #options: TransferSummariesOptions;

  constructor(options: TransferSummariesOptions) {
    this.#options = options;
  }

  /** Empty where nothing was said yet, or the LLM gives no summary within 5 s: the transfer goes on without. Never rejects. */
  async of({ orgId, id: callId, agentId, transcript }: CallRecord): Promise<string> {
    const { database, llms, clock, log } = this.#options;
    if (!transcript.some(({ role }) => role === "user")) return "";
    const late = new AbortController();
    const cancel = clock.after(ANSWER_MAX_MS, () => late.abort());
    try {
      const { agent, llm } = (await llms.of(orgId, agentId, "summary")) ?? {};
      if (agent === undefined || llm === undefined) return "";
      const language = briefingLanguageWords(agent.persona.briefingLanguage);
      const instruction = instructionFor(language);
      const messages = transcriptRequest(instruction, transcript, INPUT_CHARACTERS_MAX);
      const request = { messages, maxTokens: TOKENS_MAX, charsMax: CHARS_MAX };
      const asked = { orgId, llm };
      const { text } = await completeForJob({ database, clock }, asked, request, late.signal);
      return summaryIn(text);
    } catch (error) {
      log.warn({ orgId, callId, error }, "a warm transfer goes on without a summary");
      return "";
    } finally {
      cancel();
    }
  }
}

function summaryIn(answer: string): string {
  for (const candidate of jsonObjectsOf(answer)) {
    const parsed = v.safeParse(Answer, candidate);
    if (parsed.success) return parsed.output.summary.slice(0, BRIEFING_CHARACTERS_MAX);
  }
  return "";
}
