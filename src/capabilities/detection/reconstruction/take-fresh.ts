import type { Observation } from '../../../model/observation.ts'
import type { Followed } from './follow-history.ts'
import { type Head, isAnswer } from './heads.ts'
import type { ToldMessage } from './read-messages.ts'
import { addMessage, heldText, type RunState } from './run-state.ts'
import { takeResults } from './take-results.ts'
import { addOrphan, askFor, giveUp, joinResult, tellOrphans } from './tool-uses.ts'

/** Takes what a history brought: answers come back, results are joined with their calls. */
export function takeFresh(state: RunState, followed: Followed, row: Observation): void {
  const { fresh, head, known } = followed
  if (head === undefined) {
    takeResults(state, followed.thread, row)
    return
  }
  const from = followed.is_first ? fresh.findLastIndex(({ role }) => role === 'assistant') : 0
  const about = { followed, row, call: callOf(state, row) }
  const before = head.answer
  let isBack = false
  for (const [at, told] of fresh.entries()) {
    const answer = answerBack(head, told)
    const first = answer ?? known?.[at] ?? -1
    if (answer !== undefined) isBack = true
    const id = first === -1 ? addTold(state, told, { ...about, is_seen: at >= from }) : first
    head.digests.push(told.digest)
    head.ids.push(id)
    if (told.role === 'system' && head.systems === head.ids.length - 1) head.systems += 1
  }
  if (isBack) tellOrphans(state, followed.thread)
  else if (before !== undefined && fresh.length > 0) giveUp(state, followed.thread, before.message)
}

/**
 * The message of the answer, when this one is it or a part of it: some clients tell the calls of one
 * answer as messages one after the other. Behind it comes what answers it.
 */
function answerBack(head: Head, told: ToldMessage): number | undefined {
  const { answer } = head
  if (answer === undefined) return undefined
  const isIt = isAnswer(answer, told)
  const isWhole = isIt && told.calls.length >= answer.told.calls.length
  if (isWhole || told.role !== 'assistant') head.answer = undefined
  return isIt ? answer.message : undefined
}

type About = { followed: Followed; row: Observation; call: number; is_seen: boolean }

/** Adds a message that was not told before, and what it says of tools. */
function addTold(state: RunState, told: ToldMessage, about: About): number {
  const { row, call } = about
  const { thread } = about.followed
  const line = state.lines[thread]
  if (told.role === 'user' && line !== undefined) line.after_user = true
  if (told.role === 'assistant' && about.is_seen) {
    askFor(state, told.calls, { thread, step: null, row, is_cut: false })
  }
  if (told.role === 'tool' && about.is_seen) {
    const is_quiet = about.followed.known !== undefined
    const isAsked = joinResult(state, told, { thread, row, is_quiet })
    if (!isAsked && !is_quiet) addOrphan(state, told, { thread, row })
  }
  const text = heldText(state, told.text || told.refusal)
  return addMessage(state, { role: told.role, text, thread, call, step: null })
}

function callOf(state: RunState, { trace_id, observation_id }: Observation): number {
  return state.callsBySpan.get(`${trace_id} ${observation_id}`) ?? state.calls.length - 1
}
