import { once } from "node:events";
import { createServer, type Server } from "node:net";

/** Below where Linux, macOS and Windows take the ports of outgoing connections from, which would take one before its user starts. */
const LOWEST = 20_000;
const BLOCKS = 100;
const BLOCK_PORTS = 120;

/** The ports of a process, which it takes one after the other. */
interface Block {
  /** Held as long as the process runs: it says that the ports behind it are this process's. */
  readonly first: number;
  taken: number;
}

let ownBlock: Promise<Block> | undefined;

/**
 * Ports of loopback where nothing listens; all different, and none that another process gets from here while this one
 * runs: between this answer and the start of whoever listens, or where nobody ever does, it stays free.
 */
export async function freePorts(count: number): Promise<readonly number[]> {
  ownBlock ??= claimBlock();
  const block = await ownBlock;
  const ports: number[] = [];
  for (let tries = 1; ports.length < count; tries += 1) {
    if (tries === BLOCK_PORTS) throw new Error(`no ${count} free ports were found`);
    block.taken = (block.taken % (BLOCK_PORTS - 1)) + 1;
    const port = block.first + block.taken;
    const server = await listening(port);
    if (server === undefined) continue;
    server.close();
    await once(server, "close");
    ports.push(port);
  }
  return ports;
}

/** Begins anywhere, so that processes which start together seldom ask for the same. */
async function claimBlock(): Promise<Block> {
  const start = process.pid % BLOCKS;
  for (let n = 0; n < BLOCKS; n += 1) {
    const first = LOWEST + ((start + n) % BLOCKS) * BLOCK_PORTS;
    const claim = await listening(first);
    if (claim === undefined) continue;
    claim.unref();
    return { first, taken: 0 };
  }
  throw new Error("other processes have all ports");
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
