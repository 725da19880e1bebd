import { isLasting } from '../sentence/scope.ts'
import type { Segment } from '../sentence/segments.ts'
import { type Group, wordNoun } from './phrases.ts'

const noun = `(?:(?:the|a|an|this|these|my|our|your|its|der|die|das|den|dem|la|las|el|le|les|l'|exactly|exact|single|following|same|closing|opening) ?){0,3}(?:${wordNoun}(?: of)?)?[\\s:,(]*`
const startVerbs =
  '(?:start|begin|commenc|open|prefix|preface|preced|introduce|lead|head|kick off|greet|beginn|fang|eröffne|empiez|empez|comienz|comenz|inici|début)\\p{L}*'
const endVerbs =
  "(?:end|finish|clos|conclud|terminat|sign|wrap up|beend|schließ|unterschreib|unterzeichn|termin|acab|firm|cierr|cerr|claus|remat|despíd|finir|finis|s'achev|achev|conclu|clôtur)(?!al)\\p{L}*"
const prepositions = '(?:with|w\\/|by|as|in|on|using|mit|als|con|como|por|par|avec|de|sur)'
/** A word between that turns to the other end of the answer. */
const toEnd = '(?![^,;]{0,40}\\b(?:end|finish|clos)\\p{L}*\\b)'
const firstWord =
  '(?:(?:(?:very )?first|opening|initial|leading) (?:words?|line|thing|sentence)|greeting|salutation|opener|opening|prefix|anrede|begrüßung|saludo inicial|formule d.ouverture|erstes? wort|primera palabra|premier mot)'
const lastWord =
  '(?:(?:(?:very )?last|final|closing|concluding|terminal|ending) (?:words?|line|thing|sentence|phrase)|signature|sign-?off|closing|closer|footer|outro|schlussformel|schlusssatz|grußformel|formule (?:finale|de fin|de clôture|de politesse)|frase final|cierre|despedida|letzte[sr]? (?:wort|zeile|satz)|unterschrift|última (?:palabra|línea)|dernier mot|dernière (?:ligne|phrase))'
const isWords =
  "(?:,?:?(?:['’]s(?= )| (?:gotta|has got to|had better|will) be)|,?:? (?:is|be|being|must be|should be|shall be|has to be|ist|es|sea|est|soit|always|reads?|says?))*"
const putVerbs =
  '(?:put|place|write|add|append|tack|stick|set|insert|include|use|goes|comes|stands?|appears?|belongs|is|carries|bears|steht|stehen|kommt|schreib\\p{L}*|setz\\p{L}*|trägt|tragen|pon\\p{L}*|va|aparece|escrib\\p{L}*|mets|mettez|figure\\p{L}*|écri\\p{L}*)'
const atStart =
  '(?:(?:at|on|to) the (?:very )?(?:start|beginning|top|head|front)|am (?:anfang|beginn)|zu beginn|au début|en tête|al (?:principio|inicio|comienzo))'
const atEnd =
  '(?:(?:at|on|to|onto) the (?:very )?(?:end|bottom|foot|close)|am (?:ende|schluss)|zum schluss|à la fin|en fin|al final)'

/** "At the end of every reply, write …", "am Anfang jeder Antwort steht …". */
function placedBefore(location: string): string {
  return `(?:${location}(?: [\\p{L}-]+){0,5},?(?: [\\p{L}-]+)? ${putVerbs}|${putVerbs} ${location})(?: [\\p{L}-]+){0,2}[\\s:,]*${noun}`
}

const startBefore = new RegExp(
  `(?:(?<!\\p{L})${startVerbs}${toEnd}(?: [\\p{L}-]+){0,8}? ?(?:${prepositions}|:)[\\s:]*${noun}|(?<!\\p{L})(?:starts?|begins?|opens?) |${firstWord}(?: [\\p{L}-]+){0,6}?${isWords}[\\s:,]*${noun}|${placedBefore(atStart)}|(?:最初|开头|第一个词|冒头|冒頭|文頭|先頭)[^,,。]{0,10})$`,
  'iu',
)
const ofAnswers =
  '(?:every|each|all|any|your|the|our|its|my|jede\\p{L}*|chaque|cada|tod[ao]s?)(?!\\p{L})'
const auxiliary = '(?:(?:must|should|shall|always|has to|needs to|is to|will) )*'
const startAfter = new RegExp(
  `^\\s*(?:as (?:the|your|its|their) (?:very )?(?:first|opening) (?:word|line|words)|${auxiliary}(?:\\p{L}+ )?(?:${atStart}|in front of|before anything)|(?:comes )?(?:first|up front)(?!\\p{L})|${auxiliary}(?:opens?|starts?|begins?|heads?|introduces?) ${ofAnswers}|is the (?:very )?(?:first|opening)(?!\\p{L})|is how (?:every|each|all|your) (?:\\p{L}+ ){1,2}(?:starts?|begins?|opens?)|(?:zu )?(?:beginn|anfang|anzufang|start|eröffn)\\p{L}*|am anfang|al (?:principio|inicio)|au début|开头|开始|起头|で(?:始|はじ)|から(?:始|はじ)|を(?:文頭|最初|先頭|冒頭))`,
  'iu',
)
const endBefore = new RegExp(
  `(?:(?<!\\p{L})(?:${endVerbs}(?: [\\p{L}-]+){0,8}? ?(?:${prepositions}|:)|append)[\\s:]*${noun}|(?<!\\p{L})(?:ends?|closes?|signed|signs?|signez?|firm[ae]s?)(?: (?!for|up|in|to)\\p{L}+){0,2} |${lastWord}(?: [\\p{L}-]+){0,6}?${isWords}[\\s:,]*${noun}|after (?:each|every|all) \\p{L}+,? ${putVerbs} ${noun}|${placedBefore(atEnd)}|(?:最后|末尾|结尾|署名|最後)[^,,。]{0,12})$`,
  'iu',
)
const endAfter = new RegExp(
  `^\\s*(?:as (?:the|your|its|their|a) (?:very )?(?:last|final|closing) (?:word|line|words|sentence|thing)|${auxiliary}(?:\\p{L}+ )?${atEnd}|(?:on|in|as) the (?:very )?(?:last|final) (?:line|word)|(?:comes )?last(?!\\p{L})|${auxiliary}(?:closes?|ends?|concludes?|finishes) ${ofAnswers}|is the (?:very )?(?:last|final|closing)(?!\\p{L})|is how (?:every|each|all|your) (?:\\p{L}+ ){1,2}(?:ends?|closes?|finish(?:es)?)|when(?:ever)? you(?:'re| are) (?:done|finished)|(?:under(?:neath)?|below|beneath) (?:each|every|all|any|your|it|them|the)|unter (?:jede|alle)|bajo (?:cada|tod)|sous (?:chaque|tous)|as (?:the|a|your) (?:signature|sign-?off)|(?:zu )?(?:enden?|endet|beende[nt]|abschließen|schließ(?:en|t)|unterschreiben|aufhören)(?!\\p{L})|结尾|结束|收尾|作结|で(?:終|締|結|おわ)|を(?:最後|末尾|文末))`,
  'iu',
)

/** "Here's my opening line: …" is the user's own text. */
const ofOwner =
  /(?<!\p{L})(?:my|mine|his|her|their)(?: \p{L}+)? (?:first|opening|last|closing|final|starts?|begins?|ends?)(?: \p{L}+)?[\s:]*$|(?<!\p{L})mine (?:starts?|begins?|ends?)[\s:]*$/iu

/** Returns the place of a required phrase; undefined for anywhere. */
export function placeOf(segment: Segment, group: Group): 'start' | 'end' | undefined {
  const { left, right } = group
  if (ofOwner.test(left)) return undefined
  if (!isWhole(segment, group) || isOfTheTask(segment) || ofDocuments.test(left)) return undefined
  if (startBefore.test(left) || startAfter.test(right)) return 'start'
  return endBefore.test(left) || endAfter.test(right) ? 'end' : undefined
}

/** "End every e-mail with …" is not about other answers. */
const ofDocuments =
  /(?<!\p{L})(?:every|each|all|any)(?: \p{L}+)? (?:e-?mails?|letters?|articles?|reports?|blog posts?|newsletters?|tickets?|invoices?|stor(?:y|ies)|poems?)(?: (?!you)\p{L}+)? (?:with|by)[^,;]*$/iu

/** The end of the work is not the end of each answer: "say at the end", "finish with". */
function isOfTheTask({ text, sentence, role }: Segment): boolean {
  if (isLasting(sentence)) return false
  return (
    /\bat the (?:very )?end(?! of)/i.test(text) || (role === 'system' && /^\W*finish\b/i.test(text))
  )
}

/** "Questions that begin with …" is a condition, and "sentences that start with …" a part. */
function isWhole({ condition }: Segment, { left }: Group): boolean {
  return (
    (condition === undefined ||
      !/\b(?:questions?|messages? of mine|when i|if i)\b[^,;:]{0,40}$/i.test(left)) &&
    !/(?:sentences?|lines?|paragraphs?|words|bullets?|points?|items?|commits?|names?|notes?|postscripts?|sections?|titles?|headings?|stanzas?|verses?) (?:that |which |must |should )?(?:start|begin|end)\p{L}*[^,]{0,20}$|(?:beginning|start|end) of (?:each|every|the|all|any) (?:section|paragraph|line|sentence|stanza|verse|part|item|bullet|note)/iu.test(
      left,
    )
  )
}
