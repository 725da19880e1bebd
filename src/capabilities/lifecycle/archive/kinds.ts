import type { RecordKind } from '../../storage/index.ts'

/** The order of a kind's rows in their table, for reading them in pieces. */
export type ArchivedKind = {
  kind: RecordKind
  /** The column whose UTC day a row belongs to. */
  time: string
  /** Columns that identify a record of a project; pieces are read in their order. */
  position: readonly PositionColumn[]
  /** Expression that the table is ordered by before the position, if any. */
  order_before?: string
  /** A record that is sent again may have another time; only its latest version counts. */
  time_moves?: true
}

export type PositionColumn = { column: string; type: 'time' | 'uuid' | 'text' }

const text = (column: string): PositionColumn => ({ column, type: 'text' })
const time = (column: string): PositionColumn => ({ column, type: 'time' })
const trace: PositionColumn = { column: 'trace_id', type: 'uuid' }

/** The kinds of rows that are archived, in the order of a run. */
export const archivedKinds: readonly ArchivedKind[] = [
  {
    kind: 'observations',
    time: 'start_time',
    position: [time('start_time'), trace, text('observation_id')],
  },
  {
    kind: 'traces',
    time: 'time',
    order_before: 'toDate(time)',
    position: [trace],
    time_moves: true,
  },
  {
    kind: 'events',
    time: 'time',
    position: [trace, time('time'), text('observation_id'), text('event_id')],
  },
  {
    kind: 'links',
    time: 'time',
    position: [trace, time('time'), text('observation_id'), text('link_id')],
  },
  {
    kind: 'correlations',
    time: 'time',
    position: [text('correlation_type'), text('correlation_value'), trace, text('observation_id')],
    time_moves: true,
  },
]

/** Names of the kinds in requests. */
export const kindNames = ['observations', 'traces', 'events', 'links', 'correlations'] as const

/** Returns a kind by its name. */
export function kindOf(name: RecordKind): ArchivedKind {
  const match = archivedKinds.find(({ kind }) => kind === name)
  if (match === undefined) throw new RangeError(`got the kind ${name}, expected an archived kind`)
  return match
}
