import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { filledTemplate } from "./filled-template.js";
import { packageRoot } from "./package-root.js";
import type { PartCommand } from "./running-part.js";

export interface FrontProxyOptions {
  /** What nginx listens on: a port, or address:port. */
  readonly listen: string;
  /** host:port */
  readonly stateApi: string;
  /** host:port of the ingest's WebRTC side; may be one where nothing listens. */
  readonly webrtc: string;
  /** Read by nginx's workers, which may be another user. */
  readonly hlsRoot: string;
  readonly siteRoot: string;
  /** For its configuration and buffers; written to by nginx. */
  readonly tempFolder: string;
  /** The state API is asked who may watch. */
  readonly areViewersChecked?: boolean;
  /** As nginx's `access_log` takes it; none otherwise. */
  readonly accessLog?: string;
}

const TEMPLATE = "deploy/livestream/front/nginx.conf.template";

/** Writes the configuration that the container has too, and says how to start nginx with it. */
export function frontProxy(nginx: string, options: FrontProxyOptions): PartCommand {
  const path = join(options.tempFolder, "front.conf");
  const template = readFileSync(join(packageRoot(), TEMPLATE), "utf8");
  writeFileSync(
    path,
    filledTemplate(template, {
      FRONT_LISTEN: options.listen,
      FRONT_STATE_API: options.stateApi,
      FRONT_WEBRTC: options.webrtc,
      // Never asked: both upstreams are addresses.
      FRONT_RESOLVER: "127.0.0.1",
      FRONT_HLS_ROOT: options.hlsRoot,
      FRONT_SITE_ROOT: options.siteRoot,
      FRONT_TEMP: options.tempFolder,
      FRONT_VIEW_AUTH: options.areViewersChecked === true ? "/view-auth" : "off",
      FRONT_ACCESS_LOG: options.accessLog ?? "off",
    }),
  );
  return {
    name: "front proxy",
    file: nginx,
    args: ["-c", path, "-p", options.tempFolder, "-e", "stderr", "-g", "daemon off;"],
    env: {},
    stopSignal: "SIGTERM",
  };
}
