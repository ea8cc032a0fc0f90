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
  /** Persons who answer for another, once they have heard who is calling; STT often leaves out the question mark. */
  readonly receptionists: readonly string[];
  /** What machines say that have the caller wait, or leave a message. */
  readonly waits: readonly string[];
}

const split = (phrases: string): readonly string[] =>
  phrases.split("|").map((phrase) => phrase.trim().replace(/\s+/g, " "));

export const HELD_OUT_MACHINES: Readonly<Record<string, HeldOutMachines>> = {
  en: {
    screeners: split(
      `Hello! Before we ring this number, tell us your full name and what you want to talk about, and we will find out whether they can take
      the call |
      The subscriber you dialed screens unknown callers. State your name and the purpose of your call | Thanks for calling. May I have your name and the
      reason you are calling today, so that I can connect you | Hi, I'm the virtual assistant answering for Dana. Who's calling, and what is it regarding? |
      You've reached a call filter. Tell me who you are and why you are phoning, please | Please announce yourself: your name, and the reason for this call |
      Could you say who is calling and what it's about? I'll check whether she is free | Record your name after the prompt, and we will try to connect your call |
      I'm checking if the person can speak. What's your name, and why are you calling? | This number is protected. Say your first name and your purpose for calling`,
    ),
    voicemails: split(
      `Hey, it's Tom, can't get to the phone, leave your name and the reason for your call | The person you are trying to reach isn't
      available. At the tone,
      please record your message | Your call has been forwarded to an automated voice messaging system | Hi, you've got Jane's voicemail, tell me who you are
      and I'll get back to you | We are closed. Leave us your name and number after the beep`,
    ),
    people: split(
      `Hello? | Yeah, speaking | Hi, this is Martha | Who is this? | Good morning, Miller and Sons, how can I help? | What's this about? |
      Yes? | Sorry, who's
      calling? | Hello, who am I talking to? | I'm driving, can you be quick | Acme, Peter speaking | Why are you calling me? | Is this about the car?`,
    ),
    receptionists: split(
      `I'm afraid he's out of the office, may I take a message | She isn't available until four, would you like her to call you back | Hold
      on, what was your company again | One moment, could you spell that for me | He can't come to the phone right now, is there anything I
      can help with | Sorry, she's unavailable, do you want to leave a message with me | Bear with me, who did you say you were | He's in a
      meeting, shall I tell him you called | Please hold, which department are you from | Hold on, I didn't catch your name | He's not
      available at the moment, can he reach you on this number | I can put you through to his assistant, would that be okay | She's away
      from her desk, what's it about | He is not available, can I have a number for him | Please hold, and you are | He's on another call,
      do you wish to hold | Sorry one moment, is he expecting your call | I'm afraid she isn't available, could you try again tomorrow | Not
      available right now I can take a message if you like`,
    ),
    waits: split(
      `Thank you, please hold while we try to reach them | Okay, stay on the line | The person is not available, please leave a message
      after the beep | I'm checking whether they can talk, one moment | Hi, this is Sam, I can't take your call right now, please leave your
      name and number and I'll call you back | You've reached Acme. Our offices are closed. If you would like to leave a message, do so
      after the beep | The number you have dialed is not available. Please try again later | Thanks for calling, do leave a message and we
      will do what we can to get back to you | Please stay on the line while I try to reach them | This is the voicemail of Dana, how are
      you, leave me a message | Hi, you've reached Bob. What's up? I can't answer. Leave a message | To leave a callback number, press 5.
      Would you like to leave a message? Press one`,
    ),
  },
  de: {
    screeners: split(
      `Guten Tag, hier ist die Anrufprüfung. Nennen Sie Ihren Namen und den Grund Ihres Anrufs | Bevor ich Sie verbinde: Wie ist Ihr Name,
      und worum geht es? |
      Sag bitte deinen Namen und warum du anrufst, dann frage ich, ob die Person rangehen möchte | Wer ruft an, und was ist Ihr Anliegen? | Bitte sprechen Sie
      Ihren Namen und den Anrufgrund, ich prüfe, ob der Teilnehmer erreichbar ist`,
    ),
    voicemails: split(
      `Sie haben die Mailbox von Klaus Meier erreicht, sprechen Sie nach dem Ton | Wir sind gerade nicht im Büro, hinterlassen Sie Ihren
      Namen und den Grund Ihres
      Anrufs | Hier ist der Anrufbeantworter von Familie Schmidt`,
    ),
    people: split(
      `Ja, hallo? | Schmidt | Müller am Apparat | Wer ist da? | Guten Tag, Praxis Doktor Weber | Worum geht es? | Ja bitte | Mit wem spreche
      ich? | Was wollen Sie?`,
    ),
    receptionists: split(
      `Der ist leider nicht da, kann ich ihm etwas ausrichten | Einen Moment, wie war noch mal der Name | Sie ist gerade nicht erreichbar,
      soll sie Sie zurückrufen | Moment, von welcher Firma sind Sie | Herr Meier ist nicht am Platz, möchten Sie eine Nachricht hinterlassen
      | Augenblick, ich habe Ihren Namen nicht verstanden | Er ist gerade nicht da, worum geht es denn | Sie ist im Termin, darf sie Sie
      zurückrufen | Moment bitte, sind Sie von der Versicherung | Nicht erreichbar, ich kann ihm gern eine Nachricht geben | Der Chef ist
      nicht da, versuchen Sie es morgen noch mal | Er ist nicht verfügbar, wollen Sie später noch einmal anrufen | Sie ist nicht da, kann er
      Ihnen helfen`,
    ),
    waits: split(
      `Danke, bitte bleiben Sie in der Leitung | Die Person ist nicht erreichbar, bitte hinterlassen Sie eine Nachricht nach dem Ton | Einen
      Moment, ich versuche, Sie zu verbinden | Guten Tag, hier ist Klaus, ich kann Ihren Anruf gerade nicht entgegennehmen, hinterlassen Sie
      eine Nachricht | Der Teilnehmer ist nicht erreichbar, möchten Sie eine Nachricht hinterlassen, sprechen Sie nach dem Signalton | Im
      Moment kann ich Ihnen nicht antworten, ich rufe zurück | Bitte warten Sie, Ihr Anruf wird verbunden | Wenn Sie zurückgerufen werden
      wollen, sprechen Sie nach dem Ton`,
    ),
  },
  es: {
    screeners: split(
      `Hola, diga su nombre y el motivo de la llamada, por favor | ¿Quién llama y de qué se trata? Voy a ver si puede atender | Antes de
      pasarle, ¿me dice cómo se
      llama? | Grabe su nombre y la razón de su llamada`,
    ),
    voicemails: split(
      `Ha llamado al buzón de voz de Carmen, deje su mensaje | Ahora no puedo contestar, deja tu nombre después de la señal`,
    ),
    people: split(
      `¿Diga? | ¿Sí? | Hola, soy Carmen | ¿Quién es? | Buenos días, clínica dental | ¿De qué se trata?`,
    ),
    receptionists: split(
      `No está disponible en este momento, quiere dejarle un recado | Un momento, de qué empresa me llama | Espere, cómo dijo que se llamaba
      | Ahora no puede atender, le digo que le llame | No puede atender ahora, ¿quiere esperar un momento | Espere, no le he entendido el
      nombre | No está disponible, llame más tarde por favor | Un momento, ¿es usted cliente | No está disponible, si quiere tomo nota`,
    ),
    waits: split(
      `Gracias, no cuelgue, voy a intentar comunicarle | No está disponible, deje su mensaje después de la señal | Hola, soy Ana, ahora no
      puedo atender, deja tu mensaje y te llamo | El número que ha marcado no está disponible, deje un mensaje | Si quiere dejar un mensaje,
      espere a la señal`,
    ),
  },
  fr: {
    screeners: split(
      `Bonjour, donnez votre nom et la raison de votre appel | Qui est à l'appareil, et à quel sujet appelez-vous ? | Avant de vous mettre
      en relation, quel est
      votre nom ? | Dites votre nom et pourquoi vous appelez, je regarde si la personne est disponible`,
    ),
    voicemails: split(
      `Vous êtes bien sur le répondeur de Paul, laissez un message | Je ne suis pas disponible, laissez votre nom et le motif de votre
      appel`,
    ),
    people: split(
      `Allô ? | Oui, bonjour | C'est Paul | Qui est-ce ? | Cabinet du docteur Petit, bonjour | C'est à quel sujet ?`,
    ),
    receptionists: split(
      `Il est absent aujourd'hui, est-ce que je peux prendre un message | Un instant, vous êtes de quelle société | Elle n'est pas
      disponible, voulez-vous qu'elle vous rappelle | Ne quittez pas, vous pouvez répéter votre nom | Il est absent, souhaitez-vous le
      rappeler plus tard | Un instant, je n'ai pas compris votre nom | Elle est en réunion, je lui dis que vous avez appelé | Elle n'est pas
      disponible, c'est urgent`,
    ),
    waits: split(
      `Merci, ne quittez pas | La personne n'est pas disponible, laissez un message après le bip | Bonjour, je ne peux pas vous répondre,
      laissez-moi un message et je vous rappelle | Si vous souhaitez laisser un message, parlez après le bip | Votre correspondant n'est pas
      disponible, veuillez laisser un message`,
    ),
  },
  it: {
    screeners: split(
      `Salve, dica il suo nome e il motivo della chiamata | Chi parla, e di cosa si tratta? | Registri il nome e la ragione per cui chiama`,
    ),
    voicemails: split(`Segreteria telefonica di Mario, lasciate un messaggio dopo il segnale`),
    people: split(`Pronto? | Sì, chi parla? | Sono Mario | Studio Bianchi, buongiorno`),
    receptionists: split(
      `Non è disponibile, vuole lasciare un messaggio | Un attimo, di quale azienda è | Attenda, può ripetere il nome | È fuori, la faccio
      richiamare | Non è in ufficio, vuole richiamare più tardi | Un momento, non ho capito il nome | Non è disponibile, se vuole prendo
      nota`,
    ),
    waits: split(
      `Grazie, resti in linea | La persona non è disponibile, lasciate un messaggio dopo il segnale | Sono Marco, non posso rispondere,
      lasciate un messaggio | Se vuole lasciare un messaggio parli dopo il segnale`,
    ),
  },
  nl: {
    screeners: split(
      `Hallo, noem uw naam en de reden van uw oproep | Wie belt er, en waar gaat het over? | Voordat ik u doorverbind: wat is uw naam?`,
    ),
    voicemails: split(`Dit is de voicemail van Jan, spreek een bericht in na de piep`),
    people: split(`Hallo, met Jan | Ja? | Wie is dit? | Goedemorgen, garage De Wit`),
    receptionists: split(
      `Hij is niet aanwezig, kan ik een boodschap aannemen | Een ogenblik, van welk bedrijf bent u | Ze is niet bereikbaar, zal ik vragen of
      ze u terugbelt | Wacht even, hoe was uw naam ook alweer | Hij is niet aanwezig, wilt u later terugbellen | Momentje, ik verstond uw
      naam niet | Ze is niet bereikbaar, waar gaat het over`,
    ),
    waits: split(
      `Dank u, blijf aan de lijn | De persoon is niet bereikbaar, spreek een bericht in na de piep | Met Jan, ik ben niet bereikbaar, laat
      een bericht achter dan bel ik u terug | Wilt u een bericht achterlaten, spreek dan in na de piep`,
    ),
  },
  pl: {
    screeners: split(
      `Proszę podać imię i powód rozmowy | Kto dzwoni i w jakiej sprawie? Sprawdzę, czy odbierze`,
    ),
    voicemails: split(`Dodzwoniłeś się do poczty głosowej, zostaw wiadomość po sygnale`),
    people: split(`Halo? | Słucham | Tak, przy telefonie | Kto mówi?`),
    receptionists: split(
      `Nie ma go, czy mam coś przekazać | Chwileczkę, z jakiej firmy pan dzwoni | Jest niedostępna, czy ma oddzwonić | Moment, jak pan się
      nazywał, może pan powtórzyć | Nie ma jej, proszę zadzwonić później | Chwileczkę, nie zrozumiałam nazwiska | Jest niedostępny, czy chce
      pan zostawić wiadomość`,
    ),
    waits: split(
      `Dziękuję, proszę czekać na linii | Abonent jest niedostępny, zostaw wiadomość po sygnale | Tu Jan, nie mogę teraz odebrać, zostaw
      wiadomość, oddzwonię | Jeśli chcesz zostawić wiadomość, mów po sygnale`,
    ),
  },
  pt: {
    screeners: split(
      `Diga o seu nome e o motivo da ligação | Quem está falando e qual é o assunto?`,
    ),
    voicemails: split(`Você ligou para a caixa postal, deixe seu recado após o sinal`),
    people: split(`Alô? | Oi, é a Ana | Quem fala? | Pois não`),
    receptionists: split(
      `Ele não está disponível, quer deixar um recado | Um momento, de qual empresa você fala | Espere, pode repetir o seu nome | Ela não
      está, peço para ela retornar | Ele não está, quer ligar mais tarde | Só um momento, não entendi o nome | Ela não está disponível,
      posso deixar um recado para ela`,
    ),
    waits: split(
      `Obrigado, aguarde na linha | A pessoa não está disponível, deixe sua mensagem após o sinal | Oi, aqui é a Ana, não posso atender,
      deixe seu recado que retorno | Se quiser deixar uma mensagem, fale após o sinal`,
    ),
  },
  tr: {
    screeners: split(
      `Lütfen adınızı ve arama nedeninizi söyleyin | Kim arıyor, konu nedir? Müsait mi bakayım`,
    ),
    voicemails: split(`Aradığınız kişiye ulaşılamıyor, sinyal sesinden sonra mesaj bırakın`),
    people: split(`Alo? | Efendim | Buyurun | Kimsiniz?`),
    receptionists: split(
      `Şu an müsait değil, bir mesaj iletmemi ister misiniz | Bir saniye, hangi firmadan arıyorsunuz | Kendisi yok, sizi geri aramasını
      söyleyeyim mi | Bir dakika, isminizi tekrar eder misiniz | Şu an burada değil, daha sonra arar mısınız | Bir saniye, isminizi
      anlayamadım | Müsait değil, not bırakmak ister misiniz`,
    ),
    waits: split(
      `Teşekkürler, lütfen hatta kalın | Aradığınız kişi müsait değil, sinyalden sonra mesaj bırakın | Ben Ali, şu an cevap veremiyorum,
      mesaj bırakın, sizi geri ararım`,
    ),
  },
  hi: {
    screeners: split(
      `कृपया अपना नाम और कॉल करने का कारण बताएँ | आप कौन बोल रहे हैं और किस बारे में बात करनी है`,
    ),
    voicemails: split(`आपने जिसे कॉल किया है वह उपलब्ध नहीं है, बीप के बाद संदेश छोड़ें`),
    people: split(`हैलो | हाँ, बोलिए | कौन बोल रहा है`),
    receptionists: split(
      `वे अभी उपलब्ध नहीं हैं, क्या मैं उन्हें कोई संदेश दे दूँ | एक मिनट, आप किस कंपनी से हैं | रुकिए, आपने अपना नाम क्या बताया | वे नहीं
      हैं, क्या वे आपको वापस कॉल करें | वे नहीं हैं, क्या आप बाद में फोन करेंगे | एक मिनट, मुझे नाम समझ नहीं आया | वे उपलब्ध नहीं हैं, मैं
      उन्हें बता दूँगी`,
    ),
    waits: split(
      `धन्यवाद, कृपया लाइन पर बने रहें | वह उपलब्ध नहीं हैं, बीप के बाद संदेश छोड़ें | मैं अभी जवाब नहीं दे सकता, बीप के बाद संदेश छोड़ें`,
    ),
  },
  ja: {
    screeners: split(`お名前とご用件をお話しください | どちら様でしょうか。ご用件を確認いたします`),
    voicemails: split(
      `ただいま電話に出ることができません。発信音のあとにお名前とご用件をお話しください`,
    ),
    people: split(`もしもし | はい、田中です | どなたですか`),
    receptionists: split(
      `ただいま不在ですが、伝言を承りましょうか | 少々お待ちください、どちらの会社の方ですか | 席を外しておりますが、折り返しお電話させましょうか | すみません、もう一度お名前をお願いできますか | 申し訳ございません、お名前が聞き取れませんでした |
      本日は不在でございます、ご伝言はございますか | 少々お待ちください、どういったご用件でしょうか`,
    ),
    waits: split(
      `ありがとうございます、そのままお待ちください | ただいま電話に出ることができません。発信音のあとにメッセージをお残しください | ただいま留守にしております。ピーという音のあとにメッセージをどうぞ |
      近くにおりません。後ほど折り返しお電話いたします。ご伝言をお願いします`,
    ),
  },
  zh: {
    screeners: split(`请说出您的姓名和来电原因 | 请问您是哪位？有什么事？我看看能否接通`),
    voicemails: split(`您拨打的用户暂时无法接听，请在提示音后留言`),
    people: split(`喂 | 你好，哪位 | 我是小王`),
    receptionists: split(
      `他现在不在，要我转告他吗 | 请稍等，您是哪家公司的 | 她不方便接电话，需要她给您回电吗 | 稍等，您刚才说您叫什么 | 他不在，您有什么事吗 | 稍等，我没听清您的名字 | 她不在，您晚点再打过来吧 | 他不方便接电话，要留言吗`,
    ),
    waits: split(
      `谢谢，请稍等，不要挂机 | 对方无法接听，请在提示音后留言 | 您好，我现在不方便接电话，请留言，我会尽快回电 | 如需留言，请在哔声后说话`,
    ),
  },
};
