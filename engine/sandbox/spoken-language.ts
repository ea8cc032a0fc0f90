/** Frequent words of the languages that simulated STTs recognize. */
const FREQUENT: Readonly<Record<string, string>> = {
  de:
    "aber auch auf bin bitte brauche danke das dem den der die ein eine einen es für gern guten habe haben hallo hätte " +
    "ich im ist ja kann kein können mein meine mich mir mit möchte morgen nein nicht noch oder sie sind tag termin und " +
    "uhr von wann war warum was weiter wie wir wo zu",
  en:
    "a about an and are at can could do for from have hello how i in is it me my no not of okay on please say thank " +
    "thanks that the there this to want was we what when where which why with would yes you your",
  es:
    "a buenos buenas con cuándo cómo de del días dónde el ella en es está estoy favor gracias hola la las los me mi " +
    "mucho necesito no para pero por puede que quiero quisiera señor sí soy tengo un una y yo",
  fr:
    "au avec bonjour bonne ce c'est comment dans de des du elle en est et il j'ai je la le les mais me merci moi mon " +
    "non nous où oui pas pour pouvez quand que qui rendez-vous s'il suis sur un une voudrais vous",
  it: "buongiorno che ciao come con cosa di dove e ho il io la le ma mi non per posso quando sì sono un una vorrei grazie",
  nl: "dag dank de een en goede het hoe ik is ja kan kunt met mijn nee niet u van waar wat wil zijn",
  pt: "bom com como da de dia do é em eu gostaria não o obrigado obrigada olá onde os para por quando quero sim uma você",
};

const WORDS: readonly (readonly [language: string, words: ReadonlySet<string>])[] = Object.entries(
  FREQUENT,
).map(([language, words]) => [language, new Set(words.split(" "))]);

const EDGES = /^[^\p{L}\p{N}]+|[^\p{L}\p{N}]+$/gu;

/**
 * The language of the words, as a simulated STT recognizes it: the one of which most of them are frequent words,
 * English in doubt.
 */
export function languageOf(words: readonly string[]): string {
  const said = words.map((word) => word.toLowerCase().replace(EDGES, ""));
  const scores = WORDS.map(([language, known]) => ({
    language,
    score: said.filter((word) => known.has(word)).length + (language === "en" ? 0.5 : 0),
  }));
  return scores.reduce((best, each) => (each.score > best.score ? each : best)).language;
}
