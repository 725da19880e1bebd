import type { Columnar } from '../../src/platform/columnar/index.ts'

/** Puts many small observations of a project into one hour of 2026-09-21, made by ClickHouse itself. */
export function insertMany(
  columnar: Columnar,
  { project_id, rows }: { project_id: string; rows: number },
): Promise<void> {
  return columnar.command(
    `INSERT INTO observations
      (project_id, trace_id, observation_id, type, name, start_time, end_time, status, model, input)
    SELECT {project:UUID}, reinterpretAsUUID(sipHash128(intDiv(number, 10))), toString(number),
      'generation', concat('name ', toString(number % 100)), at, at + number % 5000 / 1000, 'ok',
      concat('m-', toString(number % 4)), repeat(toString(number), 10)
    FROM (SELECT number, toDateTime64('2026-09-21 14:00:00', 9, 'UTC')
      + number * 3600 / {rows:UInt64} AS at FROM numbers({rows:UInt64}))`,
    { project: project_id, rows },
    { timeout_ms: 60_000, settings: smallBlocks },
  )
}

/** Blocks of the default million rows, of all columns, take the memory of the whole server. */
const smallBlocks = {
  max_block_size: '500000',
  min_insert_block_size_rows: '500000',
  min_insert_block_size_bytes: '0',
  max_insert_threads: '1',
}
