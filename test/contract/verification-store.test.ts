import { afterAll, beforeAll, expect, test } from 'vitest'
import type { RunsDb } from '../../src/capabilities/verification/contract.ts'
import {
  claimsOf,
  deleteOverride,
  overridesOf,
  putOverride,
} from '../../src/capabilities/verification/runs/claims-store.ts'
import {
  cancelRun,
  latestRun,
  latestVerified,
  listRuns,
  maxQueuedRuns,
  type RunRequest,
  startRun,
} from '../../src/capabilities/verification/runs/store.ts'
import { newId } from '../../src/kernel/ids.ts'
import { systemClock } from '../../src/kernel/time.ts'
import { openRelational, sql } from '../../src/platform/relational/index.ts'
import { createLogger } from '../../src/platform/telemetry/index.ts'
import { allTenants } from '../support/all-tenants.ts'
import { testPostgres } from '../support/postgres.ts'

let close: () => Promise<void>
let db: RunsDb
beforeAll(async () => {
  const relational = openRelational({
    scope: allTenants,
    url: await testPostgres(),
    logger: createLogger({ role: 'test', level: 'silent' }),
    pool_max: 8,
    connect_timeout_ms: 5_000,
    statement_timeout_ms: 30_000,
  })
  db = relational.db as RunsDb
  close = () => relational.close()
})
afterAll(() => close())

const clock = systemClock

async function newProject(): Promise<string> {
  const [organization_id, id] = [newId(), newId()]
  await sql`insert into organizations (id, name) values (${organization_id}, ${id})`.execute(db)
  await sql`insert into projects (id, organization_id, name)
    values (${id}, ${organization_id}, ${id})`.execute(db)
  return id
}

function requestOf(project_id: string, more: Partial<RunRequest> = {}): RunRequest {
  return {
    ...{ project_id, trace_id: newId(), task_id: null, user_id: null, environment: null },
    trace_start: '2026-11-01T00:00:00.000Z',
    trigger: 'request',
    verifiers: [{ name: 'kb', options: {} }],
    requested_by: 'user:ada',
    ...more,
  }
}

test('of twenty simultaneous requests for a trace one starts a run, and has one job', async () => {
  const request = requestOf(await newProject())
  const started = await Promise.all(
    Array.from({ length: 20 }, () => startRun({ db, clock }, request)),
  )
  expect(started.filter(({ is_new }) => is_new)).toHaveLength(1)
  expect(new Set(started.map(({ run }) => run.id)).size).toBe(1)
  const jobs = await db
    .selectFrom('job_runs')
    .selectAll()
    .where('project_id', '=', request.project_id)
    .execute()
  expect(jobs).toMatchObject([
    { kind: 'verification', params: { run_id: started[0]?.run.id }, state: 'queued' },
  ])
  expect(started[0]?.run.job_id).toBe(jobs[0]?.id)
})

test('a full queue refuses further runs of its project, and of no other', async () => {
  const project_id = await newProject()
  await sql`
    insert into verification_runs
      (id, project_id, trace_id, trace_start, state, trigger, requested_by, verifiers, created_at)
    select gen_random_uuid(), ${project_id}, gen_random_uuid(), now(), 'pending', 'request', 'user:a',
      '[]', now()
    from generate_series(1, ${maxQueuedRuns})`.execute(db)
  await expect(startRun({ db, clock }, requestOf(project_id))).rejects.toMatchObject({
    code: 'verification_queue_full',
  })
  const jobs = db.selectFrom('job_runs').selectAll().where('project_id', '=', project_id)
  expect(await jobs.execute()).toEqual([])
  const other = await startRun({ db, clock }, requestOf(await newProject()))
  expect(other.is_new).toBe(true)
})

test('a cancelled run counts as no run, ends its job, and makes room for another', async () => {
  const request = requestOf(await newProject())
  const { run } = await startRun({ db, clock }, request)
  const key = { project_id: request.project_id, run_id: run.id }
  const foreign = { ...key, project_id: await newProject() }
  expect(await cancelRun({ db, clock }, foreign, 'user:eve')).toBeUndefined()
  const cancelled = await cancelRun({ db, clock }, key, 'user:ada')
  expect(cancelled).toMatchObject({ state: 'cancelled', error: { code: 'cancelled' } })
  expect(await cancelRun({ db, clock }, key, 'user:ada')).toBeUndefined()
  expect(await latestRun(db, request)).toBeUndefined()
  const job = await db
    .selectFrom('job_runs')
    .selectAll()
    .where('id', '=', run.job_id ?? '')
    .executeTakeFirst()
  expect(job).toMatchObject({ state: 'failed', error: 'Cancelled by user:ada.' })
  const again = await startRun({ db, clock }, request)
  expect(again.is_new).toBe(true)
  expect((await latestRun(db, request))?.id).toBe(again.run.id)
  expect(await latestVerified(db, request)).toBeUndefined()
  const listed = await listRuns(db, request, { limit: 10 })
  expect(listed.map(({ id }) => id)).toEqual([again.run.id, run.id])
})

test('an override belongs to the claim of a trace, and a second one replaces it', async () => {
  const project_id = await newProject()
  const { run } = await startRun({ db, clock }, requestOf(project_id))
  const claim = await db
    .insertInto('verification_claims')
    .values({
      ...{ id: newId(), run_id: run.id, project_id, trace_id: run.trace_id, position: 0 },
      ...{ kind: 'sentence', digest: 'd1', text: 'It is 7.', starts_at: 0, ends_at: 8 },
      ...{ verdict: 'supported', probability: null, weight: 1 },
      ...{ results: JSON.stringify([{ verifier: 'kb' }]), checked_values: '[]' },
    })
    .returningAll()
    .executeTakeFirstOrThrow()
  const override = {
    claim,
    verdict: 'supported' as const,
    reason: 'seen on paper',
    created_by: 'user:ada',
    created_at: new Date(),
    trace_start: '2026-11-01T00:00:00.000Z',
  }
  await db.transaction().execute(async (trx) => {
    await putOverride(trx, override)
    await putOverride(trx, { ...override, verdict: 'contradicted' })
    const foreign = { ...claim, project_id: await newProject() }
    expect(await putOverride(trx, { ...override, claim: foreign })).toBeUndefined()
  })
  expect(await overridesOf(db, claim)).toMatchObject([
    { claim_digest: 'd1', verdict: 'contradicted', machine: [{ verifier: 'kb' }] },
  ])
  expect(await overridesOf(db, { ...claim, project_id: await newProject() })).toEqual([])
  expect(await deleteOverride(db, claim)).toMatchObject({ verdict: 'contradicted' })
  expect(await deleteOverride(db, claim)).toBeUndefined()
  expect(await claimsOf(db, { project_id, run_id: newId() }, { limit: 5 })).toEqual([])
})
