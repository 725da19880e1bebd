import { isProhibited, tailOfProhibition } from '../sentence/polarity.ts'
import type { Segment } from '../sentence/segments.ts'
import { type Group, wordNoun } from './phrases.ts'

const sayVerbs =
  '(?:let|say|says|saying|said|write|writes|writing|written|mention|mentions|mentioning|utter|uttering|use|uses|using|used|employ|employing|include|includes|including|contain|contains|containing|feature|features|featuring|have|has|having|name|naming|call|calling|speak|talk|refer|bring up|type|typing|hear|hearing|see|seeing|read|reading|need|want|drop|put|appear|appears|occur|find|meet|go near|answer with|reply with|verwend\\p{L}*|benutz\\p{L}*|nutz\\p{L}*|sag\\p{L}*|schreib\\p{L}*|erwähn\\p{L}*|enth\\p{L}*|gebrauch\\p{L}*|us\\p{L}*|utiliz\\p{L}*|dig\\p{L}*|escrib\\p{L}*|menciona\\p{L}*|emplo\\p{L}*|empl\\p{L}*|conten\\p{L}*|contien\\p{L}*|dis|dites|dit|dire|utilis\\p{L}*|écri\\p{L}*|mentionn\\p{L}*)'
const fillers =
  "(?:ever|again|any|the|an?|your|yours|my|our|their|its|single|once|even|to|be|of|for|with|in|from|by|it|me|us|you|either|both|anything|something|things?|stuff|as|like|such|repl(?:y|ies)|answers?|responses?|messages?|texts?|outputs?|may|might|must|should|shall|can|will|usage|use of|instances?|more|no|not|them|people|users?|customers?|clients?|guests?|das|die|der|den|dem|des|ein|eine|le|la|les|l'|un|une|el|las|los|una|de|du|que|tes|vos|tus|antwort(?:en)?|réponses?|respuestas?|bitte|por favor)"
/** The words between a prohibition and a phrase say, write, contain or name it. */
const ofWords = new RegExp(
  `^(?:[\\s,:('-]*(?:${sayVerbs}|${wordNoun}|${fillers})(?!\\p{L}))*[\\s:,('-]*$`,
  'iu',
)
const nounBefore = new RegExp(`(?<!\\p{L})${wordNoun}(?: (?:like|such as))?[\\s:,(]*$`, 'iu')
const use = /(?<!\p{L})(?:use|using|include|including)(?: \p{L}+){0,2}[\s:]*$/iu
/** Headers and predicates that forbid what follows. */
const banned =
  /(?<!\p{L})(?:banned|forbidden|prohibited|not allowed|not permitted|off-limits|taboo|blacklist(?:ed)?|blocklist|(?:any|every|all) words? (?:except|but|other than)|verboten\p{L}*|tabu|prohibid\p{L}+|interdit\p{L}*|禁用词|禁止词|NGワード)(?: (?:is|are|words?|phrases?|terms?|vocabulary|expressions?|here|palabras?|mots?|wörter|:|ist|sind|son|sont|escribir|usar|decir|d'utiliser|de dire|d'écrire|the|la|le|el|les|las|los|l'))*[\s:[(]*$/iu
/** Predicates that forbid a word, besides those that forbid any topic. */
const forbidsAfter =
  /^[\s,]*(?:(?:is|are) (?:poison|an? (?:dirty|swear|bad|dead) word|an? no-no)(?!\p{L})|[^.;⟦]{0,30}(?:cross|pass|leave) your (?:lips|mouth)|(?:from|out of) (?:your|our|the) vocabulary|(?:is|are) on (?:the|our|my) (?:black|block|ban|stop|no-go)[- ]?list|(?:is|are)(?:n't| not) (?:an? (?:word|term|phrase|expression)|part of|in (?:our|your|my|the)|ours\b|one of|english|how we)|(?:does|do)(?:n't| not) exist|(?:is|are) dead|(?:shall|must|should|may|will) never|bitte (?:nicht|nie|in kein)|[^.;⟦]{0,60}(?:never|stop|don't|dont|do not|avoid|quit|drop|mustn't|may not|can't|cannot)(?: ever)? (?:use|using|say|saying|write|writing|appear)? ?(?:it|them|that|those|this|either)(?: word)?(?!\p{L})|[^.;⟦]{0,50}(?:leave|keep|cut) (?:it|them|that|those|the words?) out|out of (?:your|all|every|each|any|the|it)\b|[^.;⟦]{0,30}(?:nicht mehr|nie wieder|nie mehr|plus jamais|ne plus|nunca más)|(?:auf keinen fall|niemals)\b|という?(?:言葉|単語|語)?(?:は|を|と)[^。]{0,8}(?:使わ|言わ|書か|用い|禁止|避け)|(?:は|と)(?:使わ|言わ|書か|禁|避け|NG)|を(?:使わ|言わ|書か|避け|用い|一切使わ)|这个?(?:词|字)?(?:禁止|不要|不能)|(?:一词|这个词|二字)?(?:不要|不能|禁止|不许|请勿|不得)(?:出现|使用|用|说|提)?)/iu
const notAfter =
  /^[\s,]*(?:(?:darf|dürfen|soll|sollen)?\s?(?:bitte )?(?:nicht|nie)|(?:jamais|nunca)(?!\p{L})|pas|no )(?!\p{L})/iu

/** Tells whether the words around a phrase forbid it. */
export function isForbidden(segment: Segment, { left, right, phrases, isQuoted }: Group): boolean {
  if (forbidsAfter.test(right) || banned.test(left) || isReplaced(left, right)) return true
  if (notAfter.test(right)) return nounBefore.test(left)
  const clause = clauseBefore(left)
  if (!isProhibited(clause, right)) return false
  if (!isQuoted || nounBefore.test(left)) return true
  if (/[\p{Script=Han}\p{Script=Hiragana}]/u.test(clause)) return true
  const tail = tailOfProhibition(clause)
  if (tail === undefined) return phrases.every(isPlain)
  if (!ofWords.test(tail)) return false
  // "Use" can refer to things; only "say" always refers to words.
  return !use.test(clause) || (phrases.every(isPlain) && !ofThings.test(segment.sentence))
}

/** "Replace ⟦0⟧ with …". */
function isReplaced(left: string, right: string): boolean {
  return (
    /(?<!\p{L})(?:replace|swap|exchange|trade)(?: the word)? $/iu.test(left) &&
    /^ (?:with|by|for)(?!\p{L})/iu.test(right)
  )
}

const ofThings =
  /`|(?<!\p{L})(?:tools?|functions?|commands?|files?|fields?|flags?|librar(?:y|ies)|packages?|variables?|modules?|api|class(?:es)?|columns?|buttons?)(?!\p{L})/iu

function isPlain(phrase: string): boolean {
  return /^\p{L}[\p{L}' .,!?&-]*$/u.test(phrase)
}

/** Returns the last clause of the words before a phrase. */
export function clauseBefore(left: string): string {
  return left.split(/[,;](?!\s*⟦)/).at(-1) ?? left
}
