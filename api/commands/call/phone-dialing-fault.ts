import * as v from "valibot";
import { CallTurnedAway, WebhookRefusal } from "../../../engine/sandbox/telephone/phone-webhook.js";
import { CommandFault } from "../command-fault.js";
import { printable } from "../terminal.js";
import { diagnose } from "./call-ended.js";

const UNAUTHORIZED = 401;
const FORBIDDEN = 403;
const NOT_FOUND = 404;

const Refusal = v.pipe(v.string(), v.parseJson(), v.object({ error: v.string() }));

/** Why a telephone call did not come about, for a person. */
export async function explainDialling(error: unknown, url: string): Promise<Error> {
  if (error instanceof CommandFault) return error;
  if (error instanceof CallTurnedAway) {
    return new CommandFault(`the caller is told: "${printable(error.words)}"`, { cause: error });
  }
  if (error instanceof WebhookRefusal) {
    return new CommandFault(await wordsFor(error, url), { cause: error });
  }
  // What `fetch` rejects with when nobody listens, or nobody answers in time.
  const isUnheard =
    error instanceof TypeError || (error instanceof Error && error.name === "TimeoutError");
  if (isUnheard) return new CommandFault(await diagnose(url), { cause: error });
  const reason = error instanceof Error ? printable(error.message) : "";
  return new CommandFault(
    `the media stream could not be opened (${reason}): does PUBLIC_BASE_URL lead to the server?`,
    { cause: error },
  );
}

async function wordsFor({ status, body }: WebhookRefusal, url: string): Promise<string> {
  const parsed = v.safeParse(Refusal, body);
  const words = parsed.success ? `: ${printable(parsed.output.error)}` : "";
  switch (status) {
    case UNAUTHORIZED:
      return "the API key was not accepted. Give another one with --key";
    case FORBIDDEN:
      return words.includes("X-Twilio-Signature")
        ? "the server wants Twilio's signature: set TWILIO_AUTH_TOKEN as the server has it"
        : `the call was not allowed${words}`;
    case NOT_FOUND:
      return diagnose(url);
    default:
      return `the server refused the call with status ${status}${words}`;
  }
}
