import assert from "node:assert/strict";
import { test } from "node:test";
import * as v from "valibot";
import type { Route } from "../../../../api/contract/routes/route.js";
import { ROUTES } from "../../../../api/contract/routes/route-table.js";

const routes = Object.entries<Route>(ROUTES);

test("the table has every endpoint of the contract, and no other", () => {
  const listed = routes.map(([, { method, path }]) => `${method.toUpperCase()} ${path}`).sort();
  const contract = `
    GET /api/health, GET /api/ready, GET /api/plans, GET /api/setup/status,
    POST /api/auth/signup, POST /api/auth/signin, GET /api/auth/me, POST /api/auth/password,
    GET /api/dashboard/members, POST /api/dashboard/members,
    PATCH /api/dashboard/members/:id, DELETE /api/dashboard/members/:id,
    GET /api/dashboard/organization, PATCH /api/dashboard/organization,
    GET /api/dashboard/stats, GET /api/dashboard/plan, GET /api/dashboard/models/search,
    GET /api/dashboard/agents, POST /api/dashboard/agents, GET /api/dashboard/agents/:id,
    PATCH /api/dashboard/agents/:id, DELETE /api/dashboard/agents/:id,
    GET /api/dashboard/audit, POST /api/dashboard/agents/:id/chat, POST /api/dashboard/providers/test,
    GET /api/dashboard/phone-numbers, PATCH /api/dashboard/phone-numbers/:id,
    DELETE /api/dashboard/phone-numbers/:id, GET /api/dashboard/telephony-vendors,
    GET /api/dashboard/telephony-accounts, POST /api/dashboard/telephony-accounts,
    GET /api/dashboard/telephony-accounts/:id, PATCH /api/dashboard/telephony-accounts/:id,
    DELETE /api/dashboard/telephony-accounts/:id, POST /api/dashboard/telephony-accounts/:id/test,
    GET /api/dashboard/telephony-accounts/:id/numbers, POST /api/dashboard/telephony-accounts/:id/numbers,
    GET /api/dashboard/call-lists, POST /api/dashboard/call-lists, GET /api/dashboard/call-lists/:id,
    POST /api/dashboard/call-lists/:id/start, POST /api/dashboard/call-lists/:id/pause,
    POST /api/dashboard/call-lists/:id/resume, POST /api/dashboard/call-lists/:id/cancel,
    DELETE /api/dashboard/call-lists/:id, GET /api/dashboard/call-lists/:id/rows,
    GET /api/dashboard/call-lists/:id/results,
    GET /api/dashboard/do-not-call, POST /api/dashboard/do-not-call, DELETE /api/dashboard/do-not-call/:id,
    POST /api/dashboard/providers/:id/test,
    GET /api/dashboard/calls, POST /api/dashboard/calls, GET /api/dashboard/calls/:id, GET /api/dashboard/calls/count,
    GET /api/dashboard/calls/:id/recording, GET /api/dashboard/calls/events, GET /api/dashboard/calls/:id/events,
    POST /api/dashboard/calls/:id/end, POST /api/dashboard/calls/:id/transfer,
    POST /api/dashboard/calls/:id/person, GET /api/dashboard/analytics/usage,
    POST /api/dashboard/calls/:id/say, POST /api/dashboard/calls/:id/context, POST /api/dashboard/calls/:id/mute,
    POST /api/dashboard/calls/:id/unmute, POST /api/dashboard/calls/:id/dtmf, POST /api/dashboard/calls/:id/listen,
    GET /api/dashboard/analytics/usage-shares, GET /api/dashboard/analytics/vendor-shares,
    GET /api/dashboard/analytics/waits, POST /api/dashboard/client-tokens,
     GET /api/dashboard/api-keys, POST /api/dashboard/api-keys, DELETE /api/dashboard/api-keys/:id,
    GET /api/dashboard/providers/registry, GET /api/dashboard/providers,
    GET /api/operator/organizations, GET /api/operator/organizations/:id, PATCH /api/operator/organizations/:id,
    PATCH /api/operator/organizations/:id/plan,
    GET /api/operator/providers, POST /api/operator/providers,
    POST /api/operator/providers/test, POST /api/operator/providers/:id/test,
    PATCH /api/operator/providers/:id, DELETE /api/operator/providers/:id,
    GET /api/operator/plans, GET /api/operator/nodes, POST /api/operator/nodes/:id/drain,
    GET /api/dashboard/providers/:id, POST /api/dashboard/providers,
    GET /api/dashboard/providers/:id/voices, POST /api/dashboard/providers/:id/preview,
    GET /api/dashboard/knowledge/documents, POST /api/dashboard/knowledge/documents,
    POST /api/dashboard/knowledge/urls, GET /api/dashboard/knowledge/documents/:id,
    POST /api/dashboard/knowledge/documents/:id/refresh,
    DELETE /api/dashboard/knowledge/documents/:id, POST /api/dashboard/knowledge/search,
    GET /api/dashboard/knowledge/embeddings, POST /api/dashboard/knowledge/embeddings,
    DELETE /api/dashboard/knowledge/embeddings,
    GET /api/dashboard/webhooks, POST /api/dashboard/webhooks, GET /api/dashboard/webhooks/:id,
    PATCH /api/dashboard/webhooks/:id, DELETE /api/dashboard/webhooks/:id,
    POST /api/dashboard/webhooks/:id/rotate-secret, POST /api/dashboard/webhooks/:id/test,
    GET /api/dashboard/webhooks/:id/deliveries, POST /api/dashboard/webhooks/:id/replay,
    POST /api/dashboard/webhook-deliveries/:id/resend,
    GET /api/dashboard/agents/:id/analysis/runs, POST /api/dashboard/agents/:id/analysis/runs,
    POST /api/dashboard/agents/:id/tool-tests,
    GET /api/dashboard/agents/:id/mcp-tools,
    GET /api/dashboard/jobs, POST /api/dashboard/jobs/:id/retry,
    PATCH /api/dashboard/providers/:id, DELETE /api/dashboard/providers/:id`;
  assert.deepEqual(
    listed,
    contract
      .split(",")
      .map((line) => line.trim())
      .sort(),
  );
});

test("what is below the dashboard needs authentication, and only that", () => {
  for (const [id, { path, auth }] of routes) {
    const isTenants = ["dashboard", "voice", "admin", "supervisor"].includes(auth);
    assert.equal(isTenants, path.startsWith("/api/dashboard/"), id);
  }
});

test("what is the operators' is for them alone", () => {
  for (const [id, { path, auth }] of routes) {
    assert.equal(auth === "operator", path.startsWith("/api/operator/"), id);
  }
});

test("creations answer 201, everything else 200", () => {
  const creations = new Set([
    "signUp",
    "addMember",
    "createAgent",
    "createApiKey",
    "createClientToken",
    "createProvider",
    "createGlobalProvider",
    "createWebhook",
    "createTelephonyAccount",
    "importAccountNumber",
    "uploadDocument",
    "addDocumentUrl",
    "placeCall",
    "createCallList",
    "startAnalysisRun",
    "listenToCall",
  ]);
  for (const [id, { success }] of routes) {
    assert.equal(success.status, creations.has(id) ? 201 : 200, id);
  }
});

test("every field of a request says what is expected, for the messages of refusals", () => {
  for (const [id, { query, body }] of routes) {
    for (const schema of [query, body]) {
      if (schema !== undefined) checkDescriptions(schema, id);
    }
  }
});

function checkDescriptions(schema: v.GenericSchema, path: string): void {
  if (!("entries" in schema)) return;
  const entries = schema.entries as Readonly<Record<string, v.GenericSchema>>;
  for (const [name, field] of Object.entries(entries)) {
    const inner = "wrapped" in field ? (field.wrapped as v.GenericSchema) : field;
    const description = v.getDescription(inner);
    assert.ok(description !== undefined, `${path}.${name} has no description`);
    // No kind of field takes a symbol.
    const { issues } = v.safeParse(inner, Symbol());
    assert.deepEqual(
      issues?.map(({ message }) => message),
      [`expected ${description}`],
      `${path}.${name} is not worded`,
    );
    checkDescriptions(inner, `${path}.${name}`);
    if ("item" in inner) checkDescriptions(inner.item as v.GenericSchema, `${path}.${name}[]`);
  }
}
