import type { Lexicon } from "./language-lexicon.js";

export const GERMAN: Lexicon = {
  backchannels: `
    ja, jaja, jo, joa, jep, jupp, genau, stimmt, das stimmt, klar, na klar, alles klar, richtig,
    verstehe, ich verstehe, verstanden, ach so, achso, ach ja, soso, so so, gut, sehr gut, schön,
    sehr schön, prima, super, toll, eben, natürlich, sicher, selbstverständlich, in ordnung, passt,
    das passt, gerne, gern, echt, wirklich, interessant, tatsächlich, perfekt, wunderbar, ausgezeichnet,
    na gut, also gut, das ist gut, das ist schön, freilich, gewiss, absolut, definitiv, na dann, oh ja,
    oh gut, ja gut, ja klar, ja genau, kein problem, einverstanden, weiß ich, ich weiß, ach
  `,
  closings: `
    tschüss, tschüs, tschau, ciao, wiedersehen, auf wiedersehen, wiederhören, auf wiederhören, bis dann,
    bis bald, bis morgen, danke, vielen dank, danke schön, dankeschön, danke sehr, danke ihnen,
    ich danke ihnen, besten dank, schönen tag, schönen tag noch, einen schönen tag,
    einen schönen tag noch, schönen abend, schönen abend noch, ihnen auch, gleichfalls, ebenfalls,
    das war's, das war alles, das wars, nein danke, nein das war's, nein das war alles, gute nacht,
    servus, ade, mach's gut, machen sie's gut, bitte, tschö, tschüssi, tschüssle, bis später, bis gleich,
    bis nächste woche, bis dahin, danke und tschüss, und tschüss, und auf wiederhören,
    und auf wiedersehen, und danke, und vielen dank, danke dir, danke euch, herzlichen dank,
    vielen herzlichen dank, tausend dank, danke für die hilfe, danke für ihre hilfe,
    vielen dank für die hilfe, vielen dank für ihre hilfe, danke für die auskunft,
    vielen dank für die auskunft, danke für alles, ebenso, danke ebenso, danke gleichfalls,
    schönes wochenende, ein schönes wochenende, schönen feierabend, schönen nachmittag,
    schönen tag ihnen auch, ihnen auch einen schönen tag, schönen gruß, alles gute,
    wünsche ich ihnen auch, das ist alles, das wäre alles, das wäre es, das wär's, das wäre dann alles,
    das war es, nein das ist alles, nein das wäre alles, nein sonst nichts, sonst nichts,
    nein nichts mehr, keine weiteren fragen, nein keine weiteren fragen, nee danke, nee das war's,
    alles gut, nein alles gut, dann, grüß gott, pfiat di, ahoi, tschüss dann, das war's schon,
    bis montag, bis dienstag, bis mittwoch, bis donnerstag, bis freitag, bis samstag, bis sonntag
  `,
  interruptions: "stopp halt warte warten",
  floorWords: "sie moment bitte nein ja",
  answers: "doch gerne genau richtig",
  negations: "kein keine keiner keins keinen keinem nichts nie niemals",
  requests: 'ja oder nein|(?:sagen sie|sag)[ ,:"„]+(?:bitte )?ja|bestätigen sie|bestätige',
  hesitations: "äh ähm öh öhm hm hmm also tja naja",
  openers: `
    und aber oder weil dass wenn ob der die dem den ein eine einen einem einer mein meine meinen ihr
    ihre zum zur vom für mit von im am beim ins seit ohne gegen wegen zwischen
  `,
  connectives: `
    und zwar, das heißt, zum beispiel, beziehungsweise, bzw, nämlich, sprich, sowie, entweder, weder,
    sondern, sagen wir, sagen wir mal, wie sagt man, also wie gesagt, je nachdem, es sei denn, außer,
    bis auf, obwohl, während, damit, sodass, so dass, falls, sobald, bevor, nachdem, statt, anstatt,
    trotz, aufgrund, unter anderem, am besten, ungefähr, circa, etwa, entweder so
  `,
  announcing:
    /^(?!.*\b(?:was|wo|wer|wie|wann|welche\p{L}*|warum)\b).*\b(?:mein|meine|die|der|das|unsere?)\b.* (?:ist|lautet|sind)$/iu,
  ones: `
    null eins/ein zwei/zwo drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn
    fünfzehn sechzehn siebzehn achtzehn neunzehn
  `,
  tens: "zwanzig dreißig vierzig fünfzig sechzig siebzig achtzig neunzig",
  magnitudes: "hundert tausend",
  composedNumbers: [
    String.raw`\p{L}*und(?:zwanzig|dreißig|vierzig|fünfzig|sechzig|siebzig|achtzig|neunzig)`,
    String.raw`\p{L}*(?:hundert|tausend)\p{L}*`,
  ],
  ordinals: `
    nullte/nullten erste/ersten zweite/zweiten dritte/dritten vierte/vierten fünfte/fünften
    sechste/sechsten siebte/siebten achte/achten neunte/neunten zehnte/zehnten elfte/elften
    zwölfte/zwölften
  `,
  months: `
    januar jänner februar märz april mai juni juli august september oktober november dezember
  `,
  dateJoints: "der den dem am",
  doublers: "doppel zweimal dreimal",
  numberJoints: "und",
  listJoints: "und dann danach sowie der die das den",
  numberUnits: "komma uhr prozent euro euros cent",
  addressMarks: "bindestrich minus unterstrich punkt klammeraffe",
  leadIns: "es ist sind ja die der das",
  spellingNames: `
    anton berta cäsar dora emil friedrich gustav heinrich ida julius kaufmann ludwig martha nordpol otto
    paula quelle richard samuel siegfried theodor ulrich viktor wilhelm xanthippe ypsilon zacharias
  `,
  refusals: "nein nicht kein keine warum was ja",
  acceptances: "ja gerne jawohl",
  acceptanceFillers: "danke, vielen dank, bitte verbinden, verbinden sie, ich nehme an, natürlich",
  declines: "nein nicht nee",
  answering: {
    asksName:
      /(?:ihren?|deinen?|den|ihrem|deinem) (?:vollen |vor- und )?(?:nach)?namen|wie (?:heißen sie|heißt du|ist ihr name)|wer (?:sie sind|du bist|ruft|spricht|ist (?:da|am)|anruft)|mit wem/iu,
    asksReason:
      /grund|\bweshalb|\bwarum|\bweswegen|anliegen|worum|worüber|zweck|verfügbar|erreichbar ist|(?:verbinde|durchstelle|stelle)\b|verbinden|durchzustellen|durchstellen|geprüft|gefiltert|filter|anruf annehmen|rangehen/iu,
    asksToWait:
      /bleiben sie|bleib(?:e)? (?:bitte )?(?:dran|in der leitung)|in der leitung|am apparat|moment|warten|warte\b|geduld|ich (?:frage|schaue|sehe) nach|(?:versuche|probiere)/iu,
    takesMessage:
      /nachricht|mailbox|anrufbeantworter|sprachbox|signalton|piepton|pfeifton|\bton\b|rufe? (?:ich |sie |dich |wir )*(?:sie |dich )?(?:umgehend |bald |gerne? )?zurück|zurückrufen|zurück\.|nicht (?:da|erreichbar|verfügbar|zu hause|ans telefon)|hinterlass/iu,
    screeningAnswer:
      "Hier ist {agent}, ich rufe für {organization} an. Würden Sie mich bitte verbinden?",
  },
  stockPhrases: {
    apology: "Es tut mir leid, darauf konnte ich gerade nicht antworten.",
    waiting: ["Einen Moment, bitte.", "Ich bin noch dabei."],
    stillThere: "Sind Sie noch da?",
    callerIdleGoodbye: "Ich höre Sie leider nicht und lege jetzt auf. Auf Wiederhören.",
    notRecognized: "Entschuldigung, das habe ich nicht verstanden.",
    timeIsUp: "Die Zeit für dieses Gespräch ist leider um. Auf Wiederhören.",
    sttFailedApology: "Ich kann Sie leider nicht mehr hören. Bitte rufen Sie noch einmal an.",
    cannotHearAtAll: "Ich kann Sie leider nicht hören. Bitte rufen Sie noch einmal an.",
    interrupted: "Entschuldigung, die Verbindung war unterbrochen. Wo waren wir?",
    transferring: "Einen Moment bitte, ich verbinde Sie.",
    cannotTransfer:
      "Es tut mir leid, ich konnte Sie nicht verbinden. Kann ich sonst etwas für Sie tun?",
    lineBusy:
      "Es tut mir leid, dort ist besetzt, ich konnte Sie nicht verbinden. Kann ich sonst etwas für Sie tun?",
    noAnswer:
      "Es tut mir leid, dort ist niemand ans Telefon gegangen. Kann ich sonst etwas für Sie tun?",
    suspended: "Es tut mir leid, dieser Dienst steht gerade nicht zur Verfügung. Auf Wiederhören.",
    callEndedByOrganization:
      "Es tut mir leid, ich muss das Gespräch jetzt beenden. Auf Wiederhören.",
    briefingGreeting: "Jemand möchte mit Ihnen sprechen.",
    briefingQuestion:
      "Drücken Sie die 1 oder sagen Sie ja, um den Anruf anzunehmen. Drücken Sie die 2, um abzulehnen.",
  },
};
