import type { HistoryBreak } from './contract.ts'
import { newThread, type RunState } from './run-state.ts'

/**
 * A thread left its history, and now the old one goes on: what came in between was a thread of its
 * own, and the history was never broken. Only what came since is looked at.
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

/** Tool uses without an answer go with their step. */
function moveOpen(state: RunState, { from, to }: { from: number; to: number }): void {
  const [old, line] = [state.lines[from], state.lines[to]]
  if (old === undefined || line === undefined) return
  line.open = old.open.filter((index) => state.tools[index]?.thread === to)
  old.open = old.open.filter((index) => state.tools[index]?.thread !== to)
}
