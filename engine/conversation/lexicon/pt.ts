import type { Lexicon } from "./language-lexicon.js";

export const PORTUGUESE: Lexicon = {
  backchannels: `
    sim, é, pois, pois é, pois sim, claro, claro que sim, certo, tá, tá bom, tá bem, está bem, está bom,
    bom, bem, muito bem, muito bom, entendi, entendo, percebo, percebi, estou a ver, compreendo, exato,
    exatamente, exacto, exactamente, isso, isso mesmo, é isso, correto, perfeito, ótimo, que bom,
    com certeza, beleza, legal, tudo bem, de acordo, combinado, verdade, é verdade, é mesmo, sei, eu sei,
    ah sim, ah tá, ah bom, aham, ahã, uhum, interessante, excelente, maravilha, fixe, sem problema,
    de fato, realmente, joia, jóia, show, ora bem, lógico
  `,
  closings: `
    adeus, tchau, tchauzinho, até logo, até já, até mais, até amanhã, até à próxima, até breve, obrigado,
    obrigada, muito obrigado, muito obrigada, brigado, brigada, valeu, bom dia, boa tarde, boa noite,
    tenha um bom dia, igualmente, para você também, para si também, é tudo, é só isso, só isso,
    mais nada, não obrigado, não obrigada, não é só, um abraço, até breve, até logo então, até depois,
    até a próxima, fica bem, fique bem, bom fim de semana, boa semana, bom descanso, abraço, abraços,
    beijinhos, obrigado por tudo, obrigada por tudo, obrigado pela ajuda, obrigada pela ajuda,
    muito obrigado pela ajuda, muito obrigada pela ajuda, e obrigado, e obrigada, e bom dia, um bom dia,
    um bom dia para você, um bom dia para si, é só, era só isso, era isso, não é tudo, não mais nada,
    nada mais, não é só isso, de nada, cumprimentos, para você também obrigado, até segunda, até terça,
    até quarta, até quinta, até sexta, até sábado, até domingo
  `,
  interruptions: "pare espera espere",
  floorWords: "não momento para",
  answers: "sim claro certo",
  negations: "nenhum nenhuma nada nunca",
  requests: 'sim ou não|diga[ ,:"«]+sim',
  hesitations: "eh ahn hum tipo então",
  openers: `
    e mas ou porque que o a os as um uma de do da dos das meu minha para com por ao em no na nos nas sem
  `,
  connectives: `
    ou seja, por exemplo, isto é, quer dizer, assim como, digamos, nem, embora, enquanto, para que,
    antes de, em vez de, por causa de, segundo, entre, até, exceto, menos, vamos dizer
  `,
  announcing: /^(?!.*(?:qual|onde|quem|como|quando)).*\b(?:meu|minha|o|a)\b.* (?:é|são)$/iu,
  ones: `
    zero um/uma dois/duas três quatro cinco seis/meia sete oito nove dez onze doze treze catorze quinze
    dezesseis/dezasseis dezessete/dezassete dezoito dezenove/dezanove
  `,
  tens: "vinte trinta quarenta cinquenta sessenta setenta oitenta noventa",
  magnitudes: "cem mil",
  composedNumbers: [String.raw`\p{L}{2,}centos`, "quinhentos"],
  days: "primeiro",
  months: `
    janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro
  `,
  dateJoints: "do dia",
  doublers: "duplo",
  numberJoints: "e",
  listJoints: "e depois o os as",
  numberUnits: "percento reais centavos vírgula",
  addressMarks: "ponto hífen arroba",
  leadIns: "é sim o",
  refusals: "não sim nada",
  acceptances: "sim claro",
  acceptanceFillers: "por favor, obrigado, obrigada, aceito",
  declines: "não nao",
  answering: {
    asksName:
      /(?:o seu|seu|o teu|teu|o) nome|como se chama|quem (?:fala|está|é|liga)|com quem|identifique/iu,
    asksReason:
      /motivo|razão|por ?qu[eê]|do que se trata|de que se trata|assunto|(?:está|esteja) disponível|filtr|(?:passar|transferir|encaminhar) (?:a|sua|o|para)|ligar você|conectar|completar a (?:ligação|chamada)|atender (?:a|sua)|aceita/iu,
    asksToWait:
      /na linha|aguard|espere|só um (?:momento|instante)|um (?:momento|instante)|não desligue|(?:vou|tentarei) (?:tentar|verificar|ver)/iu,
    takesMessage:
      /mensagem|recado|caixa postal|correio de voz|sinal|\bbip|retornar|ligo de volta|(?:não|in) ?(?:está |estou )?disponível|não posso atender|não podemos atender|deixe/iu,
    screeningAnswer:
      "Fala {agent}, ligo em nome de {organization}. Pode passar a chamada, por favor?",
  },
  stockPhrases: {
    apology: "Desculpe, não consegui responder agora.",
    waiting: ["Um momento, por favor.", "Ainda estou a tratar disso."],
    stillThere: "Ainda está aí?",
    callerIdleGoodbye: "Não consigo ouvir, por isso vou desligar. Até logo.",
    notRecognized: "Desculpe, não entendi.",
    timeIsUp: "Desculpe, o tempo desta chamada terminou. Até logo.",
    sttFailedApology: "Desculpe, já não consigo ouvir. Por favor, ligue de novo.",
    cannotHearAtAll: "Desculpe, não consigo ouvir. Por favor, ligue de novo.",
    interrupted: "Desculpe, a ligação foi interrompida. Onde estávamos?",
    transferring: "Um momento, vou transferir a chamada.",
    cannotTransfer:
      "Desculpe, não consegui transferir a chamada. Posso ajudar em mais alguma coisa?",
    lineBusy: "Desculpe, a linha está ocupada. Posso ajudar em mais alguma coisa?",
    noAnswer: "Desculpe, ninguém atendeu. Posso ajudar em mais alguma coisa?",
    suspended: "Desculpe, este serviço não está disponível neste momento. Até logo.",
    callEndedByOrganization: "Desculpe, tenho de terminar a chamada agora. Até logo.",
    briefingGreeting: "Uma pessoa gostaria de falar consigo.",
    briefingQuestion: "Prima 1 ou diga sim para atender a chamada. Prima 2 para recusar.",
  },
};
