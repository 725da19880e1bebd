import type { ToolUse } from '../reconstruction/contract.ts'
import { remember } from './remember.ts'
import { jaccard, tokenSet } from './tokens.ts'
import { argumentsOf } from './tool-words.ts'

/** The words of a call's arguments: all of them, and by top-level key. */
export type ArgumentWords = {
  all: ReadonlySet<string>
  values: ReadonlyMap<string, ReadonlySet<string>>
}

const keys_max = 32

/** The words of a call's arguments, once per call. */
export const argumentWordsOf = remember((use: ToolUse): ArgumentWords => {
  const values = new Map<string, ReadonlySet<string>>()
  for (const [key, value] of Object.entries(argumentsOf(use)).slice(0, keys_max)) {
    values.set(key, tokenSet(typeof value === 'string' ? value : (JSON.stringify(value) ?? '')))
  }
  return { all: tokenSet((use.arguments ?? '').replace(/\\[nrt"]/g, ' ')), values }
})

/** How alike two calls' arguments are; `loosely`: one value is quite another one. */
export type Likeness = 'closely' | 'loosely' | 'not'

/** What values of one key share at least, or they may ask for different things. */
const valueJaccard_min = 0.5

/**
 * Whether two calls ask the same in other words: the same set of words, or nearly so. Where only
 * numbers differ it is counting, which is no likeness.
 */
export function likenessOf(
  one: ArgumentWords,
  other: ArgumentWords,
  jaccard_min: number,
): Likeness {
  const alike = jaccard(one.all, other.all)
  if (alike === 1) return 'closely'
  if (alike < jaccard_min || differInNumbersOnly(one.all, other.all)) return 'not'
  for (const [key, words] of one.values) {
    const others = other.values.get(key)
    if (others !== undefined && jaccard(words, others) < valueJaccard_min) return 'loosely'
  }
  return 'closely'
}

function differInNumbersOnly(one: ReadonlySet<string>, other: ReadonlySet<string>): boolean {
  return [...added(one, other), ...added(other, one)].every((word) => /\p{N}/u.test(word))
}

function added(to: ReadonlySet<string>, words: ReadonlySet<string>): string[] {
  return [...words].filter((word) => !to.has(word))
}
