import { asCallError, type CallErrorCode } from "../client/call-error.js";

/** What the developer of the page can do, of errors that no visitor can mend. */
const REMEDIES: Partial<Record<CallErrorCode, string>> = {
  refused:
    "Add the page's origin to the agent's allowedOrigins, or give the element a token-url that answers with a client token.",
  tokenFailed:
    "The page's own token-url has to answer POST with 200 and the text of a client token of POST /api/dashboard/client-tokens.",
  tokenEnded:
    "The connection was lost and the client token had ended. Set token-url, so that the element can get a new one, or a longer ttlSec.",
  cannotConnect:
    "Check the element's server attribute, that the server runs, and that the page's Content-Security-Policy has the server in connect-src.",
  pageNotSecure: "Browsers give a microphone to pages of https and localhost alone.",
  microphoneNotPermitted:
    "The site's Permissions-Policy, or the allow attribute of the frame, has to permit the microphone.",
};

/** Says it in `log`, the browser's console. The visitor reads other words, in the panel. `reason` is the server's. */
export function warnDeveloper(log: Pick<Console, "warn">, error: unknown, reason = ""): void {
  const { code, message } = asCallError(error, "soundFailed", "");
  const remedy = REMEDIES[code];
  if (remedy === undefined) return;
  const words = reason === "" ? message : reason;
  const sentence = words.endsWith(".") ? words : `${words}.`;
  log.warn(`parley-agent: ${code}: ${sentence} ${remedy} See docs/guides/client.md.`);
}
