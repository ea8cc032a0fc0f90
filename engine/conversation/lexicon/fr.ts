import type { Lexicon } from "./language-lexicon.js";

export const FRENCH: Lexicon = {
  backchannels: `
    oui, ouais, ouaip, mouais, d'accord, ok d'accord, bien, très bien, c'est bien, bien sûr, je vois,
    je comprends, compris, j'ai compris, entendu, exact, exactement, tout à fait, voilà, c'est ça,
    c'est vrai, c'est juste, effectivement, en effet, absolument, parfait, super, génial, excellent,
    ah bon, ah oui, ah d'accord, eh oui, ben oui, bon, ça marche, ça va, certainement, sûrement,
    évidemment, pas de problème, pas de souci, intéressant, vraiment, je sais, c'est bon, c'est noté,
    noté, très bien merci, formidable, chouette, impeccable, nickel, ah, tiens, bah oui, mais oui
  `,
  closings: `
    au revoir, salut, à bientôt, à plus, à plus tard, à demain, merci, merci beaucoup, merci bien,
    merci à vous, je vous remercie, bonne journée, bonne soirée, bonne nuit, vous aussi, à vous aussi,
    de même, pareillement, c'est tout, ce sera tout, c'est bon, non merci, non c'est tout, ciao, adieu,
    bon week end, et à vous aussi, à vous de même, bye, bye bye, à tout à l'heure, à la prochaine,
    à tout de suite, bonne fin de journée, bonne après-midi, bon après-midi, bonne fin de semaine,
    bonne continuation, bisous, bises, salutations, merci pour tout, merci pour votre aide,
    merci de votre aide, merci infiniment, mille mercis, un grand merci, merci à vous aussi,
    bonne journée à vous aussi, bonne journée à vous, bonne soirée à vous aussi, et merci,
    et bonne journée, et au revoir, rien d'autre, non rien d'autre, ce sera tout merci, non ce sera tout,
    non c'est bon, ça ira, non ça ira, je vous en prie, bon weekend, à lundi, à mardi, à mercredi,
    à jeudi, à vendredi, à samedi, à dimanche
  `,
  interruptions: "arrêtez arrête attendez attends",
  floorWords: "non oui un moment",
  answers: "bien exact",
  negations: "aucun aucune rien jamais",
  requests: 'oui ou non|(?:dites|dis)[ ,:"«]+oui|confirmez|merci de confirmer',
  hesitations: "euh heu hum ben bah",
  openers: `
    et mais ou parce que le la les un une des du de mon ma mes notre votre pour avec à au aux c'est d'
    l' dans chez sans vers
  `,
  connectives: `
    c'est-à-dire, par exemple, à savoir, ainsi que, soit, ni, sinon, disons, on va dire, sauf, à part,
    afin de, afin que, pour que, puisque, alors que, bien que, quoique, tandis que, pendant que,
    avant de, au lieu de, à cause de, grâce à, selon, entre, ou bien, enfin
  `,
  announcing:
    /^(?!.*\b(?:quel\p{L}*|où|qui|comment|quand|pourquoi)\b).*\b(?:mon|ma|le|la|notre)\b.* (?:est|sont|c['’]est)$/iu,
  ones: `
    zéro un/une deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze quinze seize
  `,
  tens: "vingt trente quarante cinquante soixante septante huitante/octante nonante",
  magnitudes: "cent cents mille",
  moreNumbers: "vingts",
  composedNumbers: [
    String.raw`(?:vingt|trente|quarante|cinquante|soixante|quatre-vingts?)(?:-\p{L}+)+`,
    "quatre-vingts?",
  ],
  days: "premier",
  months: `
    janvier février mars avril mai juin juillet août septembre octobre novembre décembre
  `,
  dateJoints: "de le",
  doublers: "double triple",
  numberJoints: "et",
  listJoints: "plus et puis ensuite le la les",
  numberUnits: "virgule heures euros",
  addressMarks: "arobase tiret slash point",
  leadIns: "c'est oui le la",
  refusals: "non pas rien pourquoi quoi oui",
  acceptances: "oui daccord",
  acceptanceFillers: "s'il vous plaît, merci, bien sûr, j'accepte",
  declines: "non pas",
  answering: {
    asksName:
      /(?:votre|ton) (?:nom|prénom)|comment vous appelez|qui (?:êtes|appelle|est à|est l['’]appelant|vous êtes|demande)|c['’]est de la part de qui|de la part de qui|à qui (?:ai-je|j['’]ai)|identifi/iu,
    asksReason:
      /raison|motif|pourquoi|objet (?:de|du)|sujet (?:de|du)|à quel sujet|(?:est|sera|soit) disponible|filtr|(?:mettre|mette|mets) en relation|(?:transférer|transfère|passer votre|prendre (?:votre|l['’]) ?appel)|mettre en communication|accepte/iu,
    asksToWait:
      /ne quittez pas|ne quitte pas|en ligne|patient(?:er|ez)|un instant|un moment|(?:je vais|j['’]essaie)/iu,
    takesMessage:
      /message|répondeur|messagerie|\bbip\b|signal sonore|rappel(?:ler|lerai|lerons)|(?:pas|in) ?disponible|ne (?:peux|peut|puis|pouvons) (?:pas )?(?:répondre|vous)|absent|laissez/iu,
    screeningAnswer:
      "Ici {agent}, j’appelle de la part de {organization}. Pourriez-vous me mettre en relation, s’il vous plaît ?",
  },
  stockPhrases: {
    apology: "Je suis désolé, je n'ai pas pu répondre à l'instant.",
    waiting: ["Un instant, s'il vous plaît.", "J'y travaille encore."],
    stillThere: "Êtes-vous toujours là ?",
    callerIdleGoodbye: "Je ne vous entends pas, je vais donc raccrocher. Au revoir.",
    notRecognized: "Pardon, je n'ai pas compris.",
    timeIsUp: "Je suis désolé, le temps de cet appel est écoulé. Au revoir.",
    sttFailedApology: "Je suis désolé, je ne vous entends plus. Veuillez rappeler.",
    cannotHearAtAll: "Je suis désolé, je ne vous entends pas. Veuillez rappeler.",
    interrupted: "Je suis désolé, la ligne a été interrompue. Où en étions-nous ?",
    transferring: "Un instant, je vous mets en relation.",
    cannotTransfer:
      "Je suis désolé, je n'ai pas pu vous transférer. Puis-je faire autre chose pour vous ?",
    lineBusy: "Je suis désolé, la ligne est occupée. Puis-je faire autre chose pour vous ?",
    noAnswer: "Je suis désolé, personne n'a répondu. Puis-je faire autre chose pour vous ?",
    suspended: "Je suis désolé, ce service n'est pas disponible pour le moment. Au revoir.",
    callEndedByOrganization: "Je suis désolé, je dois mettre fin à cet appel. Au revoir.",
    briefingGreeting: "Une personne souhaite vous parler.",
    briefingQuestion:
      "Appuyez sur 1 ou dites oui pour prendre l’appel. Appuyez sur 2 pour le refuser.",
  },
};
