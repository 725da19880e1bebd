import type { Kind } from '../operator/index.ts'
import { UsageError } from './command.ts'
import { didYouMean } from './did-you-mean.ts'

/** Finds a kind by its kind, plural, singular or short name, in any case. Throws `UsageError`. */
export function findKind(kinds: readonly Kind[], word: string): Kind {
  const name = word.toLowerCase()
  const match = kinds.find(({ kind, plural, singular, short_names }) =>
    [kind.toLowerCase(), plural, singular, ...short_names].includes(name),
  )
  if (match !== undefined) return match
  const known = kinds.map(({ kind, short_names }) => `${kind} (${short_names.join(', ')})`)
  const names = kinds.flatMap(({ kind, plural, short_names }) => [kind, plural, ...short_names])
  const hint = didYouMean(word, names)
  throw new UsageError(`got "${word}", expected a kind: ${known.join(', ')}${hint}`)
}
