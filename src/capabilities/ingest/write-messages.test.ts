import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { problem } from '../../kernel/problem.ts'
import { ColumnarError } from '../../platform/columnar/index.ts'
import type { ReadMessage } from './read-messages.ts'
import type { RowBatch } from './row-batch.ts'
import { writeMessages } from './write-messages.ts'

const nothing = async () => {}

/** A message whose rows have these ids. */
function messageOf(id: string, ...rowIds: string[]): ReadMessage {
  return {
    delivery: {
      id,
      subject: 'ingest.p',
      data: new Uint8Array(),
      attempt: 1,
      ack: nothing,
      retry: nothing,
      bury: nothing,
    },
    receipts: [],
    rows: rowsOf(rowIds),
    faults: [],
  }
}

/** Rows that are nothing but their ids, each with a comma behind it. */
function rowsOf(rowIds: readonly string[]): ReadMessage['rows'] {
  const ends = rowIds.map((_, at) => rowIds.slice(0, at + 1).join(',').length + 1)
  return {
    bytes: Buffer.from(rowIds.map((id) => `${id},`).join('')),
    kinds: rowIds.map(() => 'observations'),
    starts: [0, ...ends.slice(0, -1)].slice(0, rowIds.length),
    ends,
    receipts: rowIds.map(() => 0),
    heads: rowIds.map(() => undefined),
  }
}

const idsIn = (bytes: Buffer) => bytes.toString().split(',').slice(0, -1)

/** A store that refuses rows with an error of their own, and keeps the others. */
function storeThat(refuses: (rowId: string) => Error | undefined) {
  const stored: string[] = []
  const tokens: string[] = []
  return {
    stored,
    tokens,
    write: async ({ rows, token }: RowBatch) => {
      tokens.push(token)
      const ids = rows.flatMap(({ bytes }) => idsIn(bytes))
      for (const id of ids) {
        const error = refuses(id)
        if (error !== undefined) throw error
      }
      stored.push(...ids)
    },
  }
}

const refusal = new ColumnarError({ code: 407, type: 'DECIMAL_OVERFLOW', message: 'too large' })
const bug = new TypeError('who knows')
const badRows = (error: Error, ...bad: string[]) =>
  storeThat((id) => (bad.includes(id) ? error : undefined))
const writeAll = (
  store: ReturnType<typeof storeThat>,
  messages: ReadMessage[],
  { isolates = false, storeWorks = false } = {},
) => writeMessages(messages, store.write, { isolates, storeWorks })

test('all rows of all messages are written at once', async () => {
  const store = badRows(bug)
  expect(
    await writeAll(store, [messageOf('m1', 'a', 'b'), messageOf('m2'), messageOf('m3', 'c')]),
  ).toEqual([])
  expect(store.stored).toEqual(['a', 'b', 'c'])
  expect(store.tokens).toHaveLength(1)
})

test('without rows nothing is written', async () => {
  const store = badRows(bug)
  expect(await writeAll(store, [messageOf('m1')])).toEqual([])
  expect(store.tokens).toEqual([])
})

test('the token identifies the messages in any order', async () => {
  const [m1, m2, m3] = [messageOf('m1', 'a'), messageOf('m2', 'b'), messageOf('m3', 'c')]
  const store = badRows(bug)
  for (const batch of [[m1, m2], [m2, m1], [m1, m3], [m1]]) await writeAll(store, batch)
  const [first, second, third, fourth] = store.tokens
  expect(first).toBe(second)
  expect(new Set([first, third, fourth]).size).toBe(3)
})

test('refused rows are isolated; all others are stored, also of the same message', async () => {
  const store = badRows(refusal, 'c', 'f')
  const messages = [
    messageOf('m1', 'a', 'b'),
    messageOf('m2', 'c', 'd'),
    messageOf('m3', 'e', 'f', 'g'),
  ]
  const refused = await writeAll(store, messages)
  expect(refused.map(({ message }) => message.delivery.id)).toEqual(['m2', 'm3'])
  expect(refused[0]?.reason).toContain('too large')
  expect(store.stored.toSorted()).toEqual(['a', 'b', 'd', 'e', 'g'])
  expect(new Set(store.tokens).size).toBe(store.tokens.length)
})

describe('a failure that the rows did not cause', () => {
  test('an outage is rethrown', async () => {
    const outage = problem('store_unavailable')
    const store = badRows(outage, 'b')
    await expect(
      writeAll(store, [messageOf('m1', 'a'), messageOf('m2', 'b')], { isolates: true }),
    ).rejects.toBe(outage)
    expect(store.tokens).toHaveLength(1)
  })

  test('an unclassified error is rethrown at first', async () => {
    const store = badRows(bug, 'b')
    await expect(writeAll(store, [messageOf('m1', 'a'), messageOf('m2', 'b')])).rejects.toBe(bug)
    expect(store.tokens).toHaveLength(1)
  })

  test('later it is bisected, if other rows are written', async () => {
    const store = badRows(bug, 'b')
    const refused = await writeAll(store, [messageOf('m1', 'a'), messageOf('m2', 'b')], {
      isolates: true,
    })
    expect(refused.map(({ message }) => message.delivery.id)).toEqual(['m2'])
    expect(store.stored).toEqual(['a'])
  })

  test('or if other batches were written since the failure', async () => {
    const given = { isolates: true, storeWorks: true }
    const refused = await writeAll(badRows(bug, 'a'), [messageOf('m1', 'a')], given)
    expect(refused.map(({ message }) => message.delivery.id)).toEqual(['m1'])
  })

  test('when nothing is written, nothing is dead-lettered', async () => {
    const messages = Array.from({ length: 300 }, (_, at) => messageOf(`m${at}`, `r${at}`))
    await expect(
      writeAll(
        storeThat(() => bug),
        messages,
        { isolates: true },
      ),
    ).rejects.toBe(bug)
    await expect(
      writeAll(
        storeThat(() => bug),
        messages.slice(0, 1),
        { isolates: true },
      ),
    ).rejects.toBe(bug)
  })
})

test('the bisection ends after a hundred refused rows', async () => {
  const messages = Array.from({ length: 1_000 }, (_, at) => messageOf(`m${at}`, `r${at}`))
  const store = storeThat(() => refusal)
  expect(await writeAll(store, messages)).toHaveLength(1_000)
  expect(store.tokens.length).toBeLessThan(300)
})

test('with any faulty rows, the others are stored once, and the faulty messages returned', async () => {
  const shape = fc.array(fc.array(fc.boolean(), { maxLength: 4 }), { minLength: 1, maxLength: 8 })
  await fc.assert(
    fc.asyncProperty(shape, async (batch) => {
      const messages = batch.map((rows, m) =>
        messageOf(`m${m}`, ...rows.map((good, r) => `${good ? 'good' : 'bad'}-${m}-${r}`)),
      )
      const store = storeThat((id) => (id.startsWith('bad') ? refusal : undefined))
      const refused = await writeAll(store, messages)
      const good = messages
        .flatMap(({ rows }) => idsIn(rows.bytes))
        .filter((id) => id.startsWith('good'))
      expect(store.stored).toEqual(good)
      expect(new Set(refused.map(({ message }) => message.delivery.id))).toEqual(
        new Set(batch.flatMap((rows, m) => (rows.includes(false) ? [`m${m}`] : []))),
      )
    }),
  )
})
