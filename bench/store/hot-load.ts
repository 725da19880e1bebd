import {
  type HotSlice,
  openHotRowWriter,
  openHotSource,
} from '../../src/capabilities/storage/index.ts'
import type { BenchEngine } from './engine.ts'
import { projectOf, projects, span } from './generated-rows.ts'
import { hotWindow } from './questions.ts'
import type { BenchServices } from './services.ts'

/** How the latest hours were copied into PostgreSQL. */
export type HotLoadFacts = {
  /** Observations of all projects in these hours, in ClickHouse. */
  rows_there: number
  /** Observations that were written: of as many complete projects as fit. */
  rows: number
  projects: number
  took_s: number
}

/** Maximum to load: projects that do not fit are skipped. */
const rows_max = 300_000
/** Concurrently copied parts of the window. */
const lanes = 4
const slice_ms = 6 * 3_600_000

/**
 * Copies the latest hours with the product's own reader and writer, the largest project first, and
 * updates the planner's statistics, which autovacuum does later.
 */
export async function loadHotWindow(
  engine: BenchEngine,
  { relational: { db, pool } }: BenchServices,
): Promise<HotLoadFacts> {
  const start_ms = performance.now()
  const counts = await rowsByProject(engine)
  const chosen = projectsWithRoom(counts)
  const source = openHotSource({ columnar: engine.columnar })
  const writer = openHotRowWriter(db)
  let rows = 0
  const slices = chosen.flatMap(slicesOf).values()
  const copyOn = async () => {
    for (const slice of slices) {
      for await (const page of source.observations(slice)) {
        await writer.write('hot_observations', page)
        rows += page.length
      }
    }
  }
  await Promise.all(Array.from({ length: lanes }, copyOn))
  await pool.query('vacuum (analyze) hot_observations')
  const rows_there = [...counts.values()].reduce((sum, count) => sum + count, 0)
  const took_s = (performance.now() - start_ms) / 1000
  return { rows_there, rows, projects: chosen.length, took_s }
}

async function rowsByProject({ columnar }: BenchEngine): Promise<Map<string, number>> {
  const found = await columnar.query<{ project: string; n: string }>(
    `SELECT toString(project_id) AS project, count() AS n FROM observations FINAL
     WHERE start_time >= fromUnixTimestamp64Milli({from:Int64}, 'UTC')
       AND start_time < fromUnixTimestamp64Milli({to:Int64}, 'UTC')
     GROUP BY project`,
    { from: hotWindow.from_ms, to: span.to_ms },
  )
  return new Map(found.map(({ project, n }) => [project, Number(n)]))
}

function projectsWithRoom(counts: ReadonlyMap<string, number>): string[] {
  let room = rows_max
  return Array.from({ length: projects }, (_, at) => projectOf(at)).filter((project) => {
    const rows = counts.get(project) ?? 0
    if (rows > room) return false
    room -= rows
    return true
  })
}

function slicesOf(project_id: string): HotSlice[] {
  const count = Math.ceil((span.to_ms - hotWindow.from_ms) / slice_ms)
  const ns = (ms: number) => BigInt(ms) * 1_000_000n
  return Array.from({ length: count }, (_, at) => {
    const from_ms = hotWindow.from_ms + at * slice_ms
    return { project_id, from: ns(from_ms), to: ns(from_ms + slice_ms) }
  })
}
