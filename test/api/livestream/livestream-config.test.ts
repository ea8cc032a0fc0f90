import assert from "node:assert/strict";
import { test } from "node:test";
import { parseLiveStreamConfig } from "../../../api/livestream/livestream-config.js";
import { ConfigError } from "../../../engine/settings.js";

test("without any setting it listens on port 4000, and takes webhooks from its own network", () => {
  const config = parseLiveStreamConfig({});
  assert.deepEqual([config.host, config.port, config.logLevel], ["0.0.0.0", 4_000, "info"]);
  assert.deepEqual(
    [config.hlsRoot, config.publicBaseUrl, config.publishKeysFile],
    [undefined, undefined, undefined],
  );
  assert.deepEqual(config.webhookNetworks, [
    "127.0.0.0/8",
    "::1",
    "10.0.0.0/8",
    "172.16.0.0/12",
    "192.168.0.0/16",
    "fc00::/7",
    "fe80::/10",
  ]);
  assert.deepEqual([config.isClientIpMasked, config.publishKeys], [false, []]);
});

test("settings are read as what they are", () => {
  const config = parseLiveStreamConfig({
    LIVESTREAM_PORT: "0",
    PUBLIC_BASE_URL: "https://live.example.com/",
    WEBHOOK_NETWORKS: "10.1.2.3, fd00::/8",
    MASK_CLIENT_IP: "true",
    PUBLISH_KEYS: "alice=one-secret,bob=another-one",
    MAX_STREAMS: "5",
  });
  assert.deepEqual(
    [config.port, config.publicBaseUrl, config.streamsMax],
    [0, "https://live.example.com", 5],
  );
  assert.deepEqual(config.webhookNetworks, ["10.1.2.3", "fd00::/8"]);
  assert.deepEqual(config.publishKeys, ["alice=one-secret", "bob=another-one"]);
  assert.equal(config.isClientIpMasked, true);
});

test("all errors are reported together", () => {
  assert.throws(
    () =>
      parseLiveStreamConfig({
        LIVESTREAM_PORT: "65536",
        PUBLIC_BASE_URL: "live.example.com",
        WEBHOOK_NETWORKS: "10.0.0.0/33",
        MAX_STREAMS: "0",
        MAX_EVENT_LISTENERS: "x",
        MASK_CLIENT_IP: "maybe",
        LOG_LEVEL: "loud",
      }),
    (error) => {
      assert.ok(error instanceof ConfigError);
      const names = new Set(error.faults.map((fault) => fault.split(":")[0]));
      assert.deepEqual(
        names,
        new Set([
          "LIVESTREAM_PORT",
          "PUBLIC_BASE_URL",
          "WEBHOOK_NETWORKS",
          "MAX_STREAMS",
          "MAX_EVENT_LISTENERS",
          "MASK_CLIENT_IP",
          "LOG_LEVEL",
        ]),
      );
      return true;
    },
  );
});
