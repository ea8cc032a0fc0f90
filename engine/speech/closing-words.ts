import { agreementPhrases } from "./agreement-words.js";
import { PhraseList } from "./phrase-list.js";

/** What people say into a goodbye, by the first part of the language tag. */
const PHRASES: Readonly<Record<string, string>> = {
  en: `bye, bye bye, goodbye, good bye, good night, thanks, thank you, thank you very much, thank you so much, thanks a lot, many thanks, cheers,
    thanks again, thanks for your help, thank you for your help, see you, see you then, see you later, see you soon, see you tomorrow, talk to you later, take care,
    have a nice day, have a good day, have a good one, have a great day, you too, and you, same to you, you as well, that's all, that's it, that was all, that will be all,
    that'll be all, that's everything, no that's all, no that's it, no thanks, no thank you, nothing else, i'm good, i'm all set, have a nice evening, have a good evening, have a nice weekend, till then, until then`,
  de: `tschüss, tschüs, tschau, ciao, wiedersehen, auf wiedersehen, wiederhören, auf wiederhören, bis dann, bis bald, bis morgen, danke, vielen dank, danke schön, dankeschön, danke sehr,
    danke ihnen, ich danke ihnen, besten dank, schönen tag, schönen tag noch, einen schönen tag, einen schönen tag noch, schönen abend, schönen abend noch, ihnen auch, gleichfalls, ebenfalls, das war's, das war alles, das wars, nein danke,
    nein das war's, nein das war alles, gute nacht, servus, ade, mach's gut, machen sie's gut, bitte`,
  es: `adiós, chao, chau, hasta luego, hasta pronto, hasta mañana, hasta la vista, nos vemos, gracias, muchas gracias, mil gracias, muchísimas gracias, gracias a usted, gracias a ti, igualmente, buen día,
    que tenga un buen día, que tengas un buen día, buenas noches, buenas tardes, eso es todo, nada más, no gracias, no eso es todo, es todo, cuídese, cuídate, a usted`,
  fr: `au revoir, salut, à bientôt, à plus, à plus tard, à demain, merci, merci beaucoup, merci bien, merci à vous, je vous remercie, bonne journée, bonne soirée, bonne nuit, vous aussi, à vous aussi, de même, pareillement,
    c'est tout, ce sera tout, c'est bon, non merci, non c'est tout, ciao, adieu, bon week end, et à vous aussi, à vous de même`,
  it: `ciao, arrivederci, arrivederla, a presto, a dopo, a domani, grazie, grazie mille, molte grazie, tante grazie, la ringrazio, ti ringrazio, buona giornata, buona serata, buonanotte, buona notte, anche a lei, anche a te, altrettanto,
    è tutto, basta così, no grazie, no è tutto, salve, addio, grazie a lei`,
  pt: `adeus, tchau, tchauzinho, até logo, até já, até mais, até amanhã, até à próxima, até breve, obrigado, obrigada, muito obrigado, muito obrigada, brigado, brigada, valeu, bom dia, boa tarde, boa noite, tenha um bom dia,
    igualmente, para você também, para si também, é tudo, é só isso, só isso, mais nada, não obrigado, não obrigada, não é só, um abraço`,
  nl: `doei, dag, daag, doeg, tot ziens, tot straks, tot later, tot morgen, tot horens, bedankt, dank je, dank je wel, dankjewel, dank u, dank u wel, dankuwel, hartelijk dank, hartelijk bedankt, fijne dag, fijne dag nog, prettige dag, fijne avond,
    fijn weekend, u ook, jij ook, insgelijks, hetzelfde, dat was het, dat was alles, dat is alles, nee dank u, nee dank je, nee bedankt, nee dat was het, goedenacht`,
  pl: `do widzenia, do usłyszenia, do zobaczenia, cześć, pa, papa, na razie, do jutra, dziękuję, dziękuję bardzo, bardzo dziękuję, dzięki, wielkie dzięki, miłego dnia, miłego wieczoru, dobranoc, nawzajem, wzajemnie,
    pani też, panu też, to wszystko, to już wszystko, nie dziękuję, nie to wszystko, dobrego dnia`,
  tr: `hoşça kal, hoşça kalın, hoşçakal, hoşçakalın, güle güle, görüşürüz, görüşmek üzere, bay bay, baybay, teşekkürler, teşekkür ederim, çok teşekkürler, çok teşekkür ederim, sağ ol, sağ olun, sağolun, iyi günler, iyi akşamlar, iyi geceler,
    size de, sana da, siz de, hepsi bu, bu kadar, hayır teşekkürler, hayır teşekkür ederim, kendinize iyi bakın, allahaısmarladık`,
  hi: `अलविदा, बाय, बाय बाय, नमस्ते, नमस्कार, धन्यवाद, बहुत धन्यवाद, बहुत बहुत धन्यवाद, शुक्रिया, बहुत शुक्रिया, थैंक यू, थैंक्स, फिर मिलेंगे, शुभ दिन, शुभ रात्रि, आपको भी, आपका भी, बस इतना ही, बस यही, नहीं धन्यवाद, नहीं शुक्रिया,
    bye, bye bye, dhanyavaad, shukriya, namaste, alvida, thank you, thanks, bas itna hi`,
  ja: `さようなら, さよなら, バイバイ, じゃあね, では, それでは, では失礼します, それでは失礼します, 失礼します, 失礼いたします, 失礼しました, ありがとう, ありがとうございます, ありがとうございました, どうも, どうもありがとうございました, どうもありがとうございます, よろしくお願いします,
    よろしくお願いいたします, お願いします, お疲れ様です, お疲れ様でした, またね, また, 以上です, 大丈夫です, 結構です, おやすみなさい, 助かりました`,
  zh: `再见, 再見, 拜拜, 拜, 回见, 谢谢, 谢谢你, 谢谢您, 謝謝, 谢谢啦, 多谢, 多謝, 非常感谢, 感谢, 麻烦你了, 麻烦您了, 晚安, 就这样, 就這樣, 没有了, 沒有了, 没了, 不用了谢谢, 不用了, 没事了, 没别的了, 你也是, 您也是, 祝你愉快, 祝您愉快, 下次见, 先这样, 挂了`,
};

const FALLBACK_LANGUAGE = "en";
const lists = new Map(
  Object.entries(PHRASES).map(([language, phrases]) => [
    language,
    new PhraseList(`${agreementPhrases(language)}, ${phrases}`),
  ]),
);

/**
 * Whether somebody who says this into a goodbye lets it be one: "thanks, bye", or just "okay". `language` is the first part
 * of a tag; English is taken for one that is not known.
 */
export function isClosing(text: string, language: string): boolean {
  return (lists.get(language) ?? lists.get(FALLBACK_LANGUAGE))?.makesUp(text) === true;
}
