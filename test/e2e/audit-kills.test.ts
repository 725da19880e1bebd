import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { newId } from '../../src/kernel/ids.ts'
import { sleep } from '../../src/kernel/time.ts'
import {
  type AuditShape,
  adminCalls,
  startAuditShape,
  withDatabase,
} from '../support/audit-shapes.ts'
import { attributesIn, logsIn, streamSecret } from '../support/audit-streams.ts'
import { eventually } from '../support/eventually.ts'
import { killsOfRun, msFor } from '../support/kills-of-run.ts'
import { printCounts } from '../support/print-counts.ts'
import { type Receiver, startReceiver } from '../support/receiver.ts'
import { budget } from '../support/suite/budget.ts'

/**
 * kill -9 of the process that serves the API, under audited changes and reads, while records are
 * streamed. The long run is `KILLS=20 npx vitest run test/e2e/audit-kills.test.ts`.
 */
const kills = killsOfRun({ test: 1, soak: 3 })

type Call = { request_id: string; status: number; id?: string }

/** Both shapes run the same code of the trail; a cluster has more processes to lose. */
const shapes = ['separate processes', 'role all'] as const
const shapes_used = budget({ test: 1, soak: 2 })

describe.each(shapes.slice(0, shapes_used))('in %s', (kind) => {
  let shape: AuditShape
  let receiver: Receiver

  beforeAll(async () => {
    receiver = await startReceiver()
    shape = await startAuditShape(kind, {
      LOOPTRACE_AUDIT_STREAM_WEBHOOK_URL: `${receiver.url}/hook`,
      LOOPTRACE_AUDIT_STREAM_WEBHOOK_SECRET: streamSecret,
      LOOPTRACE_AUDIT_STREAM_OTLP_URL: `${receiver.url}/v1/logs`,
      LOOPTRACE_OUTBOUND_ALLOWED: `127.0.0.0/8:${receiver.port}`,
    })
  }, 240_000)
  afterAll(async () => {
    await shape?.[Symbol.asyncDispose]()
    await receiver?.close()
  })

  const rows = async (text: string) =>
    (await withDatabase(await shape.postgresUrl(), (client) => client.query(text))).rows

  /** Makes changes and reads until the process is killed. Returns the acknowledged calls. */
  async function load(round: number): Promise<{ changes: Call[]; reads: Call[] }> {
    const call = await adminCalls(shape)
    const keys = `/api/v2/access/projects/${shape.login.project_id}/api-keys`
    const changes: Call[] = []
    const reads: Call[] = []
    let isKilled = false
    const change = async (writer: number) => {
      for (let at = 0; !isKilled; at += 1) {
        const request_id = `change-${newId()}-${round}-${writer}-${at}`
        const answer = await call('POST', keys, { name: request_id }, request_id).catch(() => null)
        if (answer === null) return
        changes.push({ request_id, status: answer.status, id: answer.json().id })
      }
    }
    const read = async (reader: number) => {
      for (let at = 0; !isKilled; at += 1) {
        const request_id = `read-${newId()}-${round}-${reader}-${at}`
        const path = '/api/v1/feedback/review'
        const answer = await call('GET', path, undefined, request_id).catch(() => null)
        if (answer === null) return
        reads.push({ request_id, status: answer.status })
      }
    }
    const working = Promise.all([change(1), change(2), change(3), read(1), read(2)])
    const enough = () => changes.length > 5 && reads.length > 5
    await eventually('calls are acknowledged', enough, { timeout_ms: 30_000 })
    await sleep((round * 137) % 700)
    await shape.api.kill()
    isKilled = true
    await working
    return { changes, reads }
  }

  test(
    'each acknowledged call has one record, no change lacks one, and no record lacks a change',
    async () => {
      const done: { changes: Call[]; reads: Call[] } = { changes: [], reads: [] }
      for (let round = 0; round < kills; round += 1) {
        const { changes, reads } = await load(round)
        done.changes.push(...changes)
        done.reads.push(...reads)
        // The last reads wait for longer than ten seconds, so that they are sealed late.
        if (round === kills - 1) {
          if (shape.worker !== shape.api) await shape.worker.kill()
          await sleep(11_000)
          if (shape.worker !== shape.api) await shape.worker.start()
        }
        await shape.api.start()
      }
      expect(done.changes.map(({ status }) => status)).toEqual(done.changes.map(() => 201))
      expect(done.reads.map(({ status }) => status)).toEqual(done.reads.map(() => 200))
      const records = await rows(`select request_id, resource_id from audit_records
        where action = 'createApiKey' and outcome = 'succeeded' and request_id like 'change-%'`)
      const made = await rows(`select id, name from api_keys where name like 'change-%'`)
      const byRequest = records.map(({ request_id }) => request_id).sort()
      expect(byRequest).toEqual(made.map(({ name }) => name).sort())
      expect(records.map(({ resource_id }) => resource_id).sort()).toEqual(
        made.map(({ id }) => id).sort(),
      )
      expect(new Set(byRequest).size).toBe(byRequest.length)
      for (const { request_id } of done.changes) expect(byRequest).toContain(request_id)
      await expectReads(done.reads)
      printCounts(`audit in ${kind}`, {
        kills,
        changes: done.changes.length,
        unacknowledged: made.length - done.changes.length,
        reads: done.reads.length,
      })
    },
    msFor(kills) + 120_000,
  )

  async function expectReads(acknowledged: readonly Call[]): Promise<void> {
    const sealed = () => rows(`select request_id from audit_reads where request_id like 'read-%'`)
    await eventually('all answered reads are sealed', async () => {
      const ids = new Set((await sealed()).map(({ request_id }) => request_id))
      return acknowledged.every(({ request_id }) => ids.has(request_id))
    })
    const reads = await sealed()
    expect(new Set(reads.map(({ request_id }) => request_id)).size).toBe(reads.length)
    const late = await rows(`select seq from audit_records where action = 'sealReadsLate'`)
    expect(late.length).toBeGreaterThan(0)
  }

  test('both chains verify', async () => {
    const call = await adminCalls(shape)
    for (const chain of ['organization', 'installation']) {
      const { status, json } = await call('GET', `/api/v2/audit/verify?after=0&chain=${chain}`)
      expect([chain, status, json()]).toMatchObject([
        chain,
        200,
        { valid: true, next_after: null, faults: [] },
      ])
    }
  })

  test('both receivers got each record, without a gap', async () => {
    const stored = (await rows('select chain_id, seq from audit_records')).map(
      ({ chain_id, seq }) => `${chain_id}/${seq}`,
    )
    const wanted = new Set(stored)
    const received = () => countReceived(receiver)
    const isComplete = () => {
      const { ofHook, ofLogs } = received()
      return [...wanted].every((key) => ofHook.has(key) && ofLogs.has(key))
    }
    await eventually('all records arrived', isComplete, { timeout_ms: 30_000, interval_ms: 500 })
    const { ofHook, ofLogs } = received()
    const twice = (map: Map<string, number>) => [...map.values()].filter((n) => n > 1).length
    printCounts(`audit streams in ${kind}`, {
      records: wanted.size,
      'repeated to the webhook': twice(ofHook),
      'repeated as logs': twice(ofLogs),
    })
  })
})

/** How often each record came, as `<chain_id>/<seq>`, in webhooks and in OTLP logs. */
function countReceived({ received }: Pick<Receiver, 'received'>) {
  const ofHook = received
    .filter(({ path }) => path === '/hook')
    .flatMap(({ body }) => JSON.parse(body).data.records)
    .map(({ chain_id, seq }) => `${chain_id}/${seq}`)
  const ofLogs = received
    .filter(({ path }) => path !== '/hook')
    .flatMap(({ bytes }) => logsIn(bytes))
    .filter(({ eventName }) => eventName === 'looptrace.audit.record')
    .map((log) => String(attributesIn(log)['log.record.uid']))
  return { ofHook: countEach(ofHook), ofLogs: countEach(ofLogs) }
}

function countEach(keys: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const key of keys) counts.set(key, (counts.get(key) ?? 0) + 1)
  return counts
}
