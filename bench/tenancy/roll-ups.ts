import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { markDue } from '../../src/capabilities/detection/index.ts'
import { collectTouched } from '../../src/capabilities/ingest/roll-up/touched.ts'
import { newId } from '../../src/kernel/ids.ts'
import {
  migrateRelational,
  openRelational,
  startEmbeddedPostgres,
  type TaskTables,
} from '../../src/platform/relational/index.ts'
import { createLogger } from '../../src/platform/telemetry/index.ts'
import { allTenants } from '../../test/support/all-tenants.ts'
import { memoryStore } from '../../test/support/memory-store.ts'
import { observationOf } from '../../test/support/observations.ts'
import { rollUpBatch } from '../../test/support/roll-up-batch.ts'

/**
 * `npm run bench:roll-ups`: processor time for the roll-ups of batches of new tasks, of this process
 * and of PostgreSQL, in µs for each observation: a batch as ingest writes it, and the same batch with
 * a transaction for each of its projects. Alternating rounds; prints JSON.
 */
const rounds = Number(process.env['ROUNDS'] ?? 9)
const batchesPerRound = 8
const batch_observations = 3_000
const observationsPerTask = 6

const logger = createLogger({ role: 'bench', level: 'silent' })
const directory = await mkdtemp(join(tmpdir(), 'looptrace-bench-roll-ups-'))
await chmod(directory, 0o711)
const postgres = await startEmbeddedPostgres({ directory: join(directory, 'postgres'), logger })
await migrateRelational({ url: postgres.url, logger })
const limits = { pool_max: 1, connect_timeout_ms: 5_000, statement_timeout_ms: 30_000 }
const opened = { url: postgres.url, ...limits, logger, scope: allTenants }
const { db, pool, close } = openRelational<TaskTables>(opened)
const ports = { db, store: memoryStore(), markDue, large_from: 2_000 }
const pid: number = (await pool.query('select pg_backend_pid() as pid')).rows[0].pid

type Batch = ReturnType<typeof collectTouched>[]

/** New tasks of some projects: one part, or one for each project. */
function batchOf(projects: readonly string[], isSplit: boolean): Batch {
  const rows = Array.from({ length: batch_observations }, (_, at) => {
    const task = Math.floor(at / observationsPerTask)
    const project_id = projects[task % projects.length] ?? ''
    const observation_id = at.toString(16).padStart(16, '0')
    return observationOf({ project_id, observation_id, task_id: `${batchId}-${task}` })
  })
  batchId = newId()
  const parts = isSplit ? [...Map.groupBy(rows, ({ project_id }) => project_id).values()] : [rows]
  return parts.map((part) => collectTouched(part))
}
let batchId = newId()

/** Processor time of the connection's server process, in ms. */
async function serverCpuMs(): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8')
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[11]) + Number(fields[12])) * 10
}

async function measure(projects: readonly string[], isSplit: boolean): Promise<number> {
  const batches = Array.from({ length: batchesPerRound }, () => batchOf(projects, isSplit))
  const server_ms = await serverCpuMs()
  const own = process.cpuUsage()
  for (const parts of batches) for (const part of parts) await rollUpBatch(ports, part)
  const { user, system } = process.cpuUsage(own)
  const cpu_us = user + system + ((await serverCpuMs()) - server_ms) * 1000
  return cpu_us / (batchesPerRound * batch_observations)
}

const found = new Map<string, number[]>()
for (let round = 0; round <= rounds; round += 1) {
  for (const count of [1, 5, 20, 100]) {
    const projects = Array.from({ length: count }, () => newId())
    for (const isSplit of [false, true]) {
      const cpu_us = await measure(projects, isSplit)
      const name = `${count} projects, ${isSplit ? 'split' : 'together'}`
      // The first round warms up.
      if (round > 0) found.set(name, [...(found.get(name) ?? []), cpu_us])
    }
  }
  await pool.query('truncate tasks, task_events, task_detections, large_rollups cascade')
}
const medians = [...found].map(([name, values]) => {
  const sorted = values.toSorted((a, b) => a - b)
  return [name, Number((sorted[Math.floor(sorted.length / 2)] ?? 0).toFixed(2))]
})
process.stdout.write(`${JSON.stringify(Object.fromEntries(medians))}\n`)

await close()
await postgres.stop()
await rm(directory, { recursive: true })
