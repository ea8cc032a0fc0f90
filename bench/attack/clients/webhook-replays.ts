import { PhoneCaller } from "../../../engine/sandbox/telephone/phone-caller.js";
import { requestWebhook } from "../../../engine/sandbox/telephone/phone-webhook.js";
import type { Attack } from "../attack.js";
import type { AttackStand } from "../attack-stand.js";
import type { AttackedServer } from "../attacked-server.js";
import type { Findings } from "../findings.js";
import { ringingCall } from "./telephone-messages.js";
import { KEY, SIGNERS, SIGNING_KEYS, type SignedHeaders, type Signer } from "./webhook-signers.js";

const REPLAYS = 5;
/** Older than any vendor's library believes. */
const OLD_SEC = 6 * 60;
const SAMPLE_ROUNDS = 1;

export const WEBHOOK_REPLAYS: Attack = {
  name: "webhook-replays",
  promise:
    "a signed telephony webhook that is replayed gives no second stream, one that is old, unsigned or changed gives none, and a stream's token opens one call",
  weight: 2,
  sampleMs: 3_000,
  async run(stand, findings) {
    const server = await stand.server({
      environment: SIGNING_KEYS,
    });
    let rounds = 0;
    do {
      for (const [vendor, signer] of Object.entries(SIGNERS)) {
        await replay(stand, server, vendor, signer, findings);
      }
      await twice(server, findings);
      rounds += 1;
    } while (stand.isSample ? rounds < SAMPLE_ROUNDS : stand.hasTime());
    findings.tell(`${rounds} rounds of ${Object.keys(SIGNERS).length + 1} vendors`);
  },
};

interface Heard {
  readonly status: number;
  readonly text: string;
}

async function replay(
  { random }: AttackStand,
  server: AttackedServer,
  vendor: string,
  signer: Signer,
  findings: Findings,
): Promise<void> {
  const body = signer.body.replace("15550001111", String(random.whole(1e10, 9e10)));
  const path = `/api/telephony/voice?vendor=${vendor}&api_key=${server.apiKey}`;
  const ask = (headers: SignedHeaders, sent = body) => post(server, path, headers, sent);
  const headers = signer.sign(server.url + path, body);
  const first = await ask(headers);
  findings.demand(isStream(first), `${vendor}: a signed webhook was answered ${first.status}`);
  const again = await Promise.all(Array.from({ length: REPLAYS }, () => ask(headers)));
  for (const { text } of again) {
    findings.demand(text === first.text, `${vendor}: a replay was told of another stream`);
  }
  const at = random.whole(0, body.length - 1);
  const changed = `${body.slice(0, at)}${body[at] === "7" ? "8" : "7"}${body.slice(at + 1)}`;
  findings.demand(!isStream(await ask(headers, changed)), `${vendor}: a changed body was believed`);
  findings.demand(!isStream(await ask({})), `${vendor}: an unsigned webhook was believed`);
  if (!signer.isDated) return;
  for (const ageSec of [OLD_SEC, -OLD_SEC]) {
    const atSec = Math.floor(Date.now() / 1_000) - ageSec;
    const old = await ask(signer.sign(server.url + path, body, atSec));
    findings.demand(!isStream(old), `${vendor}: a webhook of another time was believed`);
  }
}

function isStream({ status, text }: Heard): boolean {
  return status === 200 && /token/.test(text) && !text.includes(KEY);
}

async function post(
  { url }: AttackedServer,
  path: string,
  headers: SignedHeaders,
  body: string,
): Promise<Heard> {
  const type = body.startsWith("{") ? "application/json" : "application/x-www-form-urlencoded";
  const response = await fetch(url + path, {
    method: "POST",
    headers: { "content-type": type, ...headers },
    body,
  });
  return { status: response.status, text: await response.text() };
}

/** One token, two streams at once: one of them is a call. */
async function twice(server: AttackedServer, findings: Findings): Promise<void> {
  const { url, apiKey } = server;
  const ringing = { ...ringingCall(), authToken: KEY };
  const { parameters } = await requestWebhook(
    `${url}/api/telephony/voice?vendor=twilio&api_key=${apiKey}`,
    ringing,
  );
  const streamUrl = `${url.replace("http", "ws")}/ws/telephony/stream`;
  const ends = [1, 2].map(async () => {
    const caller = await PhoneCaller.call({
      streamUrl,
      parameters,
      callSid: ringing.callSid,
    });
    const { type } = await caller.until((event) => ["audio", "closed"].includes(event.type));
    await caller.hangUp();
    return type;
  });
  const seen = (await Promise.all(ends)).toSorted();
  findings.demand(seen.join() === "audio,closed", `one token, two streams: ${seen.join()}`);
}
