import type { CallInstructions } from "../../engine/telephony/call-instructions.js";
import type { Answer } from "../http/answer/answer.js";
import type { IncomingRequest } from "../http/endpoints/endpoint.js";
import { documentAnswer } from "./phone-document.js";
import { httpBase } from "./stream-address.js";

/** Counts in the address how often the caller was put on hold, as deploy/nginx.conf does without a server. */
const HELD = "held";
const STEP_SEC = 3;
const STEPS_MAX = 10;
/** A server that has ended its calls is back by then: an earlier request might find no server, and lose the call. */
const STEPS_AT_ONCE = 3;
/** The count is replaced, and a vendor adds the hash of its body to each address itself. */
const ADDED = /^(?:held|bodySHA256)=/;

/**
 * Has the vendor wait and repeat the request at this address of this server; 30 s in all. Undefined if the vendor
 * cannot do that, or has waited for that long.
 */
export function onHoldAnswer(
  request: IncomingRequest,
  path: string,
  documents: CallInstructions,
  publicBaseUrl: string | undefined,
): Answer | undefined {
  const held = stepsIn(new URLSearchParams(request.queryString).getAll(HELD));
  if (documents.hold === undefined || held >= STEPS_MAX) return undefined;
  const steps = Math.min(STEPS_AT_ONCE, STEPS_MAX - held);
  const own = request.queryString.split("&").filter((part) => part !== "" && !ADDED.test(part));
  const query = [...own, `${HELD}=${held + steps}`].join("&");
  const url = `${httpBase(request, publicBaseUrl)}${path}?${query}`;
  return documentAnswer(documents, documents.hold({ url, pauseSec: steps * STEP_SEC }));
}

/** A count that neither this nor nginx has written counts as the maximum. */
function stepsIn(held: readonly string[]): number {
  if (held.length === 0) return 0;
  const [text = "", ...others] = held;
  return others.length === 0 && /^[1-9]$/.test(text) ? Number(text) : STEPS_MAX;
}
