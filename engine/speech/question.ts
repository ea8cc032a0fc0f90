const MARK = /[?？؟՞][\s"'”’»)\]」』]*$/;
/** Languages that ask with a word, and seldom with a mark. */
const ASKING_WORD = /(?:か(?:ね|な)?|吗|嗎|呢)[。．.…]?[\s"”」』]*$|^क्या(?![\p{L}\p{M}])/u;
/** What asks for a "yes" as a statement does, in the languages that agreements are known in. */
const REQUEST = new RegExp(
  [
    String.raw`yes or no|(?:say|answer)[ ,:"“']+yes|please confirm|confirm (?:that|if|whether)`,
    String.raw`ja oder nein|(?:sagen sie|sag)[ ,:"„]+(?:bitte )?ja|bestätigen sie|bestätige`,
    String.raw`oui ou non|(?:dites|dis)[ ,:"«]+oui|confirmez|merci de confirmer`,
    String.raw`sí o no|diga[ ,:"«]+sí|confirm[ea](?:lo|me)?|confírm\p{L}+`,
    String.raw`sì o no|(?:dica|di)[ ,:"«]+sì|conferm[ia]`,
    String.raw`sim ou não|diga[ ,:"«]+sim`,
    String.raw`ja of nee|zeg[ ,:"„]+ja|bevestig`,
    String.raw`tak (?:lub|czy|albo) nie|potwierdź|potwierdzić`,
    String.raw`evet (?:veya|ya da) hayır|onayla\p{L}*`,
    String.raw`(?:हाँ|हां) या|पुष्टि`,
  ]
    .map((phrases) => String.raw`(?<![\p{L}\p{M}])(?:${phrases})(?![\p{L}\p{M}])`)
    .concat("はいかいいえ|「はい」|请确认|請確認|是或否|是还是不是")
    .join("|"),
  "iu",
);

/** Whether a sentence of the agent's wants an answer, so that "yes" or "okay" is one and not the sound of somebody who listens. */
export function isQuestion(text: string): boolean {
  return MARK.test(text) || ASKING_WORD.test(text) || REQUEST.test(text);
}
