import { isModelCall } from '../../../model/observation.ts'
import { hasOpenCall } from '../../records/same-call/index.ts'
import type { ObservationHead } from '../../storage/row-format/index.ts'

/** Facts of a trace's calls, as bits beside those of `ownerBits`. */
const callBits = {
  /** Gives: there is a call. Wants: a call may be inside one that is not stored. */
  call: 32,
  /** Gives: there is a record of the proxy. Wants: there is a call of another source. */
  record: 64,
} as const

export type TraceBits = { gives: number; wants: number }

/**
 * Adds the facts of calls to those of owners. While a trace has no bit both in `gives` and in `wants`,
 * a new row can neither give stored rows an owner nor be the same call as one of them. Where calls were
 * merged, each further batch is compared with the stored rows, because a row that is sent again comes
 * without what was found.
 */
export function withCallBits(
  rows: readonly ObservationHead[],
  { gives, wants, has_merged = false }: TraceBits & { has_merged?: boolean },
): TraceBits {
  const isOpen = has_merged || hasOpenCall(rows)
  for (const row of rows) {
    if (!isModelCall(row)) continue
    gives |= callBits.call | (row.source === 'proxy' ? callBits.record : 0)
    wants |= (isOpen ? callBits.call : 0) | (row.source === 'proxy' ? 0 : callBits.record)
  }
  return { gives, wants }
}
