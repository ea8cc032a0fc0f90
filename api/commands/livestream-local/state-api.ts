import { fileURLToPath } from "node:url";
import type { PartCommand } from "./running-part.js";

export interface StateApiOptions {
  readonly port: number;
  readonly hlsRoot: string;
  /** The operator's own settings of it; what is given here wins. */
  readonly environment: Readonly<Record<string, string>>;
}

const MAIN = fileURLToPath(new URL("../../livestream/main.js", import.meta.url));

export function stateApi({ port, hlsRoot, environment }: StateApiOptions): PartCommand {
  return {
    name: "state API",
    file: process.execPath,
    args: ["--enable-source-maps", MAIN],
    env: {
      LOG_LEVEL: "warn",
      ...environment,
      HOST: "127.0.0.1",
      LIVESTREAM_PORT: String(port),
      HLS_ROOT: hlsRoot,
    },
    stopSignal: "SIGTERM",
  };
}
