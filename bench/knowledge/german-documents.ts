import type { TrialDocument } from "./recall-trial.js";

/** As the English ones: three insurances, three bank subjects, three utilities, three of transport and three practices. */
export const GERMAN_DOCUMENTS: readonly TrialDocument[] = [
  {
    name: "kfz-versicherung.md",
    text: `# Kfz-Versicherung
## Schaden melden
Ein Unfall ist innerhalb von sieben Tagen anzuzeigen. Bei Verletzten oder Fahrerflucht muss die Polizei gerufen werden.
## Schutzbrief
Bei einer Panne wird das Fahrzeug kostenlos in die nächste Werkstatt geschleppt. Ein Mietwagen wird sieben Tage lang bezahlt.
## Schadenfreiheitsklasse
Nach jedem Jahr ohne Schaden sinkt der Beitrag. Die Klasse kann auf Kinder oder Ehepartner übertragen werden.
## Glasbruch
Kleine Steinschläge werden ohne Selbstbeteiligung repariert. Wird die Scheibe getauscht, zahlen Sie 150 Euro.
## Kündigung
Der Vertrag kann bis zum 30. November zum Jahresende gekündigt werden, nach einer Erhöhung innerhalb eines Monats.`,
    questions: [
      ["mir ist ein Stein in die Windschutzscheibe geflogen, was kostet mich das", "Steinschläge"],
      ["mein Auto springt nicht an, holt ihr mich ab", "Schutzbrief"],
      ["kann meine Tochter meine Prozente bekommen", "auf Kinder oder Ehepartner"],
    ],
  },
  {
    name: "hausratversicherung.md",
    text: `# Hausratversicherung
## Was versichert ist
Möbel, Kleidung und Elektrogeräte sind zum Neuwert versichert. Bargeld wird bis 1.500 Euro ersetzt.
## Einbruch
Nach einem Einbruch rufen Sie zuerst die Polizei und schicken uns eine Liste der gestohlenen Sachen.
## Fahrräder
Fahrräder sind auch nachts draußen versichert, wenn sie abgeschlossen waren, bis 2.000 Euro.
## Leitungswasser
Drehen Sie den Haupthahn zu. Trocknungsgeräte werden bezahlt, nicht aber die Reparatur eines tropfenden Wasserhahns.
## Umzug
Während des Umzugs sind beide Wohnungen zwei Monate lang versichert. Teilen Sie uns die neue Wohnfläche mit.`,
    questions: [
      ["mein Rad wurde vor der Kneipe geklaut, kriege ich was", "Fahrräder sind auch nachts"],
      ["bei uns steht die Küche unter Wasser nach einem Rohrbruch", "Haupthahn"],
      ["wir ziehen um, gilt der Schutz dann in beiden Wohnungen", "beide Wohnungen"],
    ],
  },
  {
    name: "reiseversicherung.md",
    text: `# Reiseversicherung
## Rücktritt
Erkranken Sie vor der Abreise schwer, werden die Stornokosten erstattet. Das Attest muss vor der Absage ausgestellt sein.
## Krankheit im Ausland
Behandlungen beim Arzt und im Krankenhaus werden ohne Obergrenze bezahlt. Heben Sie alle Rechnungen im Original auf.
## Gepäck
Verlorene Koffer sind der Fluggesellschaft sofort zu melden. Schmuck und Kameras sind nur zur Hälfte versichert.
## Rücktransport
Ist er ärztlich sinnvoll, organisieren wir den Flug nach Hause. Rufen Sie uns vorher an.
## Dauer
Eine Reise darf höchstens acht Wochen dauern.`,
    questions: [
      ["ich bin krank geworden und kann nicht in den Urlaub, kriege ich mein Geld", "Stornokosten"],
      ["mein Koffer ist nicht am Band angekommen", "Verlorene Koffer"],
      ["wie lange darf ich am Stück unterwegs sein", "höchstens acht Wochen"],
    ],
  },
  {
    name: "girokonto.md",
    text: `# Girokonto
## Gebühren
Das Konto ist bei einem Geldeingang von 700 Euro im Monat kostenlos, sonst kostet es 4,90 Euro.
## Überziehen
Der Dispokredit beträgt drei Gehälter und kostet elf Prozent Zinsen im Jahr.
## Kontowechsel
Wir ziehen Daueraufträge und Lastschriften in zehn Tagen um und schließen auf Wunsch das alte Konto.
## Lastschrift zurückgeben
Eine Abbuchung kann acht Wochen lang ohne Grund zurückgegeben werden, in der App mit zwei Klicks.
## Gemeinschaftskonto
Beide Inhaber können allein verfügen. Zur Eröffnung müssen beide ihren Ausweis zeigen.`,
    questions: [
      [
        "da hat jemand zu viel von meinem Konto abgebucht, wie hole ich das zurück",
        "Eine Abbuchung",
      ],
      ["wie weit darf ich ins Minus gehen", "Dispokredit"],
      ["meine Frau und ich wollen zusammen ein Konto", "Beide Inhaber"],
    ],
  },
  {
    name: "kreditkarte.md",
    text: `# Kreditkarte
## Sperren
Bei Verlust rufen Sie sofort 116 116 an. Bis dahin haften Sie mit höchstens 50 Euro.
## Geld abheben
Am Automaten sind Abhebungen im Euroraum frei, anderswo kosten sie 1,75 Prozent.
## Abrechnung
Am Monatsende wird der ganze Betrag vom Girokonto eingezogen. Ratenzahlung ist auf Antrag möglich.
## Geheimzahl
Die PIN kommt drei Tage nach der Karte per Post. Nach drei falschen Versuchen ist die Karte gesperrt.
## Reklamation
Unbekannte Umsätze melden Sie innerhalb von acht Wochen mit dem Formular in der App.`,
    questions: [
      ["mein Portemonnaie ist weg mit der Karte drin", "Bei Verlust"],
      ["ich habe dreimal die falsche Zahl eingetippt", "drei falschen Versuchen"],
      ["was kostet Bargeld in Amerika mit der Kreditkarte", "anderswo kosten"],
    ],
  },
  {
    name: "baufinanzierung.md",
    text: `# Baufinanzierung
## Eigenkapital
Mindestens ein Fünftel des Kaufpreises sollte vorhanden sein, dazu die Nebenkosten.
## Zinsbindung
Der Zins ist auf Wunsch für zehn, fünfzehn oder zwanzig Jahre fest. Nach zehn Jahren dürfen Sie immer kündigen.
## Sondertilgung
Jedes Jahr können fünf Prozent der Summe ohne Aufpreis zusätzlich zurückgezahlt werden.
## Unterlagen
Gebraucht werden drei Gehaltsnachweise, der Grundbuchauszug und der Grundriss.
## Auszahlung
Das Geld wird nach Baufortschritt überwiesen. Ab dem siebten Monat kostet nicht abgerufenes Geld Zinsen.`,
    questions: [
      [
        "ich habe geerbt, darf ich extra was vom Hauskredit abzahlen",
        "Jedes Jahr können fünf Prozent",
      ],
      ["welche Papiere muss ich für den Kredit mitbringen", "Gehaltsnachweise"],
      ["wie viel eigenes Geld brauche ich fürs Haus", "ein Fünftel"],
    ],
  },
  {
    name: "strom.md",
    text: `# Strom
## Zählerstand
Lesen Sie den Zähler zum 31. Dezember ab und tragen Sie den Stand im Portal ein. Sonst wird geschätzt.
## Abschlag
Der Abschlag kann jederzeit geändert werden, aber höchstens um ein Fünftel.
## Stromausfall
Prüfen Sie zuerst die Sicherungen. Ist die ganze Straße dunkel, wählen Sie die Störungsnummer 0800 112 110.
## Solaranlage
Die Einspeisung vergüten wir mit acht Cent. Die Anlage muss einen Monat vorher angemeldet werden.
## Wallbox
Ladestationen bis elf Kilowatt sind anzumelden, größere zu genehmigen.`,
    questions: [
      ["bei uns ist alles dunkel, bei den Nachbarn auch", "Ist die ganze Straße dunkel"],
      ["ich will jeden Monat weniger für Strom zahlen", "Der Abschlag kann"],
      ["wir bekommen Platten aufs Dach, was muss ich tun", "Die Einspeisung vergüten"],
    ],
  },
  {
    name: "gas.md",
    text: `# Gas
## Gasgeruch
Öffnen Sie die Fenster, betätigen Sie keinen Schalter und verlassen Sie das Haus. Rufen Sie von draußen 0800 445 566 an.
## Heizung
Die Therme muss jedes Jahr gewartet werden. Der Schornsteinfeger kündigt sich zwei Wochen vorher an.
## Preis
Der Preis ist bis März garantiert. Danach gilt der Börsenpreis des Vormonats plus zwei Cent.
## Anschluss stilllegen
Die Stilllegung kostet 390 Euro und dauert acht Wochen.
## Zähler
Der Gaszähler wird alle acht Jahre ausgetauscht. Eine Rechnung kommt dafür nicht.`,
    questions: [
      ["im Keller riecht es ganz komisch nach Gas", "keinen Schalter"],
      ["wir haben jetzt eine Wärmepumpe und brauchen kein Gas mehr", "Stilllegung"],
      ["wie oft muss jemand nach der Heizung sehen", "jedes Jahr gewartet"],
    ],
  },
  {
    name: "wasser.md",
    text: `# Wasser
## Härte
Das Trinkwasser ist mit achtzehn Grad hart. Geben Sie mehr Salz in die Spülmaschine.
## Rohrbruch
Wasser auf der Straße melden Sie rund um die Uhr unter 0800 223 344. Im Haus ist der Installateur zuständig.
## Garten
Wer einen Gartenzähler einbaut, zahlt für dieses Wasser keine Abwassergebühr.
## Pool
Das Füllen eines Beckens über dreißig Kubikmeter ist drei Tage vorher zu melden.
## Trübung
Braunes Wasser kommt nach Bauarbeiten vor. Lassen Sie es zehn Minuten laufen.`,
    questions: [
      ["aus dem Hahn kommt braune Brühe", "Braunes Wasser"],
      ["wir gießen viel, muss ich dafür Abwasser zahlen", "Gartenzähler"],
      ["haben Sie kalkiges Wasser bei uns", "achtzehn Grad"],
    ],
  },
  {
    name: "monatsabo.md",
    text: `# Monatsabo für Bus und Bahn
## Kündigung
Das Abo kann bis zum zehnten eines Monats zum Monatsende beendet werden.
## Mitnahme
Am Wochenende fährt ein Erwachsener umsonst mit, dazu bis zu drei Kinder.
## Karte vergessen
Wer die Karte vergessen hat, zeigt sie innerhalb einer Woche im Kundenzentrum und zahlt 7 statt 60 Euro.
## Verspätung
Kommen Sie mehr als zwanzig Minuten zu spät ans Ziel, wird ein Taxi bis 30 Euro erstattet.
## Gebiet
Das Abo gilt in den Zonen A bis C, nicht im Fernverkehr.`,
    questions: [
      ["ich hatte mein Ticket zu Hause liegen lassen und wurde kontrolliert", "Karte vergessen"],
      ["der Bus kam nicht und ich musste ein Taxi nehmen", "wird ein Taxi"],
      ["kann meine Freundin am Samstag mit mir fahren", "fährt ein Erwachsener umsonst"],
    ],
  },
  {
    name: "fahrrad-im-zug.md",
    text: `# Fahrrad im Zug
## Fahrkarte
Für das Rad wird eine Tageskarte zu 6 Euro gebraucht. Klappräder fahren zusammengelegt kostenlos mit.
## Sperrzeiten
Werktags zwischen sechs und neun Uhr werden keine Räder mitgenommen.
## Gruppen
Ab fünf Rädern muss man sich drei Tage vorher anmelden.
## Lastenräder
Lastenräder und Anhänger passen nicht in die Wagen und sind ausgeschlossen.
## Stellplatz
Der Wagen mit dem Fahrradzeichen ist am Ende des Zuges. Räder sind mit einem Gurt zu sichern.`,
    questions: [
      ["darf ich morgens um acht mein Rad in die Bahn mitnehmen", "zwischen sechs und neun"],
      ["kostet mein Klapprad auch was", "Klappräder"],
      ["wo im Zug stelle ich das Rad hin", "am Ende des Zuges"],
    ],
  },
  {
    name: "fundbuero.md",
    text: `# Fundbüro
## Verlorenes
Was in Bussen gefunden wird, liegt zwei Tage später im Fundbüro am Hauptbahnhof.
## Abholung
Bringen Sie Ihren Ausweis und eine Beschreibung mit. Die Gebühr beträgt 5 Euro, für Handys 10 Euro.
## Aufbewahrung
Gegenstände werden sechs Monate aufgehoben und dann versteigert.
## Finderlohn
Ab einem Wert von 50 Euro hat der Finder Anspruch auf einen Lohn.
## Schlüssel
Einzelne Schlüssel ohne Anhänger werden nach vier Wochen eingeschmolzen.`,
    questions: [
      ["ich habe meine Jacke im Bus liegen lassen", "Was in Bussen gefunden wird"],
      ["wie lange hebt ihr Sachen auf, die keiner abholt", "sechs Monate aufgehoben"],
    ],
  },
  {
    name: "hausarztpraxis.md",
    text: `# Hausarztpraxis
## Sprechstunde
Akute Beschwerden werden zwischen acht und zehn ohne Termin behandelt. Mittwochs ist nachmittags geschlossen.
## Rezepte
Folgerezepte bestellen Sie bis elf Uhr am Telefon, am nächsten Tag sind sie auf Ihrer Karte.
## Krankschreibung
Bei leichten Erkrankungen ist sie am Telefon möglich, bis zu fünf Tage.
## Blutabnahme
Kommen Sie nüchtern zwischen sieben und halb neun. Ergebnisse gibt es nach zwei Tagen.
## Impfungen
Bringen Sie den Impfpass mit. Gegen Grippe wird ab Oktober geimpft.`,
    questions: [
      ["darf ich vor dem Blutabzapfen frühstücken", "Kommen Sie nüchtern"],
      ["meine Tabletten sind alle, wie komme ich an neue", "Folgerezepte"],
      ["ich bin erkältet und brauche einen gelben Schein für die Arbeit", "am Telefon möglich"],
    ],
  },
  {
    name: "zahnarztpraxis.md",
    text: `# Zahnarztpraxis
## Termine
Schmerzpatienten kommen um acht Uhr. Wer einen Termin nicht absagt, zahlt 35 Euro.
## Bonusheft
Ein Stempel im Jahr erhöht den Zuschuss für Zahnersatz auf bis zu drei Viertel.
## Prophylaxe
Die Zahnreinigung kostet 90 Euro und dauert eine Stunde.
## Angst
Für ängstliche Patienten gibt es eine Behandlung unter Lachgas. Sie kostet 120 Euro.
## Nach dem Ziehen
Kühlen Sie die Wange, spülen Sie einen Tag nicht und trinken Sie keinen Kaffee.`,
    questions: [
      ["ich habe furchtbare Panik vor dem Bohren", "ängstliche Patienten"],
      ["mir wurde gestern einer gezogen, darf ich Kaffee", "keinen Kaffee"],
      ["wie bekomme ich mehr Geld für eine Krone dazu", "Zuschuss für Zahnersatz"],
    ],
  },
  {
    name: "apotheke.md",
    text: `# Apotheke am Markt
## Notdienst
Nachts ist die Klingel links neben der Tür. Zwischen zwanzig und sechs Uhr kosten Abgaben 2,50 Euro mehr.
## Botendienst
Was bis fünfzehn Uhr bestellt ist, bringt der Bote am selben Abend kostenlos.
## Kundenkarte
Die Karte merkt sich Ihre Arzneimittel und warnt vor Wechselwirkungen.
## Rückgabe
Arzneimittel werden aus Gründen der Sicherheit nicht zurückgenommen.
## Messungen
Blutdruck messen wir ohne Termin für 2 Euro, Blutzucker für 4 Euro.`,
    questions: [
      ["können Sie mir die Medizin nach Hause bringen", "bringt der Bote"],
      ["ich habe die falschen Tropfen gekauft, nehmt ihr die wieder", "nicht zurückgenommen"],
    ],
  },
];
