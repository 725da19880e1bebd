import type { Owner } from '../../records/ownership/index.ts'
import type { StoredHead, TimelineRow, UsageColumns } from '../../storage/index.ts'
import { type Placed, type PlacedChange, placeRows } from '../traces/place-rows.ts'
import type { ForeignRecord } from '../traces/recent-responses.ts'

/** Reads a stored row by the rules of today: the owner that it names itself, and its usage. */
export type ReadAgain = (row: TimelineRow) => { owner: Owner; usage: UsageColumns }

/**
 * Finds owners and counted calls of the rows of whole traces from what the rows say themselves; pure.
 * A row that a record of another trace counts stays so: that record is not among the rows.
 */
export function placeAgain(
  rows: readonly TimelineRow[],
  foreign: readonly ForeignRecord[],
  readAgain: ReadAgain,
): Placed {
  const ids = new Set(rows.map(({ trace_id, observation_id }) => `${trace_id} ${observation_id}`))
  const said = rows.map((row): StoredHead => {
    const { owner, usage } = readAgain(row)
    return { ...row, ...usage, ...owner, counted_with: '' }
  })
  const { changes, settled } = placeRows(said, foreign)
  const to = new Map(changes.map((change) => [change.row, change.to]))
  return {
    settled,
    changes: rows.flatMap((row, at): PlacedChange[] => {
      const own = said[at]
      if (own === undefined) return []
      const found = to.get(own) ?? targetOf(own)
      const isElsewhere = row.counted_with !== '' && !ids.has(`${row.trace_id} ${row.counted_with}`)
      const counted_with = isElsewhere ? row.counted_with : found.counted_with
      const target = { ...found, counted_with }
      return isSame(row, target) ? [] : [{ row, to: target }]
    }),
  }
}

type Target = PlacedChange['to']

function targetOf(row: StoredHead): Target {
  const { task_id, task_name, task_implicit, user_id, release, counted_with } = row
  const { conversation_id, conversation_external_id } = row
  const talk = { conversation_id, conversation_external_id }
  return { task_id, task_name, task_implicit, user_id, release, ...talk, counted_with }
}

function isSame(row: StoredHead, target: Target): boolean {
  return (Object.keys(target) as (keyof Target)[]).every((field) => row[field] === target[field])
}
