import type { Statement } from '../../../contract.ts'
import { removeGreetings } from '../sentence/mood.ts'
import { withoutScope } from '../sentence/scope.ts'
import type { Segment } from '../sentence/segments.ts'
import {
  type Bound,
  boundOf,
  mostOfOrdinal,
  numberOf,
  numberSource,
  ordinalSource,
  type Range,
  rangeOf,
  rangeText,
} from '../vocabulary/amounts.ts'
import { isOfAPart } from '../vocabulary/part-lengths.ts'

/** Units of length; each line has the words of one unit in all languages. */
const units: readonly (readonly [unit: string, words: string])[] = [
  ['words', 'words?|wörtern?|worte?n?|palabras?|mots?'],
  [
    'sentences',
    'sentences?|sätzen?|satz|frases?|oraci(?:ón|ones)|phrases?|句子|句话|句|文(?!字|章|法|書|化|中)',
  ],
  [
    'characters',
    'characters?|chars?|symbols|letters|zeichen|caracteres|caractères|signes|个?汉?字符?|文字',
  ],
  ['lines', 'lines?|zeilen?|líneas?|lignes?|行'],
  ['paragraphs', 'paragraphs?|paras?|absätzen?|absatz|párrafos?|paragraphes?|个?段落?|段落'],
  [
    'bullets',
    'bullet(?:ed)?[ -](?:points?|items?)|bullets?|(?:list )?(?:items|points|entries)|dashes|stichpunkten?|aufzählungspunkten?|puntos|viñetas?|puces?|points|个?要点|条|項目|箇条書き',
  ],
]
const unitSource = `(?:${units.map(([, words]) => words).join('|')})`
const unitPatterns = units.map(
  ([unit, words]) => [unit, new RegExp(`^(?:${words})$`, 'iu')] as const,
)

const adjectives =
  '(?:(?:short|single|full|simple|complete|plain|brief|concise|crisp|little|tight|kurze[nr]?|einzig\\p{L}*|sol[ao]|seule?|knappe[nr]?|ganze[nr]?|cortas?|breves?|courte?s?|個|个|つの?)[ ,-]?){0,2}'
const edge = '(?<![\\p{L}\\p{N}_-]|\\d[.,])'
const cjkNumber = '[一二三四五六七八九十百两\\d０-９]'
const counted = new RegExp(
  `(?:${edge}|(?=${cjkNumber}))(?:(?:(?:between|from|at least|no(?:t)? (?:fewer|less) than|min(?:imum)?\\.?|zwischen|entre|de|von) )?(?<low>${numberSource})\\s?(?:(?<!ty)-|–|—|to|and|or|nor|up to|,? (?:but|and|or|nor)? ?(?:at most|not? more than|no more than|more than|up to|max(?:imum)?\\.?)|,? max\\.?|bis|und|oder|a|y|o|à|et|ou|到|至|〜|~|から)\\s?)?(?<n>${numberSource})(?<more>\\+| or (?:more|less|fewer))?[ -]?${adjectives}(?<unit>${unitSource}|of (?:them|these|those))(?![\\p{Script=Latin}\\d])`,
  'giu',
)
/** "Word limit: 50", "length in words: at most 50". */
const labelled = new RegExp(
  `${edge}(?<unit>words?|sentences?|characters?|chars?|lines?|paragraphs?|bullets?)(?: count| limit| maximum| max| budget| cap| ceiling| length)?(?: per \\p{L}+)?(?:\\s?[:=≤<]{1,2}\\s?| is | of | = )(?<how>\\p{L}[\\p{L} ]{1,20} )?(?<n>${numberSource})(?![\\p{L}\\d-])`,
  'iu',
)

/** "The number of sentences never exceeds three", "keep paragraphs to one in number". */
const inverse = new RegExp(
  `${edge}(?<unit>words?|sentences?|characters?|chars?|paragraphs?|bullet points|bullets|wörter|sätze|zeichen|absätze|mots|phrases|caractères|paragraphes|palabras|frases|caracteres|párrafos)[^.;:!?\\d⟦]{1,60}? (?<n>\\d{1,4}|two|three|four|five|six|seven|eight|nine|ten|twelve|fifteen|twenty|thirty|forty|fifty|sixty|eighty|a hundred|one(?= in number))(?![\\d%-]| (?:\\p{L}+ )?(?:${unitSource}))`,
  'iu',
)
const ordinal = new RegExp(
  `(?<!\\p{L})(?<n>${ordinalSource}) (?<unit>sentence|paragraph|line|bullet(?: point)?)(?!\\p{L})`,
  'iu',
)

/** Reads limits on the length of answers; the value is a range. */
export function readLengths(segment: Segment): Statement[] {
  const { text } = segment
  if (!mayCount.test(`${segment.head} ${text}`)) return []
  const found: Statement[] = []
  for (const match of text.matchAll(counted)) {
    const statement = statementFrom(segment, match)
    if (statement !== undefined) found.push(statement)
  }
  if (found.length > 0) return found
  return [readLabelled(segment) ?? readInverse(segment) ?? readOrdinal(segment) ?? []].flat()
}

function readLabelled(segment: Segment): Statement | undefined {
  const { head, text } = segment
  const label = labelled.exec(head === '' ? text : `${head}: ${text}`)
  const count = numberOf(label?.groups?.['n'] ?? '')
  const isArticle = article.test(label?.groups?.['n'] ?? '')
  if (label === null || count === undefined || isArticle || !segment.isAskedAt(0)) return undefined
  const unit = unitOf(label.groups?.['unit'] ?? '', '') ?? ''
  const bound = boundOf(label.groups?.['how'] ?? label[0].slice(0, 20), '')
  return toStatement(segment, unit, rangeOf(bound === 'bare' ? 'max' : bound, count))
}

function readInverse(segment: Segment): Statement | undefined {
  const { head, text } = segment
  const whole = head === '' ? text : `${head}, ${text}`
  const found = inverse.exec(whole)
  const { unit = '', n = '' } = found?.groups ?? {}
  const count = n === 'one' ? 1 : numberOf(n)
  if (found === null || count === undefined) return undefined
  const end = found.index + found[0].length
  const bound = boundOf(whole.slice(0, end - n.length), whole.slice(end))
  const isBound = bound !== 'bare' && bound !== 'about' && bound !== 'above'
  if (!isBound || !segment.isAskedAt(Math.max(0, text.length - 1))) return undefined
  return toStatement(segment, unitOf(unit, '') ?? '', rangeOf(n === 'one' ? 'max' : bound, count))
}

function readOrdinal(segment: Segment): Statement | undefined {
  const { text } = segment
  const found = ordinal.exec(text)
  if (found === null || !segment.isAskedAt(found.index)) return undefined
  const right = text.slice(found.index + found[0].length)
  const max = mostOfOrdinal(found.groups?.['n'] ?? '', text.slice(0, found.index), right)
  const unit = unitOf(`${found.groups?.['unit']}s`, '')
  return max === undefined || unit === undefined ? undefined : toStatement(segment, unit, { max })
}

const mayCount = new RegExp(`${unitSource}|of them|of these|of those`, 'iu')

function statementFrom(segment: Segment, match: RegExpExecArray): Statement | undefined {
  const { text } = segment
  const { low: least = '', n = '', unit: said = '' } = match.groups ?? {}
  const before = text.slice(0, match.index)
  const left = isHeadOf(segment, before) ? `${segment.head}: ${before}` : before
  const right = text.slice(match.index + match[0].length)
  const isOther = isThing(said, `${segment.head} ${text}`) || isOfAPart(left, right)
  const isAsked = segment.isAskedAt(match.index) || isCapacity(segment, left)
  const unit = isOther || !isAsked ? undefined : unitOf(said, left)
  const count = numberOf(n)
  if (unit === undefined || count === undefined || count === 0) return undefined
  if (isCountedOtherwise({ unit, count, text, left: before })) return undefined
  const low = article.test(least) ? undefined : (numberOf(least) ?? lowOfCjk(text, match))
  if (low !== undefined && low < count) return toStatement(segment, unit, { min: low, max: count })
  const bound = boundBeside(match.groups?.['more']) ?? boundIn(segment, left, right)
  return isLimit(bound, { segment, match, left, right })
    ? toStatement(segment, unit, rangeOfBare({ bound, unit, count, segment }, match[0]))
    : undefined
}

const article = /^an?$/i

/** Tells whether a bound asks for a length: a bare count only at some places, a least one if demanded. */
function isLimit(bound: Bound, bare: Bare): boolean {
  if (article.test(bare.match.groups?.['n'] ?? '') && (bound === 'bare' || bound === 'about'))
    return false
  if (bound === 'above') return needed.test(bare.left)
  return bound !== 'bare' || isBareLimit(bare)
}

/** "Our users don't read past three sentences", "the display only holds 60 words". */
function isCapacity({ role }: Segment, left: string): boolean {
  return role === 'system' ? capacity.test(left) : ownCapacity.test(left)
}

function boundIn(segment: Segment, left: string, right: string): Bound {
  const bound = boundOf(left, right)
  return bound !== 'above' && isCapacity(segment, left) ? 'max' : bound
}

/** "I can only take in one sentence", "I lose the thread after sixty words". */
const ownCapacity =
  /(?<!\p{L})(?:i|my \p{L}+)(?: (?:have|has) \p{L}+ and)? (?:can (?:only|just) \p{L}+(?: in)?|(?:can't|cannot|can not|don't|won't) \p{L}+(?: in)? (?:more than|past|beyond)|(?:lose|loses|zone|drift|switch|give|stop)(?: \p{L}+){0,3} (?:after|at|past|beyond)|attention span (?:is|ends at|stops at))(?: about| around| roughly)? $/iu
const capacity =
  /(?<!\p{L})(?:display|screen|panel|watch|pager|terminal|printer|sign|ticker|ticket|phone|widget|receipt)(?: \p{L}+){0,4} (?:shows?|holds?|fits?|takes?|prints?|has room for) $|(?<!\p{L})(?:\p{L}+n't|not|nobody|no one|never|only|just|cannot)(?: \p{L}+){0,2} (?:reads?|take|takes|takes in|handles?|process|displays?|shows?|fits?|holds?|need|needs|digest|accepts?|prints?|support|cope with|bear|stand)(?: \p{L}+){0,4} $|(?<!\p{L})(?:cuts?|drops?|truncates?|stops? reading|switch(?:es)? off)(?: \p{L}+){0,4} (?:after|at|past|beyond) $/iu

/** A least length is demanded: "write more than 200 words". */
const needed =
  /(?<!\p{L})(?:must|should|shall|needs?|want|write|give|have|has|be|contain|always|at|with|use|make|soll\p{L}*|muss|müssen|schreib\p{L}*|doi\p{L}+|écri\p{L}*|deben?|escrib\p{L}*)(?!\p{L})|[用写要]/iu

type Counted = { unit: string; count: number; text: string; left: string }

/** Tells whether a count is of sections between dividers, of a name or a title, or of a phrase before it: “遵医嘱”三个字. */
function isCountedOtherwise({ unit, count, text, left }: Counted): boolean {
  if (/⟦\d+⟧这?那?$/.test(left)) return true
  if (unit === 'paragraphs') return /divider|separat|asterisk/i.test(text)
  if (unit === 'characters' && /password|passphrase|user ?name|digit/i.test(text)) return true
  const isName = unit === 'characters' && count < characters_min
  return isName && !/[\p{Script=Han}\p{Script=Hiragana}]/u.test(text) && !ofAnswer.test(text)
}

/** A text of fewer characters is a name or a title, if the rule does not speak of answers. */
const characters_min = 40
const ofAnswer =
  /answer|repl|respon|message|tweet|post|text me|(?<!\p{L})(?:your|each|every|always|from now|spaces)(?!\p{L})/iu

/** "600+ words", "45 or less words". */
function boundBeside(more: string | undefined): Bound | undefined {
  if (more === undefined) return undefined
  return /less|fewer/i.test(more) ? 'max' : 'min'
}

const answerNoun =
  /^\s*(?:answers?|repl|respon|summar|texts?|posts?|messages?|description|blurb|version|explanation|intro)/i

/** Tells whether the part before a colon belongs to a count: it is near, or says "do not". */
function isHeadOf({ head }: Segment, before: string): boolean {
  return before.trim() === '' || /(?:not|never|don't|avoid)\W*$/i.test(head)
}

/** A bare count of many words or characters is a wish for about that length, and no least length. */
function rangeOfBare({ bound, unit, count, segment }: BareCount, said: string): Range {
  const isRough = count >= 30 || /-/.test(said)
  if (bound === 'bare' && isRough && (unit === 'words' || unit === 'characters'))
    return {
      max: segment.role === 'user' && segment.holds === 'always' ? count : Math.ceil(count * 1.3),
    }
  // "In one word" asks for nothing longer.
  if (count === 1 && unit === 'words' && (bound === 'bare' || bound === 'exact')) return { max: 1 }
  if (bound === 'bare' && brevity.test(segment.head)) return { max: count }
  return rangeOf(bound, count)
}

type BareCount = { bound: Bound; unit: string; count: number; segment: Segment }

const brevity =
  /(?<!\p{L})(?:short|brief|concise|terse|limit|max\p{L}*|length|kurz|bref|brève|breve|corto)(?!\p{L})/iu

/** "Five items" are points of a list only if the text speaks of answers or lists. */
function isThing(unit: string, text: string): boolean {
  return (
    /^(?:items|points|entries|puntos)$/i.test(unit) &&
    !/list|bullet|answer|repl|response|aufz|puce|viñeta/i.test(text)
  )
}

/** "二文以上四文以下". */
function lowOfCjk(text: string, { index }: RegExpExecArray): number | undefined {
  return numberOf(
    /([一二三四五六七八九十\d]{1,3})(?:文|句|字|文字|段落?|行)以上\s*$/u.exec(
      text.slice(0, index),
    )?.[1] ?? '',
  )
}

type Bare = { segment: Segment; match: RegExpExecArray; left: string; right: string }

/** Tells whether a count without a bound asks for that length: "in two sentences". */
function isBareLimit({ segment, left, right, match }: Bare): boolean {
  if (/-/.test(match[0])) return answerNoun.test(right)
  const near = left.slice(-60)
  if (
    /(?:^|\s)(?:the|these|those|my|last|first|next|other|of the|all|que|die|den|les|los|las)\s*$/i.test(
      near,
    )
  )
    return false
  if (bareBefore.test(near) || perAnswer.test(right) || wholeAnswers.test(near)) return true
  const start = removeLead(left)
  if (start === '')
    return /^(?:$|[\s]*[,.:!?)。,]|\s(?:answers?|replies|responses?)\b|\s(?:please|pls|only|total|from|for|each|per|every|always|in|as|about|on|explaining|summary|summari))/i.test(
      right,
    )
  return (
    ((segment.holds === 'always' || segment.isChange || segment.condition !== undefined) &&
      /(?:^|[\s,])(?:make(?: it| that)?|(?:change|switch|cut|raise) (?:it|that) to|let's do|do|try|go for|say|want|like|need|prefer|gets?|be|is|are|write|give(?: me)?|just|only|prefiero|quiero|préfère|veux|möchte|toujours|siempre|immer|use|get|answers?|replies|responses?|回答|答え|用|で)[\s:]*$/i.test(
        near,
      )) ||
    (match[0] !== '' &&
      /^\s*(?:,|please|pls|from|always|in every|dorénavant|désormais)/i.test(right) &&
      segment.holds === 'always')
  )
}

const bareBefore =
  /(?<!\p{L})(?:now it(?:'s| is)|it(?:'s| is) now) $|(?:^|[\s,(])(?:in|with|using|en|mit|avec|con|auf|into|as|to)\s+(?:(?:just|only|about|a total of|total|nur|solo|sólo)\s+)?$|(?:用|以|写|每次|每次用|只用|请用|で)\s*$|^(?:これからは|今後は|必ず|毎回)+\s*$/iu
const perAnswer =
  /^\s?(?:(?:per|each|every|an?|por|par|pro|für jede|in (?:each|every|all)|for (?:each|every|all))\s(?:answers?|reply|response|message|msg|post|time|turn|text|respuesta|mensaje|réponse|message|antwort|nachricht)|at a time|回答|回复|作答|だけ|のみ|ずつ|に(?:変更|して|減ら|増や|戻|まとめ|収め)|で(?:答|返|お願|書|説明|回答)|の(?:回答|返事))/iu
const wholeAnswers =
  /(?:answers?|replies|reply|responses?|messages?|respuestas?|réponses?|antworten?|output)(?: \p{L}+){0,3}? (?:of|in|to|be|are|is|exactly|a|have|has|contain|get|gets|con|de|en|avec|mit|aus|ont|tienen|sind|haben)\s*$/iu

/** Returns the words between the last comma and the count, without fillers. */
function removeLead(left: string): string {
  const part =
    withoutScope(left)
      .split(/[,:]\s*/)
      .at(-1) ?? ''
  return removeGreetings(`${part} `).replace(fillers, '').trim()
}

const fillers =
  /^(?:(?:always|never|only|just|exactly|bitte|nur|noch|toujours|siempre|immer|in all|for each|a total of|with|for|in|on|auf|im|für|pour|para)(?:\s+|$))+/i

function unitOf(word: string, left: string): string | undefined {
  if (/^of /i.test(word)) {
    const [said] = [
      ...left.matchAll(new RegExp(`(?<![\\p{L}])(?:${unitSource})(?![\\p{L}])`, 'giu')),
    ].slice(-1)
    return said === undefined ? undefined : unitOf(said[0], '')
  }
  return unitPatterns.find(([, pattern]) => pattern.test(word))?.[0]
}

function toStatement({ holds, sentence }: Segment, unit: string, range: Range): Statement {
  return { kind: 'length', slot: `length:${unit}`, value: rangeText(range), holds, quote: sentence }
}
