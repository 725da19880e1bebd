import { wordsOf } from '../../../../provenance/text/index.ts'
import { phrasesIn } from '../sentence/quotes.ts'
import type { Segment } from '../sentence/segments.ts'

const phrases_max = 8

/** Some quoted or named phrases in a segment, with the words around them. */
export type Group = {
  phrases: readonly string[]
  left: string
  right: string
  start: number
  isQuoted: boolean
}

const joiner =
  '\\s*(?:,|/|;|、|(?:,\\s*)?(?:or|and|nor|oder|und|ou|et|ni|y|o|u|和|或者?|や|と|以及)(?: the (?:word|phrase))?)\\s*'
const quotedList = new RegExp(`⟦\\d+⟧(?:${joiner}⟦\\d+⟧)*`, 'giu')
/** Nouns for words and phrases, in all languages. */
export const wordNoun =
  '(?:words?|keywords?|phrases?|strings?|tokens?|terms?|expressions?|vocabulary|verbs?|nouns?|pronouns?|names?|brands?|adjectives?|adverbs?|sentences?|lines?|text|greeting|salutation|sign-?off|signature|tag|prefix|label|formula|motto|slogan|catchphrase|disclaimer|note|wort(?:es)?|wörter|begriffe?|ausdrücke?|ausdruck|namen?|satz|floskel|zeile|kennung|palabras?|expresi(?:ón|ones)|términos?|frase|línea|firma|mots?|expressions?|termes?|phrase|ligne|formule|mention|词语?|单词|字眼|短语|这句话|这个词|単語|言葉|語|フレーズ|一文)'
/** "The word basically", "the words cheap and free". */
const named =
  /(?:(?<![\p{L}])(?:the|any of the|these|das|die|den|la|las|le|les|l') |^|[:,] )(?:words?|keywords?|names?|terms?|verbs?|pronouns?|brands?|wort|wörter|palabras?|mots?):? (?!is\b|are\b|in\b|about\b|limit|count|that|for|or\b|of\b|per\b|each|only|max|at\b|and\b|long|choice|by\b|the\b|to\b|from\b|you\b|i\b(?! (?:is|may|must|has|should))|we\b|again|with)(I\b|[\p{L}'-]{2,30}(?:(?:, | or | and | oder | und | ou | et | o | y )(?:the word )?[\p{L}'-]{2,30}){0,4})(?=[\s.,;!?)]|$)/giu
/** "Never say sorry or unfortunately". */
const unsaid =
  /(?<![\p{L}])(?:never|don't|dont|do not|stop|quit|cease|avoid|mustn't|must not) (?:say|saying|utter|uttering)(?: the)? (?!any|that|it\b|things?|much|more|so\b|no\b|yes\b|what|how|you\b|i\b|the\b|a\b|your|my\b|this|hello again|where|who|when|why|if)([\p{L}'-]{2,30}(?:(?:, | or | and )[\p{L}'-]{2,30}){0,3})(?=[.,;!?)]|$| in | again| any ?more| to )/giu

/** "Until I say ⟦0⟧": the phrase ends or starts a rule. */
const trigger =
  /(?<!\p{L})(?:until|till|unless|once|after|bis|hasta que|jusqu'à ce que) (?:i|we|you|they|the user|someone|ich|wir|yo|je)(?!\p{L})(?: \p{L}+){0,3}\s*$/iu

/** Finds the phrases of a segment. */
export function groupsOf(segment: Segment): Group[] {
  const { text, phrases, head } = segment
  const found: Group[] = []
  for (const match of text.matchAll(quotedList)) {
    const words = phrasesIn(match[0], phrases).filter((phrase) => /[\p{L}\p{N}]/u.test(phrase))
    const isTrigger = trigger.test(text.slice(0, match.index))
    if (words.length > 0 && !isTrigger)
      found.push(groupAt(segment, match, words.slice(0, phrases_max), true))
  }
  if (found.length > 0) return found
  if (bannedHead.test(head)) return listed(segment)
  const line = text.trim().replace(/\.$/, '')
  if (placedHead.test(head) && wordsOf(line).length <= line_words_max && !/[⟦:]/.test(line))
    return [groupAt(segment, { 0: text, index: 0 }, [line], true)]
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

const line_words_max = 8
/** "Always close with: Clínica Miraflores", "last line: -- pp". */
const placedHead =
  /(?<!\p{L})(?:(?:ends?|close|closes|finish|finishes|sign|starts?|begins?|opens?|cierra|termina|empieza|beende|beginne|termine|commence|finis)(?: \p{L}+){0,4} (?:with|con|mit|par|by)|(?:first|last|final|closing|opening) (?:line|words?)(?: of (?:each|every|all|your|any) \p{L}+)?(?: is| reads| must be| always)*)\s*$/iu

/** "Banned words: cheap, free". */
const bannedHead =
  /(?:(?:banned|forbidden|prohibited|taboo|off-limits|retired|never|avoid|not)(?: \p{L}+){0,3} (?:words?|terms?|phrases?|vocabulary)|blacklist|blocklist|stop ?words|no-go words?|(?:words?|terms?|phrases?)(?: \p{L}+){0,4} (?:avoid|never use|not use|banned|forbidden|retired|don't use)|verbotene wörter|palabras prohibidas|mots interdits|禁用词|NGワード)(?: \p{L}+){0,2}\s*$/iu

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
  const left = before.trim() === '' && head !== '' ? `${head} ` : `${negativeHead(head)}${before}`
  return { phrases, left, right: text.slice(index + said.length), start: index, isQuoted }
}

/** "SHALL NOT: employ …" */
function negativeHead(head: string): string {
  return /(?:not|never|don'?ts?|avoid|forbidden|banned)\W*$/i.test(head) ? 'never ' : ''
}
