import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { EventRing, maxRingEvents } from './event-ring.ts'
import { EventStream } from './event-stream.ts'
import { parseTopics } from './topics.ts'

function open(ring: EventRing, last_event_id?: string) {
  const topics = parseTopics('tasks')
  if ('invalid' in topics) throw new Error('invalid topics')
  const counted = { change: 0, reset: 0, closed: 0 }
  const stream = new EventStream({
    ...{ ring, topics, last_event_id },
    onEvent: (event) => {
      counted[event] += 1
    },
    onClosed: () => {
      counted.closed += 1
    },
  })
  return { stream, counted }
}

const longIds = (at: number) => ({
  kind: 'task' as const,
  changed: Array.from({ length: 5 }, (_, id) => ({ id: `${at}-${id}-`.padEnd(200, 'x') })),
  many: false,
})

test('a client that reads nothing takes bounded memory, and is reset when it reads again', async () => {
  const ring = new EventRing()
  const { stream, counted } = open(ring)
  stream.begin()
  stream.read(0)
  for (let at = 0; at < 3 * maxRingEvents; at += 1) {
    ring.add(longIds(at))
    stream.wake()
    stream.keepAlive()
    if (at % 500 === 0) await nextTurn()
  }
  expect(stream.isBlocked).toBe(true)
  expect(stream.readableLength).toBeLessThan(20_000)
  let text = ''
  stream.setEncoding('utf8').on('data', (part: string) => {
    text += part
  })
  await nextTurn()
  ring.add(longIds(9_999))
  stream.wake()
  await nextTurn()
  expect(counted.reset).toBe(1)
  const names = [...text.matchAll(/^event: (\w+)$/gm)].map(([, name]) => name)
  const last = names.lastIndexOf('reset')
  expect(names[0]).toBe('ready')
  expect(names.slice(1, last).every((name) => name === 'change')).toBe(true)
  expect(names.slice(last)).toEqual(['reset', 'change'])
  expect(text.endsWith('\n\n')).toBe(true)
  expect(text).toContain('"9999-0-')
})

test('after `bye` nothing follows, and the stream closes once', async () => {
  const ring = new EventRing()
  const { stream, counted } = open(ring)
  const parts: string[] = []
  stream.setEncoding('utf8').on('data', (part: string) => parts.push(part))
  stream.begin()
  stream.sayBye({ reason: 'shutdown', reconnect: true })
  stream.sayBye({ reason: 'credentials_invalid', reconnect: false })
  ring.add(longIds(1))
  stream.wake()
  stream.keepAlive()
  await new Promise((resolve) => stream.once('close', resolve))
  expect(parts.join('').match(/^event: .*$/gm)).toEqual(['event: ready', 'event: bye'])
  expect(parts.join('')).toContain('data: {"reason":"shutdown","reconnect":true}')
  expect(counted).toEqual({ change: 0, reset: 0, closed: 1 })
})

test('an unknown id resets the client first', async () => {
  const ring = new EventRing()
  ring.add(longIds(1))
  const { stream } = open(ring, 'other-1')
  let text = ''
  stream.setEncoding('utf8').on('data', (part: string) => {
    text += part
  })
  stream.begin()
  await nextTurn()
  expect(text.match(/^event: .*$/gm)).toEqual(['event: ready', 'event: reset'])
})
