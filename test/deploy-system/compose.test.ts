import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { type TestContext, test } from "node:test";
import * as v from "valibot";
import { parse } from "yaml";
import { packageRoot } from "../../api/commands/livestream-local/package-root.js";
import { debianProgram } from "../../bench/stand/debian-program.js";
import { parseConfig } from "../../config.js";

const ROOT = packageRoot();
const Composed = v.object({
  services: v.record(
    v.string(),
    v.looseObject({
      environment: v.optional(v.record(v.string(), v.string()), {}),
      ports: v.optional(v.array(v.union([v.string(), v.looseObject({})])), []),
      cap_drop: v.array(v.string()),
      security_opt: v.array(v.string()),
      read_only: v.boolean(),
      cpu_shares: v.optional(v.number()),
      stop_grace_period: v.optional(v.string()),
      ulimits: v.optional(v.record(v.string(), v.number())),
    }),
  ),
});

const TRUNK = {
  PARLEY_API_KEY: "vk_1",
  ASTERISK_ARI_PASSWORD: "of-ari",
  SIP_TRUNK_HOST: "sip.example.com",
};

/**
 * Returns the files as Debian's docker-compose merges them. It is too old for the `name` at their top, which is left
 * out.
 */
function composed(context: TestContext, ...paths: readonly string[]) {
  const folder = mkdtempSync(join(tmpdir(), "parley-compose-"));
  context.after(() => rmSync(folder, { recursive: true }));
  for (const path of paths) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    const text = readFileSync(join(ROOT, path), "utf8");
    writeFileSync(join(folder, path), text.replace(/^name: .*\n/m, ""));
  }
  cpSync(join(ROOT, ".env.example"), join(folder, ".env"));
  const files = paths.flatMap((path) => ["-f", join(folder, path)]);
  const { status, stdout, stderr } = spawnSync(
    debianProgram("docker-compose"),
    [...files, "config"],
    {
      encoding: "utf8",
      env: {
        PATH: process.env["PATH"],
        HOME: folder,
        PUBLISH_KEYS_FILE: "/etc/keys",
        POSTGRES_PASSWORD: "unused",
        ...TRUNK,
      },
    },
  );
  assert.equal(status, 0, stderr);
  return v.parse(Composed, parse(stdout)).services;
}

test("docker-compose accepts the voice server's file, which confines the container", (context) => {
  const { parley, ...others } = composed(context, "deploy/compose.yaml");
  assert.ok(parley);
  assert.deepEqual(others, {});
  assert.equal(parley.read_only, true);
  assert.deepEqual(parley.cap_drop, ["ALL"]);
  assert.deepEqual(parley.security_opt, ["no-new-privileges:true"]);
  assert.deepEqual(parley.ulimits, { core: 0, nice: 20, nofile: 65_536 });
});

test("the server in compose has the settings of .env, and a port that only this machine can reach", (context) => {
  const { parley } = composed(context, "deploy/compose.yaml");
  assert.ok(parley);
  const keys = { JWT_SECRET: "j".repeat(32), ENCRYPTION_KEY: "5a".repeat(32) };
  const config = parseConfig({ ...parley.environment, ...keys });
  assert.equal(config.isProduction, true);
  assert.deepEqual(parley.ports, [`127.0.0.1:${config.port}:${config.port}/tcp`]);
  assert.equal(config.dataDir, "/data");
  assert.equal(parley.stop_grace_period, "60s");
  assert.ok(60_000 >= config.drainTimeoutMs + 15_000, "calls have the time to end");
});

test("docker-compose accepts two servers of one database behind nginx, which differ only in their names", (context) => {
  const { one, two, nginx, postgres, ...others } = composed(context, "deploy/several/compose.yaml");
  assert.ok(one && two && nginx && postgres);
  assert.deepEqual(others, {});
  const keys = { JWT_SECRET: "j".repeat(32), ENCRYPTION_KEY: "5a".repeat(32) };
  const configs = [one, two].map(({ environment }) => parseConfig({ ...environment, ...keys }));
  assert.deepEqual(
    configs.map(({ nodeName }) => nodeName),
    ["one", "two"],
  );
  assert.deepEqual(configs[1], { ...configs[0], nodeName: "two" });
  assert.equal(configs[0]?.databaseUrl, "postgres://parley:unused@postgres:5432/parley");
  assert.deepEqual([one.ports, postgres.ports], [[], []]);
  assert.deepEqual(nginx.ports, ["127.0.0.1:8080:8080/tcp"]);
  assert.equal(postgres.cpu_shares, 256, "calls get CPU time before the database");
  for (const { read_only, cap_drop } of [one, two, nginx, postgres]) {
    assert.equal(read_only, true);
    assert.deepEqual(cap_drop, ["ALL"]);
  }
});

test("docker-compose accepts the live streams' files, with and without publishing keys", (context) => {
  const plain = ["deploy/livestream/compose.yaml"];
  for (const paths of [plain, [...plain, "deploy/livestream/compose.keys.yaml"]]) {
    const services = composed(context, ...paths);
    assert.deepEqual(Object.keys(services).sort(), ["front", "ingest", "state-api"]);
    for (const service of Object.values(services)) assert.deepEqual(service.cap_drop, ["ALL"]);
  }
});

test("docker-compose accepts Parley behind a SIP trunk, where both know the same ARI, and neither is seen from outside", (context) => {
  const { parley, asterisk, ...others } = composed(context, "deploy/asterisk/compose.yaml");
  assert.ok(parley && asterisk);
  assert.deepEqual(others, {});
  for (const service of [parley, asterisk]) {
    assert.equal(service.read_only, true);
    assert.deepEqual(service.cap_drop, ["ALL"]);
    assert.deepEqual(service.security_opt, ["no-new-privileges:true"]);
    assert.equal(service["network_mode"], "host");
  }
  const keys = { JWT_SECRET: "j".repeat(32), ENCRYPTION_KEY: "5a".repeat(32) };
  const config = parseConfig({ ...parley.environment, ...keys });
  assert.equal(config.host, "127.0.0.1");
  assert.equal(asterisk.environment["PARLEY_URL"], `http://127.0.0.1:${config.port}`);
  assert.equal(
    asterisk.environment["ASTERISK_ARI_PASSWORD"],
    parley.environment["ASTERISK_ARI_PASSWORD"],
  );
  const http = readFileSync(join(ROOT, "deploy/asterisk/conf/http.conf"), "utf8");
  const [, address, port] = /bindaddr = (\S+)\nbindport = (\d+)/.exec(http) ?? [];
  assert.equal(parley.environment["ASTERISK_ARI_URL"], `http://${address}:${port}/ari`);
});
