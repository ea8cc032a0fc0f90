/** Words that carry a full stop without ending a sentence: English, Spanish, French, German. Lower case, last stop left off. */

const setOf = (words: string): ReadonlySet<string> => new Set(words.trim().split(/\s+/));

/** Something always follows these: a name, an example, a comparison. */
export const ALWAYS_CONTINUED = setOf(`
  mr mrs ms mx messrs dr dra drs prof rev hon gen col capt cpt lt sgt maj cmdr gov sen rep pres supt
  e.g i.e eg ie vs cf viz approx aprox ca incl inkl excl exkl esp resp
  dña dn fray lic ing arq p.ej v.gr p.ex c.-à-d c-à-d mme mlle mgr
  z.b d.h u.u o.ä s.o s.u bzw evtl ggf zzgl vgl sog bspw hrsg frl
`);

/** Abbreviations only before a number: "no. 5", but "I said no." */
export const CONTINUED_BY_NUMBER = setOf(`
  no nos nr núm nums núms n.º num p pp pg pág págs page fig figs vol vols ch cap sec §§ art arts abs kap bd
  tel tél tlf ext apt rm ste dept jan feb mar apr jun jul aug sep sept oct nov dec mon tue tues wed thu thurs fri sat sun
`);

/** May end a sentence or not; what decides is whether the next word is one that begins sentences. */
export const SOMETIMES_CONTINUED = setOf(`
  st ste mt ft sr sra sres sras srta jr snr esq etc al inc ltd co corp llc llp plc bros cía cia est
  ave av avda blvd rd ln hwy sq str pl ph.d phd m.d b.a m.a b.sc m.sc d.c s.a s.l s.r.l
  ud uds vd vds hr fr hrn env dept mio mrd usw usf u.a bd
  a.m p.m am pm a.c d.c u.s u.k u.n e.u u.s.a ee.uu rr.hh d.f
`);

/** Words that open sentences and hardly ever stand in the middle of a name. */
export const SENTENCE_OPENERS = setOf(`
  the this that these those there then thus it it's its i i'm i'll i'd i've he he's she she's we we're we'll we've you you're you'll
  they they're they'll what what's when where which who why how would could should can do does did is are was were will shall may
  have has had if in on at for from with without after before because since so but and or yet also however please thank thanks
  yes no not now next first second finally let let's here here's our my your his her their some any many most all both each every
  el la los las lo un una unos unas este esta esto estos estas ese esa eso él ella ellos ellas yo tú usted ustedes nosotros
  qué cómo cuándo dónde quién cuál por para con sin si sí pero también entonces gracias hay es son está están puede pueden podemos
  le les l'on ce cette ces c'est cela ça il elle ils elles je j'ai nous vous on que quel quelle comment quand où pourquoi
  mais donc oui non merci pour avec si est-ce
  der die das ein eine dies diese dieser dieses es er sie wir ihr ich was wie wann wo wer warum wenn aber und oder danke bitte
  ja nein dann jetzt hier dort mit ohne für auf im am können möchten haben sind ist
`);

/** German writes the day before these with a full stop: "3. Mai". */
export const GERMAN_MONTHS = setOf(`
  januar jänner februar märz april mai juni juli august september oktober november dezember
`);
