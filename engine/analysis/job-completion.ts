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
 * As `completeInBackground`, for a call that has ended. The tokens count in the organization's usage on the day of the
 * answer, even if the answer is not usable.
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
