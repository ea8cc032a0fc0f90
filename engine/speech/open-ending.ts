/** Only the last words tell whether a sentence is open. */
const TAIL_CHARACTERS = 80;

interface OpenWords {
  /** What people say while they think. */
  readonly hesitations: string;
  /** No sentence ends with one of these. */
  readonly openers: string;
  /** "My order number is": as a pattern, at the end. */
  readonly announcing?: RegExp;
}

const OPEN_WORDS: Readonly<Record<string, OpenWords>> = {
  en: {
    hesitations: "uh uhm um umm er erm hmm hm uhh ah eh well",
    openers:
      "and but or because the an my your our his her their if than of a whose which which's i'm it's i'd i'll",
    announcing:
      /^(?!.*\b(?:what|where|who|how|when|which|why|whose)\b).*\b(?:my|the|our|his|her|this)\b.* (?:is|are|was)$/iu,
  },
  de: {
    hesitations: "äh ähm öh öhm hm hmm also tja naja",
    openers:
      "und aber oder weil dass wenn der die das dem den ein eine einen einem einer mein meine meinen ihr ihre zum zur vom für mit von",
    announcing:
      /^(?!.*\b(?:was|wo|wer|wie|wann|welche\p{L}*|warum)\b).*\b(?:mein|meine|die|der|das|unsere?)\b.* (?:ist|lautet|sind)$/iu,
  },
  fr: {
    hesitations: "euh heu hum ben bah",
    openers:
      "et mais ou parce que le la les un une des du de mon ma mes notre votre pour avec à au aux c'est d' l'",
    announcing:
      /^(?!.*\b(?:quel\p{L}*|où|qui|comment|quand|pourquoi)\b).*\b(?:mon|ma|le|la|notre)\b.* (?:est|sont)$/iu,
  },
  es: {
    hesitations: "eh em mmm pues",
    openers:
      "y pero o porque que el la los las un una unos unas mi mis su de del para con por a al",
    announcing:
      /^(?!.*(?:qué|cuál|dónde|quién|cómo|cuándo)).*\b(?:mi|el|la|nuestro)\b.* (?:es|son)$/iu,
  },
  it: {
    hesitations: "ehm eh uhm mmm cioè allora",
    openers: "e ma o perché che il lo la i gli le un uno una di del della mio mia per con a al",
    announcing: /^(?!.*\b(?:quale?|dove|chi|come|quando)\b).*\b(?:mio|mia|il|la)\b.* (?:è|sono)$/iu,
  },
  pt: {
    hesitations: "eh ahn hum tipo então",
    openers: "e mas ou porque que o a os as um uma de do da dos das meu minha para com por ao",
    announcing: /^(?!.*(?:qual|onde|quem|como|quando)).*\b(?:meu|minha|o|a)\b.* (?:é|são)$/iu,
  },
  nl: {
    hesitations: "eh ehm uh uhm euh nou hm",
    openers: "en maar of omdat dat als de het een mijn uw onze van voor met naar",
    announcing:
      /^(?!.*\b(?:wat|waar|wie|hoe|wanneer|welke?)\b).*\b(?:mijn|de|het|ons|onze)\b.* (?:is|zijn)$/iu,
  },
  pl: {
    hesitations: "yyy eee hm znaczy",
    openers: "i a ale lub albo bo ponieważ że jeśli mój moja moje dla z ze w we na do od o",
    announcing:
      /^(?!.*\b(?:co|gdzie|kto|jak|kiedy|jaki\p{L}*)\b).*\b(?:mój|moja|moje|numer)\b.* (?:to|jest)$/iu,
  },
  tr: {
    hesitations: "eee ııı şey hmm yani işte",
    openers: "ve ama veya çünkü ki için ile bir benim",
  },
  ja: { hesitations: "えっと えーと ええと あの あのー その うーん ええ んー", openers: "" },
  zh: { hesitations: "嗯 呃 然后", openers: "因为 但是 和 我的" },
  hi: { hesitations: "उम अम हम्म मतलब", openers: "और लेकिन या क्योंकि कि मेरा मेरी मेरे" },
};

const LISTS = new Map(
  Object.entries(OPEN_WORDS).map(([language, { hesitations, openers, announcing }]) => [
    language,
    { words: `${hesitations} ${openers}`.split(/\s+/).filter((word) => word !== ""), announcing },
  ]),
);
const UNSPACED = new Set(["ja", "zh"]);

/** Whether the caller seems to be thinking: the last word is a hesitation, or one that no sentence ends with, in that language. */
export function isOpenEnded(text: string, language: string): boolean {
  const list = LISTS.get(language) ?? LISTS.get("en");
  const tail = text.trim().slice(-TAIL_CHARACTERS);
  if (list === undefined || tail === "" || /[?？!！]$/.test(tail)) return false;
  const said = tail.replace(/[\s.,…。、，-]+$/u, "").toLowerCase();
  if (UNSPACED.has(language)) return list.words.some((word) => said.endsWith(word));
  const last = said.slice(said.lastIndexOf(" ") + 1);
  // One word alone is an answer, unless it is only a sound: "well", "like" and "no" are words too.
  if (last === said) return HESITATION_ALONE.test(last);
  return list.words.includes(last) || list.announcing?.test(said) === true;
}

const HESITATION_ALONE = /^(?:u+h*m*|e+r*m*|e+h+m*|h+m+|ä+h*m*|ö+h*m*|e+u+h+|m{2,}|y{2,}|ı{2,})$/u;
