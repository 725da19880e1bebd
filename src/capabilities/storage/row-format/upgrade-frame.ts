import type { RowFrame } from '../../../model/row-frame.ts'
import { MalformedRow } from '../../../platform/columnar/row-binary/index.ts'
import { rowFormat } from './columns.ts'
import { endOfFirstHead } from './read-rows.ts'

/** The part of a frame that depends on the format of its rows. */
type FrameRows = Pick<RowFrame, 'row_format' | 'bytes' | 'eachRow'>

/**
 * Returns the rows of a frame in the current format, or undefined for an unknown format. A queue, a
 * spool and dead letters hold frames of earlier releases.
 */
export function upgradeFrame(frame: FrameRows): FrameRows | undefined {
  if (frame.row_format === rowFormat) return frame
  return frame.row_format === 1 ? upgradeFirst(frame) : undefined
}

/**
 * The columns that format 2 added after the columns of roll-ups, empty: `price_partial`,
 * `response_id`, `counted_with`, `usage_details`, `service_tier`, `cost_computed_usd`,
 * `cost_reported_usd`.
 */
const emptyUsage = Buffer.from([0, 0, 0, 0, 0, 1, 1])

function upgradeFirst({ bytes, eachRow }: FrameRows): FrameRows {
  const pieces: Buffer[] = []
  const visits: Parameters<Parameters<RowFrame['eachRow']>[0]>[] = []
  let at = 0
  const take = (...buffers: Buffer[]) => {
    for (const buffer of buffers) {
      pieces.push(buffer)
      at += buffer.length
    }
  }
  eachRow((kind, start, end, receipt) => {
    const from = at
    const head = kind === 'observations' ? headEnd(bytes, start) : undefined
    if (head === undefined) take(bytes.subarray(start, end))
    else take(bytes.subarray(start, head), emptyUsage, bytes.subarray(head, end))
    visits.push([kind, from, at, receipt])
  })
  return {
    row_format: rowFormat,
    bytes: Buffer.concat(pieces),
    eachRow: (visit) => {
      for (const one of visits) visit(...one)
    },
  }
}

/** Returns undefined for a malformed row: its reader will name the fault. */
function headEnd(bytes: Buffer, start: number): number | undefined {
  try {
    return endOfFirstHead(bytes, start)
  } catch (error) {
    if (error instanceof MalformedRow) return undefined
    throw error
  }
}
