import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { DatabaseSync } from 'node:sqlite'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { sleep } from '../../src/kernel/time.ts'
import {
  openSqliteQueue,
  type Queue,
  type SqliteQueueOptions,
} from '../../src/platform/queue/index.ts'
import { eventually } from '../support/eventually.ts'
import { ackingHandler, consumeOptions, keepingLogger, message } from '../support/queues.ts'

let directory = ''
const opened: Queue[] = []
const children: ChildProcess[] = []

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'looptrace-queue-'))
})

afterEach(async () => {
  for (const child of children.splice(0)) child.kill('SIGKILL')
  await Promise.all(opened.splice(0).map((queue) => queue.close()))
  await rm(directory, { recursive: true, force: true })
})

async function open(settings: Partial<SqliteQueueOptions> = {}): Promise<Queue> {
  const path = join(directory, 'queue.sqlite')
  const queue = await openSqliteQueue({
    path,
    bytes_max: 1_000_000_000,
    logger: keepingLogger(),
    ...settings,
  })
  opened.push(queue)
  return queue
}

/** Starts a process on the queue file; `lines` grows with its output. */
function start(work: 'publish' | 'hold') {
  const program = fileURLToPath(new URL('../support/queue-process.ts', import.meta.url))
  const child = spawn(process.execPath, [program, join(directory, 'queue.sqlite'), work], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  children.push(child)
  const lines: string[] = []
  createInterface({ input: child.stdout }).on('line', (line) => lines.push(line))
  const kill = async () => {
    const closed = new Promise((resolve) => child.once('close', resolve))
    child.kill('SIGKILL')
    await closed
  }
  return { lines, kill }
}

async function consumeAll(queue: Queue): Promise<string[]> {
  const { ids, handler } = ackingHandler()
  const consumer = await queue.consume(consumeOptions, handler)
  await eventually('all are acknowledged', async () => (await queue.stats()).pending === 0, {
    timeout_ms: 30_000,
  })
  await consumer.stop()
  return ids
}

test('after kill -9 every confirmed message is stored exactly once, and its id is known', async () => {
  const publisher = start('publish')
  await eventually('some are confirmed', () => publisher.lines.length > 200, { timeout_ms: 30_000 })
  await publisher.kill()
  const confirmed = publisher.lines.filter((line) => line.startsWith('m-'))
  const queue = await open()
  const before = await queue.stats()
  expect(before.pending).toBeGreaterThanOrEqual(confirmed.length)
  const lane = 'ingest.project-a'
  await Promise.all(confirmed.slice(0, 50).map((id) => queue.publish(message(id, id, lane))))
  expect((await queue.stats()).pending).toBe(before.pending)
  const ids = await consumeAll(queue)
  expect(new Set(ids).size).toBe(ids.length)
  expect(confirmed.filter((id) => !ids.includes(id))).toEqual([])
})

test('the messages that a killed process held are redelivered at once, with the attempt counted', async () => {
  const queue = await open()
  await queue.publish(message('m1'))
  await queue.close()
  const holder = start('hold')
  await eventually('it holds the message', () => holder.lines.includes('m1'), {
    timeout_ms: 30_000,
  })
  await holder.kill()
  const again = await open()
  const attempts: number[] = []
  const consumer = await again.consume(consumeOptions, async ([delivery]) => {
    attempts.push(delivery?.attempt ?? 0)
    await delivery?.ack()
  })
  await eventually('it is acknowledged', async () => (await again.stats()).pending === 0)
  await consumer.stop()
  expect(attempts).toEqual([2])
})

test('a file has one process at a time; the second is refused', async () => {
  const queue = await open()
  await queue.publish(message('m1'))
  await queue.close()
  const holder = start('hold')
  await eventually('it has the file', () => holder.lines.length > 0, { timeout_ms: 30_000 })
  await expect(open()).rejects.toThrow(/queue\.sqlite cannot be opened: another process has it/)
  await expect(open()).rejects.toMatchObject({ name: 'QueueUnavailable' })
  await holder.kill()
  const mine = await open()
  await expect(open()).rejects.toThrow(/another process/)
  expect((await mine.stats()).pending).toBe(1)
})

test('a file that is not a queue, or of a newer version, is refused and left unchanged', async () => {
  const path = join(directory, 'queue.sqlite')
  await writeFile(path, 'this is no database, it is a letter to the reader of this test\n')
  await expect(open()).rejects.toThrow(/cannot be opened: file is not a database/)
  await rm(path)
  const db = new DatabaseSync(path)
  db.exec('PRAGMA user_version = 99')
  db.close()
  await expect(open()).rejects.toThrow('has version 99, expected at most 1')
})

test('messages, delays and dead letters survive a restart', async () => {
  const first = await open()
  for (const id of ['pending', 'delayed', 'buried']) await first.publish(message(id))
  let handled = 0
  await first.consume(consumeOptions, async (batch) => {
    for (const delivery of batch) {
      if (delivery.id === 'delayed') await delivery.retry(3_600_000)
      if (delivery.id === 'buried') await delivery.bury('for good')
      handled += 1
    }
  })
  await eventually('all three were seen', () => handled === 3)
  await first.close()
  const second = await open()
  expect(await second.stats()).toMatchObject({ pending: 2, dead: 1 })
  expect(await second.deadLetters(10)).toMatchObject([{ id: 'buried', reason: 'for good' }])
  const { ids, handler } = ackingHandler()
  const consumer = await second.consume(consumeOptions, handler)
  await eventually('one is acknowledged', async () => (await second.stats()).pending === 1)
  await consumer.stop()
  expect(ids).toEqual(['pending'])
})

test('a busy project does not delay the others, and each keeps its order', async () => {
  const queue = await open()
  const busy = Array.from({ length: 300 }, (_, i) => message(`busy-${i}`, 'x', 'ingest.busy'))
  await Promise.all(busy.map((one) => queue.publish(one)))
  await queue.publish(message('quiet-0', 'x', 'ingest.quiet'))
  await queue.publish(message('alone-0', 'x', 'ingest.alone'))
  const { ids, handler } = ackingHandler()
  const consumer = await queue.consume({ ...consumeOptions, batch_messages_max: 40 }, handler)
  await eventually('all are acknowledged', async () => (await queue.stats()).pending === 0)
  await consumer.stop()
  expect(ids.indexOf('quiet-0')).toBeLessThan(40)
  expect(ids.indexOf('alone-0')).toBeLessThan(40)
  expect(ids.filter((id) => id.startsWith('busy'))).toEqual(busy.map(({ id }) => id))
})

test('an id is forgotten after the window', async () => {
  const queue = await open({ duplicate_window_ms: 100 })
  await queue.publish(message('same'))
  await sleep(150)
  await queue.publish(message('same'))
  expect((await queue.stats()).pending).toBe(2)
  expect(await consumeAll(queue)).toEqual(['same', 'same'])
})

test('the files do not grow with their throughput, and shrink when empty', async () => {
  const queue = await open({ reclaim_free_bytes: 1_000_000 })
  const path = join(directory, 'queue.sqlite')
  const size = async () => (await stat(path)).size + (await stat(`${path}-wal`)).size
  const data = Buffer.alloc(100_000, 1)
  const sizes: number[] = []
  for (let round = 0; round < 5; round += 1) {
    const ids = Array.from({ length: 400 }, (_, i) => `m-${round}-${i}`)
    await Promise.all(ids.map((id) => queue.publish(message(id, data))))
    await consumeAll(queue)
    sizes.push(await size())
  }
  expect(sizes[0]).toBeGreaterThan(40_000_000)
  expect(Math.max(...sizes)).toBeLessThan(150_000_000)
  const small = async () => (await size()) < 3_000_000
  await eventually('the space is given back', small, { timeout_ms: 40_000, interval_ms: 100 })
})

test('two subjects with the same prefix are two kinds', async () => {
  const queue = await open()
  await queue.publish(message('a', 'a', 'ingest.p'))
  await queue.publish(message('b', 'b', 'ingest-2.p'))
  const { ids, handler } = ackingHandler()
  const consumer = await queue.consume(consumeOptions, handler)
  await eventually('one is acknowledged', async () => (await queue.stats()).pending === 1)
  await consumer.stop()
  expect(ids).toEqual(['a'])
})
