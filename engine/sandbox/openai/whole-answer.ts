import type { ChatFault } from "../faults.js";
import type { ApiRequest } from "./api-request.js";

/** A complete response, with the faults that can occur there. */
export async function answerWhole(
  { context, vendor, exchange, id }: ApiRequest,
  fault: ChatFault | undefined,
  body: object,
  headers: Readonly<Record<string, string>>,
): Promise<void> {
  if (fault === "stallBeforeFirstByte") await exchange.stall();
  await exchange.pause(context.faults[vendor].firstTokenMs ?? 0);
  if (fault === "disconnectBeforeFirstByte") {
    exchange.disconnect();
    return;
  }
  if (fault === "garbageJson") exchange.answerText(200, '{"id":"broken-', {});
  else exchange.answerJson(200, body, { ...headers });
  context.journal.record(vendor, "lastByte", id);
}
