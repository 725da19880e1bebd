import type { Statement } from '../../../contract.ts'
import { removeGreetings } from '../sentence/mood.ts'
import { withoutScope } from '../sentence/scope.ts'
import type { Segment } from '../sentence/segments.ts'
import {
  type Bound,
  boundOf,
  numberOf,
  numberSource,
  type Range,
  rangeOf,
  rangeText,
} from '../vocabulary/amounts.ts'

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
  `(?:${edge}|(?=${cjkNumber}))(?:(?:(?:between|from|zwischen|entre|de|von) )?(?<low>${numberSource})\\s?(?:-|–|—|to|and|or|bis|und|oder|a|y|o|à|et|ou|到|至|〜|~|から)\\s?)?(?<n>${numberSource})(?<more>\\+| or (?:more|less|fewer))?[ -]?${adjectives}(?<unit>${unitSource}|of (?:them|these|those))(?![\\p{Script=Latin}\\d])`,
  'giu',
)
/** "Word limit: 50", "length in words: at most 50". */
const labelled = new RegExp(
  `${edge}(?<unit>words?|sentences?|characters?|chars?|lines?|paragraphs?|bullets?)(?: count| limit| maximum| max)?(?: per \\p{L}+)?(?:\\s?[:=]\\s?| is | of | = )(?<how>\\p{L}[\\p{L} ]{1,20} )?(?<n>${numberSource})(?![\\p{L}\\d-])`,
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
  const label = labelled.exec(segment.head === '' ? text : `${segment.head}: ${text}`)
  const count = numberOf(label?.groups?.['n'] ?? '')
  if (label === null || count === undefined || !segment.isAskedAt(0)) return []
  const unit = unitOf(label.groups?.['unit'] ?? '', '') ?? ''
  const bound = boundOf(label.groups?.['how'] ?? label[0].slice(0, 20), '')
  return [toStatement(segment, unit, rangeOf(bound === 'bare' ? 'max' : bound, count))]
}

const mayCount = new RegExp(`${unitSource}|of them|of these|of those`, 'iu')

function statementFrom(segment: Segment, match: RegExpExecArray): Statement | undefined {
  const { text } = segment
  const { low: least = '', n = '', unit: said = '' } = match.groups ?? {}
  const before = text.slice(0, match.index)
  const left = isHeadOf(segment, before) ? `${segment.head} ${before}` : before
  const right = text.slice(match.index + match[0].length)
  const isOther = isThing(said, `${segment.head} ${text}`) || isOfAPart(left, right)
  const unit = isOther || !segment.isAskedAt(match.index) ? undefined : unitOf(said, left)
  const count = numberOf(n)
  if (unit === undefined || count === undefined || count === 0) return undefined
  if (isCountedOtherwise(unit, count, text)) return undefined
  const low = numberOf(least)
  if (low !== undefined && low < count) return toStatement(segment, unit, { min: low, max: count })
  const bound = boundBeside(match.groups?.['more']) ?? boundOf(left, right)
  const isUnasked = bound === 'bare' && !isBareLimit({ segment, match, left, right })
  if (isUnasked) return undefined
  return toStatement(segment, unit, rangeOfBare(bound, unit, count, match[0]))
}

/** Tells whether a count is of sections between dividers, or of a name or a title. */
function isCountedOtherwise(unit: string, count: number, text: string): boolean {
  if (unit === 'paragraphs') return /divider|separat|asterisk/i.test(text)
  const isName = unit === 'characters' && count < characters_min
  return isName && !/[\p{Script=Han}\p{Script=Hiragana}]/u.test(text) && !ofAnswer.test(text)
}

/** A text of fewer characters is a name or a title, if the rule does not speak of answers. */
const characters_min = 40
const ofAnswer = /answer|repl|respon|message|tweet|post|text me/i

/** "600+ words", "45 or less words". */
function boundBeside(more: string | undefined): Bound | undefined {
  if (more === undefined) return undefined
  return /less|fewer/i.test(more) ? 'max' : 'min'
}

/** "Five sentences that begin with …", "ten words in capitals". */
const ofSome =
  /^(?: or \p{L}+)? (?:(?:in|with|of)(?: all| only)? (?:caps|capitals?|upper|lower|bold|italics?)|(?:that|which) (?:begin|start|end|contain|use|have)|(?:beginning|starting|ending) (?:with|in)|(?:with|by) ["'“⟦])/iu

const answerNoun =
  /^\s*(?:answers?|repl|respon|summar|texts?|posts?|messages?|description|blurb|version|explanation|intro)/i

/** Tells whether the part before a colon belongs to a count: it is near, or says "do not". */
function isHeadOf({ head }: Segment, before: string): boolean {
  return before.trim() === '' || /(?:not|never|don't|avoid)\W*$/i.test(head)
}

/** A bare count of many words or characters is a wish for about that length. */
function rangeOfBare(bound: Bound, unit: string, count: number, said: string): Range {
  const isRough = count >= 30 || /-/.test(said)
  if (bound === 'bare' && isRough && (unit === 'words' || unit === 'characters')) {
    return rangeOf('about', count)
  }
  // "In one word" asks for nothing longer.
  if (count === 1 && unit === 'words' && (bound === 'bare' || bound === 'exact')) return { max: 1 }
  return rangeOf(bound, count)
}

/** "Five items" are points of a list only if the text speaks of answers or lists. */
function isThing(unit: string, text: string): boolean {
  return (
    /^(?:items|points|entries|puntos)$/i.test(unit) &&
    !/list|bullet|answer|repl|response|aufz|puce|viñeta/i.test(text)
  )
}

/** Tells whether a count is of a part of the answer, or of something else. */
function isOfAPart(left: string, right: string): boolean {
  return (
    /(?:^|\s)(?:per|each|every|a|pro|por|par|cada|chaque|jede[rsnm]?|in (?:each|every|the)) (?:section|item|bullet|point|paragraph|line|step|stanza|verse|row|cell|topic|part|idea|absatz|punkt|párrafo|punto|point|paragraphe)/i.test(
      right.slice(0, 40),
    ) ||
    /(?:(?:each|every|per|any|jede[rsnm]?|cada|chaque) (?:section|item|bullet(?: point)?|point|paragraph|line|step|sentence|verse|title|heading|headline|row|cell)|(?:first|last|opening|closing|final) (?:sentence|line|paragraph|word)|(?:paragraphs?|bullets?|lines|sentences?|items|points|sections|titles?|names|slogans|headlines|options|words) (?:of|with|containing|that have|in|à|de|mit|von|con)|the (?:first|last|next|same|other|previous)|these|those|my|your (?:first|last))(?: \p{L}+){0,3}[\s(]*$/iu.test(
      left.slice(-60),
    ) ||
    /(?<!(?:\d|one|two|three|four|five|six|single|few) )(?<!\p{L})(?:sentences?|bullets?|bullet points?|list items?)(?: (?!and\b|or\b|but\b|in\b|for\b|per\b|with a\b)\p{L}+){0,4}[\s(]*$/iu.test(
      left.slice(-60),
    ) ||
    /^\s*(?:each|apiece)(?! (?:time|answer|reply|response|message)|,? always)/i.test(right) ||
    ofSome.test(right) ||
    /^(?:[ -](?:old|away|per (?:minute|hour|day|page)|a (?:day|minute|page)|spacing|document|essay|story|article|novel|poem|letter word|limit (?:on|for) (?:my|our|the)|of (?:an?|the|each|every|their) (?:\p{L}+'s|customer|user|client)))/iu.test(
      right,
    )
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
  /(?:^|[\s,(])(?:in|with|using|en|mit|avec|con|auf|into|as|to)\s+(?:(?:just|only|about|a total of|total|nur|solo|sólo)\s+)?$|(?:用|以|写|每次|每次用|只用|请用|で)\s*$|^(?:これからは|今後は|必ず|毎回)+\s*$/iu
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
