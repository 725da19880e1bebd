import type { Msg } from '@nats-io/transport-node'
import { expect, test } from 'vitest'
import { publishedMs, streamDelivery } from './jetstream-delivery.ts'

const numbers = '3.41.17.1764500000123456789.9'

test.each([
  ['a server', `$JS.ACK.queue.ingest.${numbers}`],
  ['one with domains', `$JS.ACK.hub.A1B2C3.queue.ingest.${numbers}.token`],
])('reads the numbers that %s puts into the reply', (_who, reply) => {
  const msg = { reply, subject: 'queue.ingest.p' } as Msg
  expect(streamDelivery(msg, (subject) => subject)).toMatchObject({ attempt: 3, stream_seq: 41 })
  expect(publishedMs(msg, 0)).toBeCloseTo(1_764_500_000_123.456, 2)
})

test('a message of no stream came now', () => {
  expect(publishedMs({ reply: 'inbox.7' } as Msg, 1_234)).toBe(1_234)
})
