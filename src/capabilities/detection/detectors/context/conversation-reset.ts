import { z } from 'zod'
import { contextFinding } from '../../context/context-finding.ts'
import { resetBreaks } from '../../context/reset-breaks.ts'
import { saidIn } from '../../context/said.ts'
import type { Detector, FindingDraft } from '../../contract.ts'
import { placeOf } from '../../evidence/places.ts'
import { tokenSet } from '../../evidence/tokens.ts'
import type { Message, TaskRun, Thread } from '../../reconstruction/contract.ts'

const settings = z.strictObject({
  messages_min: z
    .int()
    .min(1)
    .max(1000)
    .default(3)
    .describe('Messages that must be gone: a shorter history that begins anew is a new question.'),
})

/** A task that goes on with nothing left of its history. */
export const conversationReset: Detector<typeof settings> = {
  name: 'conversation_reset',
  kind: 'context',
  types: ['conversation_reset'],
  version: 1,
  needs: ['texts'],
  settings,
  detect(run, { messages_min }, budget) {
    budget.spend(run.breaks.length + run.threads.length)
    const resets = resetBreaks(run)
    const broken = run.breaks.filter((one) => one.lost.length >= messages_min && resets.has(one))
    return [
      ...broken.flatMap(({ call, lost }) => findingOf(run, call, lost)),
      ...run.threads.flatMap((thread) => abandonedFinding(run, thread, messages_min)),
    ]
  },
}

/**
 * An agent that asked for tools, never went on, and began anew with the same system's text: a
 * restart, and no sub-agent, whose parent goes on and whose orders are other ones.
 */
function abandonedFinding(run: TaskRun, thread: Thread, messages_min: number): FindingDraft[] {
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
  if (isToldAgain(run, before, first)) return []
  const lost = before.filter(({ role }) => role !== 'system').map(({ index }) => index)
  return findingOf(run, first, lost)
}

/** What the new history begins with tells the task again, as a summary by the client does. */
function isToldAgain(run: TaskRun, before: readonly Message[], call: number): boolean {
  const task = before.find(({ role }) => role === 'user')
  const now = run.messages.find((message) => message.call === call && message.role === 'user')
  const words = [...tokenSet(task?.text ?? '')]
  const known = tokenSet(now?.text ?? '')
  return words.filter((word) => known.has(word)).length * 2 >= words.length
}

function findingOf(run: TaskRun, index: number, lost: readonly number[]): FindingDraft[] {
  const call = run.calls[index]
  if (call === undefined) return []
  const messages = lost.flatMap((at) => run.messages[at] ?? [])
  const told = messages.find(({ role }) => role === 'user') ?? messages[0]
  const statements = messages.flatMap((message) => saidIn(message).statements)
  return [
    contextFinding(run, {
      type: 'conversation_reset',
      severity: 'medium',
      topic: 'reset',
      summary: `The task goes on with nothing left of ${lost.length} messages.`,
      original_context: statements[0]?.quote ?? told?.text ?? '',
      violation: `None of the ${lost.length} messages before it are in the history any more.`,
      original: run.calls[told?.call ?? index] ?? call,
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
