import { wordsOf } from '../../../../provenance/text/index.ts'
import type { Statement } from '../../../contract.ts'
import { isNegative, polarityOf } from '../sentence/polarity.ts'
import { phrasesIn } from '../sentence/quotes.ts'
import { isLasting } from '../sentence/scope.ts'
import type { Segment } from '../sentence/segments.ts'
import { type Range, rangeText } from '../vocabulary/amounts.ts'
import { countOf } from './read-times.ts'

const phrases_max = 8

/** Some quoted or named phrases in a segment, with the words around them. */
type Group = {
  phrases: readonly string[]
  left: string
  right: string
  start: number
  isQuoted: boolean
}

/** Reads words that answers must have, start with, end with, or not have. */
export function readWords(segment: Segment): Statement[] {
  return groupsOf(segment).flatMap((group) =>
    segment.isAskedAt(group.start) ? statementsOf(segment, group) : [],
  )
}

const joiner =
  '\\s*(?:,|/|;|、|(?:,\\s*)?(?:or|and|nor|oder|und|ou|et|ni|y|o|u|和|或者?|や|と|以及)(?: the (?:word|phrase))?)\\s*'
const quotedList = new RegExp(`⟦\\d+⟧(?:${joiner}⟦\\d+⟧)*`, 'giu')
const wordNoun =
  '(?:words?|keywords?|phrases?|terms?|expressions?|names?|brands?|adjectives?|adverbs?|sentences?|lines?|text|greeting|sign-?off|signature|tag|prefix|label|formula|motto|slogan|catchphrase|disclaimer|note|wort|wörter|begriffe?|ausdrücke?|ausdruck|namen?|satz|floskel|zeile|palabras?|expresi(?:ón|ones)|términos?|frase|línea|firma|mots?|expressions?|termes?|phrase|ligne|formule|词语?|单词|字眼|短语|这句话|这个词|単語|言葉|語|フレーズ|一文)'
/** "The word basically", "the words cheap and free". */
const named =
  /(?:(?<![\p{L}])(?:the|any of the|these|das|die|den|la|las|le|les|l') |^|[:,] )(?:words?|keywords?|names?|terms?|brands?|wort|wörter|palabras?|mots?):? (?!is\b|are\b|in\b|about\b|limit|count|that|for|or\b|of\b|per\b|each|only|max|at\b|and\b|long|choice|by\b|the\b|to\b|from\b|you\b|i\b|we\b|again|with)([\p{L}'-]{2,30}(?:(?:, | or | and | oder | und | ou | et | o | y )(?:the word )?[\p{L}'-]{2,30}){0,4})(?=[\s.,;!?)]|$)/giu
/** "Never say sorry or unfortunately". */
const unsaid =
  /(?<![\p{L}])(?:never|don't|do not|stop|avoid|mustn't|must not) (?:say|saying|utter)(?: the)? (?!any|that|it\b|things?|much|more|so\b|no\b|yes\b|what|how|you\b|i\b|the\b|a\b|your|my\b|this|hello again|where|who|when|why|if)([\p{L}'-]{2,30}(?:(?:, | or | and )[\p{L}'-]{2,30}){0,3})(?=[.,;!?)]|$| in | again| any ?more| to )/giu

function groupsOf(segment: Segment): Group[] {
  const { text, phrases, head } = segment
  const found: Group[] = []
  for (const match of text.matchAll(quotedList)) {
    const words = phrasesIn(match[0], phrases).filter((phrase) => /[\p{L}\p{N}]/u.test(phrase))
    if (words.length > 0) found.push(groupAt(segment, match, words.slice(0, phrases_max), true))
  }
  if (found.length > 0) return found
  if (bannedHead.test(head)) return listed(segment)
  for (const match of [...text.matchAll(named), ...text.matchAll(unsaid)]) {
    const [, list = ''] = match
    const words = list.split(/, | or | and | oder | und | ou | et | o | y /i).map(cutTail)
    if (words.every((word) => wordsOf(word).length === 1)) {
      const at = { 0: list, index: match.index + match[0].indexOf(list) }
      found.push(groupAt(segment, at, words, false))
    }
  }
  return found
}

/** "Banned words: cheap, free". */
const bannedHead =
  /(?:(?:banned|forbidden|prohibited|taboo|off-limits|retired|never|avoid|not)(?: \p{L}+){0,3} (?:words?|terms?|phrases?)|(?:words?|terms?|phrases?)(?: \p{L}+){0,4} (?:avoid|never use|not use|banned|forbidden|retired|don't use)|verbotene wörter|palabras prohibidas|mots interdits|禁用词|NGワード)(?: \p{L}+){0,2}\s*$/iu

function listed(segment: Segment): Group[] {
  const words = segment.text
    .replace(/[.!]+$/, '')
    .split(/,| or | and |\/|、/i)
    .map((word) => word.trim())
  const isList = words.every(
    (word) => /^[\p{L}\p{N}' -]{2,40}$/u.test(word) && wordsOf(word).length <= 3,
  )
  const group = groupAt(segment, { 0: segment.text, index: 0 }, words.slice(0, phrases_max), false)
  return isList ? [{ ...group, left: 'never use the words ' }] : []
}

function cutTail(word: string): string {
  return word.replace(/^the word /i, '').trim()
}

function groupAt(
  { text, head }: Segment,
  { 0: said, index }: { 0: string; index: number },
  phrases: readonly string[],
  isQuoted: boolean,
): Group {
  const before = text.slice(0, index)
  const left = before.trim() === '' && head !== '' ? `${head} ` : before
  return { phrases, left, right: text.slice(index + said.length), start: index, isQuoted }
}

const noun = `(?:(?:the|a|an|this|these|my|our|your|its|der|die|das|den|dem|la|las|el|le|les|l'|exactly|exact|single|following|same|closing|opening) ?){0,3}(?:${wordNoun}(?: of)?)?[\\s:,(]*`
const startVerbs =
  '(?:start|begin|open|prefix|preface|precede|introduce|lead|kick off|greet|beginn|start|fang|eröffne|empiez|empez|comienz|comenz|inici|commenc|début)\\p{L}*'
const endVerbs =
  '(?:end|finish|clos|conclud|sign|wrap up|terminat|beend|schließ|ende|unterschreib|unterzeichn|termin|acab|firm|cierr|despíd|finis|signe|signez|conclu|clôtur)(?!al)\\p{L}*'
const prepositions = '(?:with|w\\/|by|as|in|on|using|mit|als|con|como|por|par|avec|de)'
/** A word between that turns to the other end of the answer. */
const toEnd = '(?![^,;]{0,40}\\b(?:end|finish|clos)\\p{L}*\\b)'
const firstWord =
  '(?:(?:(?:very )?first|opening) (?:word|line|thing|words|sentence)|greeting|erstes? wort|primera palabra|premier mot)'
const lastWord =
  '(?:(?:(?:very )?last|final|closing) (?:word|line|thing|words|sentence|phrase)|signature|sign-?off|letzte[sr]? (?:wort|zeile|satz)|última (?:palabra|línea)|dernier mot|dernière (?:ligne|phrase))'
const isWords =
  '(?: (?:is|be|being|must be|should be|has to be|ist|es|sea|est|soit|always|reads?|says?))*'
const startBefore = new RegExp(
  `(?:(?<![\\p{L}])${startVerbs}${toEnd}(?: [\\p{L}-]+){0,8}? ?(?:${prepositions}|:)[\\s:]*${noun}|${firstWord}(?: [\\p{L}-]+){0,6}?${isWords}[\\s:]*${noun}|(?:最初|开头|第一个词|冒头|文頭|先頭)[^,,。]{0,10})$`,
  'iu',
)
const startAfter =
  /^\s*(?:as (?:the|your|its|their) (?:very )?(?:first|opening) (?:word|line|words)|at the (?:very )?(?:start|beginning|top|front)|(?:first|up front)\b|(?:beginnen|anfangen|starten|eröffnen)(?![\p{L}])|am anfang|al (?:principio|inicio)|au début|开头|开始|起头|で(?:始|はじ)|から(?:始|はじ)|を(?:文頭|最初|先頭|冒頭))/iu
const endBefore = new RegExp(
  `(?:(?<![\\p{L}])(?:${endVerbs}(?: [\\p{L}-]+){0,8}? ?(?:${prepositions}|:)|append)[\\s:]*${noun}|${lastWord}(?: [\\p{L}-]+){0,6}?${isWords}[\\s:]*${noun}|(?:最后|末尾|结尾|署名|最後)[^,,。]{0,12})$`,
  'iu',
)
const endAfter =
  /^\s*(?:as (?:the|your|its|their|a) (?:very )?(?:last|final|closing) (?:word|line|words|sentence)|at the (?:very )?(?:end|bottom|foot)|(?:under(?:neath)?|below|beneath) (?:each|every|all|any|your|it|them|the)|unter (?:jede|alle)|bajo (?:cada|tod)|sous (?:chaque|tous)|as (?:the|a|your) (?:signature|sign-?off)|(?:enden|beenden|abschließen|schließen|unterschreiben|aufhören)(?![\p{L}])|am (?:ende|schluss)|al final|à la fin|结尾|结束|收尾|作结|で(?:終|締|結|おわ)|を(?:最後|末尾|文末))/iu

const sayVerbs =
  '(?:say|saying|write|writing|mention|mentioning|utter|use|using|include|including|contain|name|naming|call|calling|speak|talk|refer|bring up|type|hear|see|read|need|want|drop|put|appear|verwend\\p{L}*|benutz\\p{L}*|nutz\\p{L}*|sag\\p{L}*|schreib\\p{L}*|erwähn\\p{L}*|us\\p{L}*|utiliz\\p{L}*|dig\\p{L}*|escrib\\p{L}*|menciona\\p{L}*|emplo\\p{L}*|dis|dites|dire|utilis\\p{L}*|écri\\p{L}*|mentionn\\p{L}*)'
const onlyUse =
  /(?<![\p{L}])(?:use|using|include|including|verwend\p{L}*|benutz\p{L}*|nutz\p{L}*|utilis\p{L}*|utiliz\p{L}*)(?: \p{L}+){0,2}[\s:]*$/iu
const nounBefore = new RegExp(`(?<![\\p{L}])${wordNoun}[\\s:,(]*$`, 'iu')
const requires = new RegExp(
  `(?<![\\p{L}])(?:use|include|mention|contain|say|write|have|work in|add|carry|weave|sprinkle|throw|squeeze|drop|put|insert|feature|slip|incorporate|state|append|needs?|call|repeat|verwend|benutz|nutz|erwähn|enthalt|enthält|sag|schreib|füg|usa|use|usar|utiliza|incluy|incluye|menciona|conten|contien|utilise|emplo|inclu|mentionn|contien|conteni|dis|place)\\p{L}*(?: [\\p{L}'-]+){0,6}?[\\s:]*${noun}$|(?:包含|使用|用上?|提到|写上?|加上?|出现)[^,,。]{0,8}$`,
  'iu',
)
const requiresAfter =
  /^\s*(?:(?:must|should|has to|have to|needs to|need to|shall)(?: \p{L}+)? (?:appear|occur|be (?:in|used|mentioned|included|part))|を(?:必ず)?(?:入れ|使っ|含め)|という(?:言葉|単語)を(?:入れ|使っ|含め)|(?:muss|soll) .{0,30}(?:vorkommen|enthalten|stehen))/iu
const forbidsAfter =
  /^[\s,]*(?:(?:is|are|ist|sind|está|quedan?|est|sont|should|must|may|can|shall|will|darf|dürfen|soll|no debe|ne doit)?\s?(?:strictly |absolutely )?(?:forbidden|banned|prohibited|off[ -]limits|taboo|tabu|verboten|interdit\p{L}*|prohibid\p{L}*|vetad\p{L}*|not allowed|(?:never|not|(?:does|do)(?:n't| not)) (?:to be|be|appear|occur|used|said|written|welcome|wanted)|nicht|nie|pas|no )|bitte (?:nicht|nie|in kein)|[^.;⟦]{0,60}(?:never|stop|don't|do not|avoid|quit|drop)(?: ever)? (?:use|using|say|saying|write|writing)? ?(?:it|them|that|those|this)(?: word)?\b|out of (?:your|all|every|each|any|the)\b|[^.;⟦]{0,30}(?:nicht mehr|nie wieder|nie mehr|plus jamais|ne plus|nunca más)|(?:auf keinen fall|niemals|nie|nicht)\b|is out\b|are out\b|jamais|nunca|という?(?:言葉|単語|語)?(?:は|を|と)[^。]{0,8}(?:使わ|言わ|書か|禁止|避け)|(?:は|と)(?:使わ|言わ|書か|禁止|避け|NG)|を(?:使わ|言わ|書か|避け|一切使わ)|这个?(?:词|字)?(?:禁止|不要|不能)|(?:一词|这个词|二字)?(?:不要|不能|禁止|不许|请勿)(?:出现|使用|用|说|提)?)/iu

function statementsOf(segment: Segment, group: Group): Statement[] {
  const { left, right, phrases } = group
  if (phrases.some(isTemplate) || ofLetter.test(left)) return []
  const count = countOf(right) ?? countOf(left.slice(-30), true)
  if (isForbidden(group)) return forbidAll(segment, group, count)
  const clause = clauseBefore(left)
  if (polarityOf(clause, '') === 'none') return []
  if (count !== undefined) return usesOf(segment, phrases, count)
  if (isNegative(clause)) return []
  const where = placeOf(segment, group)
  if (where === undefined) {
    return isRequired(segment, group) ? usesOf(segment, phrases, { min: 1 }) : []
  }
  return isOneOf(group) ? [] : [requiredAt(segment, where, phrases[0] ?? '')]
}

function forbidAll(
  segment: Segment,
  { left, right, phrases }: Group,
  count: Range | undefined,
): Statement[] {
  if (placed.test(left + right)) return []
  return count === undefined
    ? phrases.map((phrase) => forbid(segment, phrase))
    : usesOf(segment, phrases, notMore(count))
}

/** A word that is forbidden at one place only is not checked. */
const placed =
  /(?:start|begin|open|end|finish|clos)\p{L}*(?: [\p{L}'-]+){0,5} (?:with|by)\s*(?:the (?:word|phrase))?\s*$|at the (?:start|beginning|end)/iu

/** Tells whether one of several phrases is asked for: "start with ⟦0⟧ or ⟦1⟧". */
function isOneOf({ phrases }: Group): boolean {
  return phrases.length > 1
}

/** Returns the place of a required phrase; undefined for anywhere. */
function placeOf(segment: Segment, group: Group): 'start' | 'end' | undefined {
  const { left, right } = group
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

const ofLetter = /(?:letters?|vowel|consonant|buchstaben?|letra|lettre|字母|文字)[\s:]*$/iu

function isTemplate(phrase: string): boolean {
  return /[[\]{}<>]|(?:\.\.\.|…)\s*\S/.test(phrase)
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

/** "Do not use it more than once", "do not use it twice". */
function notMore({ min = 1, max = min - 1 }: Range): Range {
  return { max }
}

function clauseBefore(left: string): string {
  return left.split(/[,;](?!\s*⟦)/).at(-1) ?? left
}

function isForbidden({ left, right, isQuoted }: Group): boolean {
  if (forbidsAfter.test(right))
    return !/^[\s,]*(?:nicht|no |pas)/i.test(right) || nounBefore.test(left)
  const clause = clauseBefore(left)
  if (polarityOf(clause, '') !== 'none' && !banned.test(left)) return false
  if (!isQuoted || nounBefore.test(left) || banned.test(left)) return true
  if (/[\p{Script=Han}\p{Script=Hiragana}]/u.test(clause)) return true
  if (!new RegExp(`(?<![\\p{L}])${sayVerbs}(?: [\\p{L}'-]+){0,4}[\\s:]*$`, 'iu').test(clause)) {
    return /(?<![\p{L}])(?:(?:words?|phrases?|terms?|expressions?) (?:like|such as|including)|(?:no|without)(?: \p{L}+){1,3} (?:with|containing|using|like|such as)|no|without|never(?: as| by)?|not(?: as| by)?|avoid|ban|sans|sin|ohne|kein\p{L}*|evita|évite\p{L}*|vermeide?)\s*$/iu.test(
      clause,
    )
  }
  if (
    /(?<![\p{L}])(?:words?|phrases?|terms?|expressions?|palabras?|mots|wörter)(?![\p{L}])/iu.test(
      clause,
    )
  )
    return true
  // "Use" can refer to things; only "say" always refers to words.
  return (
    !onlyUse.test(clause) ||
    /(?:answers?|repl|respon|messages?|texts?|again|any ?more|ever|chat|conversation)/i.test(right)
  )
}

const banned =
  /(?<![\p{L}])(?:banned|forbidden|prohibited|off-limits|taboo|verbotene?|prohibid\p{L}+|interdit\p{L}*|禁用词|禁止词|NGワード)(?: (?:is|are|words?|phrases?|terms?|vocabulary|palabras?|mots?|wörter|:|ist|sind|son|sont|escribir|usar|decir|d'utiliser|de dire|d'écrire|la|le|el|les|las|los|l'))*[\s:]*$/iu

function isRequired({ holds, text }: Segment, { left, right, isQuoted }: Group): boolean {
  if (requiresAfter.test(right)) return true
  if (
    !requires.test(left) ||
    isGiven.test(left) ||
    /\b(?:tool|function|command|file|field|instead of)\b/i.test(text)
  )
    return false
  if (nounBefore.test(left)) return true
  return (
    isQuoted &&
    holds === 'always' &&
    /(?:answers?|repl|respon|messages?|posts?|texts?|time|conversation|chat|each|antwort|respuesta|réponse|回复|回答|消息|返事)/i.test(
      text,
    ) &&
    (!/(?<![\p{L}])use[\s:]*$/iu.test(left) || /(?:in|per) (?:each|every|all)/i.test(text))
  )
}

/** A quoted text to work on: "complete the following sentence". */
const isGiven =
  /(?<!\p{L})(?:following|this|these) (?:\p{L}+ )?(?:sentences?|texts?|lines?|paragraphs?|quotes?|poems?|words)(?!\p{L})/iu

function usesOf(segment: Segment, phrases: readonly string[], range: Range): Statement[] {
  return phrases.map((value) => ({
    kind: 'required',
    slot: `uses:${value.toLowerCase()}`,
    value: `${rangeText(range)} ${value}`,
    holds: segment.holds,
    quote: segment.sentence,
  }))
}

/** Makes the statement that answers start or end with a phrase. */
export function requiredAt(
  { holds, sentence }: Segment,
  where: 'start' | 'end',
  value: string,
): Statement {
  return { kind: 'required', slot: `required:${where}`, value, holds, quote: sentence }
}

/** Makes the statement that answers do not have a phrase. */
export function forbid({ holds, sentence }: Segment, value: string): Statement {
  return {
    kind: 'forbidden',
    slot: `forbidden:${value.toLowerCase()}`,
    value,
    holds,
    quote: sentence,
  }
}
