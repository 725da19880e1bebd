import { z } from 'zod'
import type { Detector, FindingDraft } from '../../contract.ts'
import {
  findResets,
  placeOf,
  readStatements,
  toContextDraft,
  toTokenSet,
} from '../../facts/index.ts'
import type { Message, TaskRun, Thread } from '../../reconstruction/index.ts'

const settings = z.strictObject({
  messages_min: z
    .int()
    .min(1)
    .max(1000)
    .default(3)
    .describe('Minimum lost messages; a shorter history that starts again is a new question.'),
})

/** Finds tasks that continue without any of their history. */
export const conversationReset: Detector<typeof settings> = {
  name: 'conversation_reset',
  kind: 'context',
  types: ['conversation_reset'],
  version: 1,
  needs: ['texts', 'history'],
  settings,
  detect(run, { messages_min }, budget) {
    budget.spend(run.breaks.length + run.threads.length)
    const resets = findResets(run)
    const broken = run.breaks.filter((one) => one.lost.length >= messages_min && resets.has(one))
    return [
      ...broken.flatMap(({ call, lost }) => toFindings(run, call, lost)),
      ...run.threads.flatMap((thread) => findAbandoned(run, thread, messages_min)),
    ]
  },
}

/**
 * Finds agents that asked for tools, never continued, and started again with the same system text:
 * a restart. A sub-agent differs: its parent continues, and its instructions are different.
 */
function findAbandoned(run: TaskRun, thread: Thread, messages_min: number): FindingDraft[] {
  const { kind, parent: of, calls } = thread
  const parent = of === null ? undefined : run.threads[of]
  const [first] = calls
  const last = parent?.calls.at(-1)
  if (kind !== 'sub_agent' || first === undefined || last === undefined || last > first) return []
  const step = run.steps[run.calls[last]?.step ?? -1]
  const isOpen = step?.tools.some((index) => run.tools[index]?.is_answered === false)
  const before = run.messages.filter((message) => message.thread === parent?.index)
  const system = run.messages.find((message) => message.call === first && message.role === 'system')
  const isSame = before.some(({ role, text }) => role === 'system' && text === system?.text)
  if (isOpen !== true || !isSame || before.length < messages_min) return []
  if (isRestated(run, before, first)) return []
  const lost = before.filter(({ role }) => role !== 'system').map(({ index }) => index)
  return toFindings(run, first, lost)
}

/** Tells whether the new history restates the task, for example in a client's summary. */
function isRestated(run: TaskRun, before: readonly Message[], call: number): boolean {
  const task = before.find(({ role }) => role === 'user')
  const now = run.messages.find((message) => message.call === call && message.role === 'user')
  const words = [...toTokenSet(task?.text ?? '')]
  const known = toTokenSet(now?.text ?? '')
  return words.filter((word) => known.has(word)).length * 2 >= words.length
}

function toFindings(run: TaskRun, index: number, lost: readonly number[]): FindingDraft[] {
  const call = run.calls[index]
  if (call === undefined) return []
  const messages = lost.flatMap((at) => run.messages[at] ?? [])
  const original = messages.find(({ role }) => role === 'user') ?? messages[0]
  const statements = messages
    .flatMap((message) => readStatements(message).statements)
    .filter(({ is_likely }) => !is_likely)
  return [
    toContextDraft(run, {
      type: 'conversation_reset',
      severity: 'medium',
      topic: 'reset',
      summary: `The task continued without any of its ${lost.length} earlier messages.`,
      original_context: statements[0]?.quote ?? original?.text ?? '',
      violation: `None of the ${lost.length} earlier messages are in the history.`,
      original: run.calls[original?.call ?? index] ?? call,
      steps: call.step === null ? [] : [call.step],
      begins_at: placeOf(call),
      recovered: false,
      confidence: 0.9,
      evidence: {
        lost_messages: lost.length,
        lost_statements: statements.slice(0, statements_max).map(({ quote }) => quote),
      },
    }),
  ]
}

const statements_max = 5
