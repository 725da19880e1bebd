import type { Observation } from '../../../../model/observation.ts'
import type { HistoryBreak } from '../contract.ts'
import type { HistoryMessage } from '../reading/read-messages.ts'
import { newThread, type RunState } from '../run-state.ts'
import { findLaneThread } from './agent-lanes.ts'
import { type Head, newHead, useHead } from './heads.ts'

/** The place of a call's history, and its new messages. */
export type FollowedHistory = {
  thread: number
  /** Undefined for a call that sends no history. */
  head: Head | undefined
  /** New messages to append to the head, in order. */
  fresh: readonly HistoryMessage[]
  /** Index in the run of each fresh message that was already reported; -1 for a new one. */
  known: readonly number[] | undefined
  /** The prompt that replaces the last message; `fresh` is its report about the last answer. */
  prompt?: HistoryMessage
  /** True for the first history of a thread, which can start long before the task. */
  is_first: boolean
  /** True if the call sent only new messages. */
  is_only_new?: boolean
}

/** The history of a call as sent. */
export type SentHistory = {
  row: Observation
  raw: string | undefined
  fresh: readonly HistoryMessage[]
  call: number
}

/** Places a call without a history in the thread of its agent. */
export function followLane(state: RunState, row: Observation): FollowedHistory {
  const thread = findLaneThread(state, row)
  return { thread, head: undefined, fresh: [], known: undefined, is_first: false }
}

/**
 * Appends to a history. A second answer to the same history starts a branch, unless the first call
 * failed and this one repeats it.
 */
export function continueHead(state: RunState, head: Head, sent: SentHistory): FollowedHistory {
  const { row, raw, fresh, call } = sent
  const isAgain = fresh.length === 0 && (head.is_ok || row.start_time < head.end_time)
  if (isAgain) return startBranch(state, head, { ...sent, kept: head.ids.length })
  if (head.left_by !== undefined) splitDetour(state, head.left_by)
  useHead(state.heads, head)
  head.raw = raw
  head.call = call
  return { thread: head.thread, head, fresh, known: undefined, is_first: false }
}

/** Starts a thread with the first messages of another thread's history. */
export function startBranch(
  state: RunState,
  from: Head,
  sent: SentHistory & { kept: number },
): FollowedHistory {
  const { row, raw, fresh, call, kept } = sent
  const { agent_name } = row
  const thread = newThread(state, { kind: 'branch', parent: from.thread, agent_name })
  const head = newHead(thread.index, call)
  head.raw = raw
  head.ids = from.ids.slice(0, kept)
  head.digests = from.digests.slice(0, kept)
  head.systems = Math.min(from.systems, kept)
  useHead(state.heads, head)
  return { thread: thread.index, head, fresh, known: undefined, is_first: false }
}

/**
 * Moves a detour into its own thread: a thread left its history, and now the old history continues,
 * so it was never broken. Only calls since the break are moved.
 */
export function splitDetour(state: RunState, broken: HistoryBreak): void {
  const at = state.breaks.indexOf(broken)
  const from = state.threads[broken.thread]
  if (at === -1 || from === undefined) return
  state.breaks.splice(at, 1)
  const kind = broken.kind === 'reset' ? 'sub_agent' : 'branch'
  const detour = newThread(state, { kind, parent: from.index, agent_name: from.agent_name })
  const isMoved = (call: number) => call >= broken.call
  const firstCall = from.calls.findIndex(isMoved)
  if (firstCall !== -1) detour.calls.push(...from.calls.splice(firstCall))
  for (const call of detour.calls) moveCall(state, call, detour.index)
  const firstStep = from.steps.findIndex((step) => isMoved(state.steps[step]?.call ?? -1))
  if (firstStep !== -1) detour.steps.push(...from.steps.splice(firstStep))
  for (const step of detour.steps) moveStep(state, step, detour.index)
  moveMessages(state, broken, detour.index)
  moveHeads(state, broken, detour.index)
  moveOpen(state, { from: from.index, to: detour.index })
}

function moveCall(state: RunState, index: number, thread: number): void {
  const call = state.calls[index]
  if (call !== undefined) state.calls[index] = { ...call, thread }
}

function moveStep(state: RunState, index: number, thread: number): void {
  const step = state.steps[index]
  if (step === undefined) return
  state.steps[index] = { ...step, thread }
  for (const tool of step.tools) {
    const use = state.tools[tool]
    if (use !== undefined) state.tools[tool] = { ...use, thread }
  }
}

function moveMessages(state: RunState, broken: HistoryBreak, thread: number): void {
  for (let at = state.messages.length - 1; at >= 0; at--) {
    const message = state.messages[at]
    if (message === undefined || message.call < broken.call) return
    if (message.thread === broken.thread) state.messages[at] = { ...message, thread }
  }
}

function moveHeads(state: RunState, broken: HistoryBreak, thread: number): void {
  for (const head of state.heads) {
    if (head.thread === broken.thread && head.call >= broken.call) head.thread = thread
    if (head.left_by === broken) head.left_by = undefined
  }
  for (const [at, other] of state.breaks.entries()) {
    if (other.thread !== broken.thread || other.call < broken.call) continue
    const moved = { ...other, thread }
    state.breaks[at] = moved
    for (const head of state.heads) if (head.left_by === other) head.left_by = moved
  }
}

/** Moves tool uses that wait for a result along with their step. */
function moveOpen(state: RunState, { from, to }: { from: number; to: number }): void {
  const [old, line] = [state.lines[from], state.lines[to]]
  if (old === undefined || line === undefined) return
  line.open = old.open.filter((index) => state.tools[index]?.thread === to)
  old.open = old.open.filter((index) => state.tools[index]?.thread !== to)
}

/** After 12 hours the same task id is taken as a new use. */
export const reuse_ns = 12n * 3_600n * 1_000_000_000n

/** Starts the thread of another agent, or the first one. */
export function startThread(state: RunState, row: Observation, parentAgent: string): number {
  const { agent_name } = row
  if (state.threads.length === 0) {
    return newThread(state, { kind: 'root', parent: null, agent_name }).index
  }
  const last = state.calls.at(-1)
  const isLate = last !== undefined && row.start_time - last.end_time > reuse_ns
  if (isLate) return newThread(state, { kind: 'root', parent: null, agent_name }).index
  const parent = state.lanes.get(parentAgent) ?? findWaitingThread(state, row)
  return newThread(state, { kind: 'sub_agent', parent, agent_name }).index
}

/**
 * Returns the last thread that waits for a tool that it asked for before a call began, because the
 * tool may be the agent of the call; otherwise the last one that waits for any tool.
 */
function findWaitingThread(state: RunState, { start_time }: Observation): number | null {
  const isEarlier = (index: number) => (state.tools[index]?.asked_at ?? start_time) <= start_time
  const earlier = state.lines.findLastIndex(({ open }) => open.some(isEarlier))
  const waiting =
    earlier === -1 ? state.lines.findLastIndex(({ open }) => open.length > 0) : earlier
  return waiting === -1 ? null : waiting
}
