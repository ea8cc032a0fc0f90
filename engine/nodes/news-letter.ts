import * as v from "valibot";
import type { SentNews } from "../box/box-questions.js";
import { letterParts, roomIn } from "./letter-parts.js";

export type CallNews = SentNews["news"];
export type NewsTopic = SentNews["topic"];

/** Where every node is told what somebody watches at another. */
export const WATCHES = "parley watches";
/** Where a node is told what it watches. */
export const newsChannelOf = (startId: string): string => `parley news ${startId}`;

/** Stands before words of which only the end fits into a letter. */
const CUT_MARK = "… ";
/** How much of too long a text is kept in each try to make it fit: what JSON makes of it cannot be foreseen. */
const KEPT_SHARE = 0.9;

const Metrics = v.object({
  ttfbMs: v.number(),
  avgLatencyMs: v.number(),
  totalTokens: v.number(),
  ttsChars: v.number(),
  interruptions: v.number(),
  turnCount: v.number(),
});

const saidWords = {
  role: v.picklist(["user", "assistant"]),
  text: v.string(),
  isFinal: v.boolean(),
};

/** Another version may be at work at the other node. */
const News = v.variant("type", [
  v.object({
    type: v.literal("began"),
    callId: v.string(),
    agentId: v.string(),
    channel: v.picklist(["web", "phone"]),
    startedAtMs: v.number(),
  }),
  v.object({ type: v.literal("words"), callId: v.string(), ...saidWords }),
  v.object({
    type: v.literal("present"),
    callId: v.string(),
    words: v.array(v.object(saidWords)),
  }),
  v.object({ type: v.literal("turn"), callId: v.string(), metrics: Metrics }),
  v.object({
    type: v.literal("ended"),
    callId: v.string(),
    status: v.picklist(["completed", "failed"]),
    endReason: v.string(),
  }),
]);

const Json = v.pipe(v.string(), v.parseJson());
/** What happened in the calls of a topic, in order. */
const NewsLetter = v.pipe(Json, v.object({ topic: v.string(), news: v.array(News) }));
/** A node asks for the news of these topics, for a while. */
const WatchLetter = v.pipe(Json, v.object({ from: v.string(), topics: v.array(v.string()) }));

/** Undefined of a text that is no such letter. */
export function readNews(text: string): readonly SentNews[] | undefined {
  const read = v.safeParse(NewsLetter, text);
  if (!read.success) return undefined;
  const { topic, news } = read.output;
  return news.map((each) => ({ topic, news: each }));
}

/** Undefined of a text that is no such letter. */
export function readWatches(text: string): v.InferOutput<typeof WatchLetter> | undefined {
  const read = v.safeParse(WatchLetter, text);
  return read.success ? read.output : undefined;
}

/** As few letters as hold all of the news. Words that none can hold are told by their end; other news of that size are left out. */
export function newsLetters(topic: NewsTopic, news: readonly CallNews[]): readonly string[] {
  const head = JSON.stringify({ topic }).slice(0, -1);
  const fitting = news.flatMap((each) => fittingNews(each, roomIn(head, "news")) ?? []);
  return letterParts(head, "news", fitting);
}

/** As few letters as hold all of the topics. */
export function watchLetters(from: string, topics: readonly NewsTopic[]): readonly string[] {
  const head = JSON.stringify({ from }).slice(0, -1);
  return letterParts(head, "topics", topics);
}

function fittingNews(news: CallNews, bytesMax: number): CallNews | undefined {
  if (fits(news, bytesMax)) return news;
  if (news.type !== "words") return undefined;
  let kept = news.text.slice(-bytesMax);
  while (!fits(wordsOf(news, kept), bytesMax)) {
    kept = kept.slice(-Math.floor(kept.length * KEPT_SHARE));
  }
  return wordsOf(news, kept);
}

function fits(news: CallNews, bytesMax: number): boolean {
  return Buffer.byteLength(JSON.stringify(news)) < bytesMax;
}

/** From the first whole word on: what is cut is cut in the midst of one, or of a character. */
function wordsOf<Words extends CallNews & { readonly type: "words" }>(news: Words, end: string) {
  return { ...news, text: `${CUT_MARK}${end.slice(end.search(/\s/) + 1)}` };
}
