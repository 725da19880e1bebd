import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openPostgresStore } from '../../src/capabilities/storage/index.ts'
import { newId } from '../../src/kernel/ids.ts'
import { eventually } from '../support/eventually.ts'
import { type HotWindow, openHotWindow } from '../support/hot-window.ts'
import { observationOf } from '../support/observations.ts'

const program = fileURLToPath(new URL('../support/backfill-process.ts', import.meta.url))
const hour = 3_600_000_000_000n
let hot: HotWindow

beforeAll(async () => {
  hot = await openHotWindow()
})
afterAll(() => hot?.close())

/** Runs a worker until it has started this many hours, and kills it. */
async function workAndDie(hours: number): Promise<string[]> {
  const args = [program, hot.url, JSON.stringify(hot.clickhouse)]
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  const begun: string[] = []
  for await (const line of createInterface({ input: child.stdout })) {
    begun.push(line)
    if (begun.length === hours) break
  }
  child.kill('SIGKILL')
  await once(child, 'exit')
  return begun
}

test('a hot window is filled by workers that are killed, each continuing where the last one was', async () => {
  const project_id = await hot.newProject()
  const now = BigInt(hot.clock.at_ms) * 1_000_000n
  const rows = Array.from({ length: 400 }, (_, at) =>
    observationOf({
      project_id,
      trace_id: newId(),
      observation_id: `o${at}`,
      start_time: now - (BigInt(at) * hour) / 10n - 1n,
    }),
  )
  await hot.store.insert(rows, { token: newId() })
  await hot.route(project_id, { hours: 14 })
  const first = await workAndDie(55)
  const second = await workAndDie(8)
  expect(first.indexOf(String(second[0]))).toBeGreaterThanOrEqual(50)
  const args = [program, hot.url, JSON.stringify(hot.clickhouse)]
  const last = spawn(process.execPath, args, { stdio: 'ignore' })
  const state = () =>
    hot.db
      .selectFrom('job_runs')
      .select(['state', 'progress', 'attempt'])
      .where('project_id', '=', project_id)
      .executeTakeFirstOrThrow()
  await eventually('a filled window', async () => (await state()).state === 'succeeded', {
    timeout_ms: 40_000,
  })
  last.kill('SIGKILL')
  await once(last, 'exit')
  const { progress, attempt } = await state()
  expect(attempt).toBe(3)
  expect(progress?.['done']).toBe(progress?.['of'])
  const kept = openPostgresStore(hot)
  const inPostgres = await kept.taskObservations(project_id, 'task-1', { limit: 1_000 })
  const from = inPostgres[0]?.start_time ?? 0n
  expect(Number((now - from) / hour)).toBeGreaterThanOrEqual(39)
  expect(inPostgres).toEqual(
    await hot.store.taskObservations(project_id, 'task-1', { from, limit: 1_000 }),
  )
}, 180_000)
