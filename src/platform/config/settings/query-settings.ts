import { integer } from '../setting.ts'
import { gib, hours, mib, minutes, seconds } from './units.ts'

/** What one query may take of a store; over it, 400 `query_too_expensive`. Same for all projects. */
export const querySettings = {
  query_rows_read_max: integer({
    unit: 'rows',
    default: 100_000_000,
    min: 1,
    max: 1_000_000_000_000,
    reason:
      'Rows read in ClickHouse. A page in order of time ends when it is full and is held by bytes alone.',
  }),
  query_bytes_read_max: integer({
    unit: 'bytes',
    default: 20 * gib,
    min: mib,
    max: 1024 * gib,
    reason: 'Bytes read in ClickHouse, as they are in memory.',
  }),
  query_time_ms_max: integer({
    unit: 'ms',
    default: 10 * seconds,
    min: 100,
    max: hours,
    reason: 'Time in a store.',
  }),
  query_memory_bytes_max: integer({
    unit: 'bytes',
    default: gib,
    min: mib,
    max: 64 * gib,
    reason: 'Memory in ClickHouse.',
  }),
  query_result_rows_max: integer({
    unit: 'rows',
    default: 10_000,
    min: 1,
    max: 10_000,
    reason: 'Rows of an answer.',
  }),
  query_running_max: integer({
    unit: 'queries',
    default: 4,
    min: 1,
    max: 1_000,
    reason: 'Queries of one project that run at one time, in each process: others want to ask too.',
  }),
  query_waiting_max: integer({
    unit: 'queries',
    default: 20,
    min: 0,
    max: 10_000,
    reason: 'Queries of one project that wait for their turn; above, 429.',
  }),
  query_wait_ms_max: integer({
    unit: 'ms',
    default: 2 * seconds,
    min: 0,
    max: minutes,
    reason: 'How long a query waits for its turn; then, 429.',
  }),
  query_postgres_connections_max: integer({
    unit: 'connections',
    default: 4,
    min: 1,
    max: 100,
    reason: 'Connections to PostgreSQL for queries alone, so that slow ones hold up nothing else.',
  }),
  saved_queries_max: integer({
    unit: 'queries',
    default: 1_000,
    min: 1,
    max: 100_000,
    reason: 'Saved queries of one project; above, 409.',
  }),
}
