import { compact } from '../../text/index.ts'
import type { Value } from '../../values/index.ts'
import type { Seen, Traits } from './seen.ts'

/** Compares values that were not found with the seen ones; each trait is read when needed. */
export class SeenTraits implements Traits {
  readonly #values: readonly Seen[]
  #shapes: ReadonlySet<string> | undefined
  #codes: ReadonlySet<string> | undefined

  constructor(values: readonly Seen[]) {
    this.#values = values
  }

  get shapes(): ReadonlySet<string> {
    this.#shapes ??= new Set(
      this.#values.flatMap(({ value }) => (value.kind === 'id' ? [shapeOf(value.text)] : [])),
    )
    return this.#shapes
  }

  get codes(): ReadonlySet<string> {
    this.#codes ??= new Set(
      this.#values.flatMap(({ value: { kind, text } }) => {
        const isLong = kind === 'number' && /^\d{6,}$/.test(text)
        return kind === 'id' || isLong ? [compact(text)] : []
      }),
    )
    return this.#codes
  }
}

/** Returns the form of an id: letters are kept, each digit is a `9`. */
export function shapeOf(text: string): string {
  return text.toLowerCase().replace(/\d/g, '9')
}

/** Returns the digits of a number, without the zeros at the end of a fraction. */
export function figuresOf({ text, amount }: Value): string {
  const digits = text.slice(0, 64).replace(/\D/g, '')
  const isFraction = amount !== undefined && !Number.isInteger(amount.written[0])
  return isFraction ? digits.replace(/0+$/, '') : digits
}
