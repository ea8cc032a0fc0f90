import { fileURLToPath } from "node:url";
import type { PartCommand } from "./running-part.js";

export interface TranscoderOptions {
  readonly stateApiPort: number;
  /** Left out: loopback. */
  readonly rtmpHost?: string;
  readonly rtmpPort: number;
  readonly statusPort: number;
  /** Where it is rung when a broadcaster has gone. */
  readonly port: number;
  readonly hlsRoot: string;
  readonly runFolder: string;
  /** Who ffmpeg runs as: user and group; undefined: who runs this. */
  readonly ids: readonly [user: number, group: number] | undefined;
  /** The operator's own settings of it; what is given here wins. */
  readonly environment: Readonly<Record<string, string>>;
}

const MAIN = fileURLToPath(new URL("../livestream-transcoder.js", import.meta.url));

export function transcoder(options: TranscoderOptions): PartCommand {
  const {
    rtmpHost = "127.0.0.1",
    stateApiPort,
    rtmpPort,
    statusPort,
    port,
    hlsRoot,
    runFolder,
    ids,
  } = options;
  return {
    name: "transcoder",
    file: process.execPath,
    args: ["--enable-source-maps", MAIN],
    env: {
      ...options.environment,
      STATE_API_URL: `http://127.0.0.1:${stateApiPort}`,
      SOURCE_URL: `rtmp://${rtmpHost}:${rtmpPort}/live/KEY`,
      NGINX_STAT_URL: `http://127.0.0.1:${statusPort}/stat`,
      TRANSCODER_PORT: String(port),
      HLS_ROOT: hlsRoot,
      RUN_DIR: runFolder,
      ...(ids === undefined
        ? {}
        : { LADDER_USER_ID: String(ids[0]), LADDER_GROUP_ID: String(ids[1]) }),
    },
    stopSignal: "SIGTERM",
  };
}
