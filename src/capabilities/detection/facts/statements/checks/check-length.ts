import type { Statement } from '../../../contract.ts'
import { readRange } from '../vocabulary/amounts.ts'
import type { AnswerText, Count } from './answer-text.ts'
import { type Breach, toBreach } from './breach.ts'

/**
 * Checks the length of an answer. People count words and sentences differently, so that a count is
 * a range: an answer is too long if its lowest count is, and too short if its highest count is.
 */
export function checkLength({ slot, value }: Statement, answer: AnswerText): Breach | undefined {
  const unit = slot.slice('length:'.length)
  const count = countOf(unit, answer)
  const { min, max } = readRange(value)
  if (count === undefined) return undefined
  if (max !== undefined && count.low > max) {
    return toBreach(
      `The answer has ${count.low} ${unit}, more than ${max}.`,
      confidenceOf(count.low / Math.max(1, max)),
    )
  }
  if (min !== undefined && count.high < min) {
    return toBreach(
      `The answer has ${count.high} ${unit}, fewer than ${min}.`,
      confidenceOf(min / Math.max(1, count.high)),
    )
  }
  return undefined
}

/** The further a count is from its bound, the surer is the breach. */
function confidenceOf(ratio: number): number {
  if (ratio >= 1.5) return 0.9
  return ratio >= 1.2 ? 0.85 : 0.75
}

function countOf(unit: string, answer: AnswerText): Count | undefined {
  switch (unit) {
    case 'words':
      return answer.words
    case 'sentences':
      return answer.sentences
    case 'characters':
      return answer.characters
    case 'lines':
      return { low: answer.lines, high: answer.lines }
    case 'paragraphs':
      return answer.paragraphs
    case 'bullets':
      return { low: answer.bullets, high: answer.bullets }
    default:
      return undefined
  }
}
