import { once } from 'node:events'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { openReadJournal } from '../../src/capabilities/audit/index.ts'
import { sealReads } from '../../src/capabilities/audit/reads/seal-reads.ts'
import { newId } from '../../src/kernel/ids.ts'
import { sleep } from '../../src/kernel/time.ts'
import { createLogger, createMetrics } from '../../src/platform/telemetry/index.ts'
import { type AccessApp, startAccessApp } from '../support/access-app.ts'
import { eventually } from '../support/eventually.ts'
import { killableProcesses } from '../support/killable-processes.ts'
import { killsOfRun } from '../support/kills-of-run.ts'
import { testPostgres } from '../support/postgres.ts'

const kills = killsOfRun({ test: 2, soak: 6 })
const readers = 16
const program = new URL('../support/audited-reads-process.ts', import.meta.url)
const processes = killableProcesses(program)
afterAll(() => processes.killAll())

test('a process killed between answers and seals loses no answered read', async () => {
  const database_url = await testPostgres()
  const journals = await mkdtemp(join(tmpdir(), 'looptrace-audit-kills-'))
  await using app = await openApp(database_url, journals)
  const token = await app.signIn(app.first.admin_email, app.first.admin_password)
  const answered: string[] = []
  for (let kill = 0; kill < kills; kill += 1) {
    const child = processes.start(`${database_url} ${journals}`)
    const [line] = await once(child.stdout, 'data')
    const url = `http://127.0.0.1:${Number(String(line))}/content`
    const query = `?project_id=${app.first.project_id}`
    const reading = Array.from({ length: readers }, (_, at) =>
      readUntilKilled(`${url}/task-${at % 8}${query}`, token, answered),
    )
    const before = answered.length
    await eventually('reads are answered', () => answered.length > before + readers)
    await sleep(20 + 70 * kill)
    await processes.kill(child)
    await Promise.all(reading)
  }
  expect(answered.length).toBeGreaterThan(kills * readers)

  const { db } = app.relational
  // The app is another process in the same folder: it takes what the last killed one left.
  const { logger, metrics } = {
    logger: createLogger({ role: 'test', level: 'silent' }),
    metrics: createMetrics(),
  }
  const journal = await openReadJournal({ db, folder: journals, logger, metrics })
  await journal.close()
  const tail = await db.selectFrom('audit_read_batches').select('read_count').execute()
  expect(tail.length).toBeGreaterThan(0)
  while ((await sealReads(db, { now_ms: () => Date.now() + 60_000 })) > 0);
  const rows = await db.selectFrom('audit_reads').select(['request_id', 'segment_seq']).execute()
  const stored = rows.map(({ request_id }) => request_id)
  expect(new Set(stored).size).toBe(stored.length)
  expect(new Set(answered).difference(new Set(stored))).toEqual(new Set())
  const late = await app.call('GET', '/api/v2/audit/events?action=sealReadsLate', { token })
  expect(late.body.events.length).toBeGreaterThan(0)
  const { body } = await app.call('GET', '/api/v2/audit/verify', { token })
  expect(body).toMatchObject({ valid: true, faults: [] })
})

async function openApp(
  database_url: string,
  journal_folder: string,
): Promise<AccessApp & AsyncDisposable> {
  const app = await startAccessApp({ database_url, journal_folder })
  return { ...app, [Symbol.asyncDispose]: () => app.close() }
}

/** Reads one after the other, and notes the ids of the answered ones. */
async function readUntilKilled(url: string, token: string, answered: string[]): Promise<void> {
  for (;;) {
    const request_id = newId()
    const headers = { authorization: `Bearer ${token}`, 'x-request-id': request_id }
    const status = await fetch(url, { headers }).then(
      async (reply) => {
        await reply.text()
        return reply.status
      },
      () => 'killed' as const,
    )
    if (status === 'killed') return
    expect(status).toBe(200)
    answered.push(request_id)
  }
}
