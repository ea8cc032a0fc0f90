import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";

/**
 * SHA-256 of uWebSockets.js's binaries in `uws-pack` 20.0.8, by file name: system, architecture, and the ABI of Node 20
 * (115) and 22 (127). The package is not published by the library's author, so no other part of it is ever loaded.
 */
export const FRONT_END_BINARIES = {
  "uws_darwin_arm64_115.node": "5d523bccbe80d3d8fa59422ff81801b8179212b9a8a5da28bff6926a95a65701",
  "uws_darwin_arm64_127.node": "abbeea53d48e21c01808203e9f9835728f2cea720d2e5b154837ee3045b513be",
  "uws_darwin_x64_115.node": "1f2a5c73d9dc3066d39b675b73f2c50eddbc4f270d292a6126ddfe3757c54cf9",
  "uws_darwin_x64_127.node": "afd992dc1ca1e33cdc7ce0c72a60baf236e590a257fcecbbbce7bc1a35451387",
  "uws_linux_arm64_115.node": "c0e29fc143b46b584f3debec7910014ec228198fc1f17aaeacd1de7991bd3769",
  "uws_linux_arm64_127.node": "d4c4f8b2c28c5f6544b49e36d91b0beee238a5b90a07904a947f77061c8b814d",
  "uws_linux_x64_115.node": "6f8d96d761a64beddb060f1f7f0e617dd293ed127ec1d57507aa561a0083171e",
  "uws_linux_x64_127.node": "8cabc918bbf9a07323e54f89a33882491080b2eb35df0607f473ccdb1f3c31af",
  "uws_win32_x64_115.node": "58c8b8e47ae3dc6c382dbfc24656755106cbecce56add05ca2c32d5c39951ddd",
  "uws_win32_x64_127.node": "585d6ee2dbfc750b1d5a59e6ceaef8a977e90ef3e298a82821d58b41cd72a8c0",
};

/**
 * Deletes every binary from `folder` except those in `pins` for this system. Throws if the content of one differs from
 * its pin. Without a binary the server uses `node:http`.
 */
export function keepPinnedBinaries(folder, pins = FRONT_END_BINARIES) {
  if (!existsSync(folder)) return;
  const system = `uws_${process.platform}_${process.arch}_`;
  for (const name of readdirSync(folder)) {
    const path = join(folder, name);
    const pinned = name.startsWith(system) ? pins[name] : undefined;
    if (pinned === undefined) {
      rmSync(path);
      continue;
    }
    const sha256 = createHash("sha256").update(readFileSync(path)).digest("hex");
    if (sha256 === pinned) continue;
    throw new Error(`${path} has the SHA-256 ${sha256}, but ${pinned} is pinned: do not run it`);
  }
}
