import assert from "node:assert/strict";
import { test } from "node:test";
import { CredentialCipher } from "../../../../engine/security/credential-cipher.js";
import { changedAgentFields } from "../../../../engine/tenancy/agents/agent-input.js";
import {
  openPreCallSecrets,
  requirePublicPreCall,
  sealedPreCall,
} from "../../../../engine/tenancy/agents/agent-pre-call.js";
import { agentRecord } from "../../../storage/sample-records.js";

const cipher = new CredentialCipher("5a".repeat(32));
const URL_BEFORE = "https://a.example/before";
const SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const GIVEN = { url: URL_BEFORE, timeoutMs: 2_000, headers: { "X-Key": "k" }, secret: SECRET };

test("headers and secret are sealed, and stay while the address leads to the same server", () => {
  const first = sealedPreCall(GIVEN, cipher);
  const stored = { url: URL_BEFORE, timeoutMs: 2_000, headerNames: ["x-key"], isSigned: true };
  assert.deepEqual(first.preCall, stored);
  assert.ok(!JSON.stringify(first).includes(SECRET));
  assert.deepEqual(openPreCallSecrets(first, cipher), {
    headers: { "x-key": "k" },
    secret: SECRET,
  });
  const same = sealedPreCall({ url: `${URL_BEFORE}?a=1`, timeoutMs: 300 }, cipher, first);
  assert.equal(same.sealedPreCall, first.sealedPreCall, "unchanged secrets are not sealed again");
  assert.equal(same.preCall?.timeoutMs, 300);
  const unsigned = sealedPreCall({ ...GIVEN, secret: null }, cipher, first);
  assert.deepEqual(openPreCallSecrets(unsigned, cipher), { headers: { "x-key": "k" } });
  assert.equal(unsigned.preCall?.isSigned, false);
  const gone = { preCall: null, sealedPreCall: null };
  assert.deepEqual(sealedPreCall(null, cipher, first), gone);
  assert.deepEqual(openPreCallSecrets(gone, cipher), { headers: {} });
});

test("secrets have to be given again if they would go to another server or if no key decrypts them", () => {
  const first = sealedPreCall(GIVEN, cipher);
  const moved = { url: "https://b.example/", timeoutMs: 2_000 };
  assert.throws(() => sealedPreCall(moved, cipher, first), /leads to another server/);
  const other = new CredentialCipher("5b".repeat(32));
  const unchanged = { url: URL_BEFORE, timeoutMs: 2_000 };
  assert.throws(() => sealedPreCall(unchanged, other, first), /cannot be opened/);
});

test("saving an address of a private host is refused", () => {
  for (const url of ["http://127.0.0.1/", "http://[::1]:81/", "http://169.254.169.254/latest"]) {
    assert.throws(
      () => requirePublicPreCall({ url, timeoutMs: 2_000 }),
      /preCall.url: expected a public address/,
    );
  }
  requirePublicPreCall({ url: URL_BEFORE, timeoutMs: 2_000 });
  requirePublicPreCall(null);
});

test("a changed secret is reported as a change of preCall", () => {
  const before = agentRecord(sealedPreCall(GIVEN, cipher));
  const after = agentRecord(sealedPreCall({ ...GIVEN, headers: { "x-key": "l" } }, cipher));
  assert.deepEqual(changedAgentFields(before, after), ["preCall"]);
});
