import { isModelCall } from '../../../model/observation.ts'
import type { ObservationHead } from '../../storage/row-format/index.ts'

/** Facts of a trace's calls, as bits beside those of `ownerBits`. */
const callBits = {
  /** Gives: there is a call. Wants: a call has an ancestor that is not stored. */
  call: 32,
  /** Gives: there is a record of the proxy. Wants: there is a call of another source. */
  record: 64,
} as const

export type TraceBits = { gives: number; wants: number }

/**
 * Adds the facts of calls to those of owners. While a trace has no bit both in `gives` and in `wants`,
 * a new row can neither give stored rows an owner nor be the same call as one of them.
 */
export function withCallBits(
  rows: readonly Pick<ObservationHead, 'type' | 'source'>[],
  { gives, wants, is_open }: TraceBits & { is_open: boolean },
): TraceBits {
  for (const row of rows) {
    if (!isModelCall(row)) continue
    gives |= callBits.call | (row.source === 'proxy' ? callBits.record : 0)
    wants |= (is_open ? callBits.call : 0) | (row.source === 'proxy' ? 0 : callBits.record)
  }
  return { gives, wants }
}
