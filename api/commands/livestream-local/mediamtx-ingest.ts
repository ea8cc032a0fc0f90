import { accessSync, constants, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { CommandError } from "../command-error.js";
import { packageRoot } from "./package-root.js";
import type { PartCommand } from "./running-part.js";

export interface MediaMtxIngestOptions {
  /** address:port for broadcasters. */
  readonly rtmpListen: string;
  /** The control API, RTSP for the transcoder, and WebRTC signalling for the front proxy; ports on loopback. */
  readonly apiPort: number;
  readonly rtspPort: number;
  readonly webrtcPort: number;
  /** address:port to which browsers send media. */
  readonly webrtcUdpListen: string;
  /** The host name or address by which browsers on other machines reach this one. */
  readonly publicHost: string | undefined;
  readonly stateApiPort: number;
  readonly arePublishKeysChecked: boolean;
  /** The loopback port at which the transcoder receives change notifications. */
  readonly transcoderPort: number;
  readonly tempFolder: string;
}

const CONFIG = "deploy/livestream/ingest/mediamtx.yml";
/** In the container setup MediaMTX starts the transcoder for this path; here the transcoder is a process of its own. */
const TRANSCODER_PATH = /\n {2}# [^\n]*\n {2}_transcoder:\n(?: {4}[^\n]*\n)*/;
const CONTAINER_TRANSCODER = "http://127.0.0.1:8937/";

/** Throws a CommandError that names the setting if the file cannot be executed. */
export function requireMediaMtx(program: string): void {
  try {
    accessSync(program, constants.X_OK);
  } catch {
    throw new CommandError("MEDIAMTX: expected the path of MediaMTX's executable");
  }
}

/**
 * Writes the containers' configuration adapted to one machine, and returns the command that starts an installed
 * MediaMTX with it.
 */
export function mediaMtxIngest(program: string, options: MediaMtxIngestOptions): PartCommand {
  const path = join(options.tempFolder, "mediamtx.yml");
  const config = readFileSync(join(packageRoot(), CONFIG), "utf8");
  const { transcoderPort, stateApiPort, arePublishKeysChecked, publicHost } = options;
  writeFileSync(
    path,
    config
      .replace(TRANSCODER_PATH, "\n")
      .replaceAll(CONTAINER_TRANSCODER, `http://127.0.0.1:${transcoderPort}/`),
  );
  const loopback = (port: number) => `127.0.0.1:${port}`;
  return {
    name: "ingest",
    file: program,
    args: [path],
    env: {
      MTX_RTMPADDRESS: options.rtmpListen,
      MTX_APIADDRESS: loopback(options.apiPort),
      MTX_RTSPADDRESS: loopback(options.rtspPort),
      MTX_WEBRTCADDRESS: loopback(options.webrtcPort),
      MTX_WEBRTCTRUSTEDPROXIES: "127.0.0.1",
      MTX_WEBRTCLOCALUDPADDRESS: options.webrtcUdpListen,
      MTX_AUTHHTTPADDRESS: `http://${loopback(stateApiPort)}/webhook/on-auth`,
      ...(publicHost === undefined ? {} : { MTX_WEBRTCADDITIONALHOSTS: publicHost }),
      ...(arePublishKeysChecked
        ? { MTX_AUTHMETHOD: "http", MTX_PATHDEFAULTS_OVERRIDEPUBLISHER: "true" }
        : {}),
    },
    stopSignal: "SIGTERM",
  };
}
