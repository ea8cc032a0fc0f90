import { ParleyError } from "../../../storage/parley-error.js";
import { serverAddress } from "../../client/call-address.js";
import { printable } from "../terminal.js";

const DIAGNOSIS_MAX_MS = 2_000;
/** RFC 6455: the connection was lost without a close frame, or was never established. */
const CLOSED_WITHOUT_A_WORD = 1006;

/** The service ended the call, or the connection was lost. */
export class CallEndedError extends ParleyError {
  override readonly name = "CallEndedError";
  readonly code = "call_ended";
  readonly closeCode: number;
  readonly reason: string;

  constructor(closeCode: number, reason: string) {
    super(`the call ended with code ${closeCode}`);
    this.closeCode = closeCode;
    this.reason = reason;
  }
}

/** What each close code of the contract means for a person at a terminal, and what to do about it. */
const MEANINGS: Readonly<Record<number, readonly [meaning: string, advice: string]>> = {
  1000: ["the service ended the call", ""],
  1009: ["the service refused the audio", ""],
  1011: ["the service or one of its vendors failed", "See its log."],
  1012: ["the server is stopping", "Try again when it is back."],
  1013: ["the service is overloaded, or this client read its audio too slowly", "Try again later."],
  4001: [
    "the API key was not accepted",
    "Give another one with --key, or activate its organization: npm run admin -- org activate E-MAIL.",
  ],
  4003: [
    "the agent uses a model that the organization's plan does not include",
    "Change the agent, or the plan: npm run admin -- org plan E-MAIL SLUG.",
  ],
  4004: [
    "a provider that the agent needs is missing or not active",
    "Switch it on, or set the vendor's key and restart the server, or choose another agent with --agent.",
  ],
  4005: [
    "there is no such agent, or it is not active",
    "Choose another one with --agent, or leave it out for the first that is active.",
  ],
  4029: ["a limit is reached", "Wait a minute and try again, or move to a larger plan."],
};

/** Returns one line for a person: what happened and what to do about it. */
export async function explainEnd(
  { closeCode, reason }: CallEndedError,
  url: string,
  wasConnected: boolean,
): Promise<string> {
  if (closeCode === CLOSED_WITHOUT_A_WORD) {
    return wasConnected ? "the connection was lost: is the server still running?" : diagnose(url);
  }
  const [meaning, advice] = MEANINGS[closeCode] ?? ["the service ended the call", ""];
  const detail = reason === "" || reason === meaning ? "" : `: ${printable(reason)}`;
  return `${meaning} (close code ${closeCode})${detail}. ${advice}`.trimEnd();
}

/** Returns one line that says why no call was established. Asks the service's health endpoint. */
export async function diagnose(url: string): Promise<string> {
  const address = serverAddress(url.replace(/^ws/, "http"), "/api/health");
  try {
    const answer = await fetch(address, { signal: AbortSignal.timeout(DIAGNOSIS_MAX_MS) });
    await answer.body?.cancel();
    return answer.ok
      ? `the server at ${address.origin} did not open a voice connection`
      : `the program that answers at ${address.origin} is not a Parley server, or it is not ready (status ${answer.status})`;
  } catch (error) {
    const cause = error instanceof Error ? error.cause : undefined;
    const isRefused = cause instanceof Error && "code" in cause && cause.code === "ECONNREFUSED";
    return isRefused
      ? `no server listens at ${address.origin}. Start one in another terminal: npm start`
      : `no server can be reached at ${address.origin}. Is the address right?`;
  }
}
