import assert from "node:assert/strict";
import { test } from "node:test";
import { CredentialCipher } from "../../../../engine/security/credential-cipher.js";
import {
  type McpServerInput,
  openMcpSecrets,
  requirePublicMcpServers,
  sealedMcpServers,
} from "../../../../engine/tenancy/agents/agent-mcp.js";

const cipher = new CredentialCipher("5a".repeat(32));
const other = new CredentialCipher("6b".repeat(32));
const URL_BEFORE = "https://mcp.example/v1";
const GIVEN: McpServerInput = {
  name: "crm",
  url: URL_BEFORE,
  auth: { type: "bearer", token: "the-token" },
  headers: { "X-Tenant": "t1" },
  allowedTools: null,
  timeoutMs: 5_000,
};
const { headers: _headers, ...WITHOUT } = { ...GIVEN, auth: { type: "bearer" } as const };

test("secrets are sealed; secrets that are left out stay and are not sealed again", () => {
  const first = sealedMcpServers([GIVEN], cipher);
  const [server] = first.mcpServers;
  assert.deepEqual([server?.auth, server?.headerNames], [{ type: "bearer" }, ["x-tenant"]]);
  assert.doesNotMatch(JSON.stringify(first), /the-token|t1/);
  const secrets = { headers: { "x-tenant": "t1" }, secret: "the-token" };
  assert.deepEqual(openMcpSecrets(first, cipher).get("crm"), secrets);
  const same = sealedMcpServers([{ ...WITHOUT, url: `${URL_BEFORE}?a` }], cipher, first);
  assert.equal(same.sealedMcpSecrets, first.sealedMcpSecrets);
  const open = sealedMcpServers([{ ...GIVEN, auth: { type: "none" }, headers: {} }], cipher, first);
  assert.equal(open.sealedMcpSecrets, null);
});

test("stored secrets never go to another server, and an authentication without its secret is refused", () => {
  const first = sealedMcpServers([GIVEN], cipher);
  const moved = { ...WITHOUT, url: "https://other.example/" };
  assert.throws(() => sealedMcpServers([moved], cipher, first), /would go to another server/);
  assert.throws(() => sealedMcpServers([WITHOUT], other, first), /cannot be opened/);
  assert.throws(() => sealedMcpServers([WITHOUT], cipher), /mcpServers.0.auth.token: expected a/);
  const auth = {
    type: "clientCredentials",
    tokenUrl: "https://auth.example/token",
    clientId: "parley",
    clientSecret: "s3cret",
  } as const;
  const stored = sealedMcpServers([{ ...GIVEN, auth }], cipher);
  const elsewhere = { ...auth, tokenUrl: "https://evil.example/", clientSecret: undefined };
  assert.throws(
    () => sealedMcpServers([{ ...GIVEN, auth: elsewhere }], cipher, stored),
    /would go to another server/,
  );
  const bearer = { ...GIVEN, auth: { type: "bearer" } as const };
  assert.throws(
    () => sealedMcpServers([bearer], cipher, stored),
    /go to another server|auth.token/,
  );
});

test("servers and token endpoints on private addresses are refused by name", () => {
  for (const url of ["http://10.0.0.1/", "http://localhost:3000/"]) {
    const expected = /mcpServers.0.url: expected a public address/;
    assert.throws(() => requirePublicMcpServers([{ ...GIVEN, url }]), expected);
  }
  const auth = { type: "clientCredentials", tokenUrl: "http://[::1]/", clientId: "a" } as const;
  const expected = /mcpServers.0.auth.tokenUrl: expected a public/;
  assert.throws(() => requirePublicMcpServers([{ ...GIVEN, auth }]), expected);
  requirePublicMcpServers([GIVEN]);
});
