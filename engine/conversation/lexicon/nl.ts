import type { Lexicon } from "./language-lexicon.js";

export const DUTCH: Lexicon = {
  backchannels: `
    ja, jaja, jawel, jep, jup, joh, precies, klopt, dat klopt, inderdaad, juist, goed, heel goed, oké,
    prima, begrepen, ik begrijp het, ik snap het, snap ik, begrijp ik, helder, duidelijk,
    dat is duidelijk, natuurlijk, tuurlijk, zeker, absoluut, uiteraard, mooi, fijn, leuk, top, super,
    perfect, geweldig, interessant, echt, echt waar, o ja, oh ja, ach ja, ah ja, o jee, o, aha oké,
    is goed, dat is goed, da's goed, dat is fijn, goed zo, geen probleem, tja, ja hoor, ja precies,
    ja klopt, weet ik, dat weet ik, akkoord, komt goed, mooi zo, exact
  `,
  closings: `
    doei, dag, daag, doeg, tot ziens, tot straks, tot later, tot morgen, tot horens, bedankt, dank je,
    dank je wel, dankjewel, dank u, dank u wel, dankuwel, hartelijk dank, hartelijk bedankt, fijne dag,
    fijne dag nog, prettige dag, fijne avond, fijn weekend, u ook, jij ook, insgelijks, hetzelfde,
    dat was het, dat was alles, dat is alles, nee dank u, nee dank je, nee bedankt, nee dat was het,
    goedenacht, tot dan, tot gauw, tot kijk, tot zo, tot volgende week, houdoe, hoi, doei doei,
    de groeten, groetjes, prettig weekend, fijn weekend nog, prettige avond, een fijne dag,
    een fijne dag nog, goedenavond, goedemiddag, bedankt voor de hulp, bedankt voor uw hulp,
    dank u voor de hulp, bedankt voor alles, heel erg bedankt, en bedankt, en tot ziens,
    en een fijne dag, dat is het, nee hoor, nee dat is alles, nee verder niets, verder niets, niets meer,
    nee niets meer, graag gedaan, ook, hetzelfde voor u, tot maandag, tot dinsdag, tot woensdag,
    tot donderdag, tot vrijdag, tot zaterdag, tot zondag
  `,
  interruptions: "stop wacht",
  floorWords: "nee ja moment",
  answers: "jawel graag klopt",
  negations: "geen niets nooit",
  requests: 'ja of nee|zeg[ ,:"„]+ja|bevestig',
  hesitations: "eh ehm uh uhm euh nou hm",
  openers: `
    en maar of omdat dat als de het een mijn uw onze van voor met naar zonder tegen tussen
  `,
  connectives: `
    en wel, namelijk, dat wil zeggen, bijvoorbeeld, oftewel, ofwel, behalve, laten we zeggen, zeg maar,
    zoals, noch, hoewel, terwijl, zodat, tenzij, voordat, nadat, in plaats van, vanwege, volgens, tot,
    door, dus
  `,
  announcing:
    /^(?!.*\b(?:wat|waar|wie|hoe|wanneer|welke?)\b).*\b(?:mijn|de|het|ons|onze)\b.* (?:is|zijn)$/iu,
  ones: `
    nul een twee drie vier vijf zes zeven acht negen tien elf twaalf dertien veertien vijftien zestien
    zeventien achttien negentien
  `,
  tens: "twintig dertig veertig vijftig zestig zeventig tachtig negentig",
  magnitudes: "honderd duizend",
  composedNumbers: [
    String.raw`\p{L}+(?:en|ën)(?:twintig|dertig|veertig|vijftig|zestig|zeventig|tachtig|negentig)`,
  ],
  months: `
    januari februari maart april mei juni juli augustus september oktober november december
  `,
  dateJoints: "de den",
  doublers: "dubbel",
  numberJoints: "en",
  listJoints: "en dan daarna de het",
  numberUnits: "komma uur procent",
  addressMarks: "apenstaartje streepje",
  leadIns: "het dat ja",
  refusals: "niet geen waarom",
  acceptances: "ja graag",
  acceptanceFillers: "dank u, dank je, bedankt, natuurlijk, verbind maar door",
  declines: "nee niet",
  answering: {
    asksName:
      /(?:uw|je|jouw) naam|hoe (?:heet u|heet je|u heet)|wie (?:u bent|je bent|belt|spreek|er belt|bent u)|met wie/iu,
    asksReason:
      /reden|waarom|waarvoor|waarover|waar (?:gaat|het over)|doel van|beschikbaar is|bereikbaar is|(?:door|ver)bind|doorverbinden|screen|filter|opneemt|aannem/iu,
    asksToWait:
      /aan de lijn|blijf|wacht|een (?:moment|ogenblik)|momentje|(?:ik (?:kijk|vraag|probeer))/iu,
    takesMessage:
      /bericht|voicemail|antwoordapparaat|\bpiep|\btoon\b|terugbel|bel (?:ik )?(?:u|je) terug|niet (?:bereikbaar|beschikbaar|aanwezig|opnemen)|spreek (?:iets )?in|laat .{0,20} achter/iu,
    screeningAnswer:
      "U spreekt met {agent}, ik bel namens {organization}. Kunt u mij doorverbinden, alstublieft?",
  },
  stockPhrases: {
    apology: "Het spijt me, daar kon ik net niet op antwoorden.",
    waiting: ["Een ogenblik, alstublieft.", "Ik ben er nog mee bezig."],
    stillThere: "Bent u er nog?",
    callerIdleGoodbye: "Ik hoor u niet, dus ik hang nu op. Tot ziens.",
    notRecognized: "Sorry, dat heb ik niet verstaan.",
    timeIsUp: "Het spijt me, de tijd voor dit gesprek is om. Tot ziens.",
    sttFailedApology: "Het spijt me, ik kan u niet meer horen. Belt u alstublieft opnieuw.",
    cannotHearAtAll: "Het spijt me, ik kan u niet horen. Belt u alstublieft opnieuw.",
    interrupted: "Het spijt me, de verbinding was verbroken. Waar waren we gebleven?",
    transferring: "Een ogenblik, ik verbind u door.",
    cannotTransfer:
      "Het spijt me, ik kon u niet doorverbinden. Kan ik nog iets anders voor u doen?",
    lineBusy: "Het spijt me, de lijn is bezet. Kan ik nog iets anders voor u doen?",
    noAnswer: "Het spijt me, er werd niet opgenomen. Kan ik nog iets anders voor u doen?",
    suspended: "Het spijt me, deze dienst is op dit moment niet beschikbaar. Tot ziens.",
    callEndedByOrganization: "Het spijt me, ik moet het gesprek nu beëindigen. Tot ziens.",
    briefingGreeting: "Iemand wil u graag spreken.",
    briefingQuestion: "Druk op 1 of zeg ja om het gesprek aan te nemen. Druk op 2 om te weigeren.",
  },
};
