import assert from "node:assert/strict";
import { AccessTokens } from "../../engine/security/access-token.js";
import { SystemClock } from "../../engine/time/clock.js";
import type { Database } from "../../storage/database.js";
import { JWT_SECRET } from "./test-customers.js";

/** The token that signing in would return to the user with this e-mail, without the slow hashing of a password. */
export async function userToken(
  { users }: Pick<Database, "users">,
  email: string,
): Promise<string> {
  const user = await users.findByEmail(email);
  assert.ok(user);
  const clock = new SystemClock();
  const tokens = new AccessTokens({ secret: JWT_SECRET, expiresIn: "1h", clock });
  return tokens.issue({ userId: user.id, orgId: user.orgId, email });
}
