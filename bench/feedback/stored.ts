import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { toRatedWindow } from '../../src/capabilities/feedback/counting/counts-store.ts'
import { refreshRatedTasks } from '../../src/capabilities/feedback/counting/refresh-store.ts'
import { hourWindow } from '../../src/capabilities/feedback/counting/window.ts'
import { countTaskDaysChore } from '../../src/capabilities/feedback/index.ts'
import { findStoredPatterns } from '../../src/capabilities/feedback/patterns/stored-patterns.ts'
import { readStats } from '../../src/capabilities/feedback/stats/read-stats.ts'
import { newId } from '../../src/kernel/ids.ts'
import { systemClock } from '../../src/kernel/time.ts'
import {
  migrateRelational,
  openRelational,
  sql,
  startEmbeddedPostgres,
} from '../../src/platform/relational/index.ts'
import { createLogger } from '../../src/platform/telemetry/index.ts'
import { allTenants } from '../../test/support/all-tenants.ts'
import type { InsightTestTables } from '../../test/support/insight-api.ts'

/**
 * `npm run bench:feedback`: time of statistics and patterns over TASKS tasks with feedback
 * (1,000,000) of an eighth as many users in 30 days, on an embedded PostgreSQL with its defaults,
 * and of counting changed tasks. ROUNDS=10. DATA names a folder that keeps the rows for later runs.
 */
const tasks = Number(process.env['TASKS'] ?? 1_000_000)
const rounds = Number(process.env['ROUNDS'] ?? 10)
const days = 30
const changed = 20_000
/** Name and hours of each measured window. The last one is counted by user. */
const windows = [
  ['30 days', days * 24],
  ['12 hours', 12],
  ['2 hours', 2],
] as const

const logger = createLogger({ role: 'bench', level: 'silent' })
const kept = process.env['DATA']
const directory = kept ?? (await mkdtemp(join(tmpdir(), 'bench-feedback-')))
const postgres = await startEmbeddedPostgres({ directory, logger })
const relational = openRelational<InsightTestTables>({
  scope: allTenants,
  url: postgres.url,
  logger,
  pool_max: 8,
  connect_timeout_ms: 5_000,
  statement_timeout_ms: 600_000,
})
try {
  await migrateRelational({ url: postgres.url, logger })
  await measureAll()
} finally {
  await relational.close()
  await postgres.stop()
  if (kept === undefined) await rm(directory, { recursive: true, force: true })
}

async function measureAll(): Promise<void> {
  const { db } = relational
  const known = await db.selectFrom('projects').select('id').executeTakeFirst()
  const project_id = known?.id ?? newId()
  if (known === undefined) await time('rows written', () => writeRows(project_id))
  await time('tasks of past days counted', () =>
    countTaskDaysChore({ db, clock: systemClock }).run(new AbortController().signal),
  )
  const window = hourWindow({}, Date.now())
  for (const [name, hours] of windows) {
    const from = new Date(Date.parse(window.to) - hours * 3_600_000).toISOString()
    const request = { project_id, source: 'end_user', to: window.to, from } as const
    await timeRounds(`statistics, ${name}`, () => readStats(db, { ...request, groups_max: 20 }))
    await timeRounds(`patterns, ${name}`, async () => {
      const found = await findStoredPatterns(db, await toRatedWindow(db, request), 20)
      return `${found.tasks} tasks, ${found.tested} tested, ${found.total} found`
    })
  }
  // Kept rows have the items of an earlier run.
  await db.deleteFrom('feedback').where('created_by', '=', 'bench').execute()
  while ((await refreshRatedTasks(db, project_id, 1_000)) > 0);
  // Each new item marks its task.
  await sql`
    insert into feedback (project_id, task_id, feedback_id, source, subject, state, sentiment, counts,
      at, version, by_browser, created_at, created_by, updated_at, updated_by, body_digest)
    select project_id, task_id, 'f', 'end_user', cluster, 'attached',
      case when is_negative then 'negative' else 'positive' end, true,
      at, 1, false, at, 'bench', at, 'bench', decode(repeat('00', 32), 'hex')
    from rated_tasks order by task_id limit ${changed}`.execute(db)
  await time(`${changed} changed tasks counted`, async () => {
    while ((await refreshRatedTasks(db, project_id, 1_000)) > 0);
  })
}

/** Tasks of users with moods; two tools make feedback worse by 20 points. */
async function writeRows(project_id: string): Promise<void> {
  const { db } = relational
  const users = Math.ceil(tasks / 8)
  const about = { id: project_id, name: 'bench' }
  await db.insertInto('organizations').values(about).execute()
  await db
    .insertInto('projects')
    .values({ ...about, organization_id: project_id })
    .execute()
  await sql`
    create unlogged table made as
    select task_id, cluster, at, name, release, model, tools,
      random() < mood + case when tools && array['t0', 't1'] then 0.2 else 0 end as is_negative,
      (get_byte(decode(md5(cluster), 'hex'), 0) & 63)::smallint as bucket
    from (
      select 't' || n as task_id, 'user:u' || n % ${users}::int as cluster,
        now() - random() * ${days} * interval '1 day' as at,
        'name' || n % 17 as name, 'v' || n % 5 as release, 'm' || n % 3 as model,
        array['t' || floor(random() * 20), 't' || floor(random() * 20)] as tools,
        0.05 + 0.6 * abs(hashint8(n % ${users}::int) % 1000) / 1000.0 as mood
      from generate_series(1, ${tasks}::int) as n
    ) as task`.execute(db)
  await sql`
    insert into tasks (project_id, task_id, name, implicit, started_at, last_activity_at, release,
      environment, models)
    select ${project_id}, task_id, name, false, at, at, release, 'production', array[model]
    from made`.execute(db)
  await sql`
    insert into task_detections (project_id, task_id, tools)
    select ${project_id}, task_id, tools from made`.execute(db)
  await sql`
    insert into feedback_tasks (project_id, task_id, task_ref, created_at, items, negative, positive, cluster,
      task_name, release, environment, models, task_started_at, first_at, last_at)
    select ${project_id}, task_id, task_id, at, 1, is_negative::int, (not is_negative)::int, cluster,
      name, release, 'production', array[model], at, at, at
    from made`.execute(db)
  await sql`
    insert into rated_tasks
    select ${project_id}, 'end_user', task_id, task_id, at, cluster, bucket, is_negative, 1,
      is_negative::int, array['environment:production', 'model:' || model, 'release:' || release,
        'task_name:' || name, 'tool:' || tools[1]]
        || case when tools[1] <> tools[2] then array['tool:' || tools[2]] else '{}' end
    from made`.execute(db)
  await sql`
    insert into rated_task_counts
    select project_id, source, (at at time zone 'UTC')::date, feature, bucket, count(*),
      count(*) filter (where is_negative), sum(votes), sum(negative_votes)
    from rated_tasks, unnest(array_append(features, '')) as feature
    group by 1, 2, 3, 4, 5`.execute(db)
  await sql`
    insert into feedback_hours (project_id, source, dimension, hour, environment, value, negative,
      positive)
    select project_id, source, 'all', date_trunc('hour', at, 'UTC'), 'production', '',
      sum(negative_votes), sum(votes - negative_votes)
    from rated_tasks group by 1, 2, 4`.execute(db)
  await sql`drop table made`.execute(db)
  await relational.pool.query('vacuum analyze')
}

async function time(name: string, run: () => Promise<unknown>): Promise<void> {
  const started = performance.now()
  await run()
  console.log(`${name}: ${((performance.now() - started) / 1000).toFixed(1)} s`)
}

async function timeRounds(name: string, run: () => Promise<unknown>): Promise<void> {
  const note = await run()
  const times: number[] = []
  for (let round = 0; round < rounds; round += 1) {
    const started = performance.now()
    await run()
    times.push(performance.now() - started)
  }
  times.sort((one, other) => one - other)
  const [median = 0, most = 0] = [times[Math.floor(rounds / 2)], times.at(-1)]
  const shown = typeof note === 'string' ? ` (${note})` : ''
  console.log(`${name}: median ${Math.round(median)} ms, most ${Math.round(most)} ms${shown}`)
}
