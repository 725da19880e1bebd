import { type JsonObject, objectFrom } from '../../../kernel/json-values.ts'
import { tokens_max } from './reported-usage.ts'

/** Reads counts of a provider's JSON, and collects their faults. */
export class CountReader {
  readonly #faults: string[] = []
  #isAbsurd = false

  /**
   * Reads a count; undefined when it is not stated. Fractions are cut and noted. A negative count,
   * one above 2^40 and one that is not a number make the usage unbelievable.
   */
  count(value: unknown, field: string): number | undefined {
    if (value === undefined || value === null) return undefined
    const isReadable = typeof value === 'number' || typeof value === 'string'
    const number = isReadable && value !== '' ? Number(value) : Number.NaN
    if (Number.isSafeInteger(number) && number >= 0 && number <= tokens_max) return number
    this.#faults.push(`${field} is ${isReadable ? String(value).slice(0, 40) : 'not a number'}`)
    if (!(number >= 0 && number <= tokens_max)) this.#isAbsurd = true
    return this.#isAbsurd ? undefined : Math.trunc(number)
  }

  /** Reads the first of these fields that is stated, from an object or its parts. */
  first(holder: JsonObject | undefined, ...fields: string[]): number | undefined {
    if (holder === undefined) return undefined
    for (const field of fields) {
      const found = this.count(valueAt(holder, field), field)
      if (found !== undefined) return found
    }
    return undefined
  }

  /** Whether the counts can't be believed. */
  get isAbsurd(): boolean {
    return this.#isAbsurd
  }

  /** Faults of the counts; '' for good counts. */
  text(): string {
    return this.#faults.join('; ')
  }
}

/** Returns the value at a path with dots. */
function valueAt(holder: JsonObject, path: string): unknown {
  if (!path.includes('.')) return holder[path]
  let at: JsonObject | undefined = holder
  const steps = path.split('.')
  const last = steps.pop() ?? ''
  for (const step of steps) at = at && objectFrom(at[step])
  return at?.[last]
}
