import * as v from "valibot";
import { PhoneCaller } from "../../engine/sandbox/telephone/phone-caller.js";
import { PHONE_SOUND, type Phrase, phrases } from "../load/phrases.js";
import type { Scenario, ScenarioResult } from "../scenarios.js";
import { startPreparedVendors } from "../stand/prepared-vendors.js";
import { type ServerStand, startServerStand } from "../stand/stand.js";
import { framesOf } from "./phone-callers.js";
import { askServer, createAgent } from "./phone-stand.js";

const VOICES = ["elevenlabs", "openaiSpeech", "edge"] as const;
const CONNECT_EVERY_MS = 25;
const REPLY_MAX_MS = 30_000;
const PAGE = 100;
const DETAILS_MAX = 10;
const GREETING = "Hello! How can I help you today?";

const Page = v.object({ items: v.array(v.object({ _id: v.string() })) });
const StoredCall = v.object({
  transcript: v.array(v.object({ role: v.string(), text: v.string() })),
});

/**
 * Many telephone calls at the same time, with voices that speak µ-law, PCM and MP3 in turn. It asks whether the
 * words that came over the wire are those that were said and stored.
 */
export class PhoneWordsScenario implements Scenario {
  readonly name: string;
  readonly #callers: number;

  constructor(callers: number) {
    this.#callers = callers;
    this.name = `words of ${callers} telephone calls`;
  }

  async run(): Promise<ScenarioResult> {
    const spoken = phrases(this.#callers, PHONE_SOUND);
    const vendors = await startPreparedVendors(spoken, VOICES);
    const server = await startServerStand(vendors);
    try {
      const agents = await Promise.all(VOICES.map((voice) => createAgent(server, voice)));
      const heard = await Promise.all(
        spoken.map((phrase, index) =>
          converse(server, agents[index % agents.length] ?? "", phrase, index),
        ),
      );
      const stored = await storedCalls(server);
      const wrong = spoken.flatMap((phrase, index) => {
        const reply = replyTo(phrase);
        const isHeard = heard[index] === `${GREETING} ${reply}`;
        const isStored = stored.has(transcriptOf(phrase));
        return isHeard && isStored
          ? []
          : [`call ${index}: heard "${heard[index] ?? ""}", stored: ${isStored}`];
      });
      return {
        measurements: [{ name: "phoneWordsWrong", measured: wrong.length }],
        details: wrong.slice(0, DETAILS_MAX),
      };
    } finally {
      await server.close();
      await vendors.process.stop();
    }
  }
}

/** What the caller heard, in words. */
async function converse(
  { url, apiKey }: ServerStand,
  agentId: string,
  { text, audio }: Phrase,
  index: number,
): Promise<string> {
  await new Promise((resolve) => setTimeout(resolve, index * CONNECT_EVERY_MS));
  const query = new URLSearchParams({ api_key: apiKey, agent_id: agentId });
  const webhookUrl = `${url}/api/telephony/voice?${query.toString()}`;
  const caller = await PhoneCaller.call({ webhookUrl });
  // A mark comes back when the sentence before it has been played: two of the greeting, two of the reply.
  await playedSentences(caller, 2);
  await caller.play(text, framesOf(audio));
  await playedSentences(caller, 4);
  await caller.hangUp();
  return caller.said();
}

async function playedSentences(caller: PhoneCaller, count: number): Promise<void> {
  const played = () => caller.events.filter(({ type }) => type === "markEchoed").length;
  while (played() < count) await caller.until(({ type }) => type === "markEchoed", REPLY_MAX_MS);
}

const replyTo = ({ firstSentence, lastWord }: Phrase) => `${firstSentence} ${lastWord}`;

function transcriptOf(phrase: Phrase): string {
  return [`assistant: ${GREETING}`, `user: ${phrase.text}`, `assistant: ${replyTo(phrase)}`].join(
    "\n",
  );
}

/** The transcripts of all calls. */
async function storedCalls(server: ServerStand): Promise<ReadonlySet<string>> {
  const transcripts = new Set<string>();
  for (let skip = 0; ; skip += PAGE) {
    const path = `/api/dashboard/calls?limit=${PAGE}&skip=${skip}`;
    const { items } = v.parse(Page, await askServer(server, path));
    for (const { _id } of items) {
      const { transcript } = v.parse(
        StoredCall,
        await askServer(server, `/api/dashboard/calls/${_id}`),
      );
      transcripts.add(transcript.map(({ role, text }) => `${role}: ${text}`).join("\n"));
    }
    if (items.length < PAGE) return transcripts;
  }
}
