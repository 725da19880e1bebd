import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openClickHouseStore } from '../../src/capabilities/observability/stores/index.ts'
import { newId } from '../../src/kernel/ids.ts'
import { Problem } from '../../src/kernel/problem.ts'
import { sleep } from '../../src/kernel/time.ts'
import { startEmbeddedClickHouse } from '../../src/platform/columnar/index.ts'
import { createLogger } from '../../src/platform/telemetry/index.ts'
import { migratedClickHouse } from '../support/clickhouse.ts'
import { eventually } from '../support/eventually.ts'
import { observationOf } from '../support/observations.ts'

const rounds = 4
const batch_rows = 4_000

test('a batch that a kill of the engine cut off is there once after it was repeated', async () => {
  await using parts = new AsyncDisposableStack()
  const directory = await mkdtemp(join(tmpdir(), 'looptrace-crash-'))
  parts.defer(() => rm(directory, { recursive: true, force: true }))
  const logger = createLogger({ role: 'test', level: 'silent' })
  const server = await startEmbeddedClickHouse({ directory, logger })
  parts.defer(() => server.stop())
  const columnar = await migratedClickHouse({ ...server, database: 'crash' })
  parts.defer(() => columnar.close())
  const store = openClickHouseStore({ columnar })

  const project_id = newId()
  const first = 1_790_000_000_000_000_000n
  let refused = 0
  for (let round = 0; round < rounds; round++) {
    const batch = Array.from({ length: batch_rows }, (_, index) =>
      observationOf({
        project_id,
        task_id: `task-${round}`,
        trace_id: newId(),
        // Two months, so two parts: the kill may come when one of them is stored.
        start_time: first - BigInt(index % 2) * 2_678_400_000_000_000n + BigInt(index),
        input: 'x'.repeat(400),
      }),
    )
    const token = newId()
    const cut = store.insert(batch, { token }).catch((error: unknown) => error)
    await sleep(round * 15)
    process.kill(server.pid() ?? 0, 'SIGKILL')
    if ((await cut) instanceof Problem) refused++
    const again = () => store.insert(batch, { token }).then(() => true, retryable)
    await eventually('it is stored', again, { timeout_ms: 30_000, interval_ms: 20 })
  }
  const hints = Array.from({ length: rounds }, (_, round) => ({
    task_id: `task-${round}`,
    from: 0n,
  }))
  const rollups = await store.taskRollups(project_id, hints)
  expect(rollups.map(({ calls, traces }) => ({ calls, traces }))).toEqual(
    hints.map(() => ({ calls: batch_rows, traces: batch_rows })),
  )
  expect(refused).toBeGreaterThan(0)
  expect(await readdir(join(directory, 'inserts'))).toEqual([])
})

/** False, to be tried again, for what is no defect. */
function retryable(error: unknown): false {
  if (error instanceof Problem && error.code === 'store_unavailable') return false
  throw error
}
