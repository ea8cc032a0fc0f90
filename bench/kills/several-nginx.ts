import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { packageRoot } from "../../api/commands/livestream-local/package-root.js";
import { RunningPart } from "../../api/commands/livestream-local/running-part.js";
import { SystemClock } from "../../engine/time/clock.js";
import { debianProgram } from "../stand/debian-program.js";

const READY_MAX_MS = 20_000;
const POLL_MS = 50;
const TEMPORARY = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"];

/** Puts `to` in the place of every `from`; throws where there is none, so that nobody goes on with another file than they think. */
export function replaced(text: string, from: string, to: string): string {
  if (!text.includes(from)) throw new Error(`the configuration has no "${from}"`);
  return text.replaceAll(from, to);
}

/**
 * Real nginx with deploy/several/nginx.conf on a port of loopback, which leads to the servers of these names and addresses.
 * Resolves, when it answers, with what stops it.
 */
export async function startSeveralNginx(
  port: number,
  servers: readonly { readonly name: string; readonly url: string }[],
  onStarted: (pid: number) => void = ignore,
): Promise<() => Promise<void>> {
  const folder = mkdtempSync(join(tmpdir(), "parley-several-"));
  let conf = readFileSync(join(packageRoot(), "deploy/several/nginx.conf"), "utf8");
  conf = replaced(conf, "listen 8080 ", `listen 127.0.0.1:${port} `);
  for (const { name, url } of servers) {
    conf = replaced(conf, `server ${name}:8080 `, `server ${new URL(url).host} `);
  }
  const folders = TEMPORARY.map((name) => `${name}_temp_path ${folder}/${name};`).join(" ");
  const path = join(folder, "nginx.conf");
  writeFileSync(path, `pid ${folder}/pid; events {} http { ${folders}\n${conf}\n}`);
  const part = new RunningPart(
    {
      name: "nginx",
      file: debianProgram("nginx"),
      args: ["-c", path, "-p", folder, "-e", "stderr", "-g", "daemon off;"],
      env: {},
      stopSignal: "SIGTERM",
    },
    { onLine: ignore, onStarted, onEnded: ignore, onGivenUp: ignore },
    new SystemClock(),
  );
  const stop = async () => {
    await part.stop();
    rmSync(folder, { recursive: true, force: true });
  };
  part.start();
  const deadlineMs = performance.now() + READY_MAX_MS;
  while (!(await answers(port))) {
    if (performance.now() > deadlineMs) {
      await stop();
      throw new Error("nginx does not answer");
    }
    await sleep(POLL_MS);
  }
  return stop;
}

function answers(port: number): Promise<boolean> {
  return fetch(`http://127.0.0.1:${port}/api/health`).then(
    ({ ok }) => ok,
    () => false,
  );
}

function ignore(): void {}
