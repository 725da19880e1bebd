import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  migrateRelational,
  openRelational,
  sql,
  startEmbeddedPostgres,
  type TaskTables,
} from '../../src/platform/relational/index.ts'
import { createLogger } from '../../src/platform/telemetry/index.ts'
import { runAsOwner, runInInstallation, runInProject } from '../../src/platform/tenancy/index.ts'

/**
 * `npm run bench:tenancy`: what row-level security costs. The same statements as the login, which
 * bypasses it, and as the role of the service in the scope of a project or of the installation, one
 * after another on one connection, in alternating rounds.
 */
const rounds = 10
const perRound = 300
const tasks = 20_000
const project_id = '0197b2f4-0000-7000-8000-000000000001'

const logger = createLogger({ role: 'bench', level: 'silent' })
const directory = await mkdtemp(join(tmpdir(), 'looptrace-bench-tenancy-'))
// Under root, PostgreSQL runs as another user, who needs access to this folder.
await chmod(directory, 0o711)
const postgres = await startEmbeddedPostgres({ directory: join(directory, 'postgres'), logger })
await migrateRelational({ url: postgres.url, logger })
const limits = { pool_max: 1, connect_timeout_ms: 5_000, statement_timeout_ms: 30_000 }
const { db, pool, close } = openRelational<TaskTables>({ url: postgres.url, ...limits, logger })
await pool.query(
  `insert into tasks (project_id, task_id, name, implicit, started_at, last_activity_at)
   select ('0197b2f4-0000-7000-8000-' || lpad((n % 20 + 1)::text, 12, '0'))::uuid,
     'task-' || n, 'order', false, now(), now() - n * interval '1 second'
   from generate_series(1, $1) as n`,
  [tasks],
)
await pool.query('analyze tasks')

const own = () => db.selectFrom('tasks').selectAll().where('project_id', '=', project_id)
const work: Record<string, () => Promise<unknown>> = {
  'a read of one row': () => own().where('task_id', '=', 'task-20').execute(),
  'a page of 50 rows': () => own().orderBy('last_activity_at', 'desc').limit(50).execute(),
  'a transaction of two writes': () =>
    db.transaction().execute(async (trx) => {
      for (const task_id of ['task-20', 'task-40']) {
        const change = trx.updateTable('tasks').set({ calls: sql`calls + 1` })
        await change.where('project_id', '=', project_id).where('task_id', '=', task_id).execute()
      }
    }),
  'an insert of 500 rows': () =>
    db.transaction().execute(async (trx) => {
      const rows = Array.from({ length: 500 }, (_, n) => ({
        project_id,
        task_id: `new-${n}`,
        name: 'order',
        implicit: false,
        started_at: new Date(0),
        last_activity_at: new Date(0),
      }))
      await trx.insertInto('tasks').values(rows).execute()
      await trx.deleteFrom('tasks').where('task_id', 'like', 'new-%').execute()
    }),
}
const scopes: Record<string, (run: () => Promise<unknown>) => Promise<unknown>> = {
  login: (run) => runAsOwner('the bench', run),
  project: (run) => runInProject(project_id, run),
  installation: (run) => runInInstallation('the bench', run),
}

for (const [name, run] of Object.entries(work)) {
  const times = new Map(Object.keys(scopes).map((scope) => [scope, [] as number[]]))
  const count = name.startsWith('an insert') ? 10 : perRound
  for (let round = 0; round < rounds; round += 1) {
    for (const [scope, within] of Object.entries(scopes)) {
      for (let n = 0; n < count; n += 1) {
        const started = performance.now()
        await within(run)
        times.get(scope)?.push(performance.now() - started)
      }
    }
  }
  const medians = [...times].map(([scope, values]) => [scope, median(values)] as const)
  const base = medians[0]?.[1] ?? 1
  const cells = medians.map(
    ([scope, ms]) => `${scope} ${(ms * 1000).toFixed(0)} µs (${(ms / base).toFixed(2)})`,
  )
  process.stdout.write(`${name}: ${cells.join(', ')}\n`)
}

await close()
await postgres.stop()
await rm(directory, { recursive: true })

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0
}
