import type { Clock } from '../../../kernel/time.ts'
import type { Queue } from '../../../platform/queue/index.ts'
import { lostBefore } from '../../ledger/index.ts'
import type { LedgerStore, LedgerSums } from '../../storage/index.ts'
import type { SourceReader, Window } from './reading.ts'

export type LedgerParts = {
  ledger: Pick<LedgerStore, 'sums'>
  queue: Pick<Queue, 'stats'>
  clock: Clock
}

/**
 * Opens the source `ledger`: items that were rejected or lost, by the arrival of their request. An
 * item counts as lost once no queue can still hold it.
 */
export function ledgerReader(parts: LedgerParts): SourceReader {
  return async ({ project_id, cells, signal }) => {
    const lost_before_ms = await lostBefore(parts.queue, parts.clock.now_ms())
    const sums = new Map<Window, LedgerSums[]>()
    for (const { window } of cells) {
      signal.throwIfAborted()
      if (!sums.has(window)) {
        sums.set(window, await parts.ledger.sums(project_id, { ...window, lost_before_ms }))
      }
    }
    const values = cells.map(({ amount, window }) => {
      const paths = sums.get(window) ?? []
      const count = paths.reduce((all, { accepted }) => all + accepted, 0)
      const items = paths.map((path) => itemsOf(amount === 'lost' ? path.lost : path.rejected))
      return { value: items.reduce((all, one) => all + one, 0), count }
    })
    return { groups: [{ group: {}, values }], total: 1 }
  }
}

function itemsOf(reasons: Readonly<Record<string, number>>): number {
  return Object.values(reasons).reduce((all, items) => all + items, 0)
}
