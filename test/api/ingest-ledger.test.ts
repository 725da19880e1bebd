import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { eventually } from '../support/eventually.ts'
import { type IngestBench, openIngestBench } from '../support/ingest.ts'
import { type MemoryStore, memoryStore } from '../support/memory-store.ts'
import { testPostgres } from '../support/postgres.ts'

const url = await testPostgres()

type Scene = { store: MemoryStore; bench: IngestBench; project_id: string }

async function scene(): Promise<Scene & AsyncDisposable> {
  const store = memoryStore()
  const bench = await openIngestBench({ store, url })
  const dispose = () => bench[Symbol.asyncDispose]()
  return { store, bench, project_id: randomUUID(), [Symbol.asyncDispose]: dispose }
}

const entryOf = (here: Scene, given: object = {}) => ({
  project_id: here.project_id,
  ingest_request_id: randomUUID(),
  message_id: 'm',
  side: 'accepted',
  path: 'otlp',
  received_at_ms: 1,
  items: 3,
  stored: 0,
  rejected: {},
  lost: {},
  masked: 0,
  records: { traces: 0, observations: 0, events: 0, links: 0, correlations: 0 },
  attempts: 0,
  settled_at_ms: 0,
  error_reason: '',
  ...given,
})
const publish = ({ bench, project_id }: Scene, id: string, message: unknown) =>
  bench.queue.publish({
    id,
    subject: `ledger.${project_id}`,
    data: Buffer.from(JSON.stringify(message)),
  })

test('are written; invalid ones are dead-lettered', async () => {
  await using here = await scene()
  const entry = entryOf(here)
  await publish(here, 'good', { entries: [entry] })
  await publish(here, 'no-list', { entries: 1 })
  await publish(here, 'settled', { entries: [entryOf(here, { side: 'settled' })] })
  await publish(here, 'stranger', { entries: [entryOf(here, { project_id: randomUUID() })] })
  await here.bench.startWorker()
  await here.bench.settled()
  expect(here.store.entries()).toEqual([entry])
  const letters = await here.bench.queue.deadLetters(9)
  expect(letters.map(({ id }) => id).toSorted()).toEqual(['no-list', 'settled', 'stranger'])
})

test('wait for an unavailable store', async () => {
  await using here = await scene()
  let calls = 0
  here.store.at = () => {
    calls += 1
    if (calls < 3) throw new Error('who knows')
  }
  await publish(here, 'good', { entries: [entryOf(here)] })
  await here.bench.startWorker()
  await eventually('the entry', () => here.store.entries().length === 1)
  expect(calls).toBe(3)
})
