import type { Observation } from '../../../model/observation.ts'
import { rememberSpan, spanKey } from './agent-lanes.ts'
import type { Reconstruction, TaskIdentity, TaskRun } from './contract.ts'
import { bounds, countBytes, createState, toRun } from './run-state.ts'
import { takeCall } from './take-call.ts'
import { takeTool } from './take-tool.ts'

/** Creates the empty reconstruction of one task. */
export function createReconstruction(task: TaskIdentity): Reconstruction {
  const state = createState(task)
  const taken = new Map<string, string>()
  let last: Position | undefined
  return {
    add(rows) {
      const fresh = selectFresh(rows, taken)
      if (fresh === 'changed') return 'rebuild'
      fresh.sort(compareRows)
      const [first] = fresh
      if (first === undefined) return 'added'
      if (last !== undefined && compareRows(first, last) < 0) return 'rebuild'
      for (const row of fresh) {
        taken.set(spanKey(row), versionOf(row))
        last = toPosition(row)
        take(row)
      }
      return 'added'
    },
    run: () => toRun(state),
    bytes: () => countBytes(state) + taken.size * takenBytes,
  }

  function take(row: Observation): void {
    if (state.calls.length >= bounds.calls_max) {
      state.left_out.add(`model calls beyond ${bounds.calls_max}`)
      return
    }
    if (state.conversation_id === '') state.conversation_id = row.conversation_id
    rememberSpan(state, row)
    if (row.type === 'generation') takeCall(state, row)
    else if (row.type === 'tool') takeTool(state, row)
  }
}

/** Orders all rows of a task at once; batches give the same run. */
export function reconstruct(rows: readonly Observation[], task?: TaskIdentity): TaskRun {
  const [first] = rows
  const { project_id = '', task_id = '', conversation_id = '' } = task ?? first ?? {}
  const reconstruction = createReconstruction({ project_id, task_id, conversation_id })
  const byKey = new Map(rows.map((row) => [spanKey(row), row]))
  reconstruction.add([...byKey.values()])
  return reconstruction.run()
}

/** Returns the rows not added yet; `changed` if an added row differs now. */
function selectFresh(
  rows: readonly Observation[],
  taken: ReadonlyMap<string, string>,
): Observation[] | 'changed' {
  const fresh = new Map<string, Observation>()
  for (const row of rows) {
    const known = taken.get(spanKey(row))
    if (known === undefined) fresh.set(spanKey(row), row)
    else if (known !== versionOf(row)) return 'changed'
  }
  return [...fresh.values()]
}

/** Bytes per entry in the map of added rows. */
const takenBytes = 200

/** Equal for an unchanged row, without comparing all of it. */
function versionOf(row: Observation): string {
  const { start_time, end_time, status, content_state, input, output } = row
  return `${start_time} ${end_time} ${status} ${content_state} ${input.length} ${output.length}`
}

type Position = Pick<Observation, 'start_time' | 'observation_id' | 'trace_id'>

function toPosition({ start_time, observation_id, trace_id }: Observation): Position {
  return { start_time, observation_id, trace_id }
}

/** Orders rows by start, then by ids. */
function compareRows(a: Position, b: Position): number {
  return (
    compare(a.start_time, b.start_time) ||
    compare(a.observation_id, b.observation_id) ||
    compare(a.trace_id, b.trace_id)
  )
}

function compare<T extends bigint | string>(a: T, b: T): number {
  return a < b ? -1 : a > b ? 1 : 0
}
