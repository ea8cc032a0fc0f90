interface CallerWords {
  /** As recognizers write them, while the agent speaks. */
  readonly agreements: readonly string[];
  readonly interruptions: readonly string[];
}

const list = (text: string): readonly string[] => text.split("|").map((words) => words.trim());

/** What callers say into an agent's speech, by language. */
export const CALLER_WORDS: Readonly<Record<string, CallerWords>> = {
  en: {
    agreements: list(
      `Uh-huh. | mm-hmm | Mhm. | Yeah. | yeah yeah | Okay. | ok | Right. | right right | Sure. | I see. | Got it. | Mm. | Hmm. |
      Yes. | Oh, okay. | Oh wow. | Yeah, okay. | Makes sense. | Oh, I see. | Of course. | Great. | Alright. | Cool. | Exactly. |
      That's right. | Yep. | Oh really | Okay, yeah. | mmmm | yeahhh | Fair enough. | sounds good | Good to know.`,
    ),
    interruptions: list(
      `No. | Stop. | Wait. | wait wait | Hold on. | But | yeah but | okay but wait | No no no. | Actually | actually I meant Friday | Sorry |
      Excuse me. | What? | Pardon? | Can you repeat that? | How much is it? | okay and the price | right so what about Tuesday |
      I don't think so | That's wrong. | not that one | let me stop you there | Can I speak to a human? | One moment. | Hang on a second |
      That's enough. | No, I said two. | yes but not today | I see a problem there | Hello? | are you there | okay stop | Tuesday |
      the second one | five | never mind | forget it | go back | louder please | I have a question | Really? | change that please |
      okay next | skip that | you already said that | hm no | yeah no | I understand but no | that makes no sense`,
    ),
  },
  de: {
    agreements: list(
      `Ja. | ja ja | Mhm. | Hm. | Genau. | Okay. | Ach so. | Alles klar. | Verstehe. | Stimmt. | Gut. | Ja, genau. | Ah ja. | Super. |
      Richtig. | Klar. | Aha. | Sehr gut. | Ja, klar. | Ah, okay. | Echt | Prima.`,
    ),
    interruptions: list(
      `Nein. | Stopp. | Moment. | Warten Sie. | Moment mal | aber | ja aber | Was? | Wie bitte? | Entschuldigung | nee | Halt |
      das stimmt nicht | Können Sie das wiederholen? | wie viel kostet das | nein danke | am Dienstag | ich habe eine Frage | das reicht |
      okay und der Preis | lieber morgen | genau das nicht | fünf | ja nein | gut und wann | langsamer bitte`,
    ),
  },
  es: {
    agreements: list(
      `Sí. | sí sí | Ajá. | Claro. | Vale. | Ok. | Mm. | Ya. | Entiendo. | Muy bien. | Perfecto. | De acuerdo. | Bueno. | Exacto. |
      Ah, ya. | Sí, claro. | Claro que sí. | Ya veo. | Está bien. | Genial.`,
    ),
    interruptions: list(
      `No. | Espere. | Un momento. | Pero | sí pero | Perdón | ¿Cómo? | ¿Qué? | Para | Pare. | no no | disculpe | el martes | cinco |
      ¿Cuánto cuesta? | ya basta | eso no | claro que no | quiero hablar con una persona | no entiendo | repita por favor | espera un segundo |
      tengo una pregunta | bueno pero mañana | mejor el lunes`,
    ),
  },
  fr: {
    agreements: list(
      `Oui. | oui oui | Ouais. | D'accord. | Ok. | Mm. | Hum hum | Je vois. | Très bien. | Bien sûr. | Ah oui. | Exactement. | Voilà. |
      C'est ça. | Parfait. | Ah d'accord. | Ah bon. | Oui, d'accord. | Je comprends. | Tout à fait. | Super. | Entendu.`,
    ),
    interruptions: list(
      `Non. | Attendez. | Stop. | Mais | oui mais | Pardon ? | Quoi ? | Excusez-moi | Un instant. | arrêtez | ce n'est pas ça | mardi |
      combien ça coûte | non non | je voudrais | j'ai une question | pouvez-vous répéter | cinq | plutôt lundi | d'accord mais | pas du tout |
      je ne comprends pas | je veux parler à quelqu'un | c'est faux | allô`,
    ),
  },
  it: {
    agreements: list(
      `Sì. | sì sì | Certo. | Ok. | Va bene. | Mm. | Capito. | Ho capito. | Esatto. | Giusto. | Bene. | Perfetto. | D'accordo. | Ah, ok. |
      Ah, ecco. | Eh già. | Infatti. | Sì, certo. | Chiaro. | Capisco.`,
    ),
    interruptions: list(
      `No. | Aspetti. | Un momento. | Ma | sì ma | Scusi | Come? | Basta. | Ferma | no no | martedì | cinque | quanto costa |
      non ho capito | può ripetere | ho una domanda | non è vero | meglio lunedì | va bene ma quando | voglio parlare con una persona | piano per favore |
      che cosa | certo che no | pronto`,
    ),
  },
  pt: {
    agreements: list(
      `Sim. | sim sim | Claro. | Ok. | Tá. | Tá bom. | Certo. | Pois. | Pois é. | Entendi. | Aham. | Uhum. | Isso. | Exato. | Está bem. |
      Muito bem. | Perfeito. | Ah, sim. | É verdade. | Percebo. | Beleza.`,
    ),
    interruptions: list(
      `Não. | Espera. | Espere. | Um momento. | Mas | sim mas | Desculpe | Como? | O quê? | Pare | não não | terça | cinco | quanto custa |
      não entendi | pode repetir | tenho uma pergunta | isso não | melhor segunda | quero falar com uma pessoa | chega | está errado |
      tá mas quando | alô | claro que não`,
    ),
  },
  nl: {
    agreements: list(
      `Ja. | ja ja | Oké. | Mhm. | Hm. | Precies. | Klopt. | Goed. | Ja hoor. | Inderdaad. | Prima. | Natuurlijk. | Ah ja. | Oh ja. |
      Duidelijk. | Dat klopt. | Snap ik. | Is goed. | Ja, precies. | Zeker. | Mooi.`,
    ),
    interruptions: list(
      `Nee. | Wacht. | Stop. | Momentje. | Maar | ja maar | Sorry | Wat? | Pardon? | nee nee | dinsdag | vijf | hoeveel kost dat |
      dat klopt niet | kunt u dat herhalen | ik heb een vraag | liever maandag | dat is genoeg | ik begrijp het niet | wacht even |
      ik wil iemand spreken | goed maar wanneer | hallo | niet goed`,
    ),
  },
  pl: {
    agreements: list(
      `Tak. | tak tak | No. | No tak. | Aha. | Mhm. | Dobrze. | Okej. | Jasne. | Rozumiem. | Dokładnie. | No właśnie. | Oczywiście. |
      Dobra. | Super. | Zgadza się. | Ach tak. | Pewnie. | W porządku. | Świetnie.`,
    ),
    interruptions: list(
      `Nie. | Stop. | Chwileczkę. | Moment. | Ale | tak ale | Przepraszam | Słucham? | Co? | nie nie | wtorek | pięć | ile to kosztuje |
      nie rozumiem | proszę powtórzyć | mam pytanie | wolę poniedziałek | proszę poczekać | to nieprawda | wystarczy | no ale |
      chcę rozmawiać z człowiekiem | halo | dobrze a kiedy`,
    ),
  },
  tr: {
    agreements: list(
      `Evet. | evet evet | Tamam. | Hı hı. | Hımm. | Peki. | Anladım. | Doğru. | Aynen. | Tabii. | Tabii ki. | Olur. | Güzel. | Tamamdır. |
      Çok iyi. | Kesinlikle. | Ha, tamam. | Anlıyorum. | Elbette. | Harika.`,
    ),
    interruptions: list(
      `Hayır. | Dur. | Durun. | Bekleyin. | Bir dakika. | Ama | evet ama | Pardon | Efendim? | Ne? | yok | hayır hayır | salı günü | beş |
      ne kadar | anlamadım | tekrar eder misiniz | bir sorum var | pazartesi olsun | yeter | yanlış | birisiyle konuşmak istiyorum |
      tamam ama ne zaman | alo`,
    ),
  },
  hi: {
    agreements: list(
      `हाँ। | हां जी | जी | जी हाँ | अच्छा | ठीक है | हम्म | सही है | बिल्कुल | ओके | समझ गया | जी जी | अच्छा, ठीक है | haan | theek hai | achha | हाँ हाँ | बढ़िया |
      सही | Haan ji`,
    ),
    interruptions: list(
      `नहीं | रुको | रुकिए | एक मिनट | लेकिन | हाँ लेकिन | माफ़ कीजिए | क्या? | नहीं नहीं | मंगलवार | पाँच | कितने का है | समझ नहीं आया | फिर से बोलिए | मेरा एक सवाल है |
      बस | गलत है | सोमवार को | nahi | rukiye | ek minute | lekin | हैलो | ठीक है पर कब`,
    ),
  },
  ja: {
    agreements: list(
      `はい。 | はい、はい。 | うん。 | うんうん | ええ。 | そうですね。 | なるほど。 | へえ。 | ああ、なるほど。 | そうですか。 | 分かりました。 | わかりました | 確かに。 | はい、分かりました。 | ああ、はい。 |
      そうなんですね。 | そうそう | あー | 了解です。 | いいですね。`,
    ),
    interruptions: list(
      `いいえ。 | ちょっと待って。 | 待ってください | すみません | でも | はい、でも | え、何ですか | もう一度お願いします | 違います | 違う | ストップ | 火曜日 | 五人です | いくらですか | 質問があります |
      そうじゃなくて | 月曜日がいいです | 分かりません | 担当者に代わって | もういいです | はい、それで値段は | もしもし | 結構です`,
    ),
  },
  zh: {
    agreements: list(
      `嗯。 | 嗯嗯 | 对。 | 对对对。 | 好的。 | 好。 | 是的。 | 哦。 | 哦，好的。 | 明白。 | 明白了。 | 知道了。 | 没错。 | 可以。 | 行。 | 是啊。 | 原来如此。 | 嗯，对。 | 了解。 | 没问题。`,
    ),
    interruptions: list(
      `不。 | 不是 | 等一下 | 等等 | 停 | 但是 | 对，但是 | 不好意思 | 什么？ | 不对 | 星期二 | 五个 | 多少钱 | 我没听懂 | 请再说一遍 | 我有个问题 | 不要 | 周一吧 | 够了 | 转人工 |
      好的，那什么时候 | 喂 | 我不明白 | 是不是太贵了`,
    ),
  },
};
