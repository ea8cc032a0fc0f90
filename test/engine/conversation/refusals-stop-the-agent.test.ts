import assert from "node:assert/strict";
import { test } from "node:test";
import { PLAIN_SETTINGS, RecordedCall } from "../../doubles/recorded-call.js";

const STOPPED_WITHIN_MS = 400;

/** A word that refuses, and what an agent says in that language, once with the word in it. */
const REFUSALS = {
  en: {
    words: ["no", "No.", "no no", "no thanks"],
    own: "There is no table left, so no, I cannot book one for you this evening.",
  },
  de: {
    words: ["nein", "Nein.", "nein nein", "nein danke", "kein", "keins", "nein kein"],
    own: "Es gibt leider nein, alle Tische sind vergeben, nein, auch morgen ist nichts frei.",
  },
  fr: {
    words: ["non", "Non.", "non non", "non merci", "aucun"],
    own: "Il n'y a plus de table, non, et demain non plus, tout est pris.",
  },
  es: {
    words: ["no", "No.", "no no", "no gracias", "ninguna"],
    own: "No queda ninguna mesa, no, y mañana no hay nada libre tampoco.",
  },
  nl: {
    words: ["nee", "Nee.", "nee nee", "nee bedankt", "geen"],
    own: "Er is geen tafel meer, nee, en morgen is er nee, ook niets vrij.",
  },
  pt: {
    words: ["não", "Não.", "não não", "não obrigado", "nenhum"],
    own: "Já não há mesa, não, e amanhã não temos nada livre também.",
  },
} as const;
const OTHER =
  "Lorem ipsum dolor sit amet consectetur adipiscing elit sed eiusmod tempor incididunt.";

/** The agent has said half of it to a caller in whose microphone this many words of it have come back. */
function speaking(language: string, said: string, echoedCount: number): RecordedCall {
  const call = new RecordedCall({ ...PLAIN_SETTINGS, language, isPaced: true });
  call.send({ type: "opened", resumed: true });
  call.send({ type: "written", text: "a table please" });
  call.send({ type: "replyToken", turnId: 1, text: said });
  call.send({ type: "replyDone", turnId: 1, tokens: 9 });
  const firstByteAtMs = call.clock.monotonicMs();
  call.send({ type: "sentenceWhole", turnId: 1, index: 0, durationMs: 12_000, firstByteAtMs });
  call.clock.advance(6_000);
  if (echoedCount > 0) hear(call, said.split(" ").slice(0, echoedCount).join(" "), 300, true);
  call.takeLines();
  return call;
}

/** The recognizer's times decide how many words of the first half are known for an echo. */
function onLoudspeaker(language: string, said: string): RecordedCall {
  for (let count = said.split(" ").length; count > 4; count -= 1) {
    const call = speaking(language, said, count);
    const { loudspeakerAtMs } = call.actor.state.echo;
    if (call.turn !== undefined && loudspeakerAtMs > 0) return call;
  }
  assert.fail("no loudspeaker was noticed");
}

function hear(call: RecordedCall, text: string, endedAgoMs: number, isFinal: boolean): void {
  const voice = { lastWordEndMs: undefined, endedAgoMs, voiceAgoMs: 0 };
  call.send({ type: "transcript", text, isFinal, speechFinal: isFinal, ...voice });
}

for (const [language, { words, own }] of Object.entries(REFUSALS)) {
  for (const isOnLoudspeaker of [false, true]) {
    for (const said of [own, OTHER]) {
      const where = `${isOnLoudspeaker ? "on a loudspeaker" : "in a handset"}${said === own ? ", in its own words" : ""}`;
      test(`a refusal stops the agent within 0.4 s, ${where} (${language})`, () => {
        for (const word of words) {
          const call = isOnLoudspeaker
            ? onLoudspeaker(language, said)
            : speaking(language, said, 0);
          call.hearVoice(true);
          hear(call, word, 100, false);
          call.clock.advance(STOPPED_WITHIN_MS - 100);
          assert.equal(call.turn, undefined, `${word}: ${call.takeLines().join(" | ")}`);
          assert.deepEqual(call.crashes, []);
        }
      });
    }
  }
}
