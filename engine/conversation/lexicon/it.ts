import type { Lexicon } from "./language-lexicon.js";

export const ITALIAN: Lexicon = {
  backchannels: `
    sì, si, già, eh già, certo, ma certo, certamente, va bene, bene, molto bene, benissimo, d'accordo,
    capito, ho capito, capisco, giusto, esatto, esattamente, vero, è vero, perfetto, ottimo, ok va bene,
    chiaro, è chiaro, ecco, appunto, infatti, sicuro, naturalmente, assolutamente, ah ecco, ah sì,
    ah bene, ah ok, eh sì, bello, fantastico, interessante, davvero, nessun problema, come no, lo so,
    stupendo, eccellente, senz'altro, ovviamente, figurati, buono, ah però
  `,
  closings: `
    ciao, arrivederci, arrivederla, a presto, a dopo, a domani, grazie, grazie mille, molte grazie,
    tante grazie, la ringrazio, ti ringrazio, buona giornata, buona serata, buonanotte, buona notte,
    anche a lei, anche a te, altrettanto, è tutto, basta così, no grazie, no è tutto, salve, addio,
    grazie a lei, a risentirci, ci sentiamo, ci vediamo, alla prossima, a più tardi, buon pomeriggio,
    buon weekend, buon fine settimana, buon lavoro, saluti, cordiali saluti, grazie di tutto,
    grazie per tutto, grazie per l'aiuto, grazie dell'aiuto, grazie infinite, e grazie, e buona giornata,
    nient'altro, no nient'altro, basta, a posto, sono a posto, tutto a posto, prego, la saluto,
    anche a voi, buona giornata anche a lei, a lunedì, a martedì, a mercoledì, a giovedì, a venerdì,
    a sabato, a domenica
  `,
  interruptions: "aspetta aspetti fermati basta",
  floorWords: "no un momento",
  answers: "sì claro certo esatto giusto",
  negations: "nessuno nessuna niente mai",
  requests: 'sì o no|(?:dica|di)[ ,:"«]+sì|conferm[ia]',
  hesitations: "ehm eh uhm mmm cioè allora",
  openers: `
    e ma o perché che il lo la i gli le un uno una di del della mio mia per con a al alla nel nella da
    dal dalla senza
  `,
  connectives: `
    cioè, per esempio, ad esempio, vale a dire, ossia, oppure, nonché, diciamo, ovvero, né, sebbene,
    mentre, affinché, prima di, invece di, a causa di, secondo, tra, fra, fino a, tranne, a parte
  `,
  announcing: /^(?!.*\b(?:quale?|dove|chi|come|quando)\b).*\b(?:mio|mia|il|la)\b.* (?:è|sono)$/iu,
  ones: `
    zero uno due tre quattro cinque sei sette otto nove dieci undici dodici tredici quattordici quindici
    sedici diciassette diciotto diciannove
  `,
  tens: "venti trenta quaranta cinquanta sessanta settanta ottanta novanta",
  magnitudes: "cento mila",
  composedNumbers: [
    String.raw`\p{L}{3,}cento`,
    "(?:vent|trent|quarant|cinquant|sessant|settant|ottant|novant)[ai]?(?:uno|un|due|tre|tré|quattro|cinque|sei|sette|otto|nove)",
  ],
  days: "primo",
  months: `
    gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre
  `,
  dateJoints: "di il",
  doublers: "doppio tripla",
  numberJoints: "e",
  listJoints: "e poi il lo gli",
  numberUnits: "virgola percento",
  addressMarks: "chiocciola trattino punto",
  leadIns: "è sì il",
  refusals: "non no",
  acceptances: "sì si certo",
  acceptanceFillers: "grazie, per favore, accetto, va bene",
  declines: "no non",
  answering: {
    asksName:
      /(?:suo|tuo|il|proprio) nome|come si chiama|come ti chiami|chi (?:parla|chiama|è|sei)|con chi (?:parlo|sto)/iu,
    asksReason:
      /motivo|ragione|perché|di cosa si tratta|per cosa|oggetto|(?:è|sia) disponibile|filtr|(?:passare|passarle|passo la)|collegar|mettere in contatto|metterla in|trasferi|accetta/iu,
    asksToWait: /in linea|attend|aspett|un (?:attimo|momento)|non riattacc|(?:provo|cerco) /iu,
    takesMessage:
      /messaggio|segreteria|casella vocale|segnale|\bbip\b|richiam|non (?:è disponibile|sono (?:disponibile|raggiungibile)|posso rispondere|possiamo rispondere)|lasci(?:a|ate|are)?\b/iu,
    screeningAnswer:
      "Sono {agent} e chiamo per conto di {organization}. Può passarmi la persona, per favore?",
  },
  stockPhrases: {
    apology: "Mi dispiace, in questo momento non sono riuscito a rispondere.",
    waiting: ["Un momento, per favore.", "Ci sto ancora lavorando."],
    stillThere: "È ancora in linea?",
    callerIdleGoodbye: "Non la sento, quindi chiudo la chiamata. Arrivederci.",
    notRecognized: "Mi scusi, non ho capito.",
    timeIsUp: "Mi dispiace, il tempo per questa chiamata è finito. Arrivederci.",
    sttFailedApology: "Mi dispiace, non la sento più. La prego di richiamare.",
    cannotHearAtAll: "Mi dispiace, non la sento. La prego di richiamare.",
    interrupted: "Mi dispiace, la linea si è interrotta. Dove eravamo rimasti?",
    transferring: "Un momento, le passo un collega.",
    cannotTransfer:
      "Mi dispiace, non sono riuscito a trasferire la chiamata. Posso fare altro per lei?",
    lineBusy: "Mi dispiace, la linea è occupata. Posso fare altro per lei?",
    noAnswer: "Mi dispiace, non ha risposto nessuno. Posso fare altro per lei?",
    suspended: "Mi dispiace, questo servizio non è al momento disponibile. Arrivederci.",
    callEndedByOrganization: "Mi dispiace, ora devo terminare la chiamata. Arrivederci.",
    briefingGreeting: "Una persona desidera parlare con lei.",
    briefingQuestion: "Prema 1 o dica sì per accettare la chiamata. Prema 2 per rifiutarla.",
  },
};
