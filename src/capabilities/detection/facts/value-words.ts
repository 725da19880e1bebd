import type { CheckedValue } from '../../provenance/sources/index.ts'
import { cutText } from './finding-parts.ts'

/** Names a value in the comparison of answers. */
export function wordsOfValue({ kind, value }: CheckedValue): string {
  return `${kind} ${value.toLowerCase()}`
}

/** Says how many values have a source, and the first without: "11 of 12 values found; not found: 4242". */
export function summaryOf(
  values: readonly CheckedValue[],
  [first]: readonly CheckedValue[],
  { found, total }: { found: number; total: number },
): string {
  const others = values.length === 1 ? '' : ` and ${values.length - 1} more`
  const shown = `“${shorten(first?.value ?? '')}”${others}`
  const counted = `${found} of ${total} values of the answer ${found === 1 ? 'was' : 'were'} found in what the agent saw`
  if (first?.verdict === 'other_subject') return `${counted}; of another subject: ${shown}.`
  return `${counted}; not found: ${shown}.`
}

/** Says why a value has no source, and what may explain it. */
export function noteOf({ verdict, instead, doubt, subject = '' }: CheckedValue): string {
  const seen = instead === undefined ? '' : `: “${shorten(instead.quote)}” was seen`
  if (verdict === 'other_subject') return `seen, but not of “${shorten(subject)}”${seen}`
  const why = doubt === undefined ? '' : whyRight[doubt]
  return `not found in what the agent saw${seen}${why === '' ? '' : `; ${why}`}`
}

const whyRight: Readonly<Record<NonNullable<CheckedValue['doubt']>, string>> = {
  incomplete: '',
  own_call: 'only a call of the agent names it',
  coarse: 'it is rounded',
  calculable: 'it may be calculated',
  hypothetical: 'it may be an example or an estimate',
  general: 'it may be general knowledge',
  sign: 'it was seen with the other sign',
}

/** Cuts a value for a sentence. */
export const shorten = (text: string) => cutText(text, 120)
