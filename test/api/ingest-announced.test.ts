import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { openIngestBench } from '../support/ingest.ts'
import { memoryStore } from '../support/memory-store.ts'
import { testPostgres } from '../support/postgres.ts'

test('a stored batch announces its tasks and traces, each in its own project', async () => {
  await using bench = await openIngestBench({ store: memoryStore(), url: await testPostgres() })
  const [ours, theirs] = [randomUUID(), randomUUID()]
  const [first, second, other] = [randomUUID(), randomUUID(), randomUUID()]
  await bench.publish(ours, [
    { facts: { task_id: 'order', trace_id: first } },
    { facts: { task_id: 'order', trace_id: second }, from: 2 },
  ])
  await bench.publish(theirs, [{ facts: { task_id: 'order', trace_id: other } }])
  await bench.startWorker()
  await bench.settled()
  const seen = new Set(
    bench.announced.map(({ project_id, kind, id }) => [project_id, kind, id].join()),
  )
  expect([...seen].toSorted()).toEqual(
    [
      ...[`${ours},task,order`, `${ours},trace,${first}`, `${ours},trace,${second}`],
      ...[`${theirs},task,order`, `${theirs},trace,${other}`],
    ].toSorted(),
  )
})
