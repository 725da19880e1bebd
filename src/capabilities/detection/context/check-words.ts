import type { AnswerText } from './answer-text.ts'
import type { Breach } from './breach.ts'
import type { Statement } from './ledger.ts'
import { mentions, sentencesOf } from './prose.ts'

/** A word that must not come: in code, in quotes and where the answer declines it, it may. */
export function checkForbidden({ value }: Statement, { voice }: AnswerText): Breach | undefined {
  if (!mentions(voice, value)) return undefined
  const said = sentencesOf(voice).find(
    (sentence) => mentions(sentence, value) && !declines.test(sentence),
  )
  return said === undefined
    ? undefined
    : { violation: `The answer says "${value}": ${said.slice(0, 200)}`, confidence: 0.92 }
}

const declines =
  /\b(?:can(?:'t|not| not)|won't|will not|not allowed|unable|not able|am not|avoid|instead of|shouldn't|don't (?:use|say|mention|discuss)|do not (?:use|say|mention|discuss)|rather not|without (?:using|saying|mentioning)|never (?:use|say|mention)|the word|the term|the phrase)\b/i

/** How far from the end or the start the words may stand: people count a signature as an end. */
const margin_chars = 40

/** Words that every answer must have. */
export function checkRequired(
  { slot, value }: Statement,
  { text }: AnswerText,
): Breach | undefined {
  const wanted = plain(value)
  const said = plain(text)
  if (wanted === '' || said === '') return undefined
  const where = slot.split(':')[1]
  const at = where === 'end' ? said.lastIndexOf(wanted) : said.indexOf(wanted)
  if (at === -1) return { violation: `The answer lacks "${value}".`, confidence: 0.92 }
  const isOff =
    (where === 'end' && said.length - at - wanted.length > margin_chars) ||
    (where === 'start' && at > margin_chars)
  return isOff
    ? { violation: `"${value}" is not at the ${where} of the answer.`, confidence: 0.7 }
    : undefined
}

function plain(text: string): string {
  return text
    .toLowerCase()
    .replace(/[*_`"“”'‘’]/g, '')
    .replace(/\s+/g, ' ')
    .replace(/[.,!:;]+( |$)/g, '$1')
    .trim()
}
