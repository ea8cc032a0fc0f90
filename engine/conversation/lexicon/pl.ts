import type { Lexicon } from "./language-lexicon.js";

export const POLISH: Lexicon = {
  backchannels: `
    tak, no, no tak, no no, no dobrze, aha, dobrze, dobra, okej, jasne, oczywiście, pewnie, rozumiem,
    zrozumiałem, zrozumiałam, właśnie, no właśnie, dokładnie, zgadza się, racja, prawda, to prawda,
    świetnie, super, fajnie, ładnie, w porządku, naturalnie, faktycznie, rzeczywiście, naprawdę, ciekawe,
    spoko, wiem, no wiem, tak tak, tak jest, doskonale, wspaniale, bardzo dobrze, no jasne, ach tak,
    a tak, a no tak, nie ma problemu, jak najbardziej, oczywista sprawa, ta, yhy, yhm, mhm tak, ehe
  `,
  closings: `
    do widzenia, do usłyszenia, do zobaczenia, cześć, pa, papa, na razie, do jutra, dziękuję,
    dziękuję bardzo, bardzo dziękuję, dzięki, wielkie dzięki, miłego dnia, miłego wieczoru, dobranoc,
    nawzajem, wzajemnie, pani też, panu też, to wszystko, to już wszystko, nie dziękuję, nie to wszystko,
    dobrego dnia, trzymaj się, trzymaj się ciepło, do następnego razu, do zobaczenia wkrótce, pozdrawiam,
    miłego weekendu, miłego popołudnia, spokojnej nocy, dziękuję za pomoc, dziękuję bardzo za pomoc,
    dzięki za pomoc, dziękuję za wszystko, i dziękuję, i do widzenia, nie to już wszystko, nic więcej,
    nie nic więcej, nie dzięki, proszę bardzo, również, i nawzajem, pa pa, do poniedziałku, do wtorku,
    do środy, do czwartku, do piątku, do soboty, do niedzieli
  `,
  interruptions: "czekaj stój stop",
  floorWords: "nie tak moment",
  answers: "dobrze",
  negations: "żaden nic nigdy",
  requests: "tak (?:lub|czy|albo) nie|potwierdź|potwierdzić",
  hesitations: "yyy eee hm znaczy",
  openers: `
    i a ale lub albo bo ponieważ że jeśli mój moja moje dla z ze w we na do od o przez bez
  `,
  connectives: `
    to znaczy, czyli, na przykład, mianowicie, oraz, powiedzmy, a mianowicie, ani, chociaż, podczas gdy,
    żeby, aby, zanim, zamiast, z powodu, według, między, oprócz, poza, albo też
  `,
  announcing:
    /^(?!.*\b(?:co|gdzie|kto|jak|kiedy|jaki\p{L}*)\b).*\b(?:mój|moja|moje|numer)\b.* (?:to|jest)$/iu,
  ones: `
    zero jeden dwa trzy cztery pięć sześć siedem osiem dziewięć dziesięć jedenaście dwanaście trzynaście
    czternaście piętnaście szesnaście siedemnaście osiemnaście dziewiętnaście
  `,
  tens: `
    dwadzieścia trzydzieści czterdzieści pięćdziesiąt sześćdziesiąt siedemdziesiąt osiemdziesiąt
    dziewięćdziesiąt
  `,
  magnitudes: "sto tysiąc",
  moreNumbers: "dwieście trzysta czterysta pięćset sześćset siedemset osiemset dziewięćset",
  months: `
    stycznia lutego marca kwietnia maja czerwca lipca sierpnia września października listopada grudnia
  `,
  numberJoints: "i",
  listJoints: "i potem oraz",
  numberUnits: "złotych przecinek",
  addressMarks: "małpa kropka myślnik",
  leadIns: "to tak",
  refusals: "nie",
  acceptances: "tak",
  acceptanceFillers: "proszę połączyć, dziękuję, oczywiście, zgadzam się",
  declines: "nie",
  answering: {
    asksName:
      /imię|nazwisko|jak się (?:pan|pani|nazywasz|państwo)|kto (?:dzwoni|mówi)|kim (?:pan|pani|jesteś)|z kim rozmawiam|przedstaw/iu,
    asksReason:
      /pow(?:ód|odu)|dlaczego|w jakiej sprawie|w jakim celu|\bcel\b|czego dotyczy|(?:jest|będzie) (?:dostępn|osiągaln)|połącz|przełącz|filtr|odbierze|odebrać|przyjmie/iu,
    asksToWait:
      /na linii|nie (?:rozłącza|odkłada)|poczeka|zaczeka|proszę czekać|chwil|moment|(?:sprawdzę|spróbuję)/iu,
    takesMessage:
      /wiadomość|poczt|sygnał|oddzwoni|nie (?:mogę|może) (?:teraz |w tej chwili )?(?:odebrać|rozmawiać)|niedostępn|zostaw/iu,
    screeningAnswer:
      "Mówi {agent}, dzwonię w imieniu {organization}. Czy mogę prosić o połączenie?",
  },
  stockPhrases: {
    apology: "Przepraszam, nie mogę teraz na to odpowiedzieć.",
    waiting: ["Chwileczkę.", "Jeszcze nad tym pracuję."],
    stillThere: "Halo, czy nadal jesteśmy połączeni?",
    callerIdleGoodbye: "Nic nie słyszę, więc kończę rozmowę. Do widzenia.",
    notRecognized: "Przepraszam, nie udało mi się tego zrozumieć.",
    timeIsUp: "Przepraszam, czas tej rozmowy dobiegł końca. Do widzenia.",
    sttFailedApology: "Przepraszam, nic już nie słyszę. Proszę zadzwonić ponownie.",
    cannotHearAtAll: "Przepraszam, nic nie słyszę. Proszę zadzwonić ponownie.",
    interrupted: "Przepraszam, połączenie zostało przerwane. Na czym skończyliśmy?",
    transferring: "Chwileczkę, już łączę.",
    cannotTransfer:
      "Przepraszam, połączenie nie mogło zostać przekazane. Czy mogę pomóc w czymś innym?",
    lineBusy: "Przepraszam, linia jest zajęta. Czy mogę pomóc w czymś innym?",
    noAnswer: "Przepraszam, nikt nie odebrał. Czy mogę pomóc w czymś innym?",
    suspended: "Przepraszam, ta usługa jest w tej chwili niedostępna. Do widzenia.",
    callEndedByOrganization: "Przepraszam, muszę teraz zakończyć rozmowę. Do widzenia.",
    briefingGreeting: "Ktoś chciałby z Panem lub Panią porozmawiać.",
    briefingQuestion:
      "Proszę nacisnąć 1 lub powiedzieć tak, aby przyjąć rozmowę. Proszę nacisnąć 2, aby odmówić.",
  },
};
