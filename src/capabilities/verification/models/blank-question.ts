import type { ValueKind } from '../../provenance/values/index.ts'
import { readValues } from '../../provenance/values/index.ts'

/** A claim with blanks instead of what it states. */
export type BlankQuestion = {
  /** Text with `____1`, `____2` and so on. */
  sentence: string
  /** The text that each blank stands for, in order. */
  blanks: readonly Blank[]
}

export type Blank = { kind: ValueKind | 'name'; text: string }

/** Claims with more values, such as rows of a table, are not asked for. */
const blanks_max = 4
const claim_chars_max = 1_000

/** Words with a capital that are not the first of the text, next to each other. */
const namePattern =
  /(?<=[\p{L}\p{N},;:)"'’-]\s)\p{Lu}[\p{L}\p{N}'’-]*(?:\s\p{Lu}[\p{L}\p{N}'’-]*)*/gu

/**
 * Makes the question behind a claim: its values are blanks, or its last name when it has no value.
 * Returns undefined for a claim without either, and for one with too many values.
 */
export function toBlankQuestion(claim: string): BlankQuestion | undefined {
  const text = claim.slice(0, claim_chars_max)
  const values = readValues(text)
  if (values.length > blanks_max || claim.length > claim_chars_max) return undefined
  if (values.length > 0) {
    return fillBlanks(
      text,
      values.map(({ kind, text: value, at }) => ({ kind, text: value, at })),
    )
  }
  const last = [...text.matchAll(namePattern)].at(-1)
  if (last === undefined) return undefined
  const [name] = last
  const places = [...text.matchAll(new RegExp(RegExp.escape(name), 'gu'))]
  const question = fillBlanks(
    text,
    places.map(({ index }) => ({ kind: 'name', text: name, at: [index, index + name.length] })),
  )
  return { ...question, blanks: question.blanks.slice(0, 1) }
}

type Place = Blank & { at: readonly [start: number, end: number] }

/** Equal texts get the same blank. */
function fillBlanks(text: string, places: readonly Place[]): BlankQuestion {
  const blanks: Blank[] = []
  const parts: string[] = []
  let from = 0
  for (const { kind, text: value, at } of places) {
    const [start, end] = at
    const known = blanks.findIndex((blank) => blank.text === value)
    const number = known < 0 ? blanks.push({ kind, text: value }) : known + 1
    parts.push(text.slice(from, start), `____${number}`)
    from = end
  }
  return { sentence: parts.join('') + text.slice(from), blanks }
}
