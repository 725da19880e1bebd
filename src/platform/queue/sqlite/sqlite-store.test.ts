import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { SqliteStore } from './sqlite-store.ts'
import type { ClaimOptions } from './sqlite-thread-client.ts'

let directory = ''
let store: SqliteStore

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'looptrace-store-'))
  store = new SqliteStore({
    path: join(directory, 'queue.sqlite'),
    bytes_max: 10_000,
    duplicate_window_ms: 1_000,
    reclaim_free_bytes: 1_000_000,
  })
})

afterEach(() => {
  store.close()
  rmSync(directory, { recursive: true })
})

const claim: ClaimOptions = {
  consumer: 1,
  kind: 'ingest',
  messages_max: 10,
  bytes_max: 10_000,
  batch_wait_ms: 0,
  ack_wait_ms: 100,
  attempts_max: 2,
}

const message = (id: string, bytes = 10) => ({
  id,
  subject: 'ingest.p',
  data: Buffer.alloc(bytes),
})

const claimedIds = (now_ms: number) =>
  store.claim(claim, now_ms).map(({ id, attempt }) => `${id}:${attempt}`)

test('a failed transaction changes nothing, and no counts', () => {
  store.publish(message('kept'), 1_000)
  const before = store.stats(1_000)
  const fail = () =>
    store.transact(() => {
      store.publish(message('gone', 30), 1_000)
      store.publish(message('gone too'), 1_000)
      store.ack(store.claim(claim, 1_000)[0]?.seq ?? 0)
      throw new Error('the disk is full')
    })
  expect(fail).toThrow('the disk is full')
  expect(store.stats(1_000)).toEqual(before)
  store.publish(message('gone'), 1_000)
  expect(claimedIds(1_000)).toEqual(['kept:1', 'gone:1'])
})

test('after each expired claim, a message is redelivered, and finally dead-lettered', () => {
  store.publish(message('m'), 1_000)
  expect(claimedIds(1_000)).toEqual(['m:1'])
  expect(store.nextDueMs()).toBe(1_100)
  expect(claimedIds(1_099)).toEqual([])
  expect(claimedIds(1_100)).toEqual(['m:2'])
  expect(claimedIds(1_200)).toEqual([])
  expect(store.stats(1_200)).toMatchObject({ pending: 0, dead: 1 })
  expect(store.deadLetters(1)).toMatchObject([
    { attempts: 2, reason: 'given up after 2 deliveries' },
  ])
  expect(store.nextDueMs()).toBeUndefined()
})

test('an outdated delivery can acknowledge its message, but not delay or dead-letter it', () => {
  store.publish(message('m'), 1_000)
  const [first] = store.claim(claim, 1_000)
  const seq = first?.seq ?? 0
  store.claim(claim, 1_100)
  store.retry(seq, 1, 9_000)
  store.bury({ seq, attempt: 1, reason: 'stale' }, 1_150)
  expect(store.stats(1_150)).toMatchObject({ pending: 1, dead: 0 })
  expect(store.nextDueMs()).toBe(1_200)
  store.ack(seq)
  store.ack(seq)
  expect(store.stats(1_150)).toMatchObject({ pending: 0, pending_bytes: 0, dead: 0 })
})

test('dead letters count against the bound until they are replayed and acked', () => {
  store.publish(message('a', 5_000), 1_000)
  const [first] = store.claim(claim, 1_000)
  store.bury({ seq: first?.seq ?? 0, attempt: 1, reason: 'no' }, 1_000)
  expect(() => store.publish(message('b', 5_000), 1_000)).toThrow('the queue is full')
  expect(store.hasRoomFor(0)).toBe(true)
  expect(store.replay({ id: 'a' }, 1_000)).toBe(true)
  store.ack(store.claim(claim, 1_000)[0]?.seq ?? 0)
  store.publish(message('b', 5_000), 1_000)
})

test('counts available messages up to the size of a batch', () => {
  for (let i = 0; i < 15; i += 1) store.publish(message(`m${i}`), 1_000)
  const first_ms = 1_000
  expect(store.available(claim, 1_500)).toEqual({ messages: 10, bytes: 100, first_ms })
  const none = { messages: 0, bytes: 0, first_ms: 1_500 }
  expect(store.available({ ...claim, kind: 'other' }, 1_500)).toEqual(none)
})

test('a subject whose next message does not fit is first in the next batch', () => {
  store.publish({ ...message('small'), subject: 'ingest.a' }, 1_000)
  store.publish({ ...message('large', 500), subject: 'ingest.b' }, 1_000)
  store.publish({ ...message('other'), subject: 'ingest.c' }, 1_000)
  const tight = { ...claim, bytes_max: 100 }
  const next = () => store.claim(tight, 1_000).map(({ id }) => id)
  expect([next(), next(), next()]).toEqual([['small'], ['large'], ['other']])
})
