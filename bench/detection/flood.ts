import { markDue, startDetection } from '../../src/capabilities/detection/index.ts'
import { collectTouched } from '../../src/capabilities/ingest/roll-up/touched.ts'
import { openClickHouseStore } from '../../src/capabilities/storage/index.ts'
import { newId } from '../../src/kernel/ids.ts'
import { sleep, systemClock } from '../../src/kernel/time.ts'
import type { Observation } from '../../src/model/observation.ts'
import type {
  AccessTables,
  DetectionTables,
  TaskTables,
} from '../../src/platform/relational/index.ts'
import { createLogger, createMetrics } from '../../src/platform/telemetry/index.ts'
import { agentRun } from '../../test/corpus/agent-run.ts'
import { rollUpBatch } from '../../test/support/roll-up-batch.ts'
import { startRelational } from '../start-relational.ts'
import { startBenchEngine } from '../store/engine.ts'
import type { FloodRow } from './facts.ts'
import { longRun } from './long-runs.ts'

/** Tasks of the noisy project: many small ones, or some large ones. */
const floods = {
  'many small tasks': { tasks: 200, steps: 8 },
  'large tasks': { tasks: 10, steps: 150 },
} as const
const large_chars = 60_000
/** Quiet projects, each with a small task now and then while the flood is analysed. */
const quiet_projects = 5
const quiet_tasks = 8
const quiet_pause_ms = 100
const poll_ms = 25
/** Rows of the flood that are stored at a time. */
const rows_max = 2_000

/**
 * `npm run bench:detection:flood`: detection while one project brings a flood of new tasks. Prints the
 * tasks analysed a second and a second of processor time, and how long the tasks of other projects
 * wait for their findings. The settings are those of a worker: detection takes a quarter of the
 * time.
 */
for (const [name, flood] of Object.entries(floods)) console.log(await measureOne(name, flood))
process.exit()

type Flood = (typeof floods)[keyof typeof floods]
type Tables = TaskTables & DetectionTables & AccessTables

async function measureOne(name: string, flood: Flood): Promise<FloodRow> {
  await using parts = new AsyncDisposableStack()
  const engine = await startBenchEngine()
  parts.defer(() => engine.stop())
  const store = openClickHouseStore({ columnar: engine.columnar })
  const { db } = await startRelational<Tables>(parts)
  const organization_id = newId()
  await db.insertInto('organizations').values({ id: organization_id, name: 'bench' }).execute()
  const newProject = async () => {
    const id = newId()
    await db.insertInto('projects').values({ id, organization_id, name: id }).execute()
    return id
  }
  const bring = async (observations: readonly Observation[]) => {
    await store.insert(observations, { token: newId() })
    await rollUpBatch({ db, store, markDue, large_from: 2_000 }, collectTouched(observations))
  }
  const countDue = async (project_id: string, task_id?: string) => {
    let due = db.selectFrom('task_detections').select('task_id').where('due_at', 'is not', null)
    due = due.where('project_id', '=', project_id)
    if (task_id !== undefined) due = due.where('task_id', '=', task_id)
    return (await due.execute()).length
  }
  const noisy = await newProject()
  await bringFlood(bring, noisy, flood)
  const quiet = await Promise.all(Array.from({ length: quiet_projects }, newProject))
  const cpu = process.cpuUsage()
  const start_ms = performance.now()
  const logger = createLogger({ role: 'bench', level: 'error' })
  const worker = startDetection({ db, store, logger, clock: systemClock, metrics: createMetrics() })
  parts.defer(() => worker.stop())
  const delays: number[] = []
  for (let at = 0; at < quiet_tasks; at++) {
    const project_id = quiet[at % quiet.length] ?? ''
    await bring(smallTask(project_id, `quiet ${at}`, 4))
    const due_ms = performance.now()
    while ((await countDue(project_id, `quiet ${at}`)) > 0) await sleep(poll_ms)
    delays.push(performance.now() - due_ms)
    await sleep(quiet_pause_ms)
  }
  const left_then = await countDue(noisy)
  while ((await countDue(noisy)) > 0) await sleep(poll_ms * 4)
  const seconds = (performance.now() - start_ms) / 1_000
  const { user, system } = process.cpuUsage(cpu)
  const sorted = delays.toSorted((a, b) => a - b)
  const tasks = flood.tasks + quiet_tasks
  return {
    flood: name,
    tasks: flood.tasks,
    steps: flood.steps,
    tasks_per_second: tasks / seconds,
    tasks_per_cpu_second: tasks / ((user + system) / 1e6),
    left_at_last_quiet: left_then,
    delay_ms: { median: sorted[Math.floor(sorted.length / 2)] ?? 0, worst: sorted.at(-1) ?? 0 },
  }
}

async function bringFlood(
  bring: (rows: readonly Observation[]) => Promise<void>,
  project_id: string,
  { tasks, steps }: Flood,
): Promise<void> {
  let rows: Observation[] = []
  for (let at = 0; at < tasks; at++) {
    const task_id = `flood ${at}`
    rows.push(
      ...(steps > 100
        ? largeTask(project_id, task_id, steps)
        : smallTask(project_id, task_id, steps)),
    )
    if (rows.length < rows_max && at < tasks - 1) continue
    await bring(rows)
    rows = []
  }
}

function smallTask(project_id: string, task_id: string, steps: number): Observation[] {
  const run = agentRun(`${project_id} ${task_id}`, { project_id, task_id, tools: ['look', 'note'] })
    .system('You look after parcels.')
    .user('Where is parcel 7?')
    .times(steps, (agent, at) =>
      agent.tool({ name: 'look', args: { id: at } }, `Parcel ${at} is in hall ${at % 5}.`),
    )
    .assistant('Parcel 7 is in hall 2.')
  return run.observations()
}

/** A long run under the ids of a task of its own. */
function largeTask(project_id: string, task_id: string, steps: number): Observation[] {
  const trace_id = newId()
  return longRun('grows', steps, large_chars).map((row, at) => ({
    ...row,
    project_id,
    task_id,
    trace_id,
    observation_id: `${task_id} ${at}`,
    parent_observation_id: '',
  }))
}
