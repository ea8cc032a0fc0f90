import { rename } from "node:fs/promises";
import { test } from "node:test";
import { holdLock } from "../storage/sqlite/rigs/lock-holder.js";
import { smallDisk } from "../storage/sqlite/rigs/small-disk.js";
import { callThrough } from "./store-fault-call.js";

test("a call continues while the disk is full, and is stored completely when there is room again", async (t) => {
  const disk = await smallDisk(t);
  const rig = {
    dataDir: disk.folder,
    breakStore: (databasePath: string) => disk.fill(databasePath),
    mendStore: () => disk.free(),
  };
  await callThrough(t, rig, /the disk of the database is full|keeps the database locked/);
});

test("a call continues while another process holds the lock, and is stored completely afterwards", async (t) => {
  let letGo = () => Promise.resolve();
  const rig = {
    breakStore: async (databasePath: string) => {
      letGo = await holdLock(t, databasePath);
    },
    mendStore: () => letGo(),
  };
  await callThrough(t, rig, /another program keeps the database locked/);
});

test("a call continues while the database's file is moved away, and is stored completely when it is back", async (t) => {
  let path = "";
  const rig = {
    breakStore: async (databasePath: string) => {
      path = databasePath;
      await rename(path, `${path}.away`);
    },
    mendStore: () => rename(`${path}.away`, path),
  };
  await callThrough(t, rig, /deleted or moved away/);
});
