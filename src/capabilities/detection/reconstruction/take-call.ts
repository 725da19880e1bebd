import type { Observation } from '../../../model/observation.ts'
import { agentOf, setLane, spanKey } from './agent-lanes.ts'
import { followHistory } from './follow-history.ts'
import { callFactsOf, contentOf } from './model-call.ts'
import type { RunState } from './run-state.ts'
import { takeAnswer } from './take-answer.ts'
import { takeFresh } from './take-fresh.ts'
import { mergeTwin, twinOf } from './twin-calls.ts'

/**
 * Adds a model call to the run: its thread, what its history brought, and its answer. A second
 * telling of a call that is known adds to it what it did not have.
 */
export function takeCall(state: RunState, row: Observation): void {
  const twin = twinOf(state, row)
  if (twin !== undefined) {
    rememberCall(state, row, twin)
    mergeTwin(state, row, twin)
    return
  }
  const index = state.calls.length
  const followed = followHistory(state, row, index)
  const { thread } = followed
  const facts = callFactsOf(row, contentOf(row, followed.head !== undefined), state.declared)
  const retry_of = retryOf(state, { thread, row, is_grown: followed.fresh.length > 0 })
  state.calls.push({ ...facts, index, thread, step: null, retry_of })
  rememberCall(state, row, index)
  state.threads[thread]?.calls.push(index)
  setLane(state, agentOf(state, row).key, thread)
  takeFresh(state, followed, row)
  takeAnswer(state, followed, { row, call: index })
}

function rememberCall(state: RunState, row: Observation, index: number): void {
  const { trace_id, observation_id, parent_observation_id: parent } = row
  state.callsBySpan.set(spanKey(trace_id, observation_id), index)
  if (parent !== '') state.callsByParent.set(spanKey(trace_id, parent), index)
}

/** A failed call is made again soon. */
const retry_ns = 600_000_000_000n

/** The failed call just before in the thread, when this one asks the same. */
function retryOf(
  state: RunState,
  { thread, row, is_grown }: { thread: number; row: Observation; is_grown: boolean },
): number | null {
  const last = state.calls[state.threads[thread]?.calls.at(-1) ?? -1]
  if (is_grown || last === undefined || last.status === 'ok') return null
  return row.start_time - last.end_time <= retry_ns ? last.index : null
}
