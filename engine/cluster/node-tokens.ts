import { createHash, randomUUID } from "node:crypto";
import * as v from "valibot";
import type { Database } from "../../storage/database.js";
import type { Logger } from "../log.js";
import { RequestError } from "../request-error.js";
import { NONCE_KEPT_MS, STREAM_TOKEN_LIFETIME_MS } from "../security/stream-token.js";
import { STREAM_UUIDS_OF_ONE_MAX } from "../security/stream-uuid.js";
import { keptMsOf } from "../telephony/answered-webhooks.js";
import { storedCallInfos } from "../telephony/call-info.js";
import type { Clock } from "../time/clock.js";
import type { OneUseTokens } from "./coordination.js";

/** A page's token is remembered at most for its lifetime. */
const TOKEN_KEPT_MAX_MS = 24 * 60 * 60 * 1_000;

/** Plus the time during which a server with a late clock could accept it. */
const CLOCK_SKEW_MAX_MS = 60_000;

/** The retry delay if the database is down just when a call begins. */
const RENEW_AFTER_MS = 2_000;
const REMEMBER_TRIES_MAX = 30;

const Claims = v.pipe(
  v.string(),
  v.parseJson(),
  v.object({
    vendor: v.string(),
    orgId: v.string(),
    agentId: v.string(),
    callerRef: v.string(),
    callKey: v.string(),
    attempt: v.number(),
    failedTransfers: v.exactOptional(v.number()),
  }),
);

/** One-use tokens of all nodes: each is a row of the database, which the first user inserts. */
export function nodeTokens(
  { onceTokens }: Pick<Database, "onceTokens">,
  clock: Clock,
  log: Logger,
): OneUseTokens {
  const notStored = (error: unknown) => log.warn({ error }, "failed to store the use of a token");
  // A page whose call has begun needs it to reconnect, minutes later.
  const remember = (nonce: string, historyKey: string, triesLeft: number) => {
    onceTokens.remember(`client ${nonce}`, historyKey).catch((error: unknown) => {
      if (triesLeft === 0) return notStored(error);
      clock.after(RENEW_AFTER_MS, () => remember(nonce, historyKey, triesLeft - 1));
    });
  };
  const infos = storedCallInfos(onceTokens);
  return {
    useNonce: async (nonce) => {
      const { isFirst } = await onceTokens.take(`stream ${nonce}`, null, NONCE_KEPT_MS);
      return isFirst ? undefined : "used";
    },
    answerWebhook: async ({ id, isUnique, answer }) => {
      const key = `webhook ${createHash("sha256").update(id).digest("base64")}`;
      const { value } = await onceTokens.take(key, answer, keptMsOf(isUnique));
      return value ?? undefined;
    },
    takeToken: async ({ nonce, expiresAtMs, historyKey }) => {
      const leftMs = Math.max(0, expiresAtMs - clock.epochMs());
      const keptMs = Math.min(leftMs, TOKEN_KEPT_MAX_MS) + CLOCK_SKEW_MAX_MS;
      const { isFirst, value } = await onceTokens.take(`client ${nonce}`, null, keptMs);
      if (isFirst || (value !== null && value === historyKey)) return undefined;
      return "the token was used for another call";
    },
    tokenOpened: ({ nonce, historyKey }) => {
      remember(nonce, historyKey, REMEMBER_TRIES_MAX - 1);
    },
    releaseToken: ({ nonce }) => {
      onceTokens.release(`client ${nonce}`).catch(notStored);
    },
    mintUuid: async (claims) => {
      const uuid = randomUUID();
      const row = { owner: claims.orgId, value: JSON.stringify(claims) };
      const key = `uuid ${uuid}`;
      const max = STREAM_UUIDS_OF_ONE_MAX;
      if (await onceTokens.put(key, row, STREAM_TOKEN_LIFETIME_MS, max)) return uuid;
      const message = "too many announced calls have not connected yet; wait a minute";
      throw new RequestError("overloaded", message);
    },
    redeemUuid: async (uuid) => {
      const claims = await onceTokens.takeOut(`uuid ${uuid}`);
      return claims === undefined ? undefined : v.parse(Claims, claims);
    },
    keepCallInfo: ({ call, info }) => infos.keep(call, info),
    findCallInfo: (call) => infos.find(call),
  };
}
