import { grammarWords, tokenize } from '../../provenance/text/index.ts'
import type { Day, Value } from '../../provenance/values/index.ts'
import { readValues } from '../../provenance/values/index.ts'
import { readWording } from './claim-words.ts'

type TextVerdict = 'supported' | 'contradicted' | 'unverifiable'

const yes =
  /^(?:yes|true|included|available|supported|enabled|allowed|ja|oui|sí|si|inklusive|inclus|incluido)$/iu
const no =
  /^(?:no|false|none|never|not (?:included|available|supported|enabled|allowed)|unavailable|excluded|unsupported|disabled|forbidden|nein|non)$/iu

/** Words that say that a subject has an attribute or not, besides words of grammar. */
const holding = new Set(
  terms(
    'include includes included including have has had come comes offer offers offered support ' +
      'supports supported provide provides provided contain contains feature features enable ' +
      'enabled allow allows allowed available part lack lacks lacking miss misses missing exclude ' +
      'excludes excluded without not no never also does do doesn don isn t cannot hat enthält ' +
      'bietet kein keine keinen nicht ohne inclut offre sans pas incluye ofrece sin',
  ),
)
const lacking =
  /(?<!\p{L})(?:lacks?|lacking|miss(?:es|ing)|excludes?|excluded|unavailable|fehlt)(?!\p{L})/iu

/** A text fact, and the words of a claim that belong to its subject and its attribute. */
type TextFact = { value: string; own: ReadonlySet<string> }

/**
 * Compares a claim that has all words of an attribute with a value that is a date, or yes or no.
 * A claim with further words may state a condition, so it stays open, like any other text.
 */
export function judgeTextFact(claim: string, { value, own }: TextFact): TextVerdict {
  const written = value.trim()
  if (yes.test(written) || no.test(written)) return judgeAnswer(claim, yes.test(written), own)
  const [known, ...more] = readDates(written)
  const isDate = known !== undefined && more.length === 0 && known.text.length >= written.length
  return isDate ? judgeDate(claim, known.days ?? []) : 'unverifiable'
}

function judgeAnswer(claim: string, isYes: boolean, own: ReadonlySet<string>): TextVerdict {
  const further = terms(claim).filter(
    (term) => !own.has(term) && !grammarWords.has(term) && !holding.has(term),
  )
  if (further.length > 0) return 'unverifiable'
  const denies = readWording(claim).isNegated !== lacking.test(claim)
  return denies === isYes ? 'contradicted' : 'supported'
}

function judgeDate(claim: string, days: readonly Day[]): TextVerdict {
  const [stated, ...more] = readDates(claim)
  if (stated?.days === undefined || more.length > 0 || readWording(claim).hasNegation)
    return 'unverifiable'
  const isEqual = (one: Day, other: Day) =>
    one.month === other.month &&
    (one.day === undefined || one.day === other.day) &&
    (one.year === undefined || one.year === other.year)
  if (stated.days.some((one) => days.some((other) => isEqual(one, other)))) return 'supported'
  const isFull = stated.days.every(({ year, day }) => year !== undefined && day !== undefined)
  return isFull ? 'contradicted' : 'unverifiable'
}

function readDates(text: string): Value[] {
  return readValues(text).filter(({ kind }) => kind === 'date')
}

function terms(text: string): string[] {
  return tokenize(text).map(({ term }) => term)
}
