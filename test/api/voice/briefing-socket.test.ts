import assert from "node:assert/strict";
import { test } from "node:test";
import type { BackendSocket, WebSocketRoute } from "../../../api/http/backend/http-backend.js";
import { BRIEFING_STREAM_PATH, BriefingSocket } from "../../../api/voice/briefing-socket.js";
import type { PersonClaims } from "../../../engine/calls/continuations.js";
import { wavHeader } from "../../../engine/calls/recording/recording-file.js";
import type { PersonAnswer } from "../../../engine/calls/warm-transfers.js";
import { RecordingLogger } from "../../doubles/recording-logger.js";
import { VirtualClock } from "../../doubles/virtual-clock.js";

const RATE_HZ = 8_000;
const ANSWER_MAX_MS = 5_000;
const STREAM_MAX_MS = 4 * 60_000;
const START =
  "MEDIA_START connection_id:c1 channel:WebSocket/parley-briefing/0x1 channel_id:1.2 format:ulaw optimal_frame_size:160 ptime:20";
const PERSON: PersonClaims = {
  claims: {
    vendor: "asterisk",
    orgId: "org",
    agentId: "agent",
    callerRef: "",
    callKey: "key",
    attempt: 0,
  },
  startedAtMs: 1,
};

/** A second of a tone. */
function sound(): Uint8Array {
  const samples = Int16Array.from({ length: RATE_HZ }, (_, n) => (n % 8 < 4 ? 8_000 : -8_000));
  return Buffer.concat([wavHeader(RATE_HZ, samples.byteLength, 1), Buffer.from(samples.buffer)]);
}

interface Stand {
  readonly token?: string;
  readonly vendor?: string;
  readonly asked?: string;
  readonly sounds?: () => Promise<readonly Uint8Array[]>;
  readonly decided?: () => Promise<string | undefined>;
}

async function connected({
  token = "token",
  vendor = "asterisk",
  asked = "1",
  sounds = async () => [sound(), sound()],
  decided = async () => "join",
}: Stand = {}) {
  const clock = new VirtualClock();
  const log = new RecordingLogger();
  const sent: (string | Uint8Array)[] = [];
  const closed: (readonly [number, string])[] = [];
  const answers: PersonAnswer[] = [];
  const askedAgain: boolean[] = [];
  const phone: { take?: (frame: string) => void; hangUp?: () => void } = {};
  const socket = new BriefingSocket({
    server: {
      webSocket: <Visitor extends object>(path: string, route: WebSocketRoute<Visitor>) => {
        assert.equal(path, `${BRIEFING_STREAM_PATH}/:vendor`);
        const query: Readonly<Record<string, string>> = { token, asked };
        const request = {
          getMethod: () => "get",
          getHeader: () => "",
          getParameter: () => vendor,
          getQuery: (name: string) => query[name],
          forEach: () => undefined,
        };
        const visitor = route.admit(request, { getRemoteAddress: () => new ArrayBuffer(4) });
        const backend: BackendSocket<Visitor> = {
          getUserData: () => visitor,
          send: (message) => sent.push(message),
          end: (code, reason) => void closed.push([code, reason]),
          getBufferedAmount: () => 0,
        };
        phone.take = (frame) => {
          const bytes = new TextEncoder().encode(frame);
          route.message?.(backend, bytes.buffer, false);
        };
        phone.hangUp = () => route.close?.(backend, 1006, "");
        route.open?.(backend);
      },
    },
    continuations: { personClaimsOf: (given) => (given === "token" ? PERSON : undefined) },
    warmTransfers: {
      briefing: (_person, isAskedAgain) => {
        askedAgain.push(isAskedAgain);
        return sounds();
      },
      decided: (_person, answer) => {
        answers.push(answer);
        return decided();
      },
    },
    baseUrl: () => "https://voice.example.com",
    isClosed: () => false,
    clock,
    log,
  });
  socket.listen();
  const settle = () => new Promise(setImmediate);
  const take = async (frame: string) => {
    phone.take?.(frame);
    await settle();
  };
  const audioMs = () => sent.filter((frame) => typeof frame !== "string").length * 20;
  const commands = () => sent.filter((frame) => typeof frame === "string");
  const hangUp = () => phone.hangUp?.();
  return { clock, log, closed, answers, askedAgain, take, audioMs, commands, hangUp, settle };
}

const OVER = [[1000, "the briefing is over"]];

test("the person hears the briefing in real time, and a key is stored before the stream is closed", async () => {
  const { clock, closed, answers, askedAgain, take, audioMs, commands } = await connected();
  await take(START);
  assert.ok(audioMs() < 300, "not all at once");
  clock.advance(2_500);
  assert.equal(audioMs(), 2_000);
  assert.deepEqual(commands(), ["MARK_MEDIA question"]);
  await take("MEDIA_MARK_PROCESSED question");
  assert.deepEqual([closed, askedAgain], [[], [false]]);
  await take("DTMF_END digit:1 channel_id:1.2");
  assert.deepEqual(answers, [{ digits: "1", speech: "", asked: 1 }]);
  assert.deepEqual(commands(), ["MARK_MEDIA question", "HANGUP"]);
  assert.deepEqual(closed, OVER);
  assert.equal(clock.pendingTimerCount, 0);
});

test("the first key counts, also during the briefing; later ones do nothing", async () => {
  const { clock, closed, answers, take, audioMs } = await connected({ asked: "2" });
  await take(START);
  clock.advance(500);
  const heardMs = audioMs();
  await take("DTMF_END digit:2 channel_id:1.2");
  await take("DTMF_END digit:1 channel_id:1.2");
  clock.advance(5_000);
  assert.deepEqual(
    answers.map(({ digits, asked }) => [digits, asked]),
    [["2", 2]],
  );
  assert.deepEqual([closed, audioMs()], [OVER, heardMs]);
});

test("no key within five seconds of the question closes the stream without an answer", async () => {
  const { clock, closed, answers, take } = await connected();
  await take(START);
  clock.advance(2_500);
  await take("MEDIA_MARK_PROCESSED question");
  clock.advance(ANSWER_MAX_MS - 1);
  assert.deepEqual(closed, []);
  clock.advance(1);
  assert.deepEqual([closed, answers], [OVER, []]);
});

test("a question that is repeated comes without the introduction", async () => {
  const { askedAgain, take } = await connected({ asked: "2" });
  await take(START);
  assert.deepEqual(askedAgain, [true]);
});

test("a stream whose mark is never reached ends all the same", async () => {
  const { clock, closed, take } = await connected();
  await take(START);
  clock.advance(STREAM_MAX_MS);
  assert.deepEqual(closed, OVER);
});

test("without TTS the stream is over at once", async () => {
  const { closed, answers, take } = await connected({ sounds: async () => [] });
  await take(START);
  assert.deepEqual([closed, answers], [OVER, []]);
});

for (const [what, stand] of [
  ["TTS", { sounds: () => Promise.reject(new Error("broken")) }],
  ["the store", { decided: () => Promise.reject(new Error("broken")) }],
] as const) {
  test(`a failure of ${what} is logged and closes the stream`, async () => {
    const { closed, log, take } = await connected(stand);
    await take(START);
    await take("DTMF_END digit:1 channel_id:1.2");
    assert.deepEqual([closed, log.lines.length], [OVER, 1]);
  });
}

test("a person who hangs up leaves no timer and no audio behind", async () => {
  const { clock, take, hangUp, audioMs } = await connected();
  await take(START);
  hangUp();
  const heardMs = audioMs();
  clock.advance(STREAM_MAX_MS);
  assert.deepEqual([clock.pendingTimerCount, audioMs()], [0, heardMs]);
});

for (const [what, stand] of [
  ["another token", { token: "wrong" }],
  ["the token of another vendor", { vendor: "twilio" }],
  ["an unknown vendor", { vendor: "nobody" }],
] as const) {
  test(`${what} is refused`, async () => {
    const { closed, take, audioMs } = await connected(stand);
    await take(START);
    const reason = "token: expected that of a person who was called";
    assert.deepEqual([closed, audioMs()], [[[4001, reason]], 0]);
  });
}

test("audio that is not 8 kHz is not answered", async () => {
  const { closed, take } = await connected();
  await take(START.replace("ulaw", "slin16").replace(":160", ":640"));
  assert.deepEqual(closed, OVER);
});
