import type { Observation } from '../../../model/observation.ts'
import type { Place } from './contract.ts'
import { newThread, type RunState } from './run-state.ts'

/** Spans of a task that are remembered; for later ones agents go by their names only. */
export const spans_max = 50_000
/** How far up agents are looked for: parents may go in circles. */
const climb_max = 64

/** Returns the key of an observation in maps that live as long as a run. */
export function spanKey({ trace_id, observation_id }: Place): string {
  return `${trace_id} ${observation_id}`
}

export function rememberSpan(state: RunState, row: Observation): void {
  if (row.source === 'proxy' || state.spans.size >= spans_max) return
  state.spans.set(spanKey(row), {
    parent: row.parent_observation_id,
    type: row.type,
    name: row.name,
  })
}

/** The agent that an observation belongs to: its span, else its name; and the agent above. */
export type AgentKeys = { key: string; parent: string }

export function findAgent(state: RunState, row: Observation): AgentKeys {
  const above: string[] = []
  let id = row.parent_observation_id
  for (let climbed = 0; climbed < climb_max && id !== '' && above.length < 2; climbed++) {
    const key = spanKey({ trace_id: row.trace_id, observation_id: id })
    const span = state.spans.get(key)
    if (span === undefined) break
    if (span.type === 'agent') above.push(key)
    id = span.parent
  }
  const [key = `name ${row.agent_name}`, parent = ''] = above
  return { key, parent }
}

/**
 * The thread of a call that tells no history: that of its agent, else the thread of an agent of the
 * same name that was over by then, else a new one.
 */
export function findLaneThread(state: RunState, row: Observation): number {
  const { key, parent } = findAgent(state, row)
  const known = state.lanes.get(key) ?? findThreadByName(state, row, state.lanes.get(parent))
  if (known !== undefined) {
    setLane(state, key, known)
    return known
  }
  const { agent_name } = row
  const isRoot = state.threads.length === 0
  const above = state.lanes.get(parent) ?? null
  const kind = isRoot ? 'root' : 'sub_agent'
  const thread = newThread(state, { kind, parent: isRoot ? null : above, agent_name })
  setLane(state, key, thread.index)
  return thread.index
}

export function setLane(state: RunState, key: string, thread: number): void {
  if (state.lanes.size < spans_max) state.lanes.set(key, thread)
}

function findThreadByName(
  state: RunState,
  row: Observation,
  above: number | undefined,
): number | undefined {
  const found = state.threads.findLast(({ index, agent_name, calls }) => {
    if (agent_name !== row.agent_name || index === above) return false
    const last = state.calls[calls.at(-1) ?? -1]
    return last === undefined || last.end_time <= row.start_time
  })
  return found?.index
}
