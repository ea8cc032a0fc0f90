import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { DebianParts } from "./debian-packages.js";
import { filledTemplate } from "./filled-template.js";
import { packageRoot } from "./package-root.js";
import type { PartCommand } from "./running-part.js";

export interface RtmpIngestOptions {
  /** Who the hooks run as. */
  readonly user: string;
  /** address:port for broadcasters. */
  readonly rtmpListen: string;
  readonly rtmpPort: number;
  readonly statusPort: number;
  readonly stateApiPort: number;
  readonly arePublishKeysChecked: boolean;
  /** The folder of hls-ladder.sh, readable by `user`. */
  readonly hooks: string;
  /** Written to by `user`. */
  readonly hlsRoot: string;
  readonly runFolder: string;
  readonly logFile: string;
  readonly tempFolder: string;
  /** The operator's own settings of the hook; what is given here wins. */
  readonly environment: Readonly<Record<string, string>>;
}

/** The ingest's folder, as seen from the folder with package.json. */
export const INGEST_FOLDER = "deploy/livestream/ingest";

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
      INGEST_HOOKS: options.hooks,
      INGEST_CHECK_KEYS: options.arePublishKeysChecked ? "1" : "0",
      INGEST_STATE_API_URL: stateApiUrl,
    }),
  );
  return {
    name: "ingest",
    file: parts.nginx,
    args: ["-c", path, "-p", options.tempFolder, "-e", "stderr"],
    env: {
      ...options.environment,
      STATE_API_URL: stateApiUrl,
      HLS_ROOT: options.hlsRoot,
      RUN_DIR: options.runFolder,
      LOG_FILE: options.logFile,
      SOURCE_URL: `rtmp://127.0.0.1:${options.rtmpPort}/live/KEY`,
      NGINX_STAT_URL: `http://${status}/stat`,
    },
    stopSignal: "SIGTERM",
  };
}

/** The settings of the hook that its nginx lets through. */
export function hookSettingNames(): readonly string[] {
  return [...ingestTemplate().matchAll(/^env ([A-Z_]+);$/gm)].flatMap(([, name]) => name ?? []);
}

function ingestTemplate(): string {
  return readFileSync(join(packageRoot(), INGEST_FOLDER, "nginx-rtmp.conf"), "utf8");
}
