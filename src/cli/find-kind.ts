import type { Kind } from '../operator/index.ts'
import { UsageError } from './command.ts'

/** The kind that a word names: its kind, plural, singular or a short name, in any case. */
export function kindNamed(kinds: readonly Kind[], word: string): Kind {
  const name = word.toLowerCase()
  const found = kinds.find(({ kind, plural, singular, short_names }) =>
    [kind.toLowerCase(), plural, singular, ...short_names].includes(name),
  )
  if (found !== undefined) return found
  const known = kinds.map(({ kind, short_names }) => `${kind} (${short_names.join(', ')})`)
  throw new UsageError(`got "${word}", expected a kind: ${known.join(', ')}`)
}
