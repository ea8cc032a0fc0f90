import { readFileSync } from "node:fs";
import { join } from "node:path";
import * as v from "valibot";
import { parse } from "yaml";
import { packageRoot } from "../../../api/commands/livestream-local/package-root.js";

export const FOLDER = join(packageRoot(), "deploy/livestream");

export function deployed(path: string): string {
  return readFileSync(join(FOLDER, path), "utf8");
}

const Texts = v.record(v.string(), v.string());
const Healthcheck = v.object({ test: v.array(v.string()), interval: v.string() });
const Service = v.object({
  restart: v.string(),
  read_only: v.boolean(),
  security_opt: v.array(v.string()),
  cap_drop: v.array(v.string()),
  build: v.object({ context: v.string(), dockerfile: v.string() }),
  user: v.optional(v.string()),
  environment: v.optional(Texts, {}),
  expose: v.optional(v.array(v.string()), []),
  ports: v.optional(v.array(v.string()), []),
  networks: v.array(v.string()),
  volumes: v.array(v.string()),
  tmpfs: v.array(v.string()),
  depends_on: v.optional(v.record(v.string(), v.object({ condition: v.string() })), {}),
  healthcheck: Healthcheck,
});
const Compose = v.object({
  services: v.object({ "state-api": Service, ingest: Service, front: Service }),
  networks: v.object({ inside: v.object({ internal: v.literal(true) }), outside: v.object({}) }),
  volumes: v.object({ hls: v.object({ driver_opts: Texts }) }),
});
const KeysCompose = v.object({
  services: v.object({
    "state-api": v.object({ environment: Texts, secrets: v.array(v.string()) }),
    ingest: v.object({ environment: Texts }),
    front: v.object({ environment: Texts }),
  }),
  secrets: v.record(v.string(), v.object({ file: v.string() })),
});

const Permissions = v.array(v.object({ action: v.string(), path: v.optional(v.string()) }));
const MediaMtx = v.looseObject({
  authInternalUsers: v.array(v.object({ ips: v.array(v.string()), permissions: Permissions })),
  authHTTPAddress: v.string(),
  apiAddress: v.string(),
  rtmpAddress: v.string(),
  rtspAddress: v.string(),
  rtspTransports: v.array(v.string()),
  webrtcAddress: v.string(),
  webrtcLocalUDPAddress: v.string(),
  pathDefaults: v.looseObject({ overridePublisher: v.boolean() }),
  hls: v.literal(false),
  srt: v.literal(false),
  paths: v.record(v.string(), v.record(v.string(), v.union([v.string(), v.boolean()]))),
});

export const compose = v.parse(Compose, parse(deployed("compose.yaml"), { merge: true }));
export const keysCompose = v.parse(KeysCompose, parse(deployed("compose.keys.yaml")));
export const mediaMtx = v.parse(MediaMtx, parse(deployed("ingest/mediamtx.yml")));
