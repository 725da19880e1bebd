import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { JobHandler } from '../../src/capabilities/jobs/index.ts'
import { newId } from '../../src/kernel/ids.ts'
import { openWakeChannel, pollingWakes } from '../../src/platform/relational/index.ts'
import { createLogger } from '../../src/platform/telemetry/index.ts'
import { eventually } from '../support/eventually.ts'
import { enqueueTestJob, jobIn, openJobDb, startWorker } from '../support/job-workers.ts'
import { noPgBouncer, pgBouncerPath, startPgBouncer } from '../support/pgbouncer.ts'
import { testPostgres } from '../support/postgres.ts'
import { tcpGate } from '../support/tcp-gate.ts'

const logger = createLogger({ role: 'test', level: 'silent' })
/** A poll that the tests do not wait for: what ends a wait is an announcement. */
const never_ms = 600_000

let url: string
let relational: ReturnType<typeof openJobDb>
beforeAll(async () => {
  url = await testPostgres()
  relational = openJobDb(url)
})
afterAll(() => relational.close())

async function openChannel(address = url, slow_poll_ms = never_ms) {
  const channel = openWakeChannel({ url: address, logger, slow_poll_ms })
  return { ...channel, [Symbol.asyncDispose]: () => channel.close() }
}

function handlerOf(): JobHandler {
  return { kind: newId(), run: async () => ({}) }
}

const slow = { settings: { poll_ms: never_ms } }

describe('a job that is queued while all workers are idle', () => {
  test('is claimed because the database announces it, long before a poll', async () => {
    await using channel = await openChannel()
    const handler = handlerOf()
    const worker = startWorker(relational.db, [handler], { ...slow, wakes: channel })
    await eventually('it listens', () => channel.isListening())
    for (let at = 0; at < 3; at += 1) {
      const { id } = await enqueueTestJob(relational.db, { kind: handler.kind })
      await jobIn(relational.db, id, 'succeeded')
    }
    await worker.stop()
  })

  test('that is due later is claimed when it is due', async () => {
    await using channel = await openChannel()
    const failures = { left: 2 }
    const kind = newId()
    const run = async () => {
      failures.left -= 1
      if (failures.left >= 0) throw new Error('again')
      return {}
    }
    const worker = startWorker(relational.db, [{ kind, run }], { ...slow, wakes: channel })
    await eventually('it listens', () => channel.isListening())
    const { id } = await enqueueTestJob(relational.db, { kind })
    await jobIn(relational.db, id, 'succeeded')
    await worker.stop()
  })
})

describe('a lost announcement', () => {
  test('is made up for after the connection is back', async () => {
    await using gate = await tcpGate(url)
    await using channel = await openChannel(gate.url)
    const handler = handlerOf()
    const worker = startWorker(relational.db, [handler], { ...slow, wakes: channel })
    await eventually('it listens', () => channel.isListening())
    gate.close()
    await eventually('the loss is noticed', () => !channel.isListening())
    const { id } = await enqueueTestJob(relational.db, { kind: handler.kind })
    gate.open()
    await jobIn(relational.db, id, 'succeeded')
    await worker.stop()
  })

  test('that nobody noticed is made up for by the slow poll', async () => {
    await using gate = await tcpGate(url)
    await using channel = await openChannel(gate.url, 1_000)
    const handler = handlerOf()
    const settings = { poll_ms: 50 }
    const worker = startWorker(relational.db, [handler], { settings, wakes: channel })
    await eventually('it listens', () => channel.isListening())
    gate.halfOpen()
    const { id } = await enqueueTestJob(relational.db, { kind: handler.kind })
    await jobIn(relational.db, id, 'succeeded')
    await worker.stop()
  })

  test('without a connection, loops poll as often as without announcements', async () => {
    await using channel = await openChannel('postgres://nobody:x@127.0.0.1:1/none')
    const handler = handlerOf()
    const settings = { poll_ms: 50 }
    const worker = startWorker(relational.db, [handler], { settings, wakes: channel })
    const { id } = await enqueueTestJob(relational.db, { kind: handler.kind })
    await jobIn(relational.db, id, 'succeeded')
    expect(channel.isListening()).toBe(false)
    await worker.stop()
  })
})

test('behind a pooler in transaction mode, a worker polls, and says so', async ({ skip }) => {
  const path = await pgBouncerPath()
  if (path === undefined) return skip(noPgBouncer)
  await using pooler = await startPgBouncer(path, { server_url: url, mode: 'transaction' })
  const lines: string[] = []
  const channel = openWakeChannel({
    url: pooler.url,
    slow_poll_ms: never_ms,
    logger: { ...logger, info: (line: string) => void lines.push(line) } as typeof logger,
  })
  await eventually('it gave up', () => lines.length > 0)
  expect(lines).toEqual(['PostgreSQL is behind a pooler without sessions; polling for work'])
  const handler = handlerOf()
  const worker = startWorker(relational.db, [handler], {
    settings: { poll_ms: 50 },
    wakes: channel,
  })
  const { id } = await enqueueTestJob(relational.db, { kind: handler.kind })
  await jobIn(relational.db, id, 'succeeded')
  expect(channel.isListening()).toBe(false)
  await worker.stop()
  await channel.close()
})

test('time that is known is waited for, not longer', async () => {
  await using channel = await openChannel()
  await eventually('it listens', () => channel.isListening())
  const waker = channel.waker('rules')
  const { signal } = new AbortController()
  await waker.wait(never_ms, signal, 20)
  waker.ring()
  await waker.wait(never_ms, signal)
  await pollingWakes().waker('rules').wait(1, signal)
})
