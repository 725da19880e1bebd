import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { claimDue, releaseClaims } from '../../src/capabilities/detection/findings/tasks-store.ts'
import { newId } from '../../src/kernel/ids.ts'
import { agentRun } from '../corpus/agent-run.ts'
import { type DetectionBench, openDetectionBench } from '../support/detection.ts'
import { eventually } from '../support/eventually.ts'
import { killsOfRun } from '../support/kills-of-run.ts'
import { tcpGate } from '../support/tcp-gate.ts'

let bench: DetectionBench
beforeAll(async () => {
  bench = await openDetectionBench()
})
afterAll(() => bench?.[Symbol.asyncDispose]())

const ids = Array.from({ length: 6 }, (_, at) => `task ${at}`)

/** Tasks of which every second one repeats the same call. */
function tasksOf(project_id: string) {
  return ids.flatMap((task_id, at) =>
    agentRun(`${project_id} ${task_id}`, { project_id, task_id, tools: ['look'] })
      .user('Where is the order?')
      .times(4, (run, lap) =>
        run.tool({ name: 'look', args: { id: at % 2 === 0 ? 7 : lap } }, `nothing for ${at}`),
      )
      .assistant('I still look.')
      .observations(),
  )
}

async function foundIn(project_id: string) {
  const rows = await bench.db
    .selectFrom('findings')
    .select(['task_id', 'type', 'state', 'repeats'])
    .where('project_id', '=', project_id)
    .where('type', '=', 'repeat_call')
    .orderBy('task_id')
    .execute()
  return rows
}

const expected = ids
  .filter((_, at) => at % 2 === 0)
  .toSorted()
  .map((task_id) => ({ task_id, type: 'repeat_call', state: 'open', repeats: 4 }))

test('two concurrent workers find each finding once', async () => {
  const project = await bench.newProject()
  const workers = [bench.startWorker(), bench.startWorker({ settings: { claim_tasks_max: 3 } })]
  const rows = tasksOf(project)
  for (let at = 0; at < rows.length; at += 25) await bench.bring(rows.slice(at, at + 25))
  await bench.untilDetected()
  expect(await foundIn(project)).toEqual(expected)
  await Promise.all(workers.map((worker) => worker.stop()))
})

test('tasks are claimed from all projects in turn, and none twice', async () => {
  const flooded = await bench.newProject()
  const quiet = await bench.newProject()
  await bench.bring(tasksOf(flooded))
  await bench.bring(
    agentRun('the only task', { project_id: quiet, task_id: 'only' })
      .user('Hello')
      .assistant('Hello.')
      .observations(),
  )
  const take = (limit: number) => claimDue(bench.db, { claim: newId(), lease_ms: 60_000, limit })
  const first = await take(2)
  expect(first.map(({ project_id }) => project_id).toSorted()).toEqual([flooded, quiet].toSorted())
  const [second, third] = await Promise.all([take(3), take(3)])
  const left = await take(10)
  const all = [...second, ...third, ...left].map(({ task_id }) => task_id)
  expect(all).toHaveLength(ids.length - 1)
  expect(new Set(all).size).toBe(all.length)
  for (const claimed of [first, second, third, left]) await releaseClaims(bench.db, claimed)
})

test('the only task of a project comes before those of a flood, and a batch without time ends', async () => {
  const earlier = bench.startWorker()
  await bench.untilDetected()
  await earlier.stop()
  const flooded = await bench.newProject()
  const quiet = await bench.newProject()
  await bench.bring(tasksOf(flooded))
  await bench.bring(
    agentRun('a quiet task', { project_id: quiet, task_id: 'quiet' })
      .user('Hello')
      .assistant('Hello.')
      .observations(),
  )
  const order: string[] = []
  const store: DetectionBench['store'] = {
    ...bench.store,
    observationsAt: (project_id, places, signal) => {
      order.push(project_id)
      return bench.store.observationsAt(project_id, places, signal)
    },
  }
  const worker = bench.startWorker({ store, settings: { claim_tasks_max: 4, batch_ms_max: 0 } })
  await bench.untilDetected()
  await worker.stop()
  expect(order[0]).toBe(quiet)
  expect(await foundIn(flooded)).toEqual(expected)
})

test('workers that are killed in the middle leave nothing half done', async () => {
  const project = await bench.newProject()
  await bench.bring(tasksOf(project))
  const kills = killsOfRun({ test: 1, soak: 2 })
  for (let at = 0; at < kills; at += 1) await killedWhileReading()
  const worker = bench.startWorker({ settings: { lease_ms: 2_000 } })
  await bench.untilDetected()
  expect(await foundIn(project)).toEqual(expected)
  await worker.stop()
})

test('a hung ClickHouse costs no task an attempt: all wait, and are analysed when it answers', async () => {
  const project = await bench.newProject()
  await using gate = await tcpGate(bench.clickhouse.url)
  const breaker = { suspect_ms: 20, silent_probes_max: 3, rest_ms: 20, probe_ms_max: 500 }
  const child = startProcess({ ...bench.clickhouse, url: gate.url, breaker })
  try {
    gate.stall()
    await bench.bring(tasksOf(project))
    // Each probe has a connection of its own; after three of them, reads are refused.
    await eventually('it is hung', () => gate.connections > 8, { timeout_ms: 60_000 })
    const failures = () =>
      bench.db
        .selectFrom('task_detections')
        .select(({ fn }) => fn.max('failures').as('most'))
        .where('project_id', '=', project)
        .executeTakeFirstOrThrow()
    expect(await failures()).toEqual({ most: 0 })
    gate.open()
    await bench.untilDetected()
    expect(await foundIn(project)).toEqual(expected)
    expect(await failures()).toEqual({ most: 0 })
  } finally {
    await killed(child)
  }
})

function startProcess(clickhouse: object) {
  const program = fileURLToPath(new URL('../support/detection-process.ts', import.meta.url))
  return spawn(process.execPath, [program, bench.postgres_url, JSON.stringify(clickhouse)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
}

async function killed(child: ReturnType<typeof startProcess>): Promise<void> {
  const ended = once(child, 'exit')
  child.kill('SIGKILL')
  await ended
}

/** Starts a worker and kills it when it reads the content of tasks. */
async function killedWhileReading(): Promise<void> {
  const child = startProcess(bench.clickhouse)
  try {
    await Promise.race([
      once(child.stdout, 'data'),
      once(child, 'exit').then(() => Promise.reject(new Error('it ended by itself'))),
    ])
  } finally {
    await killed(child)
  }
}
