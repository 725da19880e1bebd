import { once } from 'node:events'
import { afterEach, expect, test } from 'vitest'
import { problem } from '../../kernel/problem.ts'
import { createLocalBroadcast } from '../../platform/queue/index.ts'
import { createMetrics } from '../../platform/telemetry/index.ts'
import { EventHub } from './event-hub.ts'
import { encodeChanges } from './pending-changes.ts'
import { parseTopics } from './topics.ts'

const broadcast = createLocalBroadcast()
const hubs: EventHub[] = []
afterEach(async () => {
  for (const hub of hubs.splice(0)) await hub.close()
})

function openHub(): EventHub {
  const settings = { check_ms: 5, close_ms_max: 50, streams_per_project_max: 1 }
  const hub = new EventHub({ broadcast, metrics: createMetrics(), settings })
  hubs.push(hub)
  return hub
}

function open(hub: EventHub, checkRights: () => Promise<void> = async () => undefined) {
  const topics = parseTopics('tasks')
  if ('invalid' in topics) throw new Error('invalid topics')
  return hub.open({ project_id: 'p', topics, last_event_id: undefined, checkRights })
}

const long = (at: number) =>
  encodeChanges([{ kind: 'task', changed: [{ id: `${at}`.padEnd(4_000, 'x') }], many: false }])

test('a client that takes nothing between two checks loses its place', async () => {
  const hub = openHub()
  const stream = open(hub)
  expect(() => open(hub)).toThrow('event streams of a project')
  const closed = once(stream, 'close')
  stream.read(0)
  await new Promise((resolve) => setImmediate(resolve))
  for (let at = 0; at < 10; at += 1) broadcast.send('p', long(at))
  await closed
  expect(open(hub).destroyed).toBe(false)
})

test('a store that gives no answer ends a stream only after some checks', async () => {
  let checks = 0
  const stream = open(openHub(), async () => {
    checks += 1
    throw problem('store_unavailable')
  })
  const parts: string[] = []
  stream.setEncoding('utf8').on('data', (part: string) => parts.push(part))
  await once(stream, 'close')
  expect(checks).toBe(3)
  expect(parts.join('')).toContain('data: {"reason":"store_unavailable","reconnect":true}')
})

test('closing does not wait for a client that takes nothing', async () => {
  const hub = openHub()
  const stream = open(hub)
  await hub.close()
  expect(stream.destroyed).toBe(true)
})
