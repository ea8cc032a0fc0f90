import { once } from "node:events";
import { createServer, type Server } from "node:net";

/** Below where Linux, macOS and Windows take the ports of outgoing connections from, which would take one before its user starts. */
const LOWEST = 20_000;
const HIGHEST = 32_000;
const TRIES_MAX = 100;

/** Ports of loopback where nothing listens; all different. */
export async function freePorts(count: number): Promise<readonly number[]> {
  const held = new Map<number, Server>();
  for (let tries = 0; held.size < count; tries += 1) {
    if (tries === TRIES_MAX + count) throw new Error(`no ${count} free ports were found`);
    const port = LOWEST + Math.floor(Math.random() * (HIGHEST - LOWEST));
    const server = held.has(port) ? undefined : await listening(port);
    if (server !== undefined) held.set(port, server);
  }
  for (const server of held.values()) {
    server.close();
    await once(server, "close");
  }
  return [...held.keys()];
}

/** Undefined for a port that somebody has. */
async function listening(port: number): Promise<Server | undefined> {
  const server = createServer();
  server.listen(port, "127.0.0.1");
  return await once(server, "listening").then(
    () => server,
    () => undefined,
  );
}
