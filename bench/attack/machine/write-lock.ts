import { join } from "node:path";
import { DATABASE_FILE } from "../../../config.js";
import { holdLock } from "../../../test/storage/sqlite/rigs/lock-holder.js";
import type { Attack } from "../attack.js";
import { talkThrough } from "./talk-through.js";

export const WRITE_LOCK: Attack = {
  name: "write-lock",
  promise:
    "while another process holds the write lock for 20 s calls go on, new ones are refused and readers do not wait; afterwards all is stored",
  weight: 4,
  sampleMs: 9_000,
  async run(stand, findings) {
    const server = await stand.server();
    let letGo = () => Promise.resolve();
    await talkThrough(stand, findings, server, {
      breakStore: async () => {
        letGo = await holdLock(stand, join(server.dataDir, DATABASE_FILE));
      },
      mendStore: () => letGo(),
      holdMs: stand.isSample ? 1_000 : 20_000,
    });
  },
};
