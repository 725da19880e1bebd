import type { Observation } from '../../../../model/observation.ts'
import type { Place } from '../contract.ts'
import { newThread, type RunState } from '../run-state.ts'

/** Maximum spans remembered per task; agents of later spans are recognised by name only. */
export const spans_max = 50_000
/** Maximum parents followed to find an agent, because parents can form a cycle. */
const climb_max = 64

/** Returns the key of an observation in maps of a run. */
export function spanKey({ trace_id, observation_id }: Place): string {
  return `${trace_id} ${observation_id}`
}

/** Remembers a span, to find the agents of the observations below it. */
export function rememberSpan(state: RunState, row: Observation): void {
  if (row.source === 'proxy' || state.spans.size >= spans_max) return
  state.spans.set(spanKey(row), {
    parent: row.parent_observation_id,
    type: row.type,
    name: row.name,
  })
}

/** Keys of the agent of an observation (its span, otherwise its name) and of the agent above it. */
type AgentKeys = { key: string; parent: string }

/** Returns the keys of the agent of an observation, from the spans above it. */
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
 * Returns the thread of a call that sends no history: its agent's thread, otherwise a finished
 * thread of an agent with the same name, otherwise a new thread.
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

/** Assigns an agent to a thread. */
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
