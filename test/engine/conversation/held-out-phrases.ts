/**
 * Callers' phrases, written without the product's word lists, and never to be copied into them: a measurement with
 * a list's own words shows nothing about the next caller. A phrase that a list learns is removed from this file.
 */
export interface HeldOutPhrases {
  /** The caller thinks, and continues: an answer would interrupt. */
  readonly open: readonly string[];
  /** Digits and names in pieces, with a pause after the last. */
  readonly dictated: readonly string[];
  /** The same, written after the rules for `dictated` were. */
  readonly dictatedLater: readonly string[];
  /** The caller is done. */
  readonly closed: readonly string[];
  /** Said while the agent speaks, which should continue. */
  readonly backchannels: readonly string[];
  /** Said while the agent speaks, which is to stop. */
  readonly interruptions: readonly string[];
}

const split = (phrases: string): readonly string[] =>
  phrases.split("|").map((phrase) => phrase.trim().replace(/\s+/g, " "));

export const HELD_OUT: Readonly<Record<"en" | "de" | "fr" | "es" | "nl", HeldOutPhrases>> = {
  en: {
    open: split(
      `Yeah so I had a question regarding | Hang on, it was on the | I'm just wondering whether | The thing I ordered was, wait | That
      must have been deps | Give me a second to look | It should be roughly | What I actually wanted was | We'd also need another |
      some time between | and on top of that I'd | Thursday or possibly even | what was he called again | So the problem with it is |
      because you see | I don't know if it's better to | The last time I called you guys | Depending on whether | Not the blue one but |
      If that's not possible then`,
    ),
    dictated: split(
      `oh one seven one, five five | twelve, thirty eight | the booking reference is K L | four four two zero | invoice number seventeen |
      my membership number | six hundred and twelve, then | my policy number starts with nine | seven seven, no, seven eight | M as in Mike, A`,
    ),
    dictatedLater: split(
      `my loyalty code | it's the nine, then | the flight number is two | three, eleven | serial number thirty five | B as in Ben, R | my extension number ends in forty | nine hundred, then | our contract number | twenty two, fourteen`,
    ),
    closed: split(
      `I'd like to cancel my appointment | No thanks, that was everything | At eight in the evening | By credit card please | That suits me
      fine | Are you open tomorrow? | For four people | By the window if possible | I'll call back later | I'm afraid I couldn't tell you |
      Two rooms for three nights | Send it to me by post | Can I pay cash | Mister Smith isn't here | It got broken unfortunately | On the
      third of May | Half past nine | In Manchester | Yes, that's how it is | How long does it take`,
    ),
    backchannels: split(
      `right you are | okay sounds like a plan | oh nice one | yeah no worries | fair point | that'll do | I hear you | cheers | good stuff |
      too right | noted | roger that | yeah that works | ah right | no worries | oh fantastic | copy that | okay yeah | right okay | yes perfect`,
    ),
    interruptions: split(
      `hold on a second | wait that's wrong | no I meant Tuesday | can I ask something | sorry one thing | actually no | stop please | that's
      not my name | how much is that | I already have one | let me interrupt you there | not that one | speak slower please | what did you
      say | forget it | different question | I changed my mind | you misunderstood me | hang on | the next one please`,
    ),
  },
  de: {
    open: split(
      `Ja also ich hätte da noch eine Frage zu | Moment, das war am | Ich überlege gerade ob | Die Bestellung, die war, warten Sie | Das müsste
      so gegen | Lassen Sie mich kurz nachsehen | Das wären dann ungefähr | Ich wollte eigentlich nur | Wir bräuchten dann noch | irgendwann
      zwischen | und dann hätte ich gern noch so | Donnerstag oder vielleicht doch | wie hieß der noch | Also das Problem ist | weil nämlich |
      Ich weiß nicht, ob es besser wäre | Als ich das letzte Mal bei Ihnen | Kommt drauf an, ob | Nicht die blaue, sondern | Wenn das nicht geht, dann`,
    ),
    dictated: split(
      `null eins sieben eins, fünf fünf | zwölf, achtunddreißig | die Buchungsnummer ist K L | vier vier zwo null | Rechnungsnummer siebzehn |
      meine Mitgliedsnummer | sechshundertzwölf, dann | meine Versicherungsnummer fängt mit neun an | sieben sieben, nein, sieben acht | M wie Martha, A`,
    ),
    dictatedLater: split(
      `mein Vorgangszeichen | es ist die neun, dann | die Flugnummer ist zwei | drei, elf | Seriennummer fünfunddreißig | B wie Ben, R | meine Durchwahl hat die vierzig | neunhundert, dann | unsere Auftragsnummer | zweiundzwanzig, vierzehn`,
    ),
    closed: split(
      `Ich möchte meinen Termin absagen | Nein danke, das war alles | Um acht Uhr abends | Mit Kreditkarte bitte | Das passt mir gut | Haben
      Sie morgen offen? | Für vier Personen | Am liebsten am Fenster | Ich rufe später wieder an | Das weiß ich leider nicht | Zwei Zimmer
      für drei Nächte | Schicken Sie es mir per Post | Kann ich bar bezahlen | Herr Schmidt ist nicht da | Es ist leider kaputtgegangen | Am
      dritten Mai | Halb neun | In Hamburg | Ja, das ist so | Wie lange dauert das`,
    ),
    backchannels: split(
      `da haben Sie recht | klingt gut | ach wie nett | ja, kein Thema | guter Punkt | das reicht mir | ich höre zu | jawoll | sauber |
      wohl wahr | notiert | geht klar | ja, das geht | ach ja | alles gut | oh fantastisch | okidoki | okay ja | gut okay | ja perfekt`,
    ),
    interruptions: split(
      `Moment mal eben | halt, das ist falsch | nein, ich meinte Dienstag | darf ich was fragen | Entschuldigung, eine Sache | eigentlich nein |
      hören Sie auf | das ist nicht mein Name | wie teuer ist das | ich habe schon einen | da muss ich Sie unterbrechen | nicht den | sprechen
      Sie langsamer | was haben Sie gesagt | vergessen Sie es | andere Frage | ich habe es mir anders überlegt | Sie haben mich falsch
      verstanden | Augenblick | das nächste bitte`,
    ),
  },
  fr: {
    open: split(
      `Oui alors j'avais une question concernant | Attendez, c'était le | Je me demande si | La commande, c'était, attendez | Ça devait être
      vers | Laissez-moi regarder | Ce serait à peu près | Ce que je voulais en fait c'est | Il nous faudrait encore | un jour entre | et en
      plus de ça j' | jeudi ou peut-être même | comment il s'appelait déjà | Alors le problème c'est que | parce que voyez-vous | Je ne sais
      pas s'il vaut mieux | La dernière fois que je vous ai | Ça dépend si | Pas la bleue mais | Si ce n'est pas possible alors`,
    ),
    dictated: split(
      `zéro six, douze | trente-huit, quatorze | la référence c'est K L | quatre quatre deux zéro | facture numéro dix-sept | mon numéro d'adhérent |
      six cent douze, puis | mon numéro de contrat commence par neuf | sept sept, non, sept huit | M comme Marie, A`,
    ),
    dictatedLater: split(
      `mon code de fidélité | c'est le neuf, puis | le numéro de vol est deux | trois, onze | numéro de série trente-cinq | B comme Benoît, R | mon numéro de poste finit par quarante | neuf cents, puis | notre numéro de contrat | vingt-deux, quatorze`,
    ),
    closed: split(
      `Je voudrais annuler mon rendez-vous | Non merci, c'est tout | À huit heures du soir | Par carte bancaire | Ça me convient | Vous êtes
      ouverts demain ? | Pour quatre personnes | Près de la fenêtre si possible | Je rappellerai plus tard | Je ne saurais pas vous dire |
      Deux chambres pour trois nuits | Envoyez-le-moi par la poste | Je peux payer en liquide | Monsieur Martin n'est pas là | Il s'est cassé
      malheureusement | Le trois mai | Neuf heures et demie | À Lyon | Oui, c'est comme ça | Combien de temps ça prend`,
    ),
    backchannels: split(
      `vous avez raison | ça me semble bien | ah c'est sympa | oui pas de problème | bien vu | ça suffira | je vous écoute | merci bien | nickel
      chrome | c'est sûr | c'est noté merci | ça roule | oui ça marche | ah voilà | tout va bien | oh fantastique | bien reçu | ok oui | bon ok |
      oui parfait`,
    ),
    interruptions: split(
      `attendez une seconde | non c'est faux | non je voulais dire mardi | je peux poser une question | pardon une chose | en fait non | arrêtez
      s'il vous plaît | ce n'est pas mon nom | combien ça coûte | j'en ai déjà un | je vous interromps | pas celui-là | parlez plus lentement |
      qu'est-ce que vous avez dit | laissez tomber | autre question | j'ai changé d'avis | vous m'avez mal compris | un instant | le suivant
      s'il vous plaît`,
    ),
  },
  es: {
    open: split(
      `Sí, bueno, tenía una pregunta sobre | Espere, era el | Me pregunto si | El pedido, era, espere | Debió de ser sobre | Déjeme mirar |
      Serían más o menos | Lo que quería en realidad era | También necesitaríamos otra | algún día entre | y además de eso me | el jueves o
      quizás incluso | cómo se llamaba | Entonces el problema es que | porque verá | No sé si es mejor | La última vez que les | Depende de si |
      No la azul sino | Si no es posible entonces`,
    ),
    dictated: split(
      `seis uno dos, cinco cinco | treinta y ocho, doce | la referencia es K L | cuatro cuatro dos cero | factura número diecisiete | mi número
      de socio | seiscientos doce, luego | mi número de póliza empieza por nueve | siete siete, no, siete ocho | M de Madrid, A`,
    ),
    dictatedLater: split(
      `mi código de fidelidad | es el nueve, luego | el número de vuelo es dos | tres, once | número de serie treinta y cinco | B de Burgos, R | mi número de extensión acaba en cuarenta | novecientos, luego | nuestro número de contrato | veintidós, catorce`,
    ),
    closed: split(
      `Quisiera cancelar mi cita | No gracias, eso es todo | A las ocho de la tarde | Con tarjeta de crédito | Me viene bien | ¿Abren mañana? |
      Para cuatro personas | Junto a la ventana si se puede | Llamaré más tarde | No sabría decirle | Dos habitaciones para tres noches |
      Envíemelo por correo | Puedo pagar en efectivo | El señor García no está | Se ha roto por desgracia | El tres de mayo | Las nueve y media |
      En Sevilla | Sí, así es como es | Cuánto tarda`,
    ),
    backchannels: split(
      `tiene usted razón | suena bien | ay qué bien | sí, no pasa nada | buen punto | con eso basta | le escucho | gracias | qué maravilla | y
      tanto | anotado | hecho | sí, me vale | ah claro | todo bien | oh fantástico | recibido | vale sí | bueno vale | sí perfecto`,
    ),
    interruptions: split(
      `espere un segundo | no, eso está mal | no, quería decir martes | puedo preguntar algo | perdone una cosa | en realidad no | pare por
      favor | ese no es mi nombre | cuánto cuesta | ya tengo uno | déjeme interrumpirle | ese no | hable más despacio | qué ha dicho | olvídelo |
      otra pregunta | he cambiado de idea | me ha entendido mal | un momento | el siguiente por favor`,
    ),
  },
  nl: {
    open: split(
      `Ja dus ik had nog een vraag over | Wacht, dat was op de | Ik vraag me af of | De bestelling, die was, wacht | Dat moet rond de | Laat me
      even kijken | Het zou dan ongeveer | Wat ik eigenlijk wilde was | We hebben dan ook nog een | ergens tussen | en daarnaast zou ik |
      donderdag of misschien zelfs | hoe heette hij ook alweer | Dus het probleem is dat | omdat weet u | Ik weet niet of het beter is om |
      De laatste keer dat ik u | Het hangt ervan af of | Niet de blauwe maar | Als dat niet kan dan`,
    ),
    dictated: split(
      `nul zes, twaalf | achtendertig, veertien | het boekingsnummer is K L | vier vier twee nul | factuurnummer zeventien | mijn lidnummer |
      zeshonderdtwaalf, dan | mijn polisnummer begint met negen | zeven zeven, nee, zeven acht | M van Marie, A`,
    ),
    dictatedLater: split(
      `mijn spaarcode | het is de negen, dan | het vluchtnummer is twee | drie, elf | serienummer vijfendertig | B van Ben, R | mijn toestelnummer eindigt op veertig | negenhonderd, dan | ons contractnummer | tweeëntwintig, veertien`,
    ),
    closed: split(
      `Ik wil mijn afspraak afzeggen | Nee bedankt, dat was alles | Om acht uur 's avonds | Met creditcard alstublieft | Dat komt mij goed uit |
      Bent u morgen open? | Voor vier personen | Bij het raam als het kan | Ik bel later terug | Dat zou ik niet weten | Twee kamers voor drie
      nachten | Stuur het me maar op | Kan ik contant betalen | Meneer de Vries is er niet | Het is helaas kapot | Op drie mei | Half negen | In
      Utrecht | Ja, zo is het | Hoe lang duurt dat`,
    ),
    backchannels: split(
      `daar heeft u gelijk in | klinkt goed | ach wat leuk | ja, geen punt | goed punt | dat is genoeg | ik luister | bedankt | keurig | zeg dat
      wel | genoteerd | komt in orde | ja, dat kan | ach zo | alles goed | oh fantastisch | begrepen hoor | oké ja | goed oké | ja perfect`,
    ),
    interruptions: split(
      `wacht even | nee, dat klopt niet | nee, ik bedoelde dinsdag | mag ik iets vragen | sorry, één ding | eigenlijk niet | stop alstublieft |
      dat is niet mijn naam | hoeveel kost dat | ik heb er al een | ik moet u onderbreken | niet die | praat wat langzamer | wat zei u | laat
      maar zitten | andere vraag | ik heb me bedacht | u heeft me verkeerd begrepen | momentje | de volgende graag`,
    ),
  },
};
