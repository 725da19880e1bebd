import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Broadcast, openJetStreamQueue } from '../../src/platform/queue/index.ts'
import { eventually } from '../support/eventually.ts'
import { startNatsServer } from '../support/nats.ts'
import { jetStreamDriver, keepingLogger, sqliteDriver } from '../support/queues.ts'

/** Listens to a project, and keeps the messages and gaps. */
async function listenTo(broadcast: Broadcast, project_id: string) {
  const heard: string[] = []
  const gaps: number[] = []
  const listening = broadcast.listen(project_id, {
    onMessage: (data) => heard.push(Buffer.from(data).toString()),
    onGap: () => gaps.push(heard.length),
  })
  await listening.ready
  return { heard, gaps, stop: listening.stop }
}

describe.each([sqliteDriver(), jetStreamDriver()])('$name', (driver) => {
  beforeAll(() => driver.start())
  afterAll(() => driver.stop())

  test('a message reaches every listener of its project, in every process, in order', async () => {
    const { queue, peer } = await driver.open()
    const other = await peer()
    const own = await listenTo(queue.broadcast, 'project-a')
    const theirs = await listenTo(other.broadcast, 'project-a')
    const beside = await listenTo(other.broadcast, 'project-b')
    const sent = Array.from({ length: 100 }, (_, at) => `m${at}`)
    for (const text of sent) expect(queue.broadcast.send('project-a', Buffer.from(text))).toBe(true)
    expect(other.broadcast.send('project-b', Buffer.from('b'))).toBe(true)
    await eventually('all messages', () => theirs.heard.length + beside.heard.length === 101)
    await eventually('all own messages', () => own.heard.length === 100)
    expect([own.heard, theirs.heard, beside.heard]).toEqual([sent, sent, ['b']])
    expect([own.gaps, theirs.gaps, beside.gaps]).toEqual([[], [], []])
  })

  test('nothing arrives after `stop`, and the queue stores nothing', async () => {
    const { queue } = await driver.open()
    const stopped = await listenTo(queue.broadcast, 'project-a')
    const listening = await listenTo(queue.broadcast, 'project-a')
    stopped.stop()
    queue.broadcast.send('project-a', Buffer.from('m'))
    await eventually('the message', () => listening.heard.length === 1)
    expect(stopped.heard).toEqual([])
    expect((await queue.stats()).pending).toBe(0)
  })
})

describe('while NATS is away', () => {
  test('nothing is sent, listeners learn of the gap, and hear later messages', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'looptrace-nats-'))
    const server = await startNatsServer({ directory })
    const queue = await openJetStreamQueue({
      ...{ servers: [server.url], replicas: 1, max_bytes: 1_000_000, duplicate_window_ms: 1_000 },
      logger: keepingLogger(),
    })
    const { broadcast } = queue
    const one = await listenTo(broadcast, 'project-a')
    await server.stop()
    await eventually('the loss is noticed', async () => !(await queue.ready()))
    expect(broadcast.send('project-a', Buffer.from('lost'))).toBe(false)
    const late = await listenTo(broadcast, 'project-b')
    await server.restart()
    await eventually('the connection', () => queue.ready())
    for (const listener of [one, late]) expect(listener.gaps).toContain(0)
    await eventually('a message of each project', () => {
      for (const id of ['project-a', 'project-b']) broadcast.send(id, Buffer.from('again'))
      return one.heard.length > 0 && late.heard.length > 0
    })
    expect(new Set([...one.heard, ...late.heard])).toEqual(new Set(['again']))
    await queue.close()
    await server.stop()
    await rm(directory, { recursive: true, force: true })
  })

  test('a listener of a queue that was never connected hears messages after the first connection', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'looptrace-nats-'))
    const server = await startNatsServer({ directory })
    await server.stop()
    const queue = await openJetStreamQueue({
      ...{ servers: [server.url], replicas: 1, max_bytes: 1_000_000, duplicate_window_ms: 1_000 },
      ...{ logger: keepingLogger(), connect_timeout_ms: 100 },
    })
    const early = await listenTo(queue.broadcast, 'project-a')
    expect(queue.broadcast.send('project-a', Buffer.from('lost'))).toBe(false)
    await server.restart()
    await eventually('the connection', () => queue.ready())
    expect(queue.broadcast.send('project-a', Buffer.from('m'))).toBe(true)
    await eventually('the message', () => early.heard.length === 1)
    expect(early).toMatchObject({ heard: ['m'], gaps: [0] })
    await queue.close()
    await server.stop()
    await rm(directory, { recursive: true, force: true })
  })
})
