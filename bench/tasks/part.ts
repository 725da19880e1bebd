import { type ObservationStore, openClickHouseStore } from '../../src/capabilities/storage/index.ts'
import { type TaskDeps, taskRoutes } from '../../src/capabilities/tasks/index.ts'
import { newId } from '../../src/kernel/ids.ts'
import { isoFromNs, systemClock } from '../../src/kernel/time.ts'
import type { DetectionTables, TaskTables } from '../../src/platform/relational/index.ts'
import { observationOf } from '../../test/support/observations.ts'
import { median } from '../rounds.ts'
import { runRoute } from '../run-route.ts'
import { startRelational } from '../start-relational.ts'
import { startBenchEngine } from '../store/engine.ts'
import type { TaskPageRow, TasksFacts } from './facts.ts'

const small_calls = 100
const large_calls = [20_000, 100_000]
/** Warm-up rounds that do not count. */
const warmUps = 2
const insert_rows = 10_000
const call_ns = 500_000_000n

type Tables = TaskTables & DetectionTables

/** Measures pages of tasks with 100, 20,000 and 100,000 calls, in turn. */
export async function measureTasks(rounds: number): Promise<TasksFacts> {
  await using parts = new AsyncDisposableStack()
  const engine = await startBenchEngine()
  parts.defer(() => engine.stop())
  const store = openClickHouseStore({ columnar: engine.columnar })
  const relational = await startRelational<Tables>(parts)
  const project_id = newId()
  const deps: TaskDeps = {
    db: relational.db,
    store,
    clock: systemClock,
  }
  for (const calls of [small_calls, ...large_calls]) await fill(deps, project_id, calls)
  const rows: TaskPageRow[] = []
  for (const list of ['timeline', 'tool-calls'] as const) {
    for (const calls of large_calls) {
      rows.push(...(await measureList(askOf(deps, project_id), { list, calls, rounds })))
      console.log(rows.slice(-2))
    }
  }
  return { rounds, small_calls, rows }
}

/** Stores a task whose calls answer each other's tool calls, with their last messages as content. */
async function fill({ db, store }: TaskDeps, project_id: string, calls: number): Promise<void> {
  const task_id = taskOf(calls)
  const start = BigInt(Date.now()) * 1_000_000n - BigInt(calls + 100) * call_ns
  for (let at = 0; at < calls; at += insert_rows) {
    const count = Math.min(insert_rows, calls - at)
    const rows = Array.from({ length: count }, (_, n) =>
      callRow({ project_id, task_id, start }, at + n),
    )
    await store.insert(rows, { token: newId() })
  }
  const ended = isoFromNs(start + BigInt(calls) * call_ns)
  await db
    .insertInto('tasks')
    .values({
      project_id,
      task_id,
      name: task_id,
      implicit: false,
      state: 'running',
      calls,
      started_at: isoFromNs(start),
      last_activity_at: ended,
    } as never)
    .execute()
}

function taskOf(calls: number): string {
  return `task of ${calls} calls`
}

type CallsOf = { project_id: string; task_id: string; start: bigint }

function callRow({ start, ...of }: CallsOf, n: number) {
  const start_time = start + BigInt(n) * call_ns
  const asked = (at: number) => [{ id: `c${at}`, name: 'find', arguments: `{"n":${at}}` }]
  const toolMessage = { role: 'tool', tool_call_id: `c${n - 1}`, content: 'y'.repeat(400) }
  const before =
    n === 0 ? [] : [{ role: 'assistant', tool_calls: messageCalls(n - 1) }, toolMessage]
  const input = [{ role: 'user', content: `Work. ${'x'.repeat(2_000)}` }, ...before]
  const output = [{ role: 'assistant', content: null, tool_calls: messageCalls(n) }]
  return observationOf({
    ...of,
    observation_id: String(n).padStart(16, '0'),
    trace_id: newId(),
    start_time,
    end_time: start_time + call_ns - 1_000_000n,
    input: JSON.stringify(input),
    output: JSON.stringify(output),
    tool_calls: asked(n),
    tool_results: n === 0 ? [] : [{ tool_call_id: `c${n - 1}`, content: toolMessage.content }],
    request_bytes: 3_000,
  })
}

function messageCalls(n: number) {
  return [{ id: `c${n}`, type: 'function', function: { name: 'find', arguments: `{"n":${n}}` } }]
}

type Ask = (list: string, calls: number, cursor?: string) => Promise<Record<string, unknown>>

/** Runs a route as the server does, to the JSON of its answer. */
function askOf(deps: TaskDeps & { store: ObservationStore }, project_id: string): Ask {
  const routes = taskRoutes(deps)
  return async (list, calls, cursor) => {
    const query = { limit: '50', ...(cursor !== undefined && { cursor }) }
    const params = { task_id: taskOf(calls) }
    const body = await runRoute(routes, { last: list, project_id, params, query })
    return JSON.parse(JSON.stringify(body)) as Record<string, unknown>
  }
}

type Asked = { list: TaskPageRow['list']; calls: number; rounds: number }

async function measureList(ask: Ask, { list, calls, rounds }: Asked): Promise<TaskPageRow[]> {
  const cursor = await middleOf(ask, list, calls)
  const times = { small: [] as number[], first: [] as number[], middle: [] as number[] }
  const ways = [
    async () => times.small.push(await timeOf(() => ask(list, small_calls))),
    async () => times.first.push(await timeOf(() => ask(list, calls))),
    async () => times.middle.push(await timeOf(() => ask(list, calls, cursor))),
  ]
  for (let round = 0; round < rounds + warmUps; round += 1) {
    for (const way of round % 2 === 0 ? ways : ways.toReversed()) await way()
  }
  const counted = (all: number[]) => all.slice(warmUps)
  return (['first', 'middle'] as const).map((page) => ({
    list,
    page,
    calls,
    small_ms: median(counted(times.small)),
    large_ms: median(counted(times[page])),
    ratio: median(counted(times[page]).map((each, at) => each / (counted(times.small)[at] ?? 1))),
  }))
}

/** Pages of 1,000 entries up to the middle of the list. */
async function middleOf(ask: Ask, list: string, calls: number): Promise<string> {
  let cursor: string | undefined
  const entries = list === 'timeline' ? 3 * calls : calls
  for (let page = 0; page < Math.min(20, entries / 100); page += 1) {
    cursor = String((await ask(list, calls, cursor))['next_cursor'])
  }
  return cursor ?? ''
}

async function timeOf(work: () => Promise<unknown>): Promise<number> {
  const start_ms = performance.now()
  await work()
  return performance.now() - start_ms
}
