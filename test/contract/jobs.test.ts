import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openAuditTrail } from '../../src/capabilities/audit/index.ts'
import { claimJob, claimStatement } from '../../src/capabilities/jobs/claim-job.ts'
import {
  deleteEndedJobs,
  type JobHandler,
  JobRefused,
  listJobs,
  readJob,
} from '../../src/capabilities/jobs/index.ts'
import { newId } from '../../src/kernel/ids.ts'
import { problem } from '../../src/kernel/problem.ts'
import { sleep } from '../../src/kernel/time.ts'
import {
  type AccessTables,
  type AuditTables,
  openRelational,
  sql,
} from '../../src/platform/relational/index.ts'
import { createLogger } from '../../src/platform/telemetry/index.ts'
import { allTenants } from '../support/all-tenants.ts'
import { eventually } from '../support/eventually.ts'
import {
  enqueueTestJob,
  jobIn,
  jobOf,
  openJobDb,
  quickJobs,
  startWorker,
} from '../support/job-workers.ts'
import { testPostgres } from '../support/postgres.ts'

let url: string
let relational: ReturnType<typeof openJobDb>
beforeAll(async () => {
  url = await testPostgres()
  relational = openJobDb(url)
})
afterAll(() => relational.close())

/** A separate kind for each test, so that its workers do not run the jobs of others. */
function handlerOf(run: JobHandler['run']): JobHandler {
  return { kind: newId(), run }
}

/** Resolves when the signal aborts, with its reason. */
async function aborted(signal: AbortSignal): Promise<unknown> {
  if (!signal.aborted) await once(signal, 'abort')
  return signal.reason
}

test('one of two workers runs a job, which ends with the result of the handler', async () => {
  const { db } = relational
  let runs = 0
  const handler = handlerOf(async (job, { progress }) => {
    runs += 1
    await progress({ half: true })
    return { sum: Number(job.params['left']) + 1 }
  })
  const workers = [startWorker(db, [handler]), startWorker(db, [handler])]
  const jobs = await Promise.all(
    Array.from({ length: 20 }, (_, left) =>
      enqueueTestJob(db, { kind: handler.kind, params: { left } }),
    ),
  )
  for (const [left, { id }] of jobs.entries()) {
    const ended = await jobIn(db, id, 'succeeded')
    expect(ended).toMatchObject({
      result: { sum: left + 1 },
      progress: { half: true },
      attempt: 1,
      error: null,
      lease_owner: null,
    })
  }
  expect(runs).toBe(20)
  await Promise.all(workers.map((worker) => worker.stop()))
})

test('a job whose worker was killed is taken over and continues where it was', async () => {
  const { db } = relational
  const { id } = await enqueueTestJob(db, { kind: 'test' })
  const program = fileURLToPath(new URL('../support/job-process.ts', import.meta.url))
  const child = spawn(process.execPath, [program, url], { stdio: ['ignore', 'pipe', 'inherit'] })
  let last = 0
  for await (const line of createInterface({ input: child.stdout })) {
    last = Number(line)
    if (last === 5) break
  }
  child.kill('SIGKILL')
  await once(child, 'exit')
  const begunAt: number[] = []
  const handler: JobHandler = {
    kind: 'test',
    run: async (job) => {
      begunAt.push(Number(job.progress?.['step']))
      return { done: true }
    },
  }
  const worker = startWorker(db, [handler])
  const ended = await jobIn(db, id, 'succeeded')
  expect(ended.attempt).toBe(2)
  expect(begunAt).toHaveLength(1)
  expect(begunAt[0]).toBeGreaterThanOrEqual(last)
  await worker.stop()
})

test('a worker that loses the lease is notified, and can neither save progress nor end the job', async () => {
  const { db } = relational
  const seen: unknown[] = []
  const noted = Promise.withResolvers<unknown>()
  const handler = handlerOf(async (_, { signal, progress }) => {
    seen.push(await aborted(signal))
    noted.resolve(await progress({ late: true }).catch((error: unknown) => error))
    return { late: true }
  })
  const worker = startWorker(db, [handler])
  const { id } = await enqueueTestJob(db, { kind: handler.kind })
  await jobIn(db, id, 'running')
  const thief = newId()
  await db
    .updateTable('job_runs')
    .set({ lease_owner: thief, lease_until: '2100-01-01T00:00:00Z' })
    .where('id', '=', id)
    .execute()
  expect(await noted.promise).toMatchObject({ name: 'LeaseLost' })
  expect(seen).toMatchObject([{ name: 'LeaseLost' }])
  await worker.stop()
  expect(await jobOf(db, id)).toMatchObject({
    ...{ state: 'running', lease_owner: thief, progress: null, result: null },
  })
})

test('a long job is not taken from a worker that renews its lease', async () => {
  const { db } = relational
  let begun = 0
  const handler = handlerOf(async (_, { signal }) => {
    begun += 1
    await sleep(3 * quickJobs.lease_ms, signal)
    signal.throwIfAborted()
    return {}
  })
  const workers = [startWorker(db, [handler]), startWorker(db, [handler])]
  const { id } = await enqueueTestJob(db, { kind: handler.kind })
  expect(await jobIn(db, id, 'succeeded', 'failed')).toMatchObject({ state: 'succeeded' })
  expect(begun).toBe(1)
  await Promise.all(workers.map((worker) => worker.stop()))
})

test('a worker that stops returns its job, which counts as no attempt', async () => {
  const { db } = relational
  const handler = handlerOf(async (_, { signal, progress }) => {
    await progress({ step: 1 })
    throw await aborted(signal)
  })
  const first = startWorker(db, [handler])
  const { id } = await enqueueTestJob(db, { kind: handler.kind })
  await eventually('progress', async () => (await jobOf(db, id)).progress !== null)
  await first.stop()
  expect(await jobOf(db, id)).toMatchObject({ state: 'queued', attempt: 0, progress: { step: 1 } })
  const second = startWorker(db, [{ ...handler, run: async (job) => job.progress ?? {} }])
  expect(await jobIn(db, id, 'succeeded')).toMatchObject({ attempt: 1, result: { step: 1 } })
  await second.stop()
})

test('a job has a limited number of attempts, but an outage is no attempt', async () => {
  const { db } = relational
  let tries = 0
  const faulty = handlerOf(async () => {
    tries += 1
    throw new Error('a secret of ours')
  })
  let outages = 0
  const away = handlerOf(async () => {
    outages += 1
    if (outages < 5) throw problem('store_unavailable', { detail: 'The store is unavailable.' })
    return {}
  })
  const refused = handlerOf(async () => {
    throw new JobRefused('the manifest is damaged: part-3')
  })
  const settings = { attempts_max: 3 }
  const worker = startWorker(db, [faulty, away, refused], { settings })
  const ids = await Promise.all(
    [faulty, away, refused].map(({ kind }) => enqueueTestJob(db, { kind })),
  )
  const [one, two, three] = await Promise.all(
    ids.map(({ id }) => jobIn(db, id, 'succeeded', 'failed')),
  )
  expect(one).toMatchObject({ state: 'failed', attempt: 3 })
  expect(one?.error).not.toContain('secret')
  expect(tries).toBe(3)
  expect(two).toMatchObject({ state: 'succeeded', attempt: 1, error: null })
  expect(outages).toBe(5)
  expect(three).toMatchObject({
    ...{ state: 'failed', attempt: 1, error: 'the manifest is damaged: part-3' },
  })
  await worker.stop()
})

test('a job that kills its worker every time is given up', async () => {
  const { db } = relational
  const handler = handlerOf(async () => ({}))
  const { id } = await enqueueTestJob(db, { kind: handler.kind })
  await db
    .updateTable('job_runs')
    .set({ state: 'running', attempt: 5, lease_owner: newId(), lease_until: '2020-01-01' })
    .where('id', '=', id)
    .execute()
  const worker = startWorker(db, [handler])
  expect(await jobIn(db, id, 'failed', 'succeeded')).toMatchObject({
    ...{ state: 'failed', error: 'The job was started 5 times and never ended.' },
  })
  await worker.stop()
})

test('a project has one job at a time with an exclusive key', async () => {
  const { db } = relational
  const [project_id, kind] = [newId(), newId()]
  const asked = { project_id, kind, exclusive_key: 'retention' }
  const first = await enqueueTestJob(db, asked)
  const second = enqueueTestJob(db, asked)
  await expect(second).rejects.toMatchObject({
    code: 'job_running',
    message: expect.stringContaining(first.id),
  })
  await enqueueTestJob(db, { ...asked, project_id: newId() })
  const worker = startWorker(db, [{ kind, run: async () => ({}) }])
  await jobIn(db, first.id, 'succeeded')
  await worker.stop()
  expect((await enqueueTestJob(db, asked)).id).not.toBe(first.id)
})

test('a job with a once key exists once, for any number of later requests', async () => {
  const { db } = relational
  const [project_id, kind] = [newId(), newId()]
  const asked = { project_id, kind, once_key: '2026-11-21', exclusive_key: 'retention' }
  const made = await Promise.all(Array.from({ length: 8 }, () => enqueueTestJob(db, asked)))
  expect(new Set(made.map(({ id }) => id)).size).toBe(1)
  const worker = startWorker(db, [{ kind, run: async () => ({}) }])
  const id = made[0]?.id ?? ''
  await jobIn(db, id, 'succeeded')
  await worker.stop()
  expect(await enqueueTestJob(db, asked)).toMatchObject({ id, state: 'succeeded' })
})

test('runs are read one by one and in pages, by their own project only', async () => {
  const { db } = relational
  const [project_id, kind] = [newId(), newId()]
  const made: string[] = []
  for (let at = 0; at < 5; at += 1) {
    made.unshift((await enqueueTestJob(db, { project_id, kind })).id)
  }
  const about = { project_id, kind }
  const first = await listJobs(db, about, { limit: 3 })
  expect(first).toMatchObject({ total: 5, next_cursor: expect.any(String) })
  const rest = await listJobs(db, about, { limit: 3, cursor: first.next_cursor ?? '' })
  expect([...first.jobs, ...rest.jobs].map(({ id }) => id)).toEqual(made)
  expect(rest.next_cursor).toBeNull()
  expect((await listJobs(db, { project_id: newId(), kind }, { limit: 3 })).total).toBe(0)

  const id = made[0] ?? ''
  expect(await readJob(db, { ...about, id })).toMatchObject({ id })
  for (const wrong of [{ project_id: newId() }, { kind: 'other' }, { id: 'x' }, { id: newId() }]) {
    await expect(readJob(db, { ...about, id, ...wrong })).rejects.toMatchObject({
      code: 'job_not_found',
    })
  }
  const other = { ...about, kind: 'other' }
  await expect(
    listJobs(db, other, { limit: 3, cursor: first.next_cursor ?? '' }),
  ).rejects.toMatchObject({ code: 'invalid_cursor' })
})

test('records of runs that ended long ago are deleted, except for some kinds', async () => {
  const { db } = relational
  const kinds = [newId(), newId()]
  const made = await Promise.all([...kinds, ...kinds].map((kind) => enqueueTestJob(db, { kind })))
  const old = made.slice(0, 2).map(({ id }) => id)
  await db
    .updateTable('job_runs')
    .set({ state: 'succeeded', ended_at: '2020-01-01' })
    .where('id', 'in', old)
    .execute()
  const [gone, kept] = kinds
  await deleteEndedJobs(db, { kept_days: 90, but_kinds: [kept ?? ''], limit: 100 })
  const left = await db.selectFrom('job_runs').select('kind').where('kind', 'in', kinds).execute()
  expect(left.map(({ kind }) => kind).toSorted()).toEqual([gone, kept, kept].toSorted())
})

test('a chore is repeated, and its failure ends nothing', async () => {
  let done = 0
  const chore = {
    name: 'test',
    every_ms: 10,
    reason: 'a test',
    run: async () => {
      done += 1
      if (done === 1) throw new Error('not this time')
    },
  }
  const worker = startWorker(relational.db, [], { chores: [chore] })
  await eventually('the chore', () => done >= 3)
  await worker.stop()
  const atStop = done
  await sleep(50)
  expect(done).toBe(atStop)
})

test('a project with 1,000 queued jobs does not delay the job of another project', async () => {
  const { db } = relational
  const [flooded, quiet, kind] = [newId(), newId(), newId()]
  await sql`
    insert into job_runs (id, project_id, kind, params, requested_by, due_at)
    select gen_random_uuid(), ${flooded}, ${kind}, '{}', 'user:eve', now() - interval '1 hour'
    from generate_series(1, 1000)`.execute(db)
  const { id } = await enqueueTestJob(db, { project_id: quiet, kind })
  const order: string[] = []
  const handler: JobHandler = {
    kind,
    jobs_max: 1,
    run: async ({ project_id }) => {
      order.push(project_id)
      return {}
    },
  }
  const worker = startWorker(db, [handler])
  await jobIn(db, id, 'succeeded')
  await worker.stop()
  // By turns the chance to come later is one half with each job: 1 in a million here.
  expect(order.indexOf(quiet)).toBeLessThan(20)
  await db.deleteFrom('job_runs').where('project_id', '=', flooded).execute()
})

test('simultaneous claims get different jobs, oldest first, of all projects alike', async () => {
  const { db } = relational
  const kind = newId()
  const [flooded, ...quiet] = Array.from({ length: 4 }, newId)
  const first = await enqueueTestJob(db, { project_id: flooded ?? '', kind })
  for (let at = 0; at < 40; at += 1) await enqueueTestJob(db, { project_id: flooded ?? '', kind })
  for (const project_id of quiet) await enqueueTestJob(db, { project_id, kind })
  const claim = () => claimJob(db, { kinds: [kind], lease_owner: newId(), lease_ms: 60_000 })
  const claimed = []
  for (let at = 0; at < 4; at += 1) claimed.push(await claim())
  expect(new Set(claimed.map((job) => job?.project_id)).size).toBe(4)
  expect(claimed.map((job) => job?.id)).toContain(first.id)
  const more = await Promise.all(Array.from({ length: 8 }, claim))
  const ids = [...claimed, ...more].map((job) => job?.id)
  expect(new Set(ids).size).toBe(12)
  expect(ids).not.toContain(undefined)
  await db.deleteFrom('job_runs').where('kind', '=', kind).execute()
})

test('a claim reads a bounded number of jobs, however many wait', async () => {
  const { db } = relational
  const [kind, other] = [newId(), newId()]
  await sql`
    insert into job_runs (id, project_id, kind, params, requested_by)
    select gen_random_uuid(), gen_random_uuid(), kind, '{}', 'test'
    from generate_series(1, 10000), unnest(${[kind, other]}::text[]) as kind
  `.execute(db)
  await sql`analyze job_runs`.execute(db)
  const claim = { kinds: [kind], lease_owner: newId(), lease_ms: 60_000 }
  const plan = await sql<{ 'QUERY PLAN': unknown }>`
    explain (analyze, format json) ${claimStatement(claim)}`.execute(db)
  const rows = [...JSON.stringify(plan.rows).matchAll(/"Actual Rows":(\d+)/g)]
  expect(rows.length).toBeGreaterThan(5)
  expect(Math.max(...rows.map(([, many]) => Number(many)))).toBeLessThanOrEqual(100)
  const projects = new Set<string>()
  for (let at = 0; at < 40; at += 1) {
    const job = await claimJob(db, { ...claim, after: [...projects].at(-1) })
    projects.add(job?.project_id ?? '')
  }
  expect(projects.size).toBe(40)
  await db.deleteFrom('job_runs').where('kind', 'in', [kind, other]).execute()
})

test('each end of a job has one audit record, and a retry has none', async () => {
  const { db } = relational
  const audited = openRelational<AccessTables & AuditTables>({
    scope: allTenants,
    ...{ url, pool_max: 2, connect_timeout_ms: 2_000, statement_timeout_ms: 5_000 },
    logger: createLogger({ role: 'test', level: 'silent' }),
  })
  let attempts = 0
  const good = handlerOf(async () => {
    if (++attempts === 1) throw new Error('once')
    return {}
  })
  const bad = handlerOf(async () => {
    throw new JobRefused('never')
  })
  const worker = startWorker(db, [good, bad], { audit: openAuditTrail(audited.db) })
  const jobs = await Promise.all(
    [good, bad].map(({ kind }) => enqueueTestJob(db, { kind, params: {} })),
  )
  for (const { id } of jobs) await jobIn(db, id, 'succeeded', 'failed')
  await worker.stop()
  const records = await audited.db
    .selectFrom('audit_records')
    .selectAll()
    .orderBy('action')
    .execute()
  const expected = [
    { action: `job.${good.kind}`, outcome: 'succeeded', actor_kind: 'job', actor_id: jobs[0]?.id },
    { action: `job.${bad.kind}`, outcome: 'failed', actor_kind: 'job', actor_id: jobs[1]?.id },
  ]
  expect(records).toHaveLength(2)
  expect(records).toEqual(
    expect.arrayContaining(expected.map((each) => expect.objectContaining(each))),
  )
  await audited.close()
})
