import { openClickHouseRetentionStore } from '../../src/capabilities/storage/index.ts'
import type { BenchEngine } from './engine.ts'
import { projectOf, projects, span } from './generated-rows.ts'
import { compiledQuestion, momentsOf } from './measure.ts'
import { questions } from './questions.ts'

/** One way to delete a day of thirty, while a client asks one question after another. */
export type RetentionRow = {
  way: string
  took_ms: number
  rows: number
  /** Rows of the day that a reader still sees. */
  left: number
  freed_bytes: number
  /** The slowest question meanwhile. */
  slowest_ms: number
}

export type RetentionFacts = RetentionRow[]

const day_ms = 86_400_000

/**
 * Uses retention's port: a day of the largest project; the next day of all projects in shared
 * statements, as the runs of a worker delete it; and the day after that as if their runs never
 * meet.
 */
export async function measureRetention(engine: BenchEngine): Promise<RetentionFacts> {
  // Statements that delete rows wait for merges.
  await engine.columnar.command('SYSTEM START MERGES observations')
  return [
    await takeOut(engine, 'a day of the largest project', 0, { owners: [projectOf(0)] }),
    await takeOut(engine, 'a day of every project, all at a time', 1, { owners: allProjects }),
    await takeOut(engine, 'a day of every project, one after the other', 2, {
      owners: allProjects,
      in_turn: true,
    }),
  ]
}

const allProjects = Array.from({ length: projects }, (_, at) => projectOf(at))

async function takeOut(
  engine: BenchEngine,
  way: string,
  day: number,
  { owners, in_turn = false }: { owners: readonly string[]; in_turn?: boolean },
): Promise<RetentionRow> {
  const { deleteRows } = openClickHouseRetentionStore({ columnar: engine.columnar })
  const from = BigInt(span.from_ms + day * day_ms) * 1_000_000n
  const to = from + BigInt(day_ms) * 1_000_000n
  const before = await dayState(engine, day)
  const asking = new AbortController()
  const asked = askOn(engine, asking.signal)
  const start_ms = performance.now()
  const going = owners.map((project_id) => () => {
    return deleteRows({ project_id, kind: 'observations', from, to, held_trace_ids: [] })
  })
  if (in_turn) for (const one of going) await one()
  else await Promise.all(going.map((one) => one()))
  const took_ms = performance.now() - start_ms
  asking.abort()
  const slowest_ms = await asked
  const after = await dayState(engine, day)
  return {
    way,
    took_ms,
    rows: before.rows - after.rows,
    left: after.rows,
    freed_bytes: before.bytes - after.bytes,
    slowest_ms,
  }
}

async function dayState({ columnar }: BenchEngine, day: number) {
  const from = span.from_ms + day * day_ms
  const [found] = await columnar.query<{ rows: string }>(
    `SELECT count() AS rows FROM observations
     WHERE start_time >= fromUnixTimestamp64Milli({from:Int64}, 'UTC')
       AND start_time < fromUnixTimestamp64Milli({to:Int64}, 'UTC')`,
    { from, to: from + day_ms },
  )
  const [table] = await columnar.query<{ bytes: string }>(
    `SELECT sum(bytes_on_disk) AS bytes FROM system.parts
     WHERE active AND database = currentDatabase() AND table = 'observations'`,
  )
  return { rows: Number(found?.rows), bytes: Number(table?.bytes) }
}

/** Asks until stopped; returns the slowest time. */
async function askOn(engine: BenchEngine, signal: AbortSignal): Promise<number> {
  const [question] = questions()
  if (question === undefined) throw new RangeError('no questions')
  const [moment] = await momentsOf(engine, question, 1)
  let slowest_ms = 0
  while (moment && !signal.aborted) {
    const start_ms = performance.now()
    const { sql, params } = compiledQuestion(question, moment)
    await engine.columnar.query(sql, params)
    slowest_ms = Math.max(slowest_ms, performance.now() - start_ms)
  }
  return slowest_ms
}
