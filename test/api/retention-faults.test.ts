import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openClickHouseLedgerStore } from '../../src/capabilities/storage/index.ts'
import { newId } from '../../src/kernel/ids.ts'
import { problem } from '../../src/kernel/problem.ts'
import { jobIn, startWorker } from '../support/job-workers.ts'
import { entryOf } from '../support/records.ts'
import { daysAgo, openRetentionApi, type RetentionApi } from '../support/retention-api.ts'
import { budget } from '../support/suite/budget.ts'

let api: RetentionApi
beforeAll(async () => {
  api = await openRetentionApi()
})
afterAll(() => api[Symbol.asyncDispose]())

const agos = [40, 41, 42, 43].slice(0, budget({ test: 3, soak: 4 }))

/** A project with observations and events of some days that are due, and of one that is not. */
async function dueProject(): Promise<string> {
  const project = await api.newProject()
  const times = [...agos, 10].map((ago) => daysAgo(ago))
  await api.seed(project, {
    observations: times.map((start_time, at) => ({ start_time, observation_id: `o-${at}` })),
    events: times.map((time) => ({ time })),
  })
  const body = { days: { observations: 30 } }
  await api.call('PUT', '/retention-policy', project, { body })
  return project
}

async function enqueue(project: string): Promise<string> {
  return String((await api.call('POST', '/retention/run', project)).body['job_id'])
}

test.each([
  ['after rows went', 'end', 3],
  ['while rows go', 'begin', 5],
])(
  'a run that is killed %s is completed by another worker, and reports every deletion',
  async (_, line, count) => {
    const project = await dueProject()
    const job_id = await enqueue(project)
    const program = fileURLToPath(new URL('../support/retention-process.ts', import.meta.url))
    const given = [api.postgres_url, JSON.stringify(api.clickhouse)]
    const child = spawn(process.execPath, [program, ...given], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    let seen = 0
    for await (const printed of createInterface({ input: child.stdout })) {
      if (printed === line) seen += 1
      if (seen === count) break
    }
    child.kill('SIGKILL')
    await once(child, 'exit')
    expect((await api.done(job_id)).attempt).toBeGreaterThanOrEqual(2)
    const { body } = await api.call('GET', `/retention/runs/${job_id}?limit=1000`, project)
    expect(body['result']).toMatchObject({ deleted_rows: 2 * agos.length })
    for (const bucket of body['buckets'] as object[]) expect(bucket).toMatchObject({ rows: 1 })
    expect(await api.rows(project)).toMatchObject({ observations: 1, events: 1 })
  },
)

test('one of two workers does a run, and nothing is reported twice', async () => {
  const project = await dueProject()
  const workers = [api.handler(), api.handler()].map((handler) => startWorker(api.db, [handler]))
  const job = await jobIn(api.db, await enqueue(project), 'succeeded', 'failed')
  expect(job).toMatchObject({ attempt: 1, result: { deleted_rows: 2 * agos.length } })
  await Promise.all(workers.map((worker) => worker.stop()))
})

test('a run waits for a store that is temporarily unavailable', async () => {
  const project = await dueProject()
  let calls = 0
  const flaky = {
    ...api.store,
    deleteRows: async (slice: Parameters<typeof api.store.deleteRows>[0]) => {
      calls += 1
      if (calls % 3 === 0)
        throw problem('store_unavailable', { detail: 'The store is unavailable.' })
      await api.store.deleteRows(slice)
    },
  }
  const run = await api.run(project, api.handler(flaky))
  expect(run).toMatchObject({ attempt: 1, result: { deleted_rows: 2 * agos.length } })
})

test('copies in a second store are deleted too, also those of a run that died between the two', async () => {
  const project = await dueProject()
  const deleted: string[] = []
  let is_broken = true
  const handler = api.handler(api.store, [
    {
      store: 'postgres',
      kinds: ['observations'],
      deleteRows: async ({ from }) => {
        if (is_broken) {
          is_broken = false
          throw problem('store_unavailable', { detail: 'The store is unavailable.' })
        }
        deleted.push(new Date(Number(from / 1_000_000n)).toISOString().slice(0, 10))
      },
      maskContent: async () => undefined,
      eraseUser: async () => undefined,
    },
  ])
  await api.run(project, handler)
  expect(new Set(deleted).size).toBe(agos.length)
})

test('the ledger is unchanged after deletions: retention loses nothing', async () => {
  const project = await dueProject()
  const ledger = openClickHouseLedgerStore({ columnar: api.columnar })
  const received_at_ms = Number(daysAgo(40) / 1_000_000n)
  const about = { project_id: project, ingest_request_id: newId(), received_at_ms }
  await ledger.insertEntries(
    [entryOf({ ...about, items: 9 }), entryOf({ ...about, side: 'settled', items: 9, stored: 9 })],
    { token: newId() },
  )
  const sums = () =>
    ledger.sums(project, {
      from_ms: received_at_ms - 1,
      to_ms: received_at_ms + 1,
      lost_before_ms: Date.now(),
    })
  const before = await sums()
  expect(before).toMatchObject([{ accepted: 9, stored: 9, pending: 0, lost: {} }])
  await api.run(project)
  expect(await api.rows(project)).toMatchObject({ observations: 1 })
  expect(await sums()).toEqual(before)
})

test('months of the ledger that are long over are dropped, and no others', async () => {
  const project = await api.newProject()
  const ledger = openClickHouseLedgerStore({ columnar: api.columnar })
  const at = (text: string) => Date.parse(text)
  const received = ['2025-03-05T00:00:00Z', '2025-04-30T00:00:00Z', '2025-05-01T00:00:00Z'].map(at)
  await ledger.insertEntries(
    received.map((received_at_ms) => entryOf({ project_id: project, received_at_ms })),
    { token: newId() },
  )
  const months = async () => {
    const rows = await api.ask<{ month: string }>(
      `SELECT toString(toYYYYMM(received_at)) AS month FROM ingest_ledger
       WHERE project_id = {project:UUID} ORDER BY month`,
      { project },
    )
    return rows.map(({ month }) => month)
  }
  await ledger.dropMonthsBefore(at('2025-04-15T00:00:00Z'))
  expect(await months()).toEqual(['202504', '202505'])
  await ledger.dropMonthsBefore(at('2025-05-01T00:00:00Z'))
  expect(await months()).toEqual(['202505'])
})
