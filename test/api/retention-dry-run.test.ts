import { afterAll, beforeAll, expect, test } from 'vitest'
import { dryRunHandler } from '../../src/capabilities/lifecycle/retention/index.ts'
import { newId } from '../../src/kernel/ids.ts'
import { problem } from '../../src/kernel/problem.ts'
import { enqueueTestJob, startWorker } from '../support/job-workers.ts'
import {
  dateAgo,
  daysAgo,
  openRetentionApi,
  type RetentionApi,
  retentionNowMs,
} from '../support/retention-api.ts'
import { budget } from '../support/suite/budget.ts'
import { keyOf, tokenOf } from '../support/task-api.ts'

const run = '/retention/run?dry_run=true'
const policy = '/retention-policy?dry_run=true'
const runs = '/retention/runs'
let api: RetentionApi
beforeAll(async () => {
  api = await openRetentionApi()
})
afterAll(() => api[Symbol.asyncDispose]())

const handler = () => dryRunHandler({ db: api.db, store: api.store })

async function setPolicy(project: string, body: object): Promise<void> {
  expect((await api.call('PUT', '/retention-policy', project, { body })).status).toBe(200)
}

/** Ends the job of an answer, as a worker does. */
async function runJob(asked: { body: Record<string, unknown> }): Promise<void> {
  await api.done(String(asked.body['job_id']), handler())
}

test('each way to request a dry run answers 202 with a run, which Location names', async () => {
  const project = await api.newProject()
  const body = { days: { observations: 30 } }
  const ways = [
    ['POST', run, undefined],
    ['GET', policy, undefined],
    ['PUT', policy, body],
  ] as const
  for (const [method, path, given] of ways) {
    const asked = await api.call(method, path, project, { body: given })
    const { job_id } = asked.body
    expect(asked).toMatchObject({
      ...{ status: 202, location: `/api/v2/observability${runs}/${job_id}` },
      body: { kind: 'retention_dry_run', dry_run: true, state: 'queued', result: null },
    })
    await runJob(asked)
    const read = await api.call('GET', `${runs}/${job_id}`, project)
    expect(read.body).toMatchObject({ state: 'succeeded', result: { deleted_rows: 0 } })
  }
  const real = await api.call('POST', '/retention/run', project)
  expect(real).toMatchObject({
    ...{ status: 202, location: expect.stringContaining(String(real.body['job_id'])) },
    body: { dry_run: false, rules: null },
  })
  const listed = await api.call('GET', runs, project)
  expect(listed.body).toMatchObject({ total: 1, runs: [{ job_id: real.body['job_id'] }] })
  const dry = await api.call('GET', `${runs}?dry_run=true`, project)
  expect(dry.body).toMatchObject({ total: 3, runs: [{ rules: { days: body.days } }, {}, {}] })
})

test("with wait=true the answer has the result; the policy's state shows no run", async () => {
  const project = await api.newProject()
  await api.seed(project, { observations: [{ start_time: daysAgo(40) }] })
  await setPolicy(project, { days: { observations: 30 } })
  const worker = startWorker(api.db, [handler()])
  const asked = await api.call('POST', `${run}&wait=true`, project)
  await worker.stop()
  expect(asked).toMatchObject({
    status: 202,
    body: {
      ...{ state: 'succeeded', progress: { steps: 1, day: dateAgo(40) } },
      result: { deleted_rows: 1, buckets: 1, is_partial: false },
    },
  })
  const { body } = await api.call('GET', '/retention-policy', project)
  expect(body).toMatchObject({ last_run: null, deleted_rows: 0, deleted_bytes: 0 })
  expect((await api.rows(project))['observations']).toBe(1)
})

test('a project has one dry run at a time, requested in any way; other projects do not wait', async () => {
  const [project, other] = [await api.newProject(), await api.newProject()]
  const first = await api.call('POST', run, project)
  expect(first.status).toBe(202)
  for (const [method, path, body] of [
    ['POST', run, undefined],
    ['GET', policy, undefined],
    ['PUT', policy, { days: {} }],
  ] as const) {
    const again = await api.call(method, path, project, { body })
    expect(again).toMatchObject({ status: 409, body: { code: 'job_running' } })
    expect(again.body['detail']).toContain(first.body['job_id'])
  }
  const elsewhere = await api.call('POST', run, other)
  expect(elsewhere.status).toBe(202)
  // A dry run delays no run.
  expect((await api.call('POST', '/retention/run', project)).status).toBe(202)
  await runJob(first)
  await runJob(elsewhere)
  expect((await api.call('POST', run, project)).status).toBe(202)
})

test('of the dry runs of a project the last 20 are kept, with their buckets', async () => {
  const project = await api.newProject()
  const earlier = await Promise.all(
    Array.from({ length: 22 }, () =>
      enqueueTestJob(api.db, { project_id: project, kind: 'retention_dry_run' }),
    ),
  )
  const bucket = {
    ...{ day: 1, kind: 'tasks', environment: '', action: 'delete' as const },
    ...{ row_count: 1, bytes: 0, held_rows: 0 },
  }
  for (const { id: job_id } of earlier) {
    const row = { job_id, ...bucket, state: 'kept' as const }
    await api.db.insertInto('retention_buckets').values(row).execute()
  }
  await api.db
    .updateTable('job_runs')
    .set({ state: 'succeeded' })
    .where('project_id', '=', project)
    .execute()
  await api.dryRun(project)
  const { body } = await api.call('GET', `${runs}?dry_run=true`, project)
  expect(body).toMatchObject({ total: 20 })
  const buckets = await api.db
    .selectFrom('retention_buckets')
    .innerJoin('job_runs', 'job_runs.id', 'retention_buckets.job_id')
    .select('retention_buckets.job_id')
    .where('job_runs.project_id', '=', project)
    .execute()
  expect(buckets).toHaveLength(19)
})

test('the number of statements depends on neither days nor environments', async () => {
  const statements = async (days: number, environments: readonly string[]) => {
    const project = await api.newProject()
    const rows = environments.flatMap((environment, at) =>
      Array.from({ length: days }, (_, day) => {
        const ids = { trace_id: newId(), time: daysAgo(40 + day, at) }
        return { ...ids, environment, start_time: ids.time, user_id: 'ada' }
      }),
    )
    const bare = rows.map(({ trace_id, time }) => ({ trace_id, time }))
    await api.seed(project, {
      observations: rows.map(({ time: _, ...row }) => row),
      traces: rows.map(({ start_time: _, user_id: __, ...row }) => row),
      ...{ events: bare, links: bare, correlations: bare },
    })
    const body = { kind: 'user', value: 'ada', reason: 'a case' }
    await api.call('POST', '/legal-holds', project, { body })
    await setPolicy(project, {
      days: { content: 5, observations: 42, traces: 42, events: 42 },
      environments: environments.map((environment) => ({
        environment,
        days: { observations: 41 },
      })),
    })
    const query = api.columnar.query
    let count = 0
    api.columnar.query = (...asked) => {
      count += 1
      return query(...asked)
    }
    try {
      const { result } = await api.dryRun(project)
      expect(result['held_rows']).toBeGreaterThanOrEqual(days)
    } finally {
      api.columnar.query = query
    }
    return count
  }
  // The first one reads the table definitions, too.
  await statements(1, ['prod'])
  const few = await statements(4, ['prod'])
  const many = await statements(budget({ test: 8, soak: 20 }), ['prod', 'dev', 'ci', 'stage'])
  expect(many).toBe(few)
})

test('conversations that become due when their tasks are deleted are counted', async () => {
  const project = await api.newProject()
  const at = (ago: number) => new Date(retentionNowMs - ago * 86_400_000)
  const talks = Array.from({ length: 3 }, () => newId())
  const [gone = '', kept = '', held = ''] = talks
  const task = (task_id: string, conversation_id: string, ago: number, more: object = {}) => ({
    ...{ project_id: project, task_id, name: '', implicit: false, conversation_id },
    ...{ started_at: at(100), last_activity_at: at(ago), ...more },
  })
  await api.db
    .insertInto('tasks')
    .values([
      task('old', gone, 40),
      task('old in dev', gone, 9, { environment: 'dev' }),
      task('old too', kept, 40),
      task('young', kept, 20),
      task('held', held, 40),
    ])
    .execute()
  const times = { started_at: at(100), last_activity_at: at(40) }
  await api.db
    .insertInto('conversations')
    .values(
      talks.map((conversation_id) => ({
        ...{ project_id: project, conversation_id, tasks: 2, ...times },
      })),
    )
    .execute()
  const body = { kind: 'task', value: 'held', reason: 'a case' }
  await api.call('POST', '/legal-holds', project, { body })
  await setPolicy(project, {
    days: { observations: 30, traces: 30 },
    environments: [{ environment: 'dev', days: { traces: 7 } }],
  })
  const dry = await api.dryRun(project)
  const counted = (buckets: unknown) =>
    (buckets as Record<string, unknown>[]).map(({ kind, rows }) => [kind, rows])
  expect(counted(dry.buckets)).toEqual([
    ['conversations', 1],
    ['tasks', 2],
    ['tasks', 1],
  ])
  const real = await api.run(project)
  expect(real['result']).toMatchObject({ deleted_rows: dry.result['deleted_rows'] })
  expect(counted(real['buckets'])).toEqual(counted(dry.buckets))
  const left = await api.db
    .selectFrom('conversations')
    .select('conversation_id')
    .where('project_id', '=', project)
    .execute()
  expect(left.map(({ conversation_id }) => conversation_id).toSorted()).toEqual(
    [kept, held].toSorted(),
  )
})

test('a dry run and its buckets belong to one project, and count only its rows', async () => {
  const [project, other] = [await api.newProject(), await api.newProject()]
  const trace_id = newId()
  await api.seed(other, {
    observations: [{ trace_id, start_time: daysAgo(40), user_id: 'ada', environment: 'theirs' }],
    traces: [{ trace_id, time: daysAgo(40) }],
  })
  for (const [kind, value] of [
    ['trace', trace_id],
    ['user', 'ada'],
  ]) {
    const body = { kind, value, reason: 'curious' }
    await api.call('POST', '/legal-holds', project, { body })
  }
  const body = { days: { observations: 1, traces: 1, events: 1 } }
  const mine = await api.dryRun(project, { method: 'PUT', path: policy, body })
  expect(mine).toMatchObject({ buckets: [], result: { held_rows: 0, deleted_bytes: 0 } })
  const theirs = await api.dryRun(other, { method: 'PUT', path: policy, body })
  expect(theirs.result).toMatchObject({ deleted_rows: 2 })
  const path = `${runs}/${theirs['job_id']}`
  for (const [method, asked] of [
    ['GET', path],
    ['POST', `${path}/cancel`],
  ] as const) {
    expect(await api.call(method, asked, project)).toMatchObject({
      ...{ status: 404, body: { code: 'job_not_found' } },
    })
  }
  expect((await api.call('GET', `${runs}?dry_run=true`, project)).body).toMatchObject({ total: 1 })
  const { next_cursor } = (await api.call('GET', `${path}?limit=1`, other)).body
  expect(next_cursor).toEqual(expect.any(String))
  const foreign = await api.call('GET', `${runs}/${mine['job_id']}?cursor=${next_cursor}`, project)
  expect(foreign).toMatchObject({ status: 400, body: { code: 'invalid_cursor' } })
  // A job of another kind is not a run of retention.
  const erasing = { user_id: 'ada', reason: 'asked' }
  const erasure = await api.call('POST', '/erasures', other, { body: erasing })
  const notARun = await api.call('GET', `${runs}/${erasure.body['job_id']}`, other)
  expect(notARun).toMatchObject({ status: 404, body: { code: 'job_not_found' } })
})

test('a cancelled run ends as failed, and its worker stops', async () => {
  const project = await api.newProject()
  await api.seed(project, { observations: [{ start_time: daysAgo(40) }] })
  await setPolicy(project, { days: { observations: 30 } })
  const asked = await api.call('POST', run, project)
  const path = `${runs}/${asked.body['job_id']}`
  const begun = Promise.withResolvers<void>()
  const slow = dryRunHandler({
    db: api.db,
    store: {
      ...api.store,
      countBuckets: async (counted) => {
        begun.resolve()
        const cancelled = await api.call('POST', `${path}/cancel`, project)
        expect(cancelled).toMatchObject({ status: 200, body: { state: 'failed' } })
        return api.store.countBuckets(counted)
      },
    },
  })
  const worker = startWorker(api.db, [slow])
  await begun.promise
  await worker.stop()
  const read = await api.call('GET', path, project)
  expect(read.body).toMatchObject({
    ...{ state: 'failed', result: null, error: 'Cancelled by key:key-1.' },
  })
  expect((await api.call('POST', `${path}/cancel`, project)).body['ended_at']).toBe(
    read.body['ended_at'],
  )
  expect((await api.call('POST', run, project)).status).toBe(202)
})

test('a dry run that meets an outage starts again, and counts every row once', async () => {
  const project = await api.newProject()
  await api.seed(project, {
    observations: [{ start_time: daysAgo(40) }, { start_time: daysAgo(41) }],
    events: [{ time: daysAgo(40) }],
  })
  await setPolicy(project, { days: { observations: 30 } })
  let calls = 0
  const flaky = dryRunHandler({
    db: api.db,
    store: {
      ...api.store,
      countBuckets: async (asked) => {
        calls += 1
        if (calls === 2) throw problem('store_unavailable', { detail: 'The store is unavailable.' })
        return api.store.countBuckets(asked)
      },
    },
  })
  const asked = await api.call('POST', run, project)
  const job = await api.done(String(asked.body['job_id']), flaky)
  expect(job).toMatchObject({ state: 'succeeded', result: { deleted_rows: 3, buckets: 3 } })
  const { body } = await api.call('GET', `${runs}/${job.id}`, project)
  expect(body['buckets']).toMatchObject([
    { kind: 'observations', day: dateAgo(41), rows: 1 },
    { kind: 'events', day: dateAgo(40), rows: 1 },
    { kind: 'observations', day: dateAgo(40), rows: 1 },
  ])
})

test('permissions to start and cancel a dry run', async () => {
  const project = await api.newProject()
  const status = async (
    method: 'GET' | 'PUT' | 'POST',
    path: string,
    headers: Record<string, string>,
  ) => {
    const body = method === 'PUT' ? { days: {} } : undefined
    const reply = await api.call(method, path, project, { headers, body })
    if (reply.status === 202) await runJob(reply)
    return reply.status
  }
  const cancel = `${runs}/${newId()}/cancel`
  for (const [method, path, viewer] of [
    ['POST', run, 403],
    ['PUT', policy, 403],
    ['GET', policy, 202],
    ['POST', cancel, 403],
  ] as const) {
    expect(await status(method, path, {})).toBe(401)
    expect(await status(method, path, keyOf(project, 'traces:read'))).toBe(403)
    expect(await status(method, path, tokenOf('viewer', project))).toBe(viewer)
    expect(await status(method, path, tokenOf('admin', project))).toBe(path === cancel ? 404 : 202)
  }
})
