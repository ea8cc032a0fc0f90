/** Only the last words tell whether a sentence is open. */
const TAIL_CHARACTERS = 80;

interface OpenWords {
  /** What people say while they think. */
  readonly hesitations: string;
  /** No sentence ends with one of these. */
  readonly openers: string;
  /** "My order number is": as a pattern, at the end. */
  readonly announcing?: RegExp;
  /** "Hello, I would like to", and nothing else: what is wanted is still to come. */
  readonly beginning?: RegExp;
  /** "From Berlin to": nobody asks so, and nobody answers so. */
  readonly joining?: RegExp;
}

const OPEN_WORDS = {
  en: {
    hesitations: "uh uhm um umm er erm hmm hm uhh ah eh well",
    openers:
      "and but or because the an my your our his her their if than of a whose which which's i'm it's i'd i'll into",
    announcing:
      /^(?!.*\b(?:what|where|who|how|when|which|why|whose)\b).*\b(?:my|the|our|his|her|this)\b.* (?:is|are|was)$/iu,
    beginning:
      /^(?:(?:hi|hello|hey|okay|ok|so|please|actually)[, ]+)*(?:i(?:['’]d| would) (?:like|prefer)(?: to)?|i (?:want|need)(?: to)?|i have to|i (?:think|mean)|i was wondering|(?:can|could|may) (?:i|you|we)(?: please)?|my name['’]s|do you have|is there|are there|i['’]m (?:looking|calling|phoning)|the thing is|how about|what about)$/iu,
    joining:
      /^(?!.*(?:\b(?:what|where|who|how|when|which|why|whose|whom|that|all|nothing|something|anything|some(?:one|body)|any(?:one|body)|not|used|love|glad|happy|have|want|need|supposed|able)\b|n['’]t\b)).+ (?:to|for|with|from|about|at|between|until)$|(?:^|\s)let me (?:see|think|check|look)$|(?<!\b(?:do|did|as|if)\s)\byou know$/iu,
  },
  de: {
    hesitations: "äh ähm öh öhm hm hmm also tja naja",
    openers:
      "und aber oder weil dass wenn ob der die dem den ein eine einen einem einer mein meine meinen ihr ihre zum zur vom für mit von im am beim ins seit ohne gegen wegen zwischen",
    announcing:
      /^(?!.*\b(?:was|wo|wer|wie|wann|welche\p{L}*|warum)\b).*\b(?:mein|meine|die|der|das|unsere?)\b.* (?:ist|lautet|sind)$/iu,
    beginning:
      /^(?:(?:hallo|guten tag|okay|gut|also|bitte)[, ]+)*(?:ich (?:möchte|will|wollte|brauche|bräuchte|suche|heiße|glaube)(?: (?:gern|gerne|mal|fragen|wissen))?|ich (?:hätte|würde)(?: (?:gern|gerne))?|(?:können|könnten) sie(?: mir)?|kann ich|haben sie|gibt es|und zwar|es geht um|mein name ist)$/iu,
  },
  fr: {
    hesitations: "euh heu hum ben bah",
    openers:
      "et mais ou parce que le la les un une des du de mon ma mes notre votre pour avec à au aux c'est d' l' dans chez sans vers",
    announcing:
      /^(?!.*\b(?:quel\p{L}*|où|qui|comment|quand|pourquoi)\b).*\b(?:mon|ma|le|la|notre)\b.* (?:est|sont|c['’]est)$/iu,
    beginning:
      /^(?:(?:bonjour|allô|alors|bon)[, ]+)*(?:je (?:voudrais|veux|souhaite|souhaiterais|cherche|pense|m['’]appelle)(?: savoir(?: si)?)?|j['’](?:aimerais|ai besoin)|est-ce que(?: (?:je|vous))?|pouvez-vous|pourriez-vous|il (?:me )?faut)$/iu,
  },
  es: {
    hesitations: "eh em mmm pues",
    openers:
      "y pero o porque que el la los las un una unos unas mi mis su de del para con por a al en desde sin",
    announcing:
      /^(?!.*(?:qué|cuál|dónde|quién|cómo|cuándo)).*\b(?:mi|el|la|nuestro)\b.* (?:es|son)$/iu,
    beginning:
      /^(?:(?:hola|buenas|bueno|buenos días|buenas tardes)[, ]+)*(?:(?:yo )?(?:quisiera|quería|necesito|busco)(?: saber)?|(?:tengo|quiero) que|me (?:gustaría|llamo)(?: saber)?|mi nombre es)$/iu,
  },
  it: {
    hesitations: "ehm eh uhm mmm cioè allora",
    openers:
      "e ma o perché che il lo la i gli le un uno una di del della mio mia per con a al alla nel nella da dal dalla senza",
    announcing: /^(?!.*\b(?:quale?|dove|chi|come|quando)\b).*\b(?:mio|mia|il|la)\b.* (?:è|sono)$/iu,
    beginning:
      /^(?:(?:ciao|salve|buongiorno|buonasera|allora|pronto)[, ]+)*(?:(?:io )?(?:vorrei|volevo|cerco)(?: sapere)?|ho bisogno|mi (?:piacerebbe|chiamo|serve))$/iu,
  },
  pt: {
    hesitations: "eh ahn hum tipo então",
    openers:
      "e mas ou porque que o a os as um uma de do da dos das meu minha para com por ao em no na nos nas sem",
    announcing: /^(?!.*(?:qual|onde|quem|como|quando)).*\b(?:meu|minha|o|a)\b.* (?:é|são)$/iu,
    beginning:
      /^(?:(?:olá|oi|bom dia|boa tarde|bem|alô)[, ]+)*(?:(?:eu )?(?:queria|gostaria|procuro)(?: saber)?|chamo-me|me chamo)$/iu,
  },
  nl: {
    hesitations: "eh ehm uh uhm euh nou hm",
    openers:
      "en maar of omdat dat als de het een mijn uw onze van voor met naar zonder tegen tussen",
    announcing:
      /^(?!.*\b(?:wat|waar|wie|hoe|wanneer|welke?)\b).*\b(?:mijn|de|het|ons|onze)\b.* (?:is|zijn)$/iu,
    beginning:
      /^(?:(?:hallo|hoi|goedemiddag|goedemorgen|oké|nou)[, ]+)*(?:ik (?:wil|wilde|zou|zoek|heet|denk)(?: (?:graag|weten))?|(?:kunt|kan|kun) (?:u|je|ik)|heeft u|is er|het gaat om|mijn naam is)$/iu,
  },
  pl: {
    hesitations: "yyy eee hm znaczy",
    openers:
      "i a ale lub albo bo ponieważ że jeśli mój moja moje dla z ze w we na do od o przez bez",
    announcing:
      /^(?!.*\b(?:co|gdzie|kto|jak|kiedy|jaki\p{L}*)\b).*\b(?:mój|moja|moje|numer)\b.* (?:to|jest)$/iu,
    beginning:
      /^(?:(?:dzień dobry|halo|więc)[, ]+)*(?:(?:ja )?(?:chciałbym|chciałabym|szukam)(?: zapytać)?|czy (?:mogę|może)|mam na imię|nazywam się)$/iu,
  },
  tr: {
    hesitations: "eee ııı şey hmm yani işte",
    openers: "ve ama veya çünkü ki için ile bir benim",
  },
  ja: {
    hesitations: "えっと えーと ええと あの あのー その うーん んー",
    openers: "を が へ",
    announcing: /(?<!こんにち|こんばん|で)は$/u,
  },
  zh: {
    hesitations: "嗯 呃 然后",
    openers: "因为 但是 和 我的",
    announcing: /(?:我的|号码|名字|电话|地址|单号)[^。？]{0,12}是$/u,
    beginning:
      /^(?:(?:你好|您好|是的|好的|嗯)[，, ]*)*(?:我(?:想|要|想要|需要|叫|找)|请帮我|请问|能不能|那个)$/u,
  },
  hi: {
    hesitations: "उम अम हम्म मतलब",
    openers: "और लेकिन या क्योंकि कि मेरा मेरी मेरे का की के को मुझे",
    announcing: /(?:^|\s)(?:मेरा|मेरी|हमारा).* (?:नंबर|नाम|पता)(?: है)?$/u,
  },
} satisfies Readonly<Record<string, OpenWords>>;

function listOf({ hesitations, openers, announcing, beginning, joining }: OpenWords) {
  return {
    words: `${hesitations} ${openers}`.split(/\s+/).filter((word) => word !== ""),
    patterns: [announcing, beginning, joining].filter((pattern) => pattern !== undefined),
  };
}

const ENGLISH = listOf(OPEN_WORDS.en);
const LISTS = new Map(
  Object.entries(OPEN_WORDS).map(([language, words]) => [language, listOf(words)]),
);
const UNSPACED = new Set(["ja", "zh"]);

/** Whether the caller seems to be thinking: the last word is a hesitation, or one that no sentence ends with, in that language. */
export function isOpenEnded(text: string, language: string): boolean {
  const list = LISTS.get(language) ?? ENGLISH;
  const tail = text.trim().slice(-TAIL_CHARACTERS);
  // A question mark stays, so that what is asked is not open.
  const said = tail.replace(/[\s.,…。、，-]+$/u, "").toLowerCase();
  const sentence = said.slice(said.search(/[^.?!。？！]*$/u)).trim();
  if (list.patterns.some((pattern) => pattern.test(sentence))) return true;
  if (UNSPACED.has(language)) return list.words.some((word) => said.endsWith(word));
  const last = said.slice(said.lastIndexOf(" ") + 1);
  // One word alone is an answer, unless it is only a sound: "well", "like" and "no" are words too.
  return last === said ? HESITATION_ALONE.test(last) : list.words.includes(last);
}

const HESITATION_ALONE = /^(?:u+h*m*|e+r*m*|e+h+m*|h+m+|ä+h*m*|ö+h*m*|e+u+h+|m{2,}|y{2,}|ı{2,})$/u;
