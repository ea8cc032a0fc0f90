/**
 * What machines and people say when they answer a placed call, written without the product's patterns, and never to be copied into
 * them: see `held-out-phrases.ts`.
 */
export interface HeldOutMachines {
  /** Asks for name and reason, before a call is put through. */
  readonly screeners: readonly string[];
  /** Takes a message. */
  readonly voicemails: readonly string[];
  /** The first words of people, who are to be talked to. */
  readonly people: readonly string[];
}

const split = (phrases: string): readonly string[] =>
  phrases.split("|").map((phrase) => phrase.trim().replace(/\s+/g, " "));

export const HELD_OUT_MACHINES: Readonly<Record<string, HeldOutMachines>> = {
  en: {
    screeners: split(
      `Hello! Before we ring this number, tell us your full name and what you want to talk about, and we will find out whether they can take the call |
      The subscriber you dialed screens unknown callers. State your name and the purpose of your call | Thanks for calling. May I have your name and the
      reason you are calling today, so that I can connect you | Hi, I'm the virtual assistant answering for Dana. Who's calling, and what is it regarding? |
      You've reached a call filter. Tell me who you are and why you are phoning, please | Please announce yourself: your name, and the reason for this call |
      Could you say who is calling and what it's about? I'll check whether she is free | Record your name after the prompt, and we will try to connect your call |
      I'm checking if the person can speak. What's your name, and why are you calling? | This number is protected. Say your first name and your purpose for calling`,
    ),
    voicemails: split(
      `Hey, it's Tom, can't get to the phone, leave your name and the reason for your call | The person you are trying to reach isn't available. At the tone,
      please record your message | Your call has been forwarded to an automated voice messaging system | Hi, you've got Jane's voicemail, tell me who you are
      and I'll get back to you | We are closed. Leave us your name and number after the beep`,
    ),
    people: split(
      `Hello? | Yeah, speaking | Hi, this is Martha | Who is this? | Good morning, Miller and Sons, how can I help? | What's this about? | Yes? | Sorry, who's
      calling? | Hello, who am I talking to? | I'm driving, can you be quick | Acme, Peter speaking | Why are you calling me? | Is this about the car?`,
    ),
  },
  de: {
    screeners: split(
      `Guten Tag, hier ist die Anrufprüfung. Nennen Sie Ihren Namen und den Grund Ihres Anrufs | Bevor ich Sie verbinde: Wie ist Ihr Name, und worum geht es? |
      Sag bitte deinen Namen und warum du anrufst, dann frage ich, ob die Person rangehen möchte | Wer ruft an, und was ist Ihr Anliegen? | Bitte sprechen Sie
      Ihren Namen und den Anrufgrund, ich prüfe, ob der Teilnehmer erreichbar ist`,
    ),
    voicemails: split(
      `Sie haben die Mailbox von Klaus Meier erreicht, sprechen Sie nach dem Ton | Wir sind gerade nicht im Büro, hinterlassen Sie Ihren Namen und den Grund Ihres
      Anrufs | Hier ist der Anrufbeantworter von Familie Schmidt`,
    ),
    people: split(
      `Ja, hallo? | Schmidt | Müller am Apparat | Wer ist da? | Guten Tag, Praxis Doktor Weber | Worum geht es? | Ja bitte | Mit wem spreche ich? | Was wollen Sie?`,
    ),
  },
  es: {
    screeners: split(
      `Hola, diga su nombre y el motivo de la llamada, por favor | ¿Quién llama y de qué se trata? Voy a ver si puede atender | Antes de pasarle, ¿me dice cómo se
      llama? | Grabe su nombre y la razón de su llamada`,
    ),
    voicemails: split(
      `Ha llamado al buzón de voz de Carmen, deje su mensaje | Ahora no puedo contestar, deja tu nombre después de la señal`,
    ),
    people: split(
      `¿Diga? | ¿Sí? | Hola, soy Carmen | ¿Quién es? | Buenos días, clínica dental | ¿De qué se trata?`,
    ),
  },
  fr: {
    screeners: split(
      `Bonjour, donnez votre nom et la raison de votre appel | Qui est à l'appareil, et à quel sujet appelez-vous ? | Avant de vous mettre en relation, quel est
      votre nom ? | Dites votre nom et pourquoi vous appelez, je regarde si la personne est disponible`,
    ),
    voicemails: split(
      `Vous êtes bien sur le répondeur de Paul, laissez un message | Je ne suis pas disponible, laissez votre nom et le motif de votre appel`,
    ),
    people: split(
      `Allô ? | Oui, bonjour | C'est Paul | Qui est-ce ? | Cabinet du docteur Petit, bonjour | C'est à quel sujet ?`,
    ),
  },
  it: {
    screeners: split(
      `Salve, dica il suo nome e il motivo della chiamata | Chi parla, e di cosa si tratta? | Registri il nome e la ragione per cui chiama`,
    ),
    voicemails: split(`Segreteria telefonica di Mario, lasciate un messaggio dopo il segnale`),
    people: split(`Pronto? | Sì, chi parla? | Sono Mario | Studio Bianchi, buongiorno`),
  },
  nl: {
    screeners: split(
      `Hallo, noem uw naam en de reden van uw oproep | Wie belt er, en waar gaat het over? | Voordat ik u doorverbind: wat is uw naam?`,
    ),
    voicemails: split(`Dit is de voicemail van Jan, spreek een bericht in na de piep`),
    people: split(`Hallo, met Jan | Ja? | Wie is dit? | Goedemorgen, garage De Wit`),
  },
  pl: {
    screeners: split(
      `Proszę podać imię i powód rozmowy | Kto dzwoni i w jakiej sprawie? Sprawdzę, czy odbierze`,
    ),
    voicemails: split(`Dodzwoniłeś się do poczty głosowej, zostaw wiadomość po sygnale`),
    people: split(`Halo? | Słucham | Tak, przy telefonie | Kto mówi?`),
  },
  pt: {
    screeners: split(
      `Diga o seu nome e o motivo da ligação | Quem está falando e qual é o assunto?`,
    ),
    voicemails: split(`Você ligou para a caixa postal, deixe seu recado após o sinal`),
    people: split(`Alô? | Oi, é a Ana | Quem fala? | Pois não`),
  },
  tr: {
    screeners: split(
      `Lütfen adınızı ve arama nedeninizi söyleyin | Kim arıyor, konu nedir? Müsait mi bakayım`,
    ),
    voicemails: split(`Aradığınız kişiye ulaşılamıyor, sinyal sesinden sonra mesaj bırakın`),
    people: split(`Alo? | Efendim | Buyurun | Kimsiniz?`),
  },
  hi: {
    screeners: split(
      `कृपया अपना नाम और कॉल करने का कारण बताएँ | आप कौन बोल रहे हैं और किस बारे में बात करनी है`,
    ),
    voicemails: split(`आपने जिसे कॉल किया है वह उपलब्ध नहीं है, बीप के बाद संदेश छोड़ें`),
    people: split(`हैलो | हाँ, बोलिए | कौन बोल रहा है`),
  },
  ja: {
    screeners: split(`お名前とご用件をお話しください | どちら様でしょうか。ご用件を確認いたします`),
    voicemails: split(
      `ただいま電話に出ることができません。発信音のあとにお名前とご用件をお話しください`,
    ),
    people: split(`もしもし | はい、田中です | どなたですか`),
  },
  zh: {
    screeners: split(`请说出您的姓名和来电原因 | 请问您是哪位？有什么事？我看看能否接通`),
    voicemails: split(`您拨打的用户暂时无法接听，请在提示音后留言`),
    people: split(`喂 | 你好，哪位 | 我是小王`),
  },
};
