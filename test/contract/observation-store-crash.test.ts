import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { openClickHouseStore } from '../../src/capabilities/storage/index.ts'
import { newId } from '../../src/kernel/ids.ts'
import { Problem } from '../../src/kernel/problem.ts'
import {
  migrateColumnar,
  openColumnar,
  startEmbeddedClickHouse,
} from '../../src/platform/columnar/index.ts'
import { createLogger } from '../../src/platform/telemetry/index.ts'
import { columnarOptions } from '../support/clickhouse.ts'
import { eventually } from '../support/eventually.ts'
import { observationOf } from '../support/observations.ts'

const batch_rows = 4_000
/** Points at which the engine is killed: each round waits for the next step of the insert. */
const steps = ['sent', 'received', 'received', 'first part written'] as const

test('a batch that a kill of the engine interrupted is stored once after it was repeated', async () => {
  await using parts = new AsyncDisposableStack()
  const directory = await mkdtemp(join(tmpdir(), 'looptrace-crash-'))
  parts.defer(() => rm(directory, { recursive: true, force: true }))
  const logger = createLogger({ role: 'test', level: 'silent' })
  const server = await startEmbeddedClickHouse({ directory, logger })
  parts.defer(() => server.stop())
  const columnar = openColumnar(columnarOptions({ ...server, database: 'crash' }))
  parts.defer(() => columnar.close())
  await migrateColumnar({ columnar, logger })
  const store = openClickHouseStore({ columnar })

  const project_id = newId()
  const first = 1_790_000_000_000_000_000n
  let refused = 0
  for (const [round, step] of steps.entries()) {
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
    const ended = cut.then(() => true)
    await Promise.race([ended, stepReached(step, directory)])
    process.kill(server.pid() ?? 0, 'SIGKILL')
    if ((await cut) instanceof Problem) refused++
    const again = () => store.insert(batch, { token }).then(() => true, retryable)
    await eventually('it is stored', again, { timeout_ms: 30_000, interval_ms: 20 })
  }
  const hints = steps.map((_, round) => ({ task_id: `task-${round}`, from: 0n }))
  const rollups = await store.taskRollups(project_id, hints)
  expect(rollups.map(({ calls, traces }) => ({ calls, traces }))).toEqual(
    hints.map(() => ({ calls: batch_rows, traces: batch_rows })),
  )
  expect(refused).toBeGreaterThan(0)
  expect(await readdir(join(directory, 'inserts'))).toEqual([])
})

/** Resolves when the running insert has reached this step. */
async function stepReached(step: (typeof steps)[number], directory: string): Promise<void> {
  if (step === 'sent') return
  const bodies = async () => (await readdir(join(directory, 'inserts'))).length
  await until(async () => (await bodies()) > 0)
  if (step === 'received') return
  const parts = async () => {
    const names = await readdir(join(directory, 'engine', 'store'), { recursive: true })
    return names.filter((name) => /\/20\d{6}_\d+_\d+_\d+$/.test(name)).length
  }
  const before = await parts()
  await until(async () => (await parts()) > before)
}

/**
 * Polls without a pause, because the steps of an insert last milliseconds; gives up after a second.
 */
async function until(reached: () => Promise<boolean>): Promise<void> {
  const end = performance.now() + 1_000
  while (performance.now() < end && !(await reached())) await setImmediate()
}

/** False, to retry, for failures that are not defects. */
function retryable(error: unknown): false {
  if (error instanceof Problem && error.code === 'store_unavailable') return false
  throw error
}
