import { join } from "node:path";
import { DATABASE_FILE } from "../../../config.js";
import { smallDisk } from "../../../test/storage/sqlite/rigs/small-disk.js";
import type { Attack } from "../attack.js";
import { talkThrough } from "./talk-through.js";

export const FULL_DISK: Attack = {
  name: "full-disk",
  promise:
    "on a full disk (a tmpfs of 8 MB) calls go on, new ones are refused and readers are answered; afterwards all is stored",
  weight: 2,
  sampleMs: 9_000,
  async run(stand, findings) {
    const disk = await smallDisk(stand);
    if (!disk.isReal) {
      findings.skip("only root may mount a small disk");
      return;
    }
    const server = await stand.server({ dataDir: disk.folder });
    await talkThrough(stand, findings, server, {
      breakStore: () => disk.fill(join(disk.folder, DATABASE_FILE)),
      mendStore: () => disk.free(),
      holdMs: stand.isSample ? 1_000 : 10_000,
    });
  },
};
