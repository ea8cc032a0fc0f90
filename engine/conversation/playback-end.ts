/** What happens when the caller has heard all of a turn: the next turn, a goodbye, or the end of the call. */

import { backchannelPhrases } from "./backchannel.js";
import { type Ending, isRevocable, SPEECH_FAILED } from "./call-end.js";
import { commitTurn } from "./commit-turn.js";
import type { SessionEffect } from "./effects.js";
import type { PlayedEvent, SoundLateEvent } from "./events.js";
import { watchCaller } from "./idle.js";
import { PhraseList } from "./lexicon.js";
import { alignPlayed, delayPlayback, isGap } from "./playback-ledger.js";
import { advanceSpeech, beginScripted } from "./playout.js";
import { beginReply, FAILED_TURNS_MAX } from "./reply.js";
import { answersSent, isAllSent, type SessionState, type Turn } from "./state.js";
import { pendingText } from "./transcript-buffer.js";
import { endAfterSpeech, providerFailureEnd } from "./transfer.js";

/** What people say into a goodbye, by the first part of the language tag. */
const PHRASES: Readonly<Record<string, string>> = {
  en: `bye, bye bye, goodbye, good bye, good night, thanks, thank you, thank you very much, thank you so much, thanks a lot, many thanks, cheers,
    thanks again, thanks for your help, thank you for your help, see you, see you then, see you later, see you soon, see you tomorrow, talk to you later, take care,
    have a nice day, have a good day, have a good one, have a great day, you too, and you, same to you, you as well, that's all, that's it, that was all, that will be all,
    that'll be all, that's everything, no that's all, no that's it, no thanks, no thank you, nothing else, i'm good, i'm all set, have a nice evening, have a good evening, have a nice weekend, till then, until then,
    bye now, bye for now, goodbye now, so long, later, catch you later, see ya, ta, talk soon, talk to you soon, speak soon, speak to you soon, until tomorrow, until next time,
    thanks so much, thank you so much for your help, thanks so much for your help, thanks for all your help, thank you for all your help, thanks a million, thank you kindly, thanks a bunch,
    thank you for your time, thanks for calling, thank you for calling, i appreciate it, i appreciate that, i appreciate your help, really appreciate it, i really appreciate it, much appreciated, appreciate it,
    you have a good day, you have a great day, you have a nice day, have a wonderful day, have a lovely day, have a lovely evening, have a great evening, have a great weekend, have a good weekend,
    have a lovely weekend, have a good night, good evening, good day, enjoy your day, enjoy your evening, enjoy your weekend, likewise, you're welcome, my pleasure, god bless, god bless you, merry christmas, happy holidays, happy new year,
    that is all, that is it, that is everything, no that is all, that's all for now, that's all for today, that's all i needed, that is all i needed, that's everything i needed, that's all i need, no that will be all, no that'll be all,
    no that's everything, no nothing else, nothing else thanks, no i'm good, no i'm all set, no i'm fine, i'm fine, all set, all good, it's all good, i'm done, we're done, we're good, nope that's it, nope that's all, nope,
    not today, not right now, not now, no that's fine, no that's okay, and thank you, and thanks, and bye, too, then, now, bye then, goodbye then,
    and goodbye, no thank you very much, alrighty, see you monday, see you tuesday, see you wednesday, see you thursday, see you friday, see you saturday, see you sunday,
    see you on monday, see you on tuesday, see you on wednesday, see you on thursday, see you on friday, see you on saturday, see you on sunday`,
  de: `tschüss, tschüs, tschau, ciao, wiedersehen, auf wiedersehen, wiederhören, auf wiederhören, bis dann, bis bald, bis morgen, danke, vielen dank, danke schön, dankeschön, danke sehr,
    danke ihnen, ich danke ihnen, besten dank, schönen tag, schönen tag noch, einen schönen tag, einen schönen tag noch, schönen abend, schönen abend noch, ihnen auch, gleichfalls, ebenfalls, das war's, das war alles, das wars, nein danke,
    nein das war's, nein das war alles, gute nacht, servus, ade, mach's gut, machen sie's gut, bitte,
    tschö, tschüssi, tschüssle, bis später, bis gleich, bis nächste woche, bis dahin, danke und tschüss, und tschüss, und auf wiederhören, und auf wiedersehen, und danke, und vielen dank, danke dir, danke euch, herzlichen dank, vielen herzlichen dank, tausend dank,
    danke für die hilfe, danke für ihre hilfe, vielen dank für die hilfe, vielen dank für ihre hilfe, danke für die auskunft, vielen dank für die auskunft, danke für alles, ebenso, danke ebenso, danke gleichfalls,
    schönes wochenende, ein schönes wochenende, schönen feierabend, schönen nachmittag, schönen tag ihnen auch, ihnen auch einen schönen tag, schönen gruß, alles gute, wünsche ich ihnen auch,
    das ist alles, das wäre alles, das wäre es, das wär's, das wäre dann alles, das war es, nein das ist alles, nein das wäre alles, nein sonst nichts, sonst nichts, nein nichts mehr, keine weiteren fragen, nein keine weiteren fragen, nee danke, nee das war's,
    alles gut, nein alles gut, dann, grüß gott, pfiat di, ahoi, tschüss dann, das war's schon,
    bis montag, bis dienstag, bis mittwoch, bis donnerstag, bis freitag, bis samstag, bis sonntag`,
  es: `adiós, chao, chau, hasta luego, hasta pronto, hasta mañana, hasta la vista, nos vemos, gracias, muchas gracias, mil gracias, muchísimas gracias, gracias a usted, gracias a ti, igualmente, buen día,
    que tenga un buen día, que tengas un buen día, buenas noches, buenas tardes, eso es todo, nada más, no gracias, no eso es todo, es todo, cuídese, cuídate, a usted,
    hasta otra, hasta ahora, hasta entonces, que le vaya bien, que te vaya bien, que esté bien, que tenga buen día, que tenga buena tarde, buena tarde, buena noche, buen fin de semana, saludos, un saludo, bendiciones, muy amable, cuídese mucho,
    gracias por todo, gracias por su ayuda, gracias por la ayuda, muchas gracias por todo, muchas gracias por su ayuda, y gracias, y adiós, y hasta luego, venga, no nada más, no es todo, eso sería todo, nada más gracias, ninguna otra cosa, a usted también, usted también, usted igual, igual,
    hasta el lunes, hasta el martes, hasta el miércoles, hasta el jueves, hasta el viernes, hasta el sábado, hasta el domingo`,
  fr: `au revoir, salut, à bientôt, à plus, à plus tard, à demain, merci, merci beaucoup, merci bien, merci à vous, je vous remercie, bonne journée, bonne soirée, bonne nuit, vous aussi, à vous aussi, de même, pareillement,
    c'est tout, ce sera tout, c'est bon, non merci, non c'est tout, ciao, adieu, bon week end, et à vous aussi, à vous de même,
    bye, bye bye, à tout à l'heure, à la prochaine, à tout de suite, bonne fin de journée, bonne après-midi, bon après-midi, bonne fin de semaine, bonne continuation, bisous, bises, salutations,
    merci pour tout, merci pour votre aide, merci de votre aide, merci infiniment, mille mercis, un grand merci, merci à vous aussi, bonne journée à vous aussi, bonne journée à vous, bonne soirée à vous aussi, et merci, et bonne journée, et au revoir,
    rien d'autre, non rien d'autre, ce sera tout merci, non ce sera tout, non c'est bon, ça ira, non ça ira, je vous en prie,
    bon weekend, à lundi, à mardi, à mercredi, à jeudi, à vendredi, à samedi, à dimanche`,
  it: `ciao, arrivederci, arrivederla, a presto, a dopo, a domani, grazie, grazie mille, molte grazie, tante grazie, la ringrazio, ti ringrazio, buona giornata, buona serata, buonanotte, buona notte, anche a lei, anche a te, altrettanto,
    è tutto, basta così, no grazie, no è tutto, salve, addio, grazie a lei,
    a risentirci, ci sentiamo, ci vediamo, alla prossima, a più tardi, buon pomeriggio, buon weekend, buon fine settimana, buon lavoro, saluti, cordiali saluti, grazie di tutto, grazie per tutto, grazie per l'aiuto, grazie dell'aiuto, grazie infinite,
    e grazie, e buona giornata, nient'altro, no nient'altro, basta, a posto, sono a posto, tutto a posto, prego, la saluto, anche a voi, buona giornata anche a lei,
    a lunedì, a martedì, a mercoledì, a giovedì, a venerdì, a sabato, a domenica`,
  pt: `adeus, tchau, tchauzinho, até logo, até já, até mais, até amanhã, até à próxima, até breve, obrigado, obrigada, muito obrigado, muito obrigada, brigado, brigada, valeu, bom dia, boa tarde, boa noite, tenha um bom dia,
    igualmente, para você também, para si também, é tudo, é só isso, só isso, mais nada, não obrigado, não obrigada, não é só, um abraço,
    até breve, até logo então, até depois, até a próxima, fica bem, fique bem, bom fim de semana, boa semana, bom descanso, abraço, abraços, beijinhos, obrigado por tudo, obrigada por tudo, obrigado pela ajuda, obrigada pela ajuda, muito obrigado pela ajuda, muito obrigada pela ajuda,
    e obrigado, e obrigada, e bom dia, um bom dia, um bom dia para você, um bom dia para si, é só, era só isso, era isso, não é tudo, não mais nada, nada mais, não é só isso, de nada, cumprimentos, para você também obrigado,
    até segunda, até terça, até quarta, até quinta, até sexta, até sábado, até domingo`,
  nl: `doei, dag, daag, doeg, tot ziens, tot straks, tot later, tot morgen, tot horens, bedankt, dank je, dank je wel, dankjewel, dank u, dank u wel, dankuwel, hartelijk dank, hartelijk bedankt, fijne dag, fijne dag nog, prettige dag, fijne avond,
    fijn weekend, u ook, jij ook, insgelijks, hetzelfde, dat was het, dat was alles, dat is alles, nee dank u, nee dank je, nee bedankt, nee dat was het, goedenacht,
    tot dan, tot gauw, tot kijk, tot zo, tot volgende week, houdoe, hoi, doei doei, de groeten, groetjes, prettig weekend, fijn weekend nog, prettige avond, een fijne dag, een fijne dag nog, goedenavond, goedemiddag, bedankt voor de hulp, bedankt voor uw hulp, dank u voor de hulp, bedankt voor alles, heel erg bedankt,
    en bedankt, en tot ziens, en een fijne dag, dat is het, nee hoor, nee dat is alles, nee verder niets, verder niets, niets meer, nee niets meer, graag gedaan, ook, hetzelfde voor u,
    tot maandag, tot dinsdag, tot woensdag, tot donderdag, tot vrijdag, tot zaterdag, tot zondag`,
  pl: `do widzenia, do usłyszenia, do zobaczenia, cześć, pa, papa, na razie, do jutra, dziękuję, dziękuję bardzo, bardzo dziękuję, dzięki, wielkie dzięki, miłego dnia, miłego wieczoru, dobranoc, nawzajem, wzajemnie,
    pani też, panu też, to wszystko, to już wszystko, nie dziękuję, nie to wszystko, dobrego dnia,
    trzymaj się, trzymaj się ciepło, do następnego razu, do zobaczenia wkrótce, pozdrawiam, miłego weekendu, miłego popołudnia, spokojnej nocy, dziękuję za pomoc, dziękuję bardzo za pomoc, dzięki za pomoc, dziękuję za wszystko, i dziękuję, i do widzenia,
    nie to już wszystko, nic więcej, nie nic więcej, nie dzięki, proszę bardzo, również, i nawzajem, pa pa,
    do poniedziałku, do wtorku, do środy, do czwartku, do piątku, do soboty, do niedzieli`,
  tr: `hoşça kal, hoşça kalın, hoşçakal, hoşçakalın, güle güle, görüşürüz, görüşmek üzere, bay bay, baybay, teşekkürler, teşekkür ederim, çok teşekkürler, çok teşekkür ederim, sağ ol, sağ olun, sağolun, iyi günler, iyi akşamlar, iyi geceler,
    size de, sana da, siz de, hepsi bu, bu kadar, hayır teşekkürler, hayır teşekkür ederim, kendinize iyi bakın, allahaısmarladık,
    hoşça kal hoşça kal, iyi hafta sonları, iyi çalışmalar, kolay gelsin, allah'a emanet olun, kendine iyi bak, yardımınız için teşekkürler, yardımınız için teşekkür ederim, her şey için teşekkürler, ve teşekkürler, başka bir şey yok, hayır başka bir şey yok, başka yok, hayır bu kadar, yok teşekkürler,
    rica ederim, görüşmek üzere hoşça kalın, iyi günler dilerim, selamlar`,
  hi: `अलविदा, बाय, बाय बाय, नमस्ते, नमस्कार, धन्यवाद, बहुत धन्यवाद, बहुत बहुत धन्यवाद, शुक्रिया, बहुत शुक्रिया, थैंक यू, थैंक्स, फिर मिलेंगे, शुभ दिन, शुभ रात्रि, आपको भी, आपका भी, बस इतना ही, बस यही, नहीं धन्यवाद, नहीं शुक्रिया,
    bye, bye bye, dhanyavaad, shukriya, namaste, alvida, thank you, thanks, bas itna hi,
    आपका दिन शुभ हो, आपका दिन अच्छा हो, शुभ संध्या, बस, बस इतना ही है, नहीं बस इतना ही, नहीं और कुछ नहीं, और कुछ नहीं, मदद के लिए धन्यवाद, आपकी मदद के लिए धन्यवाद, टाटा, चलिए, राम राम`,
  ja: `さようなら, さよなら, バイバイ, じゃあね, では, それでは, では失礼します, それでは失礼します, 失礼します, 失礼いたします, 失礼しました, ありがとう, ありがとうございます, ありがとうございました, どうも, どうもありがとうございました, どうもありがとうございます, よろしくお願いします,
    よろしくお願いいたします, お願いします, お疲れ様です, お疲れ様でした, またね, また, 以上です, 大丈夫です, 結構です, おやすみなさい, 助かりました,
    はい失礼します, それじゃ, それじゃあ, じゃ, では また, ではまた, いいえ大丈夫です, いえ大丈夫です, いえ結構です, いいえ結構です, いいえ以上です, 特にありません, 特にないです, 他にはありません, 以上で大丈夫です, 失礼致します, ありがとうございました失礼します, お世話になりました, どうもありがとう, 良い一日を`,
  zh: `再见, 再見, 拜拜, 拜, 回见, 谢谢, 谢谢你, 谢谢您, 謝謝, 谢谢啦, 多谢, 多謝, 非常感谢, 感谢, 麻烦你了, 麻烦您了, 晚安, 就这样, 就這樣, 没有了, 沒有了, 没了, 不用了谢谢, 不用了, 没事了, 没别的了, 你也是, 您也是, 祝你愉快, 祝您愉快, 下次见, 先这样, 挂了,
    回头见, 明天见, 改天见, 再会, 就这样吧, 就这些, 就这些了, 没有别的了, 没有其他的了, 没其他事了, 不了, 不了谢谢, 不用谢谢, 不需要了, 不客气, 辛苦了, 您辛苦了, 那再见, 那就这样, 那就这样吧, 祝您生活愉快, 谢谢再见, 好的谢谢再见`,
};

const FALLBACK_LANGUAGE = "en";
const lists = new Map(
  Object.entries(PHRASES).map(([language, phrases]) => [
    language,
    new PhraseList(`${backchannelPhrases(language)}, ${phrases}`),
  ]),
);

/**
 * Whether somebody who says this into a goodbye lets it be one: "thanks, bye", or just "okay". `language` is the first part
 * of a tag; English is taken for one that is not known.
 */
export function isClosing(text: string, language: string): boolean {
  return (lists.get(language) ?? lists.get(FALLBACK_LANGUAGE))?.makesUp(text) === true;
}

/** A voice becomes words within this time, or it was none. */
const FAREWELL_GRACE_MS = 1_000;
/** So long ago a voice may have begun that is not answered yet, and may be going on. */
const VOICE_BEGAN_MAX_MS = 10_000;
/** Some recognizers tell the words only when the voice has ended. */
const WORDS_AFTER_VOICE_MS = 1_500;
/** No noise like a voice keeps a call open for longer. */
const VOICE_WITHOUT_WORDS_MAX_MS = 6_000;

/** The last sentence was heard. Words that came meanwhile and did not interrupt are answered now. */
export function onPlaybackEnd(
  state: SessionState,
  atMs: number,
  out: SessionEffect[],
  voiceAgoMs?: number,
): SessionState {
  const turn = state.turn;
  if (turn === undefined) return state;
  const graceMs = farewellGraceMs(state, turn, atMs, voiceAgoMs);
  if (graceMs > 0) {
    out.push({ type: "startTimer", timer: "playback", delayMs: graceMs });
    return state;
  }
  // A timer may fire a fraction early; what it was set for has been heard all the same.
  const endedAtMs = Math.max(atMs, turn.ledger.endsAtMs);
  const settled = commitTurn(state, turn, turn.faulty ? "failed" : "played", endedAtMs, out);
  if (turn.sentCount > 0) out.push({ type: "send", message: { type: "audioEnd" } });
  if (turn.ending !== undefined && !isOwedAnswer(state, turn.ending)) {
    return endAfterSpeech(settled, turn.id, turn.ending, atMs, out);
  }
  const counted = turn.faulty ? countFailure(settled, turn, out) : withoutFailures(settled, turn);
  if (turn.hopeless || counted.failedTurns >= FAILED_TURNS_MAX) {
    return endForWantOfVoice(counted, turn, atMs, out);
  }
  const isOwed = turn.faulty && turn.kind === "reply" && lacksEnd(turn, counted.settings.apology);
  const mayApologize =
    isReady(counted, counted.settings.apology) || (turn.restLost && answersSent(turn) > 0);
  if (isOwed && counted.unanswered === "" && mayApologize) {
    return beginScripted(counted, "apology", [counted.settings.apology], atMs, out);
  }
  // Until now the caller was listening, not waiting.
  if (counted.unanswered !== "") {
    return beginReply({ ...counted, callerEndedAtMs: atMs }, atMs, out);
  }
  watchCaller(counted, out);
  return counted;
}

/** The caller said something before it was known that the call was to end, which stopped nobody, and is no goodbye. */
function isOwedAnswer({ unanswered, settings }: SessionState, ending: Ending): boolean {
  return isRevocable(ending) && unanswered !== "" && !isClosing(unanswered, settings.language);
}

/** The apology was made ready while the voice spoke. */
function endForWantOfVoice(
  state: SessionState,
  turn: Turn,
  atMs: number,
  out: SessionEffect[],
): SessionState {
  const { apology } = state.settings;
  const ending = providerFailureEnd(state, SPEECH_FAILED);
  if (!isReady(state, apology)) return endAfterSpeech(state, turn.id, ending, atMs, out);
  return beginScripted(state, "apology", [apology], atMs, out, ending);
}

/** The caller has heard nothing of the reply, or was told last that more of it comes, or waits for what tools do. */
function lacksEnd(turn: Turn, apology: string): boolean {
  if (turn.toolsWaiting.length > 0) return true;
  const last = turn.ledger.sent.at(-1);
  if (last?.isFiller === true && last.text === apology) return false;
  return turn.restLost || answersSent(turn) === 0 || last?.isFiller === true;
}

function isReady({ readyPhrases }: SessionState, phrase: string): boolean {
  return readyPhrases.some(({ text }) => text === phrase);
}

/** A call is not closed under a caller who has begun to say something: so much longer its end waits for the words. */
function farewellGraceMs(
  state: SessionState,
  turn: Turn,
  atMs: number,
  voiceAgoMs = Number.POSITIVE_INFINITY,
): number {
  if (turn.ending === undefined || !isRevocable(turn.ending)) return 0;
  const isVoiced = state.voicedAtMs > atMs - VOICE_BEGAN_MAX_MS;
  if (!isVoiced && pendingText(state.hearing) === "") return 0;
  const { endsAtMs } = turn.ledger;
  const voiceLeftMs = Math.min(
    WORDS_AFTER_VOICE_MS - voiceAgoMs,
    endsAtMs + VOICE_WITHOUT_WORDS_MAX_MS - atMs,
  );
  return Math.max(endsAtMs + FAREWELL_GRACE_MS - atMs, voiceLeftMs);
}

function countFailure(state: SessionState, turn: Turn, out: SessionEffect[]): SessionState {
  const message =
    answersSent(turn) === 0 ? "the reply could not be spoken" : "the reply was cut short";
  out.push({ type: "send", message: { type: "error", message } });
  return { ...state, failedTurns: state.failedTurns + 1 };
}

function withoutFailures(state: SessionState, turn: Turn): SessionState {
  return turn.kind === "reply" ? { ...state, failedTurns: 0 } : state;
}

/** Clients tell whole milliseconds. */
const ROUNDED_MS = 1;

/** The client's own word for what was played replaces the estimate; until its next one the clock goes on from there. */
export function onPlayed(
  state: SessionState,
  turn: Turn,
  event: PlayedEvent,
  out: SessionEffect[],
): SessionState {
  // Audio that stands still is the server's own to count.
  if (turn.sentCount === 0 || state.outputPausedAtMs !== undefined) return state;
  const playedMs = turn.playedBeforeMs + event.playedMs;
  const told = alignPlayed(turn.ledger, playedMs, event.atMs);
  // That all was played says nothing of when it was: the hole since then is as long as the clock says.
  const wasPlayed = turn.ledger.endsAtMs <= event.atMs && told.endsAtMs < event.atMs + ROUNDED_MS;
  const ledger = wasPlayed ? turn.ledger : told;
  const aligned = { ...turn, ledger };
  if (isAllSent(turn) && ledger.endsAtMs <= event.atMs) {
    out.push({ type: "cancelTimer", timer: "playback" });
    return onPlaybackEnd({ ...state, turn: aligned }, event.atMs, out);
  }
  return advanceSpeech(state, aligned, event.atMs, out);
}

/** What the caller has not heard yet is heard so much later, behind a gap. */
export function onSoundLate(
  state: SessionState,
  { lateMs, atMs }: SoundLateEvent,
  out: SessionEffect[],
): SessionState {
  const { turn } = state;
  if (turn === undefined || turn.sentCount === 0 || state.outputPausedAtMs !== undefined)
    return state;
  const ledger = delayPlayback(turn.ledger, atMs - lateMs, lateMs);
  const underruns = turn.underruns + (isGap(lateMs) ? 1 : 0);
  return advanceSpeech(state, { ...turn, ledger, underruns }, atMs, out);
}
