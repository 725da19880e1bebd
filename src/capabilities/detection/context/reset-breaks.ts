import type { HistoryBreak, TaskRun } from '../reconstruction/contract.ts'

/**
 * Whether nothing is left of what was said: the history is gone, but for the system's text that
 * clients send with each new conversation.
 */
export function isReset(run: TaskRun, { kind, thread, call, lost }: HistoryBreak): boolean {
  if (kind === 'reset') return true
  if (kind !== 'truncated') return false
  const brought = run.messages.filter((message) => message.call === call && message.step === null)
  // A tool's result that comes now answers a call that is still in the history.
  if (brought.some(({ role }) => role === 'tool')) return false
  const gone = new Set(goneBefore(run, thread, call))
  for (const index of lost) gone.add(index)
  const before = run.messages.filter(
    (message) => message.thread === thread && message.role !== 'system' && message.call < call,
  )
  // The last answer was never sent again, so nobody can say that it is gone.
  return (
    before.length > 0 && before.every(({ index, role }) => gone.has(index) || role === 'assistant')
  )
}

function goneBefore(run: TaskRun, thread: number, call: number): number[] {
  return run.breaks
    .filter((broken) => broken.thread === thread && broken.call < call)
    .flatMap(({ lost }) => lost)
}
