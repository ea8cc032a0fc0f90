import { once } from "node:events";
import { createServer } from "node:net";
import type { Clock } from "../../../engine/time/clock.js";
import { CommandFault } from "../command-fault.js";

const READY_TIMEOUT_MS = 20_000;
const ASK_PERIOD_MS = 100;
const ANSWER_TIMEOUT_MS = 2_000;

/** Resolves when the address answers with success; throws a CommandFault when it does not in time, or at the signal. */
export async function untilReady(
  name: string,
  url: string,
  clock: Clock,
  signal: AbortSignal,
): Promise<void> {
  const beganMs = clock.monotonicMs();
  while (!signal.aborted) {
    if (await answers(url)) return;
    if (clock.monotonicMs() - beganMs > READY_TIMEOUT_MS) {
      throw new CommandFault(`the ${name} does not answer at ${url}`);
    }
    await new Promise<void>((resolve) => clock.after(ASK_PERIOD_MS, resolve));
  }
}

async function answers(url: string): Promise<boolean> {
  try {
    const answer = await fetch(url, { signal: AbortSignal.timeout(ANSWER_TIMEOUT_MS) });
    await answer.body?.cancel();
    return answer.ok;
  } catch {
    return false;
  }
}

/** Throws a CommandFault that names the setting, since nginx would only try again and again. */
export async function demandFreePort(setting: string, host: string, port: number): Promise<void> {
  const server = createServer();
  try {
    server.listen({ host, port });
    await once(server, "listening");
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new CommandFault(`${setting}: expected a free port: ${reason}`);
  }
  server.close();
  await once(server, "close");
}
