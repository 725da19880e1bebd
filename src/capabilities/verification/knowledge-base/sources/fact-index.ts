import { tokenize } from '../../../provenance/text/index.ts'
import type { Question } from '../../knowledge/library.ts'

/** Facts by the first word of their subject. */
export type FactIndex<F> = ReadonlyMap<string, readonly { fact: F; subject: string }[]>

/** Indexes facts, so that a claim is compared with those about its subjects only. */
export function indexFacts<F extends { subject: string }>(facts: readonly F[]): FactIndex<F> {
  const index = new Map<string, { fact: F; subject: string }[]>()
  for (const fact of facts) {
    const words = termsOf(fact.subject)
    const [first] = words
    if (first === undefined) continue
    const entry = { fact, subject: ` ${words.join(' ')} ` }
    const known = index.get(first)
    if (known === undefined) index.set(first, [entry])
    else known.push(entry)
  }
  return index
}

/** Returns the facts whose subject a claim or its question names. */
export function findFacts<F>(index: FactIndex<F>, { text, context = '' }: Question): F[] {
  const texts = [text, context].map(termsOf)
  const padded = texts.map((words) => ` ${words.join(' ')} `)
  return [...new Set(texts.flat())]
    .flatMap((word) => index.get(word) ?? [])
    .filter(({ subject }) => padded.some((words) => words.includes(subject)))
    .map(({ fact }) => fact)
}

function termsOf(text: string): string[] {
  return tokenize(text).map(({ term }) => term)
}
