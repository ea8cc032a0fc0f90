import { asCallError, type CallErrorCode } from "../client/call-error.js";

/** What the page's developer can do about errors that a visitor cannot fix. */
const REMEDIES: Partial<Record<CallErrorCode, string>> = {
  refused:
    "Add the page's origin to the agent's allowedOrigins, or give the element a token-url that responds with a client token.",
  tokenFailed:
    "The page's own token-url must respond to POST with 200 and, as text, a client token from POST /api/dashboard/client-tokens.",
  tokenEnded:
    "The connection was lost and the client token had expired. Set token-url, so that the element can get a new one, or a longer ttlSec.",
  cannotConnect:
    "Check the element's server attribute, that the server runs, and that the page's Content-Security-Policy lists the server in connect-src.",
  pageNotSecure: "Browsers allow a microphone only on https pages and on localhost.",
  microphoneNotPermitted:
    "The site's Permissions-Policy, or the allow attribute of the frame, has to permit the microphone.",
};

/**
 * Prints the advice to `log`, the browser's console. The panel shows other texts to the visitor. `reason` comes from
 * the server.
 */
export function warnDeveloper(log: Pick<Console, "warn">, error: unknown, reason = ""): void {
  const { code, message } = asCallError(error, "soundFailed", "");
  const remedy = REMEDIES[code];
  if (remedy === undefined) return;
  const words = reason === "" ? message : reason;
  const sentence = words.endsWith(".") ? words : `${words}.`;
  log.warn(`parley-agent: ${code}: ${sentence} ${remedy} See docs/guides/client.md.`);
}
