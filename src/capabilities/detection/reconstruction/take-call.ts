import type { Observation } from '../../../model/observation.ts'
import { followHistory } from './follow-history.ts'
import { callFactsOf } from './model-call.ts'
import { readAnswer } from './read-answer.ts'
import type { RunState } from './run-state.ts'
import { addAnswer, joinFresh } from './take-messages.ts'

/** Adds a model call to the run: its thread, what its history brought, and its answer. */
export function takeCall(state: RunState, row: Observation): void {
  const index = state.calls.length
  const answer = readAnswer(row)
  const { content_state } = row
  const isOff = content_state === 'dropped' || content_state === 'expired'
  const facts = callFactsOf(row, isOff ? 'none' : content_state === 'full' ? 'full' : 'partial')
  const followed = followHistory(state, row, index)
  const { thread } = followed
  const call = { ...facts, index, thread, step: null, retry_of: null }
  state.calls.push(call)
  state.threads[thread]?.calls.push(index)
  joinFresh(state, followed, row)
  addAnswer(state, followed, { row, answer })
}
