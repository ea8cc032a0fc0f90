import type { Database } from "../../storage/database.js";
import {
  type BackgroundCompletion,
  type BackgroundRequest,
  completeInBackground,
} from "../calls/background-llm.js";
import type { AgentLlm } from "../conversation/effect-runner.js";
import type { Clock } from "../time/clock.js";
import { utcDate } from "../time/utc-date.js";

interface CompletionDeps {
  readonly database: Pick<Database, "usage">;
  readonly clock: Clock;
}

/**
 * As `completeInBackground`, for a call that is over: its tokens count in the usage of the organization, on the day on which the
 * answer came, whether the answer is of use or not.
 */
export async function completeForJob(
  { database, clock }: CompletionDeps,
  { orgId, llm }: { readonly orgId: string; readonly llm: AgentLlm },
  request: BackgroundRequest,
  signal: AbortSignal,
): Promise<BackgroundCompletion> {
  const answer = await completeInBackground(llm, request, clock, signal);
  const tokens = answer.promptTokens + answer.completionTokens;
  await database.usage.addTokens(orgId, utcDate(clock.epochMs()), tokens);
  return answer;
}
