import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { AccessTokens } from "../../../../engine/security/access-token.js";
import { CredentialCipher } from "../../../../engine/security/credential-cipher.js";
import { ensureDemo } from "../../../../engine/tenancy/seeding/demo-organization.js";
import { seedPlatform } from "../../../../engine/tenancy/seeding/seeding.js";
import { newTenancy } from "../../../../engine/tenancy/tenancy.js";
import { SystemClock } from "../../../../engine/time/clock.js";
import { openDatabase } from "../../../../storage/database.js";
import { SilentLogger } from "../../../doubles/silent-logger.js";

/** Opens the services that a start needs for its demo; the processes that the tests kill use it, too. */
export async function startOn(dataDir: string) {
  const database = await openDatabase({ filePath: join(dataDir, "parley.db") });
  const clock = new SystemClock();
  const tokens = new AccessTokens({ secret: "s".repeat(32), expiresIn: "1h", clock });
  const cipher = new CredentialCipher("5a".repeat(32));
  const log = new SilentLogger();
  const parts = { database, cipher, clock, newId: randomUUID };
  const tenancy = newTenancy({ ...parts, tokens, log, allowPrivateAddresses: true });
  return {
    database,
    tenancy,
    seed: () => seedPlatform({ ...parts, vendorKeys: {}, sandbox: true }),
    demo: () => ensureDemo({ database, ...tenancy, dataDir, clock, log }),
  };
}
