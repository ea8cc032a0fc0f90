/** Recognizes backchannels ("uh-huh", "yeah, okay"), which neither stop the agent nor need a reply. */

import type { SaidMessage, SessionEffect } from "./effects.js";
import { isQuestion, PhraseList } from "./lexicon.js";
import type { SentSentence } from "./playback-ledger.js";
import { isAllSent, type SessionState } from "./state.js";

/** Sounds that people make in every language while they listen. */
const SOUNDS = `mhm, mhmm, m hm, mm hm, mm hmm, mmhm, mmhmm, mm, mmm, m, hm, hmm, hm hm, uh huh, uhhuh, uhuh, uh hum, aha, ah, ahh,
  ah ha, oh, ooh, ok, okay, okey, okie, oki, wow, ha, haha`;

/** What people say while they listen, by the first part of the language tag. None of it asks for the floor or for an answer. */
const PHRASES: Readonly<Record<string, string>> = {
  en: `yeah, yes, yep, yup, ya, yea, right, alright, all right, sure, sure thing, i see, got it, gotcha, i got it, got you,
    i understand, understood, makes sense, that makes sense, of course, exactly, absolutely, definitely, certainly,
    indeed, true, that's true, that's right, that's correct, correct, great, good, nice, cool, perfect, fine, really,
    good to know, fair enough, very good, very nice, sounds good, sounds great, i know, interesting, lovely,
    wonderful, excellent, awesome, amazing, fantastic, brilliant, for sure, no problem, you bet, that's good,
    that's great, that's fine, that's nice, that's cool, oh good, oh great, oh wow, oh yeah, oh yes, oh okay,
    oh i see, oh really, oh nice, okay then, okay good, okay great, okay cool, very well, okey dokey, totally`,
  de: `ja, jaja, jo, joa, jep, jupp, genau, stimmt, das stimmt, klar, na klar, alles klar, richtig, verstehe,
    ich verstehe, verstanden, ach so, achso, ach ja, soso, so so, gut, sehr gut, schön, sehr schön, prima, super, toll, eben,
    natürlich, sicher, selbstverständlich, in ordnung, passt, das passt, gerne, gern, echt, wirklich, interessant, tatsächlich,
    perfekt, wunderbar, ausgezeichnet, na gut, also gut, das ist gut, das ist schön, freilich, gewiss, absolut,
    definitiv, na dann, oh ja, oh gut, ja gut, ja klar, ja genau, kein problem, einverstanden, weiß ich, ich weiß, ach`,
  es: `sí, si, ya, ajá, aja, ah ya, claro, claro que sí, vale, bueno, bien, muy bien, está bien, perfecto, de acuerdo,
    exacto, exactamente, correcto, cierto, es cierto, eso es, entiendo, ya entiendo, entendido, comprendo, ya veo,
    lo veo, genial, estupendo, excelente, qué bien, que bueno, por supuesto, desde luego, seguro, así es, okey, listo,
    ándale, dale, órale, interesante, de verdad, en serio, vaya, anda, ya ya, sí sí, lo sé, ya sé, fenomenal,
    maravilloso, ningún problema, sin problema, efectivamente, totalmente, eso, ah bueno, ah vale, ah sí`,
  fr: `oui, ouais, ouaip, mouais, d'accord, ok d'accord, bien, très bien, c'est bien, bien sûr, je vois, je comprends, compris, j'ai compris,
    entendu, exact, exactement, tout à fait, voilà, c'est ça, c'est vrai, c'est juste, effectivement, en effet, absolument,
    parfait, super, génial, excellent, ah bon, ah oui, ah d'accord, eh oui, ben oui, bon, ça marche, ça va, certainement, sûrement,
    évidemment, pas de problème, pas de souci, intéressant, vraiment, je sais, c'est bon, c'est noté, noté, très bien merci, formidable,
    chouette, impeccable, nickel, ah, tiens, bah oui, mais oui`,
  it: `sì, si, già, eh già, certo, ma certo, certamente, va bene, bene, molto bene, benissimo, d'accordo, capito, ho capito, capisco,
    giusto, esatto, esattamente, vero, è vero, perfetto, ottimo, ok va bene, chiaro, è chiaro, ecco, appunto, infatti,
    sicuro, naturalmente, assolutamente, ah ecco, ah sì, ah bene, ah ok, eh sì, bello, fantastico, interessante, davvero,
    nessun problema, come no, lo so, stupendo, eccellente, senz'altro, ovviamente, figurati, buono, ah però`,
  pt: `sim, é, pois, pois é, pois sim, claro, claro que sim, certo, tá, tá bom, tá bem, está bem, está bom, bom, bem, muito bem,
    muito bom, entendi, entendo, percebo, percebi, estou a ver, compreendo, exato, exatamente, exacto, exactamente, isso,
    isso mesmo, é isso, correto, perfeito, ótimo, que bom, com certeza, beleza, legal, tudo bem, de acordo, combinado, verdade,
    é verdade, é mesmo, sei, eu sei, ah sim, ah tá, ah bom, aham, ahã, uhum, interessante, excelente, maravilha, fixe, sem problema, de fato,
    realmente, joia, jóia, show, ora bem, lógico`,
  nl: `ja, jaja, jawel, jep, jup, joh, precies, klopt, dat klopt, inderdaad, juist, goed, heel goed, oké, prima, begrepen, ik begrijp het,
    ik snap het, snap ik, begrijp ik, helder, duidelijk, dat is duidelijk, natuurlijk, tuurlijk, zeker, absoluut, uiteraard, mooi, fijn, leuk,
    top, super, perfect, geweldig, interessant, echt, echt waar, o ja, oh ja, ach ja, ah ja, o jee, o, aha oké, is goed, dat is goed, da's goed, dat is fijn, goed zo,
    geen probleem, tja, ja hoor, ja precies, ja klopt, weet ik, dat weet ik, akkoord, komt goed, mooi zo, exact`,
  pl: `tak, no, no tak, no no, no dobrze, aha, dobrze, dobra, okej, jasne, oczywiście, pewnie, rozumiem, zrozumiałem, zrozumiałam, właśnie,
    no właśnie, dokładnie, zgadza się, racja, prawda, to prawda, świetnie, super, fajnie, ładnie, w porządku, naturalnie, faktycznie,
    rzeczywiście, naprawdę, ciekawe, spoko, wiem, no wiem, tak tak, tak jest, doskonale, wspaniale, bardzo dobrze, no jasne,
    ach tak, a tak, a no tak, nie ma problemu, jak najbardziej, oczywista sprawa, ta, yhy, yhm, mhm tak, ehe`,
  tr: `evet, he, hı hı, hıhı, hı, ıhı, hımm, hmm, tamam, tamamdır, peki, olur, doğru, çok doğru, aynen, aynen öyle, kesinlikle, tabii, tabi, tabii ki, elbette,
    anladım, anlıyorum, anlaşıldı, güzel, çok güzel, iyi, çok iyi, harika, süper, mükemmel, öyle, öyle mi, gerçekten, hakikaten, ilginç,
    haklısınız, haklısın, oldu, pekala, pekâlâ, biliyorum, ya, ha, haa, hee, eyvallah, sorun değil, sorun yok, evet evet, tamam tamam, muhakkak, şüphesiz, ha evet, ha tamam`,
  hi: `हाँ, हां, हा, हाँ जी, हां जी, जी, जी हाँ, जी हां, जी जी, अच्छा, अच्छा जी, ठीक, ठीक है, सही, सही है, बिल्कुल, बिलकुल, हम्म, हम, हूँ, हूं, ओके, ओह, ओह अच्छा, समझ गया,
    समझ गई, मैं समझ गया, मैं समझ गई, समझा, समझी, बढ़िया, बहुत अच्छा, बहुत बढ़िया, बहुत खूब, सच, सच में, ज़रूर, जरूर, हाँ हाँ, हां हां, सही बात है, सही बात, वाह, अरे वाह, पता है, मुझे पता है,
    कोई बात नहीं, शानदार, haan, haan ji, ji, ji haan, ji ji, achha, accha, acha, theek hai, thik hai, theek, sahi, sahi hai, bilkul, bilkul sahi, samajh gaya, samajh gayi, badhiya, zaroor`,
  ja: `はい, はいはい, ええ, えぇ, うん, うんうん, そう, そうです, そうですね, そうですか, そうなんですか, そうなんですね, そうなんだ, そうか, そっか, なるほど, なるほどね, なるほどですね, へえ, へぇ, へー,
    ほう, ほお, ふうん, ふーん, ふん, あー, ああ, あぁ, あ, あっ, おー, おお, ね, ねえ, 確かに, たしかに, 分かりました, わかりました, 分かった, わかった, 了解, 了解です, 了解しました, かしこまりました, 承知しました,
    いいですね, いいね, すごい, すごいですね, 本当, 本当に, 本当ですか, ほんと, まあ, もちろん, オーケー, オッケー, 大丈夫です, その通り, その通りです, ですね, ですよね, よかった, 良かった, ん, んー, えっ, え`,
  zh: `嗯, 嗯嗯, 恩, 哦, 噢, 喔, 啊, 呃嗯, 对, 对对, 对对对, 对的, 對, 對的, 是, 是的, 是啊, 是吧, 是嘛, 好, 好的, 好吧, 好啊, 好呀, 好嘞, 行, 行吧, 可以, 没错, 沒錯, 当然, 當然, 明白, 明白了, 知道了, 我知道, 知道, 了解, 懂了, 我懂, 懂, 我明白, 我明白了,
    清楚了, 原来如此, 原來如此, 原来是这样, 这样啊, 這樣啊, 这样, 不错, 不錯, 很好, 太好了, 真的, 真的吗, 真的啊, 没问题, 沒問題, 有道理, 确实, 確實, 的确, 哇, 哎呀, 欸, 诶, 收到, 完全同意, 同意, 说得对, 哈, 嘿嘿, 呵呵, 唔, 喔好`,
};

const FALLBACK_LANGUAGE = "en";
const lists = new Map(
  Object.keys(PHRASES).map((language) => [language, new PhraseList(backchannelPhrases(language))]),
);

/**
 * Whether the words only say that the caller listens: "uh-huh", "ja, genau". `language` is the first part of a tag;
 * English is taken for one that is not known.
 */
export function isBackchannelPhrase(text: string, language: string): boolean {
  return listOf(language)?.makesUp(text) === true;
}

/** Whether the words may become such an utterance with the next one: "of", before "course". */
export function beginsBackchannelPhrase(text: string, language: string): boolean {
  return listOf(language)?.begins(text) === true;
}

function listOf(language: string): PhraseList | undefined {
  return lists.get(language) ?? lists.get(FALLBACK_LANGUAGE);
}

/** All of a language's, with commas between them; of a language that is not known the sounds. */
export function backchannelPhrases(language: string): string {
  return `${SOUNDS}, ${PHRASES[language] ?? ""}`;
}

/** Words that end so soon after the agent's were begun while it spoke. */
const RIGHT_AFTER_MS = 700;
/** A short word begins this long before it ends. */
const SHORT_WORD_MS = 400;
/** Before a question has been heard so far, "yes" is no answer to it. */
const ASKED_SHARE_MIN = 0.5;
/** The agent asked and speaks on: so long "yes" still stops it. */
const ASKED_BEFORE_MAX_MS = 1_500;
/** So long it stops nothing any more, and is answered when the agent has spoken. */
const MAY_ANSWER_MAX_MS = 6_000;

/** Whether the newest words only show that the caller listens to what the agent says, or has just said. */
export function isBackchannel(state: SessionState, text: string, atMs: number): boolean {
  return isBackchannelPhrase(text, state.settings.language) && mayBeBackchannel(state, atMs);
}

/** Whether words that may still change can become such with the next one. */
export function mayShowListening(state: SessionState, text: string, atMs: number): boolean {
  return beginsBackchannelPhrase(text, state.settings.language) && mayBeBackchannel(state, atMs);
}

function mayBeBackchannel(state: SessionState, atMs: number): boolean {
  const { turn, spokenBefore, callerEndedAtMs } = state;
  const isSpeaking = turn !== undefined && turn.sentCount > 0;
  const endedAtMs = isSpeaking ? atMs : spokenBefore.untilMs;
  const hasSpoken = isSpeaking || spokenBefore.ledger.sent.length > 0;
  if (!hasSpoken || callerEndedAtMs > endedAtMs + RIGHT_AFTER_MS) return false;
  return !wasAsked(state, callerEndedAtMs - SHORT_WORD_MS);
}

/** "Yes" to what the agent asks, or has just asked. */
export function isAnsweringYes(state: SessionState, text: string): boolean {
  if (!isBackchannelPhrase(text, state.settings.language)) return false;
  return wasAsked(state, state.callerEndedAtMs - SHORT_WORD_MS);
}

/** Words of agreement that show no more than that, and not the answer to a question of a moment ago. */
export function isOnlyBackchannel(state: SessionState, text: string, atMs: number): boolean {
  if (!isBackchannel(state, text, atMs)) return false;
  return !wasAsked(state, state.callerEndedAtMs - SHORT_WORD_MS, MAY_ANSWER_MAX_MS);
}

/** The agent has said all but the end of its question: "yes" is answered when it is over, which is soon. */
export function waitsForQuestion(state: SessionState, text: string): boolean {
  const { turn } = state;
  const last = turn?.ledger.sent.at(-1);
  if (turn === undefined || last === undefined || !isQuestion(last.text)) return false;
  return isAllSent(turn) && isAnsweringYes(state, text);
}

/** They stand in the transcript, and get no reply. */
export function noteBackchannel(
  state: SessionState,
  said: SaidMessage,
  out: SessionEffect[],
): SessionState {
  const { text } = said;
  out.push({ type: "send", message: { type: "transcript", role: "user", text, isFinal: true } });
  out.push({ type: "cancelTimer", timer: "silence" });
  out.push({ type: "cancelTimer", timer: "falseInterruption" });
  return {
    ...state,
    utteranceBeganAtMs: undefined,
    unsaved: [...state.unsaved, said],
    reminders: 0,
    repeatRequests: 0,
  };
}

/** Whether what was played when the caller began, or so shortly before, is a question. */
function wasAsked(
  { turn, spokenBefore }: SessionState,
  beganAtMs: number,
  withinMs = ASKED_BEFORE_MAX_MS,
): boolean {
  const before = spokenBefore.ledger.sent.filter((sent) => sent.startsAtMs < spokenBefore.untilMs);
  const played = [...before, ...(turn?.ledger.sent ?? [])].filter(
    (sent) => sent.startsAtMs <= beganAtMs,
  );
  const last = played.at(-1);
  if (last === undefined) return false;
  const isHeard = beganAtMs >= last.startsAtMs + last.expectedMs * ASKED_SHARE_MIN;
  if (isHeard && isQuestion(last.text)) return true;
  return played
    .slice(0, -1)
    .some((sent) => endOf(sent) >= beganAtMs - withinMs && isQuestion(sent.text));
}

function endOf(sent: SentSentence): number {
  return sent.startsAtMs + sent.expectedMs;
}
