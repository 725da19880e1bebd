import type { Statement } from '../../../contract.ts'
import { readWhen } from '../conditions.ts'
import { findMarks, findTopics } from '../reading/find-topics.ts'
import { forbid, requiredAt } from '../reading/read-words.ts'
import { phrasesIn } from '../sentence/quotes.ts'
import type { Segment, Sentence } from '../sentence/segments.ts'
import { boundOf, numberOf, numberSource, rangeOf, rangeText } from '../vocabulary/amounts.ts'
import { findLanguageCode, languageSource } from '../vocabulary/language-names.ts'
import { classify } from './classify.ts'

/**
 * Reads the rule that a sentence in an unknown wording probably gives, if the words show what it asks for. It lasts,
 * unless the sentence says otherwise.
 */
export function readLikely({ segments, written }: Sentence): Statement[] {
  const [first] = segments
  if (first === undefined || written.length > sentence_chars_max) return []
  const [condition, ...others] = segments.flatMap(({ condition: said }) => said ?? [])
  const when = condition === undefined ? undefined : readWhen(condition, first.phrases)
  if (others.length > 0 || (condition !== undefined && when === undefined)) return []
  const kind = classify(written)
  if (kind === undefined) return []
  const whole = { ...first, text: segments.map(({ text }) => text).join(': ') }
  return statementsOf(kind, whole).map((read) => ({
    ...read,
    holds: first.isOnce ? 'turn' : 'always',
    quote: written,
    is_likely: true,
    ...(first.until !== undefined && { until: first.until }),
    ...(when !== undefined && { when }),
  }))
}

const sentence_chars_max = 400

type Read = Pick<Statement, 'kind' | 'slot' | 'value'>

function statementsOf(kind: string, segment: Segment): Read[] {
  const form = forms[kind]
  if (form !== undefined) return [{ kind: 'format', slot: form[0], value: form[1] }]
  return readers[kind]?.(segment) ?? []
}

const forms: Readonly<Record<string, readonly [slot: string, value: string]>> = {
  no_emoji: ['emoji', 'none'],
  emoji_required: ['emoji', 'some'],
  no_bullets: ['bullets', 'none'],
  numbered_list: ['bullets', 'numbered'],
  no_heading: ['heading', 'none'],
  no_bold: ['bold', 'none'],
  no_italics: ['italics', 'none'],
  no_links: ['links', 'none'],
  no_code: ['code', 'none'],
  code_only: ['code', 'only'],
  no_table: ['table', 'none'],
  format_table: ['table', 'table'],
  format_json: ['shape', 'json'],
  format_csv: ['shape', 'csv'],
  no_markdown: ['shape', 'plain'],
  yes_no: ['shape', 'yes_no'],
  no_quotes: ['quotes', 'none'],
  no_question: ['question', 'none'],
  ends_with_question: ['ending', 'question'],
  no_digits: ['digits', 'none'],
  no_numbers: ['numbers', 'none'],
  all_lower: ['case', 'lower'],
  all_upper: ['case', 'upper'],
  title_case: ['case', 'title'],
}

const readers: Readonly<Record<string, (segment: Segment) => Read[]>> = {
  sentences: (segment) => readLength(segment, 'sentences'),
  words: (segment) => readLength(segment, 'words'),
  characters: (segment) => readLength(segment, 'characters'),
  lines: (segment) => readLength(segment, 'lines'),
  paragraphs: (segment) => readLength(segment, 'paragraphs'),
  bullets: (segment) => readLength(segment, 'bullets'),
  language: readLanguage,
  no_letter: readLetter,
  no_punctuation: readSigns,
  forbidden_word: (segment) => onePhrase(segment).map((phrase) => forbid(segment, phrase)),
  required_word: (segment) => onePhrase(segment).map((phrase) => uses(phrase, { min: 1 })),
  word_count: readUses,
  first_word: (segment) => onePhrase(segment).map((phrase) => requiredAt(segment, 'start', phrase)),
  starts_with: (segment) =>
    onePhrase(segment).map((phrase) => requiredAt(segment, 'start', phrase)),
  last_word: (segment) => onePhrase(segment).map((phrase) => requiredAt(segment, 'end', phrase)),
  ends_with: (segment) => onePhrase(segment).map((phrase) => requiredAt(segment, 'end', phrase)),
  signature: (segment) => onePhrase(segment).map((phrase) => requiredAt(segment, 'end', phrase)),
}

/** The kinds that are read, all that the classifier knows. */
export const likelyKinds: readonly string[] = [...Object.keys(forms), ...Object.keys(readers)]

const number = new RegExp(
  `(?<![\\p{L}\\p{N}.,-])(?:${numberSource})(?![\\p{L}\\p{N}]|[.,]\\d)`,
  'giu',
)
const article = /^(?:an?|une?|una?|eine?\p{L}?)$/iu

/** A sentence with one number limits by it; without a bound, it is the most. */
function readLength({ text }: Segment, unit: string): Read[] {
  const numbers = [...text.matchAll(number)].filter(([said]) => !article.test(said))
  const [only] = numbers
  const count = numberOf(only?.[0] ?? '')
  if (only === undefined || numbers.length > 1 || count === undefined || count === 0) return []
  const bound = boundOf(text.slice(0, only.index), text.slice(only.index + only[0].length))
  const range = rangeOf(bound === 'bare' || bound === 'above' ? 'max' : bound, count)
  return [{ kind: 'length', slot: `length:${unit}`, value: rangeText(range) }]
}

const languageName = new RegExp(
  `(?<![\\p{Script=Latin}])(?:${languageSource})(?![\\p{Script=Latin}])`,
  'giu',
)

function readLanguage({ text }: Segment): Read[] {
  const codes = new Set([...text.matchAll(languageName)].map(([name]) => findLanguageCode(name)))
  const [code] = codes
  return codes.size === 1 && code !== undefined
    ? [{ kind: 'language', slot: 'language', value: code }]
    : []
}

function readLetter({ text, phrases }: Segment): Read[] {
  const quoted = phrasesIn(text, phrases).filter((phrase) => /^\p{L}$/u.test(phrase))
  const [, named] =
    /(?<!\p{L})(?:letters?|buchstaben?|letra|lettre|字母) (\p{L})(?!\p{L})/iu.exec(text) ?? []
  const letters = [...quoted, ...(named === undefined ? [] : [named])]
  const [letter] = letters
  return letters.length === 1 && letter !== undefined
    ? [{ kind: 'format', slot: `letter:${letter.toLowerCase()}`, value: 'none' }]
    : []
}

function readSigns(segment: Segment): Read[] {
  const hits = [...findTopics(segment.text), ...findMarks(segment)]
  const slots = new Set(
    hits.flatMap(({ topic: { slot } }) => (slot.startsWith('sign:') ? slot : [])),
  )
  return [...slots].map((slot) => ({ kind: 'format', slot, value: 'none' }))
}

function onePhrase({ text, phrases }: Segment): string[] {
  const found = phrasesIn(text, phrases).filter((phrase) => /[\p{L}\p{N}]/u.test(phrase))
  return found.length === 1 ? found : []
}

function uses(phrase: string, range: { min?: number; max?: number }): Read {
  return {
    kind: 'required',
    slot: `uses:${phrase.toLowerCase()}`,
    value: `${rangeText(range)} ${phrase}`,
  }
}

function readUses(segment: Segment): Read[] {
  const [length] = readLength(segment, 'words')
  const [low = '', high = ''] = length?.value.split('..') ?? []
  const range = {
    ...(low !== '' && { min: Number(low) }),
    ...(high !== '' && { max: Number(high) }),
  }
  return length === undefined ? [] : onePhrase(segment).map((phrase) => uses(phrase, range))
}
