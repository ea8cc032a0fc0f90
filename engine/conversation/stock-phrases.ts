/** What an agent says by itself, in its own language and voice. */
export interface StockPhrases {
  /** No reply could be made. */
  readonly apology: string;
  /** The agent is at work: one after the other, when it takes longer. */
  readonly waiting: readonly string[];
  readonly stillThere: string;
  /** Nobody has answered that. */
  readonly callerIdleGoodbye: string;
  /** The caller spoke, and the STT returned no words. */
  readonly notRecognized: string;
  readonly timeIsUp: string;
  /** The caller cannot be understood any more. */
  readonly sttFailedApology: string;
  /** The caller was never understood in this call. */
  readonly cannotHearAtAll: string;
  /** The caller was cut off, and is there again. */
  readonly interrupted: string;
  /** Nobody took the call that was to be handed on. */
  readonly cannotTransfer: string;
  /** The caller is back from a transfer to a line that was busy. */
  readonly lineBusy: string;
  /** The caller is back from a transfer that rang for too long. */
  readonly noAnswer: string;
  /** The organization's calls were ended by the operator. */
  readonly suspended: string;
  /** Somebody of the organization ends the call. */
  readonly callEndedByOrganization: string;
}

const ENGLISH: StockPhrases = {
  apology: "I am sorry, I could not answer that just now.",
  waiting: ["One moment.", "I am still working on it."],
  stillThere: "Are you still there?",
  callerIdleGoodbye: "I cannot hear you, so I will hang up now. Goodbye.",
  notRecognized: "Sorry, I did not catch that.",
  timeIsUp: "I am sorry, the time for this call is over. Goodbye.",
  sttFailedApology: "I am sorry, I cannot hear you any more. Please call again.",
  cannotHearAtAll: "I am sorry, I cannot hear you. Please call again.",
  interrupted: "I am sorry, the line was interrupted. Where were we?",
  cannotTransfer: "I am sorry, I could not put you through. Is there anything else I can do?",
  lineBusy:
    "I am sorry, the line is busy, so I could not put you through. Is there anything else I can do?",
  noAnswer: "I am sorry, nobody answered there. Is there anything else I can do?",
  suspended: "I am sorry, this service has been suspended, so I have to end the call. Goodbye.",
  callEndedByOrganization: "I am sorry, I have to end the call now. Goodbye.",
};

const PHRASES: Readonly<Record<string, StockPhrases>> = {
  en: ENGLISH,
  de: {
    apology: "Es tut mir leid, darauf konnte ich gerade nicht antworten.",
    waiting: ["Einen Moment, bitte.", "Ich bin noch dabei."],
    stillThere: "Sind Sie noch da?",
    callerIdleGoodbye: "Ich höre Sie leider nicht und lege jetzt auf. Auf Wiederhören.",
    notRecognized: "Entschuldigung, das habe ich nicht verstanden.",
    timeIsUp: "Die Zeit für dieses Gespräch ist leider um. Auf Wiederhören.",
    sttFailedApology: "Ich kann Sie leider nicht mehr hören. Bitte rufen Sie noch einmal an.",
    cannotHearAtAll: "Ich kann Sie leider nicht hören. Bitte rufen Sie noch einmal an.",
    interrupted: "Entschuldigung, die Verbindung war unterbrochen. Wo waren wir?",
    cannotTransfer:
      "Es tut mir leid, ich konnte Sie nicht verbinden. Kann ich sonst etwas für Sie tun?",
    lineBusy:
      "Es tut mir leid, dort ist besetzt, ich konnte Sie nicht verbinden. Kann ich sonst etwas für Sie tun?",
    noAnswer:
      "Es tut mir leid, dort ist niemand ans Telefon gegangen. Kann ich sonst etwas für Sie tun?",
    suspended: "Es tut mir leid, dieser Dienst steht gerade nicht zur Verfügung. Auf Wiederhören.",
    callEndedByOrganization:
      "Es tut mir leid, ich muss das Gespräch jetzt beenden. Auf Wiederhören.",
  },
  fr: {
    apology: "Je suis désolé, je n'ai pas pu répondre à l'instant.",
    waiting: ["Un instant, s'il vous plaît.", "J'y travaille encore."],
    stillThere: "Êtes-vous toujours là ?",
    callerIdleGoodbye: "Je ne vous entends pas, je vais donc raccrocher. Au revoir.",
    notRecognized: "Pardon, je n'ai pas compris.",
    timeIsUp: "Je suis désolé, le temps de cet appel est écoulé. Au revoir.",
    sttFailedApology: "Je suis désolé, je ne vous entends plus. Veuillez rappeler.",
    cannotHearAtAll: "Je suis désolé, je ne vous entends pas. Veuillez rappeler.",
    interrupted: "Je suis désolé, la ligne a été interrompue. Où en étions-nous ?",
    cannotTransfer:
      "Je suis désolé, je n'ai pas pu vous transférer. Puis-je faire autre chose pour vous ?",
    lineBusy: "Je suis désolé, la ligne est occupée. Puis-je faire autre chose pour vous ?",
    noAnswer: "Je suis désolé, personne n'a répondu. Puis-je faire autre chose pour vous ?",
    suspended: "Je suis désolé, ce service n'est pas disponible pour le moment. Au revoir.",
    callEndedByOrganization: "Je suis désolé, je dois mettre fin à cet appel. Au revoir.",
  },
  es: {
    apology: "Lo siento, ahora mismo no he podido responder.",
    waiting: ["Un momento, por favor.", "Sigo en ello."],
    stillThere: "¿Sigue usted ahí?",
    callerIdleGoodbye: "No le oigo, así que voy a colgar. Hasta luego.",
    notRecognized: "Perdone, no le he entendido.",
    timeIsUp: "Lo siento, se ha acabado el tiempo de esta llamada. Hasta luego.",
    sttFailedApology: "Lo siento, ya no le oigo. Por favor, llame de nuevo.",
    cannotHearAtAll: "Lo siento, no le oigo. Por favor, llame de nuevo.",
    interrupted: "Lo siento, se ha cortado la línea. ¿Dónde estábamos?",
    cannotTransfer: "Lo siento, no he podido pasarle la llamada. ¿Puedo ayudarle en algo más?",
    lineBusy: "Lo siento, la línea está ocupada. ¿Puedo ayudarle en algo más?",
    noAnswer: "Lo siento, nadie ha contestado. ¿Puedo ayudarle en algo más?",
    suspended: "Lo siento, este servicio no está disponible en este momento. Hasta luego.",
    callEndedByOrganization: "Lo siento, tengo que terminar la llamada ahora. Hasta luego.",
  },
  it: {
    apology: "Mi dispiace, in questo momento non sono riuscito a rispondere.",
    waiting: ["Un momento, per favore.", "Ci sto ancora lavorando."],
    stillThere: "È ancora in linea?",
    callerIdleGoodbye: "Non la sento, quindi chiudo la chiamata. Arrivederci.",
    notRecognized: "Mi scusi, non ho capito.",
    timeIsUp: "Mi dispiace, il tempo per questa chiamata è finito. Arrivederci.",
    sttFailedApology: "Mi dispiace, non la sento più. La prego di richiamare.",
    cannotHearAtAll: "Mi dispiace, non la sento. La prego di richiamare.",
    interrupted: "Mi dispiace, la linea si è interrotta. Dove eravamo rimasti?",
    cannotTransfer:
      "Mi dispiace, non sono riuscito a trasferire la chiamata. Posso fare altro per lei?",
    lineBusy: "Mi dispiace, la linea è occupata. Posso fare altro per lei?",
    noAnswer: "Mi dispiace, non ha risposto nessuno. Posso fare altro per lei?",
    suspended: "Mi dispiace, questo servizio non è al momento disponibile. Arrivederci.",
    callEndedByOrganization: "Mi dispiace, ora devo terminare la chiamata. Arrivederci.",
  },
  pt: {
    apology: "Desculpe, não consegui responder agora.",
    waiting: ["Um momento, por favor.", "Ainda estou a tratar disso."],
    stillThere: "Ainda está aí?",
    callerIdleGoodbye: "Não consigo ouvir, por isso vou desligar. Até logo.",
    notRecognized: "Desculpe, não entendi.",
    timeIsUp: "Desculpe, o tempo desta chamada terminou. Até logo.",
    sttFailedApology: "Desculpe, já não consigo ouvir. Por favor, ligue de novo.",
    cannotHearAtAll: "Desculpe, não consigo ouvir. Por favor, ligue de novo.",
    interrupted: "Desculpe, a ligação foi interrompida. Onde estávamos?",
    cannotTransfer:
      "Desculpe, não consegui transferir a chamada. Posso ajudar em mais alguma coisa?",
    lineBusy: "Desculpe, a linha está ocupada. Posso ajudar em mais alguma coisa?",
    noAnswer: "Desculpe, ninguém atendeu. Posso ajudar em mais alguma coisa?",
    suspended: "Desculpe, este serviço não está disponível neste momento. Até logo.",
    callEndedByOrganization: "Desculpe, tenho de terminar a chamada agora. Até logo.",
  },
  nl: {
    apology: "Het spijt me, daar kon ik net niet op antwoorden.",
    waiting: ["Een ogenblik, alstublieft.", "Ik ben er nog mee bezig."],
    stillThere: "Bent u er nog?",
    callerIdleGoodbye: "Ik hoor u niet, dus ik hang nu op. Tot ziens.",
    notRecognized: "Sorry, dat heb ik niet verstaan.",
    timeIsUp: "Het spijt me, de tijd voor dit gesprek is om. Tot ziens.",
    sttFailedApology: "Het spijt me, ik kan u niet meer horen. Belt u alstublieft opnieuw.",
    cannotHearAtAll: "Het spijt me, ik kan u niet horen. Belt u alstublieft opnieuw.",
    interrupted: "Het spijt me, de verbinding was verbroken. Waar waren we gebleven?",
    cannotTransfer:
      "Het spijt me, ik kon u niet doorverbinden. Kan ik nog iets anders voor u doen?",
    lineBusy: "Het spijt me, de lijn is bezet. Kan ik nog iets anders voor u doen?",
    noAnswer: "Het spijt me, er werd niet opgenomen. Kan ik nog iets anders voor u doen?",
    suspended: "Het spijt me, deze dienst is op dit moment niet beschikbaar. Tot ziens.",
    callEndedByOrganization: "Het spijt me, ik moet het gesprek nu beëindigen. Tot ziens.",
  },
  pl: {
    apology: "Przepraszam, nie mogę teraz na to odpowiedzieć.",
    waiting: ["Chwileczkę.", "Jeszcze nad tym pracuję."],
    stillThere: "Czy jest tam ktoś jeszcze?",
    callerIdleGoodbye: "Nic nie słyszę, więc kończę rozmowę. Do widzenia.",
    notRecognized: "Przepraszam, nie usłyszałem tego.",
    timeIsUp: "Przepraszam, czas tej rozmowy dobiegł końca. Do widzenia.",
    sttFailedApology: "Przepraszam, nic już nie słyszę. Proszę zadzwonić ponownie.",
    cannotHearAtAll: "Przepraszam, nic nie słyszę. Proszę zadzwonić ponownie.",
    interrupted: "Przepraszam, połączenie zostało przerwane. Na czym skończyliśmy?",
    cannotTransfer:
      "Przepraszam, połączenie nie mogło zostać przekazane. Czy mogę pomóc w czymś innym?",
    lineBusy: "Przepraszam, linia jest zajęta. Czy mogę pomóc w czymś innym?",
    noAnswer: "Przepraszam, nikt nie odebrał. Czy mogę pomóc w czymś innym?",
    suspended: "Przepraszam, ta usługa jest w tej chwili niedostępna. Do widzenia.",
    callEndedByOrganization: "Przepraszam, muszę teraz zakończyć rozmowę. Do widzenia.",
  },
  tr: {
    apology: "Üzgünüm, buna şu anda cevap veremedim.",
    waiting: ["Bir dakika lütfen.", "Hâlâ üzerinde çalışıyorum."],
    stillThere: "Hâlâ orada mısınız?",
    callerIdleGoodbye: "Sizi duyamıyorum, bu yüzden kapatıyorum. Hoşça kalın.",
    notRecognized: "Pardon, bunu anlayamadım.",
    timeIsUp: "Üzgünüm, bu görüşmenin süresi doldu. Hoşça kalın.",
    sttFailedApology: "Üzgünüm, artık sizi duyamıyorum. Lütfen tekrar arayın.",
    cannotHearAtAll: "Üzgünüm, sizi duyamıyorum. Lütfen tekrar arayın.",
    interrupted: "Üzgünüm, bağlantı kesildi. Nerede kalmıştık?",
    cannotTransfer: "Üzgünüm, sizi aktaramadım. Başka bir konuda yardımcı olabilir miyim?",
    lineBusy: "Üzgünüm, hat meşgul. Başka bir konuda yardımcı olabilir miyim?",
    noAnswer: "Üzgünüm, kimse cevap vermedi. Başka bir konuda yardımcı olabilir miyim?",
    suspended: "Üzgünüm, bu hizmet şu anda kullanılamıyor. Hoşça kalın.",
    callEndedByOrganization: "Üzgünüm, görüşmeyi şimdi bitirmem gerekiyor. Hoşça kalın.",
  },
  ja: {
    apology: "申し訳ありません。ただいまお答えできませんでした。",
    waiting: ["少々お待ちください。", "まだ確認しております。"],
    stillThere: "もしもし、聞こえますか。",
    callerIdleGoodbye: "お声が聞こえないため、お電話を切らせていただきます。失礼いたします。",
    notRecognized: "申し訳ありません。聞き取れませんでした。",
    timeIsUp: "申し訳ありません。お時間になりましたので、失礼いたします。",
    sttFailedApology: "申し訳ありません。お声が聞こえなくなりました。もう一度おかけ直しください。",
    cannotHearAtAll: "申し訳ありません。お声が聞こえません。もう一度おかけ直しください。",
    interrupted: "申し訳ありません。通話が途切れました。どこまでお話ししましたか。",
    cannotTransfer: "申し訳ありません。おつなぎできませんでした。ほかにご用件はございますか。",
    lineBusy:
      "申し訳ありません。お話し中のため、おつなぎできませんでした。ほかにご用件はございますか。",
    noAnswer: "申し訳ありません。どなたもお出になりませんでした。ほかにご用件はございますか。",
    suspended: "申し訳ありません。ただいまこのサービスはご利用いただけません。失礼いたします。",
    callEndedByOrganization: "申し訳ありません。お電話を終わらせていただきます。失礼いたします。",
  },
  zh: {
    apology: "抱歉，我刚才没能回答。",
    waiting: ["请稍等。", "我还在处理。"],
    stillThere: "您还在吗？",
    callerIdleGoodbye: "我听不到您的声音，先挂断了。再见。",
    notRecognized: "抱歉，我没有听清。",
    timeIsUp: "抱歉，这次通话的时间到了。再见。",
    sttFailedApology: "抱歉，我听不到您的声音了。请您再打一次。",
    cannotHearAtAll: "抱歉，我听不到您的声音。请您再打一次。",
    interrupted: "抱歉，刚才线路中断了。我们说到哪里了？",
    cannotTransfer: "抱歉，我没能为您转接。还有什么可以帮您的吗？",
    lineBusy: "抱歉，对方正在通话中，我没能为您转接。还有什么可以帮您的吗？",
    noAnswer: "抱歉，对方无人接听。还有什么可以帮您的吗？",
    suspended: "抱歉，目前无法提供此服务。再见。",
    callEndedByOrganization: "抱歉，我现在必须结束通话。再见。",
  },
  hi: {
    apology: "माफ़ कीजिए, मैं अभी इसका जवाब नहीं दे सका।",
    waiting: ["एक क्षण रुकिए।", "मैं अभी देख रहा हूँ।"],
    stillThere: "क्या आप लाइन पर हैं?",
    callerIdleGoodbye: "मुझे आपकी आवाज़ नहीं आ रही, इसलिए मैं फ़ोन रख रहा हूँ। नमस्ते।",
    notRecognized: "माफ़ कीजिए, मैं यह सुन नहीं पाया।",
    timeIsUp: "माफ़ कीजिए, इस कॉल का समय समाप्त हो गया है। नमस्ते।",
    sttFailedApology: "माफ़ कीजिए, मुझे आपकी आवाज़ नहीं आ रही। कृपया दोबारा फ़ोन करें।",
    cannotHearAtAll: "माफ़ कीजिए, मुझे आपकी आवाज़ नहीं आ रही। कृपया दोबारा फ़ोन करें।",
    interrupted: "माफ़ कीजिए, लाइन कट गई थी। हम कहाँ थे?",
    cannotTransfer: "माफ़ कीजिए, मैं आपकी कॉल आगे नहीं जोड़ सका। क्या मैं और कुछ मदद कर सकता हूँ?",
    lineBusy: "माफ़ कीजिए, वह लाइन व्यस्त है। क्या मैं और कुछ मदद कर सकता हूँ?",
    noAnswer: "माफ़ कीजिए, वहाँ किसी ने फ़ोन नहीं उठाया। क्या मैं और कुछ मदद कर सकता हूँ?",
    suspended: "माफ़ कीजिए, यह सेवा अभी उपलब्ध नहीं है। नमस्ते।",
    callEndedByOrganization: "माफ़ कीजिए, मुझे अब यह कॉल समाप्त करनी होगी। नमस्ते।",
  },
};

/** By the first part of a language tag, in lower case; anything else hears English. */
export function stockPhrases(language: string): StockPhrases {
  return PHRASES[language] ?? ENGLISH;
}
