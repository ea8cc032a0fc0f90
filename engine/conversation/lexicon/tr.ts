import type { Lexicon } from "./language-lexicon.js";

export const TURKISH: Lexicon = {
  backchannels: `
    evet, he, hı hı, hıhı, hı, ıhı, hımm, hmm, tamam, tamamdır, peki, olur, doğru, çok doğru, aynen,
    aynen öyle, kesinlikle, tabii, tabi, tabii ki, elbette, anladım, anlıyorum, anlaşıldı, güzel,
    çok güzel, iyi, çok iyi, harika, süper, mükemmel, öyle, öyle mi, gerçekten, hakikaten, ilginç,
    haklısınız, haklısın, oldu, pekala, pekâlâ, biliyorum, ya, ha, haa, hee, eyvallah, sorun değil,
    sorun yok, evet evet, tamam tamam, muhakkak, şüphesiz, ha evet, ha tamam
  `,
  closings: `
    hoşça kal, hoşça kalın, hoşçakal, hoşçakalın, güle güle, görüşürüz, görüşmek üzere, bay bay, baybay,
    teşekkürler, teşekkür ederim, çok teşekkürler, çok teşekkür ederim, sağ ol, sağ olun, sağolun,
    iyi günler, iyi akşamlar, iyi geceler, size de, sana da, siz de, hepsi bu, bu kadar,
    hayır teşekkürler, hayır teşekkür ederim, kendinize iyi bakın, allahaısmarladık, hoşça kal hoşça kal,
    iyi hafta sonları, iyi çalışmalar, kolay gelsin, allah'a emanet olun, kendine iyi bak,
    yardımınız için teşekkürler, yardımınız için teşekkür ederim, her şey için teşekkürler,
    ve teşekkürler, başka bir şey yok, hayır başka bir şey yok, başka yok, hayır bu kadar,
    yok teşekkürler, rica ederim, görüşmek üzere hoşça kalın, iyi günler dilerim, selamlar
  `,
  interruptions: "dur bekle",
  floorWords: "hayır evet",
  answers: "tamam olur doğru",
  negations: "hiç asla",
  requests: String.raw`evet (?:veya|ya da) hayır|onayla\p{L}*`,
  hesitations: "eee ııı şey hmm yani işte",
  openers: "ve ama veya çünkü ki için ile bir benim",
  connectives: `
    mesela, örneğin, ya da, veyahut, diyelim, diyelim ki, yani, hem, ne de, rağmen, göre, kadar, dolayı
  `,
  ones: "sıfır bir iki üç dört beş altı yedi sekiz dokuz",
  tens: "yirmi otuz kırk elli altmış yetmiş seksen doksan",
  magnitudes: "yüz",
  ambiguousMagnitudes: "bin",
  months: "ocak şubat mart nisan mayıs haziran temmuz ağustos eylül ekim kasım aralık",
  numberJoints: "ve",
  listJoints: "ve sonra",
  numberUnits: "bin virgül lira buçuk",
  addressMarks: "nokta tire",
  refusals: "hayır",
  acceptances: "evet",
  acceptanceFillers: "lütfen, teşekkürler, tabii, kabul ediyorum",
  declines: "hayır",
  answering: {
    asksName:
      /(?:ad|isim|ism)[ıi]n[ıi]z|adını|ismini|kim (?:arıyor|arıyorsunuz|olduğunuzu)|kimsiniz|kiminle|kendinizi tanıt/iu,
    asksReason:
      /neden|sebeb|amac|niçin|ne hakkında|konu(?:su|yu|nuz)|hangi konu|müsait|uygun (?:mu|olup)|ulaşılabilir|bağla|filtre|aktar|kabul ed/iu,
    asksToWait: /hatta|bekley|kapatmay|bir (?:dakika|saniye|an)\b|bir an|lütfen bekle|kontrol ed/iu,
    takesMessage:
      /mesaj|sesli|sinyal|bip|telesekreter|geri ara|(?:müsait|uygun) değil|ulaşılamıyor|cevap veremi|bırak/iu,
    screeningAnswer:
      "Ben {agent}, {organization} adına arıyorum. Beni bağlayabilir misiniz lütfen?",
  },
  stockPhrases: {
    apology: "Üzgünüm, buna şu anda cevap veremedim.",
    waiting: ["Bir dakika lütfen.", "Hâlâ üzerinde çalışıyorum."],
    stillThere: "Hâlâ orada mısınız?",
    callerIdleGoodbye: "Sizi duyamıyorum, bu yüzden kapatıyorum. Hoşça kalın.",
    notRecognized: "Pardon, bunu anlayamadım.",
    timeIsUp: "Üzgünüm, bu görüşmenin süresi doldu. Hoşça kalın.",
    sttFailedApology: "Üzgünüm, artık sizi duyamıyorum. Lütfen tekrar arayın.",
    cannotHearAtAll: "Üzgünüm, sizi duyamıyorum. Lütfen tekrar arayın.",
    interrupted: "Üzgünüm, bağlantı kesildi. Nerede kalmıştık?",
    transferring: "Bir dakika lütfen, sizi aktarıyorum.",
    cannotTransfer: "Üzgünüm, sizi aktaramadım. Başka bir konuda yardımcı olabilir miyim?",
    lineBusy: "Üzgünüm, hat meşgul. Başka bir konuda yardımcı olabilir miyim?",
    noAnswer: "Üzgünüm, kimse cevap vermedi. Başka bir konuda yardımcı olabilir miyim?",
    suspended: "Üzgünüm, bu hizmet şu anda kullanılamıyor. Hoşça kalın.",
    callEndedByOrganization: "Üzgünüm, görüşmeyi şimdi bitirmem gerekiyor. Hoşça kalın.",
    briefingGreeting: "Biri sizinle görüşmek istiyor.",
    briefingQuestion:
      "Görüşmeyi kabul etmek için 1’e basın ya da evet deyin. Reddetmek için 2’ye basın.",
  },
};
