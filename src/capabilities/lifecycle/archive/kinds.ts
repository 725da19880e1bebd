import type { RecordKind } from '../../storage/index.ts'

/** How rows of a kind lie in their table, for reading them in order and a piece at a time. */
export type ArchivedKind = {
  kind: RecordKind
  /** The column whose UTC day a row belongs to. */
  time: string
  /** Tells the records of a project apart; in this order pieces follow each other. */
  position: readonly PositionColumn[]
  /** What the table is ordered by before the position, where that differs. */
  order_before?: string
  /** A record that was sent again may have another time: only its latest version counts. */
  time_moves?: true
}

export type PositionColumn = { column: string; type: 'time' | 'uuid' | 'text' }

const text = (column: string): PositionColumn => ({ column, type: 'text' })
const time = (column: string): PositionColumn => ({ column, type: 'time' })
const trace: PositionColumn = { column: 'trace_id', type: 'uuid' }

/** The kinds of rows that are archived, in the order in which a run takes them. */
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

/** Names of the kinds, as requests have them. */
export const kindNames = ['observations', 'traces', 'events', 'links', 'correlations'] as const

/** A kind by its name. */
export function kindOf(name: RecordKind): ArchivedKind {
  const found = archivedKinds.find(({ kind }) => kind === name)
  if (found === undefined)
    throw new RangeError(`got the kind ${name}, expected one that is archived`)
  return found
}
