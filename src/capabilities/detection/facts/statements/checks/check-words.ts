import { findPhrase, mentions, sentencesOf } from '../../../../provenance/text/index.ts'
import type { Statement } from '../../../contract.ts'
import { readRange } from '../vocabulary/amounts.ts'
import type { AnswerText } from './answer-text.ts'
import { type Breach, toBreach } from './breach.ts'

const hasNoSpaces = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/u

/**
 * Checks for a forbidden word; it is allowed in code, in quotes and where the answer declines to
 * use it.
 */
export function checkForbidden({ value }: Statement, { voice }: AnswerText): Breach | undefined {
  const has = (text: string) =>
    hasNoSpaces.test(value)
      ? text.includes(value)
      : mentions(text, value) || mentions(text, `${value}s`)
  if (!has(voice)) return undefined
  const said = sentencesOf(voice).find((sentence) => has(sentence) && !declines.test(sentence))
  return said === undefined
    ? undefined
    : toBreach(`The answer says "${value}": ${said.slice(0, 200)}`, 0.92)
}

const declines =
  /\b(?:won't|will not|not allowed to|avoid(?:ing)? (?:the|using|saying)|don't (?:use|say|mention|discuss)|do not (?:use|say|mention|discuss)|rather not|without (?:using|saying|mentioning)|never (?:use|say|mention)|the (?:word|term|phrase)|can(?:'t|not) (?:use|say|mention|discuss))\b/i

/** Maximum distance of required words from the start or end: marks and an emoji. */
const margin_chars = 6

/** Checks for words required in every answer. */
export function checkRequired(
  { slot, value }: Statement,
  { text }: AnswerText,
): Breach | undefined {
  if (slot.startsWith('uses:')) return checkUses(value, text)
  const wanted = plain(value)
  const said = plain(text)
  if (wanted === '' || said === '') return undefined
  const where = slot.split(':')[1]
  const at = where === 'end' ? said.lastIndexOf(wanted) : said.indexOf(wanted)
  if (at === -1) return toBreach(`The answer lacks "${value}".`, 0.92)
  const isOff =
    (where === 'end' && said.length - at - wanted.length > margin_chars) ||
    (where === 'start' && at > margin_chars)
  return isOff ? toBreach(`"${value}" is not at the ${where} of the answer.`, 0.85) : undefined
}

/** Counts the uses of a word; a value is a range and the word: `2..2 harbour`. */
function checkUses(value: string, text: string): Breach | undefined {
  const [range = '', ...rest] = value.split(' ')
  const phrase = rest.join(' ')
  const { min = 0, max = Number.POSITIVE_INFINITY } = readRange(range)
  const count = countUses(text, phrase)
  const loose = plain(text).split(plain(phrase)).length - 1
  if (count.high < min && loose < min) {
    return toBreach(
      count.high === 0
        ? `The answer lacks "${phrase}".`
        : `The answer has "${phrase}" ${count.high} times, fewer than ${min}.`,
      0.92,
    )
  }
  return count.low > max
    ? toBreach(`The answer has "${phrase}" ${count.low} times, more than ${max}.`, 0.85)
    : undefined
}

function countUses(text: string, phrase: string): { low: number; high: number } {
  const low = text.toLowerCase()
  const wanted = phrase.toLowerCase()
  let whole = 0
  for (let rest = low; ; whole++) {
    const at = findPhrase(rest, wanted)
    if (at === -1) break
    rest = rest.slice(at + wanted.length)
  }
  return {
    low: hasNoSpaces.test(phrase) ? low.split(wanted).length - 1 : whole,
    high: low.split(wanted).length - 1,
  }
}

function plain(text: string): string {
  return text
    .toLowerCase()
    .replace(/[*_`"“”'‘’「」『』«»]/g, '')
    .replace(/\s+/g, ' ')
    .replace(/[.,!:;。！—–-]+( |$)/g, '$1')
    .trim()
}
