import { randomUUID } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { openAuditTrail } from '../../src/capabilities/audit/index.ts'
import { markDue } from '../../src/capabilities/detection/index.ts'
import type { IncidentDb } from '../../src/capabilities/incidents/ports.ts'
import { ingestMeters } from '../../src/capabilities/ingest/meters.ts'
import { settleTraces } from '../../src/capabilities/ingest/traces/settle-traces.ts'
import {
  enqueueJob,
  type JobHandler,
  runChore,
  startJobs,
} from '../../src/capabilities/jobs/index.ts'
import { systemClock } from '../../src/kernel/time.ts'
import { frameOf } from '../../src/model/exchange-frame.ts'
import { createMetrics } from '../../src/platform/telemetry/index.ts'
import { runInInstallation, runInProject } from '../../src/platform/tenancy/index.ts'
import { listJobs } from '../../src/roles/jobs.ts'
import { openWork } from '../../src/roles/worker.ts'
import { eventually } from '../support/eventually.ts'
import { callParts, noErasures } from '../support/ingest.ts'
import { quickJobs } from '../support/job-workers.ts'
import { observationOf } from '../support/observations.ts'
import { openRecordedStores, seedDueWork, tenants } from '../support/scoped-work.ts'

let world: Awaited<ReturnType<typeof openRecordedStores>>
let jobs: ReturnType<typeof listJobs>
const [ours, theirs] = tenants.map(({ project_id }) => project_id) as [string, string]
const consumers = 'consumers'

beforeAll(async () => {
  world = await openRecordedStores()
  const { admin, unrecorded, recorder, context, config, stores } = world
  await seedDueWork(admin, unrecorded as unknown as IncidentDb)
  const work = await recorder.within(consumers, () => openWork(context, config, stores))
  jobs = listJobs(context, config, stores, work.jobs)
}, 120_000)
afterAll(() => world.parts.disposeAsync())

/** Rows of the table in docs/internals/isolation.md with this first column. */
async function documented(heading: string): Promise<string[][]> {
  const page = await readFile('docs/internals/isolation.md', 'utf8')
  const [, table = ''] =
    new RegExp(`^\\| ${heading} \\|.*\\n\\|[-|]+\\n((?:\\|.*\\n)+)`, 'm').exec(page) ?? []
  const rows = table.trim().split('\n')
  return rows.map((row) =>
    row
      .split('|')
      .map((cell) => cell.trim())
      .slice(1, -1),
  )
}

/** The scopes in which a work ran statements: reasons of the installation, and other kinds. */
function scopesOf(work: string): { reasons: string[]; others: string[] } {
  const scopes = world.recorder.of(work).map(({ scope }) => scope)
  const reasons = scopes.flatMap((scope) => (scope?.kind === 'installation' ? scope.reason : []))
  const others = scopes.flatMap((scope) => {
    return scope?.kind === 'installation' ? [] : (scope?.kind ?? 'none')
  })
  return { reasons: [...new Set(reasons)].toSorted(), others: [...new Set(others)].toSorted() }
}

test('each chore runs in the documented scopes', async () => {
  const { recorder } = world
  const found: string[][] = []
  for (const chore of jobs.chores) {
    const { name } = chore
    const run = () => runChore(chore, new AbortController().signal)
    // Rows that are made up may not be understood: then the chore fails after its first statements.
    await recorder.within(name, run).catch(() => undefined)
    const { reasons, others } = scopesOf(name)
    found.push([name, reasons.join('; '), others.join(', ') || '—'])
  }
  expect(found.length).toBeGreaterThan(20)
  const unique = [...new Set(found.map((row) => row.join(' | ')))].toSorted()
  expect(unique).toEqual((await documented('chore')).map((row) => row.join(' | ')).toSorted())
}, 120_000)

test('consumers of the queue run in the scope of the project, but for the claims', async () => {
  const { stores, admin, recorder } = world
  for (const project_id of [ours, theirs]) {
    const calls = [{ facts: { task_id: 'seen', conversation_id: 'talk' } }, { from: 2 }]
    const data = frameOf(calls.flatMap((call) => callParts(project_id, call)))
    await stores.queue.publish({ id: randomUUID(), subject: `ingest.${project_id}`, data })
  }
  const count = async (text: string) => Number((await admin.query(text)).rows[0]?.count)
  await eventually(
    'both projects',
    async () => {
      const analysed = await count(
        "select count(*) from task_detections where task_id = 'seen' and revision > 0",
      )
      const sent = await count("select count(*) from notification_outbox where state = 'dead'")
      const evaluated = await count('select count(*) from rule_evaluations')
      return analysed === 2 && sent === 2 && evaluated === 2
    },
    { timeout_ms: 60_000 },
  )
  const { reasons, others } = scopesOf(consumers)
  expect(reasons).toEqual((await documented('consumer')).map(([, reason]) => reason).toSorted())
  expect(others.filter((kind) => kind !== 'projects')).toEqual(['project'])
  const ofInstallation = recorder
    .of(consumers)
    .filter(({ scope, text }) => scope?.kind === 'installation' && isWrite(text))
  const claims = /task_detections|large_rollups|evaluation_(leases|workers)|rule_samples/
  expect(ofInstallation.filter(({ text }) => !claims.test(text))).toEqual([])
  for (const project_id of [ours, theirs]) {
    const own = recorder
      .of(consumers)
      .filter(({ scope }) => scope?.kind === 'project' && scope.project_id === project_id)
      .map(({ text }) => text)
    for (const table of ['task_detections', 'rule_states', 'notification_outbox']) {
      expect(
        own.some((text) => text.includes(table)),
        table,
      ).toBe(true)
    }
  }
}, 90_000)

const isWrite = (text: string) =>
  /\b(insert into|update|delete from)\b|InsertQuery|UpdateQuery|DeleteQuery/.test(text)

test('jobs of each kind run in the scope of the project', async () => {
  const { recorder, stores, context } = world
  const handlers = jobs.handlers.map(
    (handler): JobHandler => ({
      kind: handler.kind,
      run: (job, about) => recorder.within(`job ${handler.kind}`, () => handler.run(job, about)),
    }),
  )
  expect(handlers.length).toBeGreaterThan(8)
  const { db } = stores
  for (const { kind } of handlers) {
    const job = { project_id: ours, kind, params: {}, requested_by: 'test', clock: systemClock }
    await runInProject(ours, () => enqueueJob(db, job))
  }
  const settings = { ...quickJobs, attempts_max: 1, concurrency_max: 4 }
  const audit = openAuditTrail(db)
  const metrics = createMetrics()
  const options = { ...context, metrics, db, handlers, settings, audit }
  const worker = recorder.within('jobs', () => startJobs(options))
  // Also those that the chores have queued, such as one of no project.
  await eventually(
    'all jobs',
    async () => {
      const { rows } = await world.admin.query(
        `select kind from job_runs where state in ('queued', 'running')`,
      )
      return rows.length === 0
    },
    { timeout_ms: 60_000 },
  )
  await worker.stop()
  expect(scopesOf('jobs')).toEqual({
    reasons: ['projects take turns with their jobs', 'the chain of the installation'],
    others: ['project'],
  })
  const inInstallation = handlers
    .map(({ kind }) => [kind, scopesOf(`job ${kind}`).reasons.join('; ')])
    .filter(([, reasons]) => reasons !== '')
  expect(inInstallation).toEqual(await documented('job'))
}, 90_000)

describe('a statement that forgets its project', () => {
  const third = '33333333-0000-7000-8000-222222222222'
  const forgetful = async () => {
    const { db } = world.stores
    const changed = await db.updateTable('tasks').set({ name: 'taken' }).executeTakeFirst()
    return { changed: Number(changed.numUpdatedRows) }
  }
  /** The projects whose task was changed. */
  const taken = async () => {
    const { rows } = await world.admin.query(
      `select project_id from tasks where name = 'taken' order by project_id`,
    )
    return rows.map(({ project_id }) => project_id)
  }
  beforeEach(async () => {
    await world.admin.query('delete from tasks')
    await world.admin.query(
      `insert into tasks (project_id, task_id, name, implicit, started_at, last_activity_at)
       select id, 'planted', 'order', false, now(), now() from unnest($1::uuid[]) as id`,
      [[ours, theirs, third]],
    )
  })

  test('in a job changes no row of another project', async () => {
    const { stores, context } = world
    const { db } = stores
    const asked = { project_id: ours, kind: 'planted', params: {}, requested_by: 'test' }
    const { id } = await runInProject(ours, () => enqueueJob(db, { ...asked, clock: systemClock }))
    const handlers = [{ kind: 'planted', run: forgetful }]
    const options = { ...context, metrics: createMetrics(), db, handlers, settings: quickJobs }
    const worker = startJobs(options)
    const ended = await eventually('the job', async () => {
      const { rows } = await world.admin.query('select result from job_runs where id = $1', [id])
      return rows[0]?.result ?? false
    })
    await worker.stop()
    expect([ended, await taken()]).toEqual([{ changed: 1 }, [ours]])
  })

  test('in a batch of ingest changes no row of a project outside of the batch', async () => {
    const { db, store } = world.stores
    const batch = [ours, theirs].map((project_id) =>
      observationOf({ project_id, task_id: 'planted', start_time: startNs }),
    )
    const forgetfulMark: typeof markDue = async (trx, tasks) => {
      await trx.updateTable('tasks').set({ name: 'taken' }).execute()
      await markDue(trx, tasks)
    }
    const second = {
      setSecondOwners: async () => undefined,
      eraseSecondRows: async () => undefined,
    }
    const about = { erased: noErasures, meters: ingestMeters(createMetrics()) }
    const ports = { db, store, markDue: forgetfulMark, large_from: 2_000, ...second, ...about }
    await settleTraces(ports, batch.slice(0, 1))
    expect(await taken()).toEqual([ours])
    await settleTraces(ports, batch)
    expect(await taken()).toEqual([ours, theirs])
  })

  test('in the scope of the installation would change all of them', async () => {
    expect(await runInInstallation('the test', forgetful)).toEqual({ changed: 3 })
  })
})

const startNs = BigInt(Date.now()) * 1_000_000n
