import type { HistoryBreak } from './contract.ts'
import type { Head } from './heads.ts'
import type { ToldMessage } from './read-messages.ts'

/** Messages at the beginning that are the same. */
export function prefixOf(digests: readonly string[], messages: readonly ToldMessage[]): number {
  let at = 0
  while (at < digests.length && digests[at] === messages[at]?.digest) at++
  return at
}

export type Alignment =
  | { kind: HistoryBreak['kind']; lost: readonly number[] }
  | { kind: 'other' }

/** How a history differs from one that was sent before; thin for now. */
export function alignHistories(head: Head, messages: readonly ToldMessage[]): Alignment {
  const told = new Set(messages.map(({ digest }) => digest))
  const lost = [...head.digests.keys()].filter((at) => !told.has(head.digests[at] ?? ''))
  const kept = head.digests.length - lost.length
  if (kept <= head.systems) return { kind: 'other' }
  const isShorter = messages.length < head.digests.length
  return { kind: isShorter ? 'truncated' : 'edited', lost }
}
