import { usedStreamNonces } from "../security/stream-token.js";
import { StreamUuids } from "../security/stream-uuid.js";
import { TokenUses } from "../security/token-uses.js";
import { AnsweredWebhooks } from "../telephony/answered-webhooks.js";
import { CallInfos } from "../telephony/call-info.js";
import type { Clock } from "../time/clock.js";
import type { TokenHandlers } from "./other-nodes.js";

/** One-use tokens of a box that has its database for itself. */
export function boxTokens(clock: Clock): TokenHandlers {
  const nonces = usedStreamNonces(clock);
  const tokens = new TokenUses(clock);
  const webhooks = new AnsweredWebhooks(clock);
  const uuids = new StreamUuids(clock);
  const infos = new CallInfos(clock);
  return {
    useNonce: (nonce) => nonces.use(nonce),
    answerWebhook: ({ answer, ...webhook }) => webhooks.answerTo(webhook, () => answer),
    takeToken: ({ historyKey, ...token }) => tokens.take(token, historyKey),
    tokenOpened: ({ historyKey, ...token }) => tokens.opened(token, historyKey),
    giveTokenBack: (token) => tokens.giveBack(token),
    mintUuid: (claims) => uuids.mint(claims),
    redeemUuid: (uuid) => uuids.redeem(uuid),
    keepCallInfo: ({ call, info }) => infos.keep(call, info),
    findCallInfo: (call) => infos.find(call),
  };
}
