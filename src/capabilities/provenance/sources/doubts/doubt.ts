import type { Value } from '../../values/index.ts'
import { openSentence } from '../lookup/open-sentence.ts'

/**
 * Why a value without a source may still be right. It is listed all the same, with low severity.
 * - `own_call`: only a call of the agent names it.
 * - `coarse`: it is rounded, or a month without a day.
 * - `calculable`: its sentence says that it was calculated, or a calculation that the sentence does
 *   not name gives it.
 * - `hypothetical`: the answer offers it as an example, an estimate, advice or an assumption.
 * - `general`: it may be common knowledge: a public address, a standard, a year.
 * - `sign`: it was seen with the other sign, which many answers leave out.
 */
export const doubts = [
  'own_call',
  'coarse',
  'calculable',
  'hypothetical',
  'general',
  'sign',
] as const

/** Why a value without a source may still be right. */
export type Doubt = (typeof doubts)[number]

/** Characters before a value that are read for what the sentence does with it. */
const before_chars = 120

/** Returns the sentence of a value up to it. */
export function sentenceBefore(text: string, { at: [start] }: Value): string {
  return openSentence(text.slice(Math.max(0, start - before_chars), start))
}

/** Words of examples, advice and estimates. */
export const hypothetical =
  /(?<!\p{L})(?:e\.g\.|for example|for instance|such as|like|say|assum\w*|suppos\w*|imagine|recommend\w*|suggest\w*|typical\w*|usual\w*|generally|often|normally|estimat\w*|z\.\s?B\.|zum Beispiel|beispielsweise|etwa|üblich\w*|meist\w*|in der Regel|angenommen|empfehle\w*|par exemple|en général|environ|supposons|por ejemplo|normalmente|supongamos)(?!\p{L})/iu
/** Words of conditions and limits. */
export const conditional =
  /(?<!\p{L})(?:if|would|could|might|should|up to|within|around|about|roughly|wenn|falls|würde\w*|könnte\w*|sollte\w*|bis zu|innerhalb|rund|si|serait|pourrait|jusqu'à|podría|hasta|unos)(?!\p{L})/iu
