import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { DebianParts } from "./debian-packages.js";
import { filledTemplate } from "./filled-template.js";
import { packageRoot } from "./package-root.js";
import type { PartCommand } from "./running-part.js";

export interface RtmpIngestOptions {
  /** Who its workers run as. */
  readonly user: string;
  /** address:port for broadcasters. */
  readonly rtmpListen: string;
  readonly statusPort: number;
  readonly stateApiPort: number;
  readonly arePublishKeysChecked: boolean;
  /** Where the transcoder is rung. */
  readonly transcoderPort: number;
  readonly tempFolder: string;
}

/** As seen from the folder with package.json. */
const INGEST_FOLDER = "deploy/livestream/ingest";

/** Writes the stand-in ingest's configuration, and says how to start Debian's nginx with it. */
export function rtmpIngest(parts: DebianParts, options: RtmpIngestOptions): PartCommand {
  const path = join(options.tempFolder, "ingest.conf");
  const stateApiUrl = `http://127.0.0.1:${options.stateApiPort}`;
  const status = `127.0.0.1:${options.statusPort}`;
  writeFileSync(
    path,
    filledTemplate(ingestTemplate(), {
      INGEST_RTMP_MODULE: parts.rtmpModule,
      INGEST_USER: options.user,
      INGEST_TEMP: options.tempFolder,
      INGEST_RTMP_LISTEN: options.rtmpListen,
      INGEST_HTTP_LISTEN: status,
      INGEST_TRANSCODER: `127.0.0.1:${options.transcoderPort}`,
      INGEST_CHECK_KEYS: options.arePublishKeysChecked ? "1" : "0",
      INGEST_STATE_API_URL: stateApiUrl,
    }),
  );
  return {
    name: "ingest",
    file: parts.nginx,
    args: ["-c", path, "-p", options.tempFolder, "-e", "stderr"],
    env: {},
    stopSignal: "SIGTERM",
  };
}

function ingestTemplate(): string {
  return readFileSync(join(packageRoot(), INGEST_FOLDER, "nginx-rtmp.conf"), "utf8");
}
