import { type TestContext, test } from "node:test";
import type { HttpBackend } from "../../../../api/http/backend/http-backend.js";
import { openBackend } from "../../../../api/http/backend/open-backend.js";
import { SilentLogger } from "../../../doubles/silent-logger.js";

export interface FrontOnLoopback {
  readonly front: HttpBackend;
  readonly port: number;
}

type Prepare = (front: HttpBackend) => void;
type Try = (opened: FrontOnLoopback, t: TestContext) => Promise<void>;

/** Whether uWebSockets.js has a binary for this Node and this system. */
export const HAS_UWS_BINARY =
  process.platform === "linux" &&
  ["x64", "arm64"].includes(process.arch) &&
  ["115", "127"].includes(process.versions.modules);

/** Runs a test with each HTTP backend that loads here: clients must not notice a difference. */
export function testFronts(name: string, prepare: Prepare, attempt: Try): void {
  for (const choice of HAS_UWS_BINARY ? (["uws", "node"] as const) : (["node"] as const)) {
    test(`${choice}: ${name}`, async (t) => {
      const front = await openBackend(choice, new SilentLogger());
      prepare(front);
      const port = await front.listen("127.0.0.1", 0);
      if (port === undefined) throw new Error("no port");
      t.after(() => front.close());
      await attempt({ front, port }, t);
    });
  }
}
