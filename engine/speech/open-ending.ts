/** Only the last words tell whether a sentence is open. */
const TAIL_CHARACTERS = 80;

interface OpenWords {
  /** What people say while they think. */
  readonly hesitations: string;
  /** No sentence ends with one of these. */
  readonly openers: string;
  /** What people say before the words that they are looking for, in several words or one: "that is to say", "let's say". */
  readonly connectives?: string;
  /** Small words that may stand behind the others while these are still to come: "I would rather perhaps". */
  readonly fillers?: string;
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
    connectives:
      "that is, that is to say, for example, for instance, such as, namely, as well as, either, neither, in other words, which means, except, except for, let's say, shall we say, at least, more like, the one with, in case, as long as, unless, although, while, until, since, so that, in order to, due to, instead of, because of, depending on, along with",
    fillers:
      "maybe perhaps rather probably actually just kind sort really basically probably well then sometime somewhere somehow honestly",
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
    connectives:
      "und zwar, das heißt, zum beispiel, beziehungsweise, bzw, nämlich, sprich, sowie, entweder, weder, sondern, sagen wir, sagen wir mal, wie sagt man, also wie gesagt, je nachdem, es sei denn, außer, bis auf, obwohl, während, damit, sodass, so dass, falls, sobald, bevor, nachdem, statt, anstatt, trotz, aufgrund, unter anderem, am besten, ungefähr, circa, etwa, entweder so",
    fillers:
      "vielleicht lieber eher eigentlich mal halt eben irgendwie wohl dann noch doch gerne gern wahrscheinlich so da sowas jetzt einfach sozusagen ganz gleich",
    openers:
      "und aber oder weil dass wenn ob der die dem den ein eine einen einem einer mein meine meinen ihr ihre zum zur vom für mit von im am beim ins seit ohne gegen wegen zwischen",
    announcing:
      /^(?!.*\b(?:was|wo|wer|wie|wann|welche\p{L}*|warum)\b).*\b(?:mein|meine|die|der|das|unsere?)\b.* (?:ist|lautet|sind)$/iu,
    beginning:
      /^(?:(?:hallo|guten tag|okay|gut|also|bitte)[, ]+)*(?:ich (?:möchte|will|wollte|brauche|bräuchte|suche|heiße|glaube)(?: (?:gern|gerne|mal|fragen|wissen))?|ich (?:hätte|würde)(?: (?:gern|gerne))?|(?:können|könnten) sie(?: mir)?|kann ich|haben sie|gibt es|und zwar|es geht um|mein name ist)$/iu,
  },
  fr: {
    hesitations: "euh heu hum ben bah",
    connectives:
      "c'est-à-dire, par exemple, à savoir, ainsi que, soit, ni, sinon, disons, on va dire, sauf, à part, afin de, afin que, pour que, puisque, alors que, bien que, quoique, tandis que, pendant que, avant de, au lieu de, à cause de, grâce à, selon, entre, ou bien, enfin",
    fillers:
      "peut-être plutôt enfin donc alors quand même un peu bon voilà genre probablement bien",
    openers:
      "et mais ou parce que le la les un une des du de mon ma mes notre votre pour avec à au aux c'est d' l' dans chez sans vers",
    announcing:
      /^(?!.*\b(?:quel\p{L}*|où|qui|comment|quand|pourquoi)\b).*\b(?:mon|ma|le|la|notre)\b.* (?:est|sont|c['’]est)$/iu,
    beginning:
      /^(?:(?:bonjour|allô|alors|bon)[, ]+)*(?:je (?:voudrais|veux|souhaite|souhaiterais|cherche|pense|m['’]appelle)(?: savoir(?: si)?)?|j['’](?:aimerais|ai besoin)|est-ce que(?: (?:je|vous))?|pouvez-vous|pourriez-vous|il (?:me )?faut)$/iu,
  },
  es: {
    hesitations: "eh em mmm pues",
    connectives:
      "es decir, por ejemplo, o sea, así como, sino, salvo, excepto, además de, digamos, a saber, ni, aunque, mientras, para que, antes de, en vez de, en lugar de, debido a, entre, según, hasta, o bien, por lo menos",
    fillers: "quizás quizá tal vez mejor más bien entonces bueno pues así como seguramente igual",
    openers:
      "y pero o porque que el la los las un una unos unas mi mis su de del para con por a al en desde sin",
    announcing:
      /^(?!.*(?:qué|cuál|dónde|quién|cómo|cuándo)).*\b(?:mi|el|la|nuestro)\b.* (?:es|son)$/iu,
    beginning:
      /^(?:(?:hola|buenas|bueno|buenos días|buenas tardes)[, ]+)*(?:(?:yo )?(?:quisiera|quería|necesito|busco)(?: saber)?|(?:tengo|quiero) que|me (?:gustaría|llamo)(?: saber)?|mi nombre es)$/iu,
  },
  it: {
    hesitations: "ehm eh uhm mmm cioè allora",
    connectives:
      "cioè, per esempio, ad esempio, vale a dire, ossia, oppure, nonché, diciamo, ovvero, né, sebbene, mentre, affinché, prima di, invece di, a causa di, secondo, tra, fra, fino a, tranne, a parte",
    fillers: "forse magari piuttosto allora quindi proprio così insomma probabilmente",
    openers:
      "e ma o perché che il lo la i gli le un uno una di del della mio mia per con a al alla nel nella da dal dalla senza",
    announcing: /^(?!.*\b(?:quale?|dove|chi|come|quando)\b).*\b(?:mio|mia|il|la)\b.* (?:è|sono)$/iu,
    beginning:
      /^(?:(?:ciao|salve|buongiorno|buonasera|allora|pronto)[, ]+)*(?:(?:io )?(?:vorrei|volevo|cerco)(?: sapere)?|ho bisogno|mi (?:piacerebbe|chiamo|serve))$/iu,
  },
  pt: {
    hesitations: "eh ahn hum tipo então",
    connectives:
      "ou seja, por exemplo, isto é, quer dizer, assim como, digamos, nem, embora, enquanto, para que, antes de, em vez de, por causa de, segundo, entre, até, exceto, menos, vamos dizer",
    fillers: "talvez melhor então assim se calhar provavelmente mais bem",
    openers:
      "e mas ou porque que o a os as um uma de do da dos das meu minha para com por ao em no na nos nas sem",
    announcing: /^(?!.*(?:qual|onde|quem|como|quando)).*\b(?:meu|minha|o|a)\b.* (?:é|são)$/iu,
    beginning:
      /^(?:(?:olá|oi|bom dia|boa tarde|bem|alô)[, ]+)*(?:(?:eu )?(?:queria|gostaria|procuro)(?: saber)?|chamo-me|me chamo)$/iu,
  },
  nl: {
    hesitations: "eh ehm uh uhm euh nou hm",
    connectives:
      "en wel, namelijk, dat wil zeggen, bijvoorbeeld, oftewel, ofwel, behalve, laten we zeggen, zeg maar, zoals, noch, hoewel, terwijl, zodat, tenzij, voordat, nadat, in plaats van, vanwege, volgens, tot, door, dus",
    fillers:
      "misschien liever eigenlijk eens maar even gewoon dan nog toch waarschijnlijk zo graag wel",
    openers:
      "en maar of omdat dat als de het een mijn uw onze van voor met naar zonder tegen tussen",
    announcing:
      /^(?!.*\b(?:wat|waar|wie|hoe|wanneer|welke?)\b).*\b(?:mijn|de|het|ons|onze)\b.* (?:is|zijn)$/iu,
    beginning:
      /^(?:(?:hallo|hoi|goedemiddag|goedemorgen|oké|nou)[, ]+)*(?:ik (?:wil|wilde|zou|zoek|heet|denk)(?: (?:graag|weten))?|(?:kunt|kan|kun) (?:u|je|ik)|heeft u|is er|het gaat om|mijn naam is)$/iu,
  },
  pl: {
    hesitations: "yyy eee hm znaczy",
    connectives:
      "to znaczy, czyli, na przykład, mianowicie, oraz, powiedzmy, a mianowicie, ani, chociaż, podczas gdy, żeby, aby, zanim, zamiast, z powodu, według, między, oprócz, poza, albo też",
    fillers: "może raczej właściwie chyba po prostu tak jakoś wtedy pewnie jeszcze",
    openers:
      "i a ale lub albo bo ponieważ że jeśli mój moja moje dla z ze w we na do od o przez bez",
    announcing:
      /^(?!.*\b(?:co|gdzie|kto|jak|kiedy|jaki\p{L}*)\b).*\b(?:mój|moja|moje|numer)\b.* (?:to|jest)$/iu,
    beginning:
      /^(?:(?:dzień dobry|halo|więc)[, ]+)*(?:(?:ja )?(?:chciałbym|chciałabym|szukam)(?: zapytać)?|czy (?:mogę|może)|mam na imię|nazywam się)$/iu,
  },
  tr: {
    hesitations: "eee ııı şey hmm yani işte",
    connectives:
      "mesela, örneğin, ya da, veyahut, diyelim, diyelim ki, yani, hem, ne de, rağmen, göre, kadar, dolayı",
    fillers: "belki galiba aslında sanki biraz",
    openers: "ve ama veya çünkü ki için ile bir benim",
  },
  ja: {
    hesitations: "えっと えーと ええと あの あのー その うーん んー",
    connectives: "つまり, 例えば, たとえば, それから, あと, というか, なんというか, または, および",
    openers: "を が へ",
    announcing: /(?<!こんにち|こんばん|で)は$/u,
  },
  zh: {
    hesitations: "嗯 呃 然后",
    connectives: "就是, 比如, 比如说, 也就是说, 以及, 还有, 或者, 而且, 那就是, 怎么说",
    openers: "因为 但是 和 我的",
    announcing: /(?:我的|号码|名字|电话|地址|单号)[^。？]{0,12}是$/u,
    beginning:
      /^(?:(?:你好|您好|是的|好的|嗯)[，, ]*)*(?:我(?:想|要|想要|需要|叫|找)|请帮我|请问|能不能|那个)$/u,
  },
  hi: {
    hesitations: "उम अम हम्म मतलब",
    connectives: "यानी, जैसे, जैसे कि, मतलब, मान लीजिए, और फिर, या फिर, ताकि, जबकि",
    fillers: "शायद वैसे बस तो",
    openers: "और लेकिन या क्योंकि कि मेरा मेरी मेरे का की के को मुझे",
    announcing: /(?:^|\s)(?:मेरा|मेरी|हमारा).* (?:नंबर|नाम|पता)(?: है)?$/u,
  },
} satisfies Readonly<Record<string, OpenWords>>;

function listOf({
  hesitations,
  openers,
  connectives = "",
  fillers = "",
  announcing,
  beginning,
  joining,
}: OpenWords) {
  return {
    hesitations: wordList(hesitations),
    fillers: wordList(`${hesitations} ${fillers}`),
    words: wordList(`${hesitations} ${openers}`),
    connectives: connectives.split(", ").filter((phrase) => phrase !== ""),
    patterns: [announcing, beginning, joining].filter((pattern) => pattern !== undefined),
  };
}

function wordList(words: string): readonly string[] {
  return words.split(/\s+/).filter((word) => word !== "");
}

const ENGLISH = listOf(OPEN_WORDS.en);
const LISTS = new Map(
  Object.entries(OPEN_WORDS).map(([language, words]) => [language, listOf(words)]),
);
const UNSPACED = new Set(["ja", "zh"]);
/** Recognizers that write marks put one of these where the voice has not fallen. */
const GOES_ON = /[\p{L}\p{N}]\s+\S*[\p{L}\p{N}]\s*(?:[,;:،、，–—-]|\.{2,}|…)$/u;

/**
 * Whether the caller seems to be thinking: the last word is a hesitation, or one that no sentence ends with in that language, or
 * the recognizer has written a mark behind it that no sentence ends with.
 */
export function isOpenEnded(text: string, language: string): boolean {
  const list = LISTS.get(language) ?? ENGLISH;
  const tail = text.trim().slice(-TAIL_CHARACTERS);
  if (GOES_ON.test(tail)) return true;
  // A question mark stays, so that what is asked is not open.
  const said = tail.replace(/[\s.,…。、，-]+$/u, "").toLowerCase();
  const sentence = said.slice(said.search(/[^.?!。？！]*$/u)).trim();
  if (list.patterns.some((pattern) => pattern.test(sentence))) return true;
  if (UNSPACED.has(language)) {
    return [...list.words, ...list.connectives].some((word) => said.endsWith(word));
  }
  const last = said.slice(said.lastIndexOf(" ") + 1);
  // One word alone is an answer, unless it is only a sound: "well", "like" and "no" are words too.
  if (last === said) return HESITATION_ALONE.test(last);
  if (list.words.includes(last)) return true;
  // A question mark or an exclamation mark ends whatever stands before it.
  if (!/[\p{L}\p{M}\p{N}]$/u.test(sentence)) return false;
  const clause = sentence.slice(sentence.lastIndexOf(",") + 1).trim();
  return isUnfinished(sentence, list) || (clause !== sentence && isUnfinished(clause, list));
}

/** Without its hesitations, and the small words behind it, it says nothing, or breaks off as a pattern of the language tells. */
function isUnfinished(text: string, list: ReturnType<typeof listOf>): boolean {
  const plain = text.split(/[\s,;]+/).filter((word) => !list.hesitations.includes(word));
  const end = plain.findLastIndex((word) => !list.fillers.includes(word)) + 1;
  const core = plain.slice(0, end).join(" ");
  if (core === "") return plain.length > 1;
  if (list.patterns.some((pattern) => pattern.test(core))) return true;
  const whole = plain.join(" ");
  return list.connectives.some(
    (phrase) => core.endsWith(` ${phrase}`) || whole.endsWith(` ${phrase}`),
  );
}

const HESITATION_ALONE = /^(?:u+h*m*|e+r*m*|e+h+m*|h+m+|ä+h*m*|ö+h*m*|e+u+h+|m{2,}|y{2,}|ı{2,})$/u;
