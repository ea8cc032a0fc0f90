import type { Lexicon } from "./language-lexicon.js";

/** Where Brazilian differs from European Portuguese; everything else is in `pt.ts`. */
export const BRAZILIAN: Lexicon = {
  acceptances: "sim claro",
  acceptanceFillers: "por favor, obrigado, obrigada, aceito",
  declines: "não nao",
  stockPhrases: {
    apology: "Desculpe, não consegui responder agora.",
    waiting: ["Um momento, por favor.", "Ainda estou verificando."],
    stillThere: "Você ainda está aí?",
    callerIdleGoodbye: "Não estou ouvindo você, então vou desligar. Até logo.",
    notRecognized: "Desculpe, não entendi.",
    timeIsUp: "Desculpe, o tempo desta ligação acabou. Até logo.",
    sttFailedApology: "Desculpe, não estou mais ouvindo você. Por favor, ligue de novo.",
    cannotHearAtAll: "Desculpe, não estou ouvindo você. Por favor, ligue de novo.",
    interrupted: "Desculpe, a ligação caiu. Onde a gente estava?",
    transferring: "Um momento, vou transferir a ligação.",
    cannotTransfer:
      "Desculpe, não consegui transferir a ligação. Posso ajudar com mais alguma coisa?",
    lineBusy: "Desculpe, a linha está ocupada. Posso ajudar com mais alguma coisa?",
    noAnswer: "Desculpe, ninguém atendeu. Posso ajudar com mais alguma coisa?",
    suspended: "Desculpe, este serviço não está disponível no momento. Até logo.",
    callEndedByOrganization: "Desculpe, preciso encerrar a ligação agora. Até logo.",
    briefingGreeting: "Uma pessoa gostaria de falar com você.",
    briefingQuestion: "Pressione 1 ou diga sim para atender a ligação. Pressione 2 para recusar.",
  },
};
