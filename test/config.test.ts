import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { ConfigError, parseConfig } from "../config.js";
import { CertificateAuthority } from "../engine/sandbox/sandbox.js";
import { PHONE_VENDOR_NAMES } from "../engine/telephony/telephony-settings.js";

const SECRETS = ["a".repeat(32), "b".repeat(40)] as const;
const KEYS = ["0f".repeat(32), "F0".repeat(32)] as const;

function faultsOf(environment: Readonly<Record<string, string>>): readonly string[] {
  try {
    parseConfig(environment);
  } catch (error) {
    assert.ok(error instanceof ConfigError);
    return error.faults;
  }
  return [];
}

test("a variable under its former name is refused with the present one", () => {
  const former = { EARLY_REPLY_WASTE_TOKENS_PER_HOUR: "5", HTTP_FRONT: "node", PORT: "x" };
  assert.deepEqual(faultsOf(former).slice(1), [
    "EARLY_REPLY_WASTE_TOKENS_PER_HOUR: expected PREEMPTIVE_WASTE_TOKENS_PER_HOUR, the present name of this variable",
    "HTTP_FRONT: expected HTTP_BACKEND, the present name of this variable",
  ]);
  assert.deepEqual(faultsOf({ HTTP_FRONT: "" }), []);
});

test("without any setting it is a development server with the documented defaults", () => {
  const config = parseConfig({});
  assert.equal(config.isProduction, false);
  assert.deepEqual(
    [config.host, config.port, config.dataDir, config.jwtExpiresIn],
    ["0.0.0.0", 8080, "./data", "1h"],
  );
  assert.equal(config.sandbox, "auto");
  assert.deepEqual([config.trustedProxies, config.corsOrigins], [[], []]);
  assert.deepEqual(
    [config.authRequestsPerMinute, config.requestsPerMinute, config.voiceConnectionsPerMinute],
    [10, 600, 30],
  );
  assert.equal(config.drainTimeoutMs, 30_000);
  assert.equal(config.allowPrivateProviders, false);
  assert.deepEqual(new Set(Object.values(config.vendorKeys)), new Set([undefined]));
  assert.equal(config.vendorUrls["deepgram"], "wss://api.deepgram.com");
  assert.match(config.vendorUrls["edge"] ?? "", /^wss:.*edge\/v1$/);
});

test("an empty variable counts as one that is not set", () => {
  const config = parseConfig({ PORT: "", OPENAI_API_KEY: "", JWT_SECRET: "", SANDBOX: "" });
  assert.equal(config.port, 8080);
  assert.equal(config.vendorKeys["openai"], undefined);
  assert.equal(config.jwtSecret, undefined);
});

test("settings are read as what they are", () => {
  const config = parseConfig({
    PORT: "0",
    TRUSTED_PROXIES: " 10.0.0.0/8, ::1 ,",
    CORS_ORIGINS: "https://app.example.com",
    ALLOW_PRIVATE_PROVIDERS: "1",
    DRAIN_TIMEOUT_SEC: "5",
    SPEECH_CACHE_MB: "2",
    OLLAMA_BASE_URL: "http://10.0.0.7:11434",
    EMBEDDING_MODELS: "openai/text-embedding-3-small, ollama/library/bge-m3",
  });
  assert.equal(config.port, 0);
  assert.deepEqual(config.trustedProxies, ["10.0.0.0/8", "::1"]);
  assert.deepEqual(config.corsOrigins, ["https://app.example.com"]);
  assert.equal(config.allowPrivateProviders, true);
  assert.deepEqual(config.embeddingModels, [
    "openai/text-embedding-3-small",
    "ollama/library/bge-m3",
  ]);
  assert.equal(config.drainTimeoutMs, 5_000);
  assert.equal(config.speechCacheBytes, 2 * 1024 * 1024);
  assert.equal(config.vendorUrls["ollama"], "http://10.0.0.7:11434");
});

test("the vendors' authorities are read from their file, or the file is reported as invalid", async (t) => {
  const folder = await mkdtemp(join(tmpdir(), "parley-ca-"));
  t.after(() => rm(folder, { recursive: true }));
  const fault = "VENDOR_CA_FILE: expected a file of certificates in PEM form";
  const contents = {
    "no certificate": "hello",
    "a broken one": "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n",
  };
  for (const [name, content] of Object.entries(contents)) {
    await writeFile(join(folder, name), content);
    assert.deepEqual(faultsOf({ VENDOR_CA_FILE: join(folder, name) }), [fault], name);
  }
  assert.deepEqual(faultsOf({ VENDOR_CA_FILE: join(folder, "nothing there") }), [fault]);
  const { certificate } = await CertificateAuthority.create();
  const path = join(folder, "ca.pem");
  await writeFile(path, `An authority:\n${certificate}`);
  assert.match(parseConfig({ VENDOR_CA_FILE: path }).vendorCa ?? "", /^An authority:/);
});

test("all errors are reported together, by name and without the values", () => {
  const wrong = {
    NODE_ENV: "staging",
    PORT: "65536",
    REQUESTS_PER_MINUTE: "many",
    DRAIN_TIMEOUT_SEC: "-1",
    JWT_SECRET: "too-short-a-secret",
    ENCRYPTION_KEY: "zz",
    JWT_EXPIRES_IN: "soon",
    TRUSTED_PROXIES: "10.0.0.0/8, the proxy",
    CORS_ORIGINS: "https://app.example.com, app.example.com",
    DEEPGRAM_URL: "https://api.deepgram.com",
    OPENAI_BASE_URL: "api.openai.com",
    SANDBOX: "maybe",
    VENDOR_CA_FILE: "/nowhere/ca.pem",
    ALLOW_PRIVATE_PROVIDERS: "yes",
    TELEPHONY_VENDORS: "twilio, asterix",
    LOG_LEVEL: "loud",
  };
  const faults = faultsOf(wrong);
  assert.deepEqual(
    new Set(faults.map((fault) => fault.split(":")[0])),
    new Set(Object.keys(wrong)),
  );
  assert.equal(faults.length, Object.keys(wrong).length);
  assert.doesNotMatch(faults.join(), /too-short-a-secret/);
});

test("vendors of telephones are those that are named, be it one, or all", () => {
  assert.deepEqual(parseConfig({ TELEPHONY_VENDORS: "telnyx" }).telephonyVendors, ["telnyx"]);
  assert.deepEqual(parseConfig({}).telephonyVendors, PHONE_VENDOR_NAMES);
});

test("the public address may have a sub-path, and nothing after it", () => {
  const base = (PUBLIC_BASE_URL: string) => parseConfig({ PUBLIC_BASE_URL }).publicBaseUrl;
  assert.equal(base("https://example.com/"), "https://example.com");
  assert.equal(base("https://example.com/a-b/c.d_e~1/"), "https://example.com/a-b/c.d_e~1");
  for (const wrong of ["/:id", "/*", "/a//b", "/a%2Fb", "/a?b=c", "/a?", "/a#b", "/a b"]) {
    const [fault = ""] = faultsOf({ PUBLIC_BASE_URL: `https://example.com${wrong}` });
    assert.match(fault, /^PUBLIC_BASE_URL: expected no user name, query or fragment/, wrong);
  }
  assert.equal(faultsOf({ PUBLIC_BASE_URL: "https://a:b@example.com" }).length, 1);
});

test("an origin is written as browsers send it, or means every one", () => {
  for (const origins of [
    "*",
    "http://localhost:3000",
    "https://a.example.com,https://b.example.com",
  ]) {
    assert.deepEqual(faultsOf({ CORS_ORIGINS: origins }), [], origins);
  }
  for (const origin of [
    "https://a.example.com/",
    "https://A.example.com",
    "a.example.com",
    "null",
  ]) {
    assert.deepEqual(
      faultsOf({ CORS_ORIGINS: origin }),
      ["CORS_ORIGINS: expected origins like https://app.example.com"],
      origin,
    );
  }
});

test("production demands its secrets and has no sandbox", () => {
  const secrets = { JWT_SECRET: SECRETS[0], ENCRYPTION_KEY: KEYS[0] };
  assert.deepEqual(faultsOf({ NODE_ENV: "production", SANDBOX: "tls", PORT: "x" }), [
    "PORT: expected a whole number from 0 to 65535",
    "JWT_SECRET: required in production",
    "ENCRYPTION_KEY: required in production",
    "SANDBOX: there is no sandbox in production",
  ]);
  const config = parseConfig({ NODE_ENV: "production", ...secrets });
  assert.equal(config.isProduction, true);
  assert.equal(config.sandbox, "off");
});

test("without old keys only the current ones count", () => {
  const { jwtSecretsOld, encryptionKeysOld } = parseConfig({ JWT_SECRET_OLD: "" });
  assert.deepEqual([jwtSecretsOld, encryptionKeysOld], [[], []]);
});

test("old keys are lists with commas between", () => {
  const config = parseConfig({
    JWT_SECRET_OLD: SECRETS.join(", "),
    ENCRYPTION_KEY_OLD: ` ${KEYS.join(",")},`,
  });
  assert.deepEqual(config.jwtSecretsOld, SECRETS);
  assert.deepEqual(config.encryptionKeysOld, KEYS);
});

test("every wrong old key is listed, with all that is wrong, and none is repeated", () => {
  const faults = faultsOf({
    JWT_SECRET: "short",
    JWT_SECRET_OLD: `${SECRETS[0]},also short`,
    ENCRYPTION_KEY_OLD: `${KEYS[0]},${"x".repeat(64)},${KEYS[1]}0`,
  });
  assert.doesNotMatch(faults.join(), /short|xxx|0f0f|aaa/i);
  assert.deepEqual(faults, [
    "JWT_SECRET: expected 32 characters or more",
    "JWT_SECRET_OLD.1: expected 32 characters or more",
    "ENCRYPTION_KEY_OLD.1: expected 64 hexadecimal characters",
    "ENCRYPTION_KEY_OLD.2: expected 64 hexadecimal characters",
  ]);
});

test("there are at most ten old keys of a kind", () => {
  const ten = Array.from({ length: 10 }, () => KEYS[0]);
  assert.deepEqual(faultsOf({ ENCRYPTION_KEY_OLD: ten.join(",") }), []);
  assert.deepEqual(faultsOf({ ENCRYPTION_KEY_OLD: [...ten, KEYS[1]].join(",") }), [
    "ENCRYPTION_KEY_OLD: expected at most 10, with commas between",
  ]);
});

test("in production an old key is no substitute for the current one", () => {
  const faults = faultsOf({ NODE_ENV: "production", ENCRYPTION_KEY_OLD: KEYS[0] });
  assert.deepEqual(faults, [
    "JWT_SECRET: required in production",
    "ENCRYPTION_KEY: required in production",
  ]);
});

test("a model for embeddings has a vendor with embeddings", () => {
  for (const model of ["text-embedding-3-small", "openai/", "deepgram/nova-3", "nobody/model"]) {
    assert.deepEqual(
      faultsOf({ EMBEDDING_MODELS: model }),
      ["EMBEDDING_MODELS.0: expected models with their vendor, like openai/text-embedding-3-small"],
      model,
    );
  }
});
