import type { ListedOrder } from "../../../../engine/calls/lists/listed-calls.js";

/** The order of a list's first row. */
export function listedOrder(row: Partial<ListedOrder["row"]> = {}): ListedOrder {
  return {
    orgId: "org",
    agentId: "agent",
    from: "+15550109999",
    to: "+15550101000",
    detectMachine: true,
    vendor: null,
    variables: { firstName: "Ada" },
    apiKeyId: null,
    row: { listId: "list", position: 1, attempts: 0, callId: "call", untilMs: 0, ...row },
  };
}
