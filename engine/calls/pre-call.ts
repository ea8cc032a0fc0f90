import type { AgentRecord } from "../../storage/records.js";
import type { Logger } from "../log.js";
import type { CredentialCipher } from "../security/credential-cipher.js";
import { webhookSignature } from "../security/standard-webhooks.js";
import { type CallValues, type PreCallResult, preCallAnswer } from "../telephony/call-values.js";
import { openPreCallSecrets } from "../tenancy/agents/agent-pre-call.js";
import { requestTool } from "../tools/http-tool.js";
import { VendorError } from "../vendors/contracts.js";
import type { VendorContext } from "../vendors/vendor-settings.js";
import type { CallFacts } from "./call-variables.js";

const SECOND_MS = 1_000;

export interface PreCallDeps {
  /** Decrypts the headers and the signing secret of the request. */
  readonly cipher: CredentialCipher;
  readonly context: VendorContext;
  readonly log: Logger;
  /** Why the agent's TTS cannot have a voice; undefined if it can, or only the vendor knows. */
  readonly voiceFaultOf?: (voice: string) => string | undefined;
}

/**
 * Requests the organization's data about a ringing call. Resolves within the request's time limit, whatever the
 * service does: the call continues without a response, and the result contains the reason. Empty for an agent
 * without such a request.
 */
export async function requestPreCall(
  agent: AgentRecord,
  facts: Omit<CallFacts, "atMs">,
  { cipher, context, log, voiceFaultOf }: PreCallDeps,
  signal: AbortSignal,
): Promise<CallValues> {
  const { preCall, id: agentId, orgId } = agent;
  if (preCall === null) return {};
  const { callId, channel, callInfo } = facts;
  const { clock } = context;
  const startedAtMs = clock.monotonicMs();
  const resultOf = (outcome: PreCallResult["outcome"], more: Partial<PreCallResult> = {}) => {
    const durationMs = Math.round(clock.monotonicMs() - startedAtMs);
    const result: PreCallResult = { outcome, ...more, durationMs, callId };
    if (outcome !== "ok" && !signal.aborted) {
      const { status, error } = more;
      log.info({ callId, orgId, agentId, outcome, status, error }, "the pre-call request failed");
    }
    return result;
  };
  const body = {
    callId,
    agentId,
    agentName: agent.name,
    channel,
    direction: callInfo?.direction ?? "web",
    caller: callInfo?.from ?? null,
    called: callInfo?.to ?? null,
    callerName: callInfo?.callerName ?? null,
    variables: callInfo?.variables ?? {},
  };
  try {
    const headers = signedHeaders(agent, JSON.stringify(body), callId, clock.epochMs(), cipher);
    const { url, timeoutMs } = preCall;
    const request = { url, method: "POST", headers, arguments: body, timeoutMs, orgId } as const;
    const answer = await requestTool(request, context, signal);
    const { status } = answer;
    if (status < 200 || status >= 300) return { preCall: resultOf("refused", { status }) };
    if (answer.cut) {
      return { preCall: resultOf("badAnswer", { status, error: "expected at most 16 KiB" }) };
    }
    const parsed =
      answer.body.trim() === "" ? { dropped: [] } : preCallAnswer(answer.body, voiceFaultOf);
    if ("error" in parsed) {
      return { preCall: resultOf("badAnswer", { status, error: parsed.error }) };
    }
    const { dropped, ...values } = parsed;
    if (dropped.length > 0 && !signal.aborted) {
      const droppedCount = dropped.length;
      log.info({ callId, orgId, agentId, droppedCount }, "parts of a pre-call answer were dropped");
    }
    const parts = dropped.length === 0 ? {} : { dropped };
    return { ...values, preCall: resultOf("ok", { status, ...parts }) };
  } catch (error) {
    if (error instanceof VendorError && error.fault === "timeout") {
      return { preCall: resultOf("timeout") };
    }
    const reason = error instanceof VendorError ? error.fault : "headersUnreadable";
    return { preCall: resultOf("failed", { error: FAILURES[reason] ?? "no connection" }) };
  }
}

const FAILURES: Readonly<Record<string, string>> = {
  refused: "the address may not be reached from here",
  badAnswer: "the answer is no HTTP",
  headersUnreadable: "the stored headers cannot be opened",
};

function signedHeaders(
  agent: AgentRecord,
  body: string,
  callId: string,
  nowMs: number,
  cipher: CredentialCipher,
): Readonly<Record<string, string>> {
  const { headers, secret } = openPreCallSecrets(agent, cipher);
  const id = `precall_${callId}`;
  const timestampSec = Math.floor(nowMs / SECOND_MS);
  return {
    ...headers,
    "webhook-id": id,
    "webhook-timestamp": String(timestampSec),
    ...(secret !== undefined && {
      "webhook-signature": webhookSignature([{ secret }], { id, timestampSec, body }),
    }),
  };
}
