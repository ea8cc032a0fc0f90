import type { Lexicon } from "./language-lexicon.js";

export const SPANISH: Lexicon = {
  backchannels: `
    sí, si, ya, ajá, aja, ah ya, claro, claro que sí, vale, bueno, bien, muy bien, está bien, perfecto,
    de acuerdo, exacto, exactamente, correcto, cierto, es cierto, eso es, entiendo, ya entiendo,
    entendido, comprendo, ya veo, lo veo, genial, estupendo, excelente, qué bien, que bueno,
    por supuesto, desde luego, seguro, así es, okey, listo, ándale, dale, órale, interesante, de verdad,
    en serio, vaya, anda, ya ya, sí sí, lo sé, ya sé, fenomenal, maravilloso, ningún problema,
    sin problema, efectivamente, totalmente, eso, ah bueno, ah vale, ah sí
  `,
  closings: `
    adiós, chao, chau, hasta luego, hasta pronto, hasta mañana, hasta la vista, nos vemos, gracias,
    muchas gracias, mil gracias, muchísimas gracias, gracias a usted, gracias a ti, igualmente, buen día,
    que tenga un buen día, que tengas un buen día, buenas noches, buenas tardes, eso es todo, nada más,
    no gracias, no eso es todo, es todo, cuídese, cuídate, a usted, hasta otra, hasta ahora,
    hasta entonces, que le vaya bien, que te vaya bien, que esté bien, que tenga buen día,
    que tenga buena tarde, buena tarde, buena noche, buen fin de semana, saludos, un saludo, bendiciones,
    muy amable, cuídese mucho, gracias por todo, gracias por su ayuda, gracias por la ayuda,
    muchas gracias por todo, muchas gracias por su ayuda, y gracias, y adiós, y hasta luego, venga,
    no nada más, no es todo, eso sería todo, nada más gracias, ninguna otra cosa, a usted también,
    usted también, usted igual, igual, hasta el lunes, hasta el martes, hasta el miércoles,
    hasta el jueves, hasta el viernes, hasta el sábado, hasta el domingo
  `,
  interruptions: "pare espera espere basta",
  floorWords: "para alto un momento perdón perdone disculpe oiga sí vale no",
  answers: "claro bien sí",
  negations: "ninguno ninguna ningún nada nunca",
  requests: String.raw`sí o no|diga[ ,:"«]+sí|confirm[ea](?:lo|me)?|confírm\p{L}+`,
  hesitations: "eh em mmm pues",
  openers: `
    y pero o porque que el la los las un una unos unas mi mis su de del para con por a al en desde sin
  `,
  connectives: `
    es decir, por ejemplo, o sea, así como, sino, salvo, excepto, además de, digamos, a saber, ni,
    aunque, mientras, para que, antes de, en vez de, en lugar de, debido a, entre, según, hasta, o bien,
    por lo menos
  `,
  announcing:
    /^(?!.*(?:qué|cuál|dónde|quién|cómo|cuándo)).*\b(?:mi|el|la|nuestro)\b.* (?:es|son)$/iu,
  ones: `
    cero uno/un dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce quince
    dieciséis diecisiete dieciocho diecinueve
  `,
  tens: "veinte treinta cuarenta cincuenta sesenta setenta ochenta noventa",
  magnitudes: "cien ciento mil",
  composedNumbers: [String.raw`veinti\p{L}+`, String.raw`\p{L}{2,}cient[oa]s`, "quinient[oa]s"],
  days: "primero",
  months: `
    enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre
  `,
  dateJoints: "de del el",
  doublers: "doble triple",
  numberJoints: "y",
  listJoints: "y luego después el los las",
  numberUnits: "coma dólares pesos euros por",
  addressMarks: "arroba punto guion guión barra más",
  leadIns: "sí es el la",
  refusals: "nada porque qué sí no",
  acceptances: "sí si claro",
  acceptanceFillers: "por favor, gracias, acepto, de acuerdo",
  declines: "no",
  answering: {
    asksName:
      /(?:su|tu|el) nombre|cómo se llama|cómo te llamas|quién (?:llama|habla|es|eres|le llama)|con quién|de parte de quién|identifíquese|identifícate/iu,
    asksReason:
      /motivo|razón|por qué (?:llama|me llama)|para qué|asunto|de qué se trata|está disponible|puede atender|filtr|pasar(?:le|te)?\b|comunicar(?:le|te|lo|la)?\b|conectar(?:le|te|lo|la)?\b|transferir|acepta(?:r)? la llamada/iu,
    asksToWait:
      /en línea|no cuelgue|no cuelgues|espere|espera\b|un momento|aguarde|aguarda|(?:voy a|intentaré|trataré) /iu,
    takesMessage:
      /mensaje|buzón|contestador|señal|pitido|\btono\b|devolver|le llamar|te llamar|me pondré en contacto|no (?:está disponible|puedo (?:atender|contestar)|podemos atender)|deje su|deja tu/iu,
    screeningAnswer: "Soy {agent} y llamo de parte de {organization}. ¿Podría pasarme, por favor?",
  },
  stockPhrases: {
    apology: "Lo siento, ahora mismo no he podido responder.",
    waiting: ["Un momento, por favor.", "Sigo en ello."],
    stillThere: "¿Sigue usted ahí?",
    callerIdleGoodbye: "No le oigo, así que voy a colgar. Hasta luego.",
    notRecognized: "Perdone, no le he entendido.",
    timeIsUp: "Lo siento, se ha acabado el tiempo de esta llamada. Hasta luego.",
    sttFailedApology: "Lo siento, ya no le oigo. Por favor, llame de nuevo.",
    cannotHearAtAll: "Lo siento, no le oigo. Por favor, llame de nuevo.",
    interrupted: "Lo siento, se ha cortado la línea. ¿Dónde estábamos?",
    transferring: "Un momento, por favor, le paso la llamada.",
    cannotTransfer: "Lo siento, no he podido pasarle la llamada. ¿Puedo ayudarle en algo más?",
    lineBusy: "Lo siento, la línea está ocupada. ¿Puedo ayudarle en algo más?",
    noAnswer: "Lo siento, nadie ha contestado. ¿Puedo ayudarle en algo más?",
    suspended: "Lo siento, este servicio no está disponible en este momento. Hasta luego.",
    callEndedByOrganization: "Lo siento, tengo que terminar la llamada ahora. Hasta luego.",
    briefingGreeting: "Una persona desea hablar con usted.",
    briefingQuestion: "Pulse 1 o diga sí para aceptar la llamada. Pulse 2 para rechazarla.",
  },
};
