import { z } from 'zod'
import { contextFinding } from '../../context/context-finding.ts'
import { isReset } from '../../context/reset-breaks.ts'
import { saidIn } from '../../context/said.ts'
import type { Detector, FindingDraft } from '../../contract.ts'
import { placeOf } from '../../evidence/places.ts'
import type { HistoryBreak, TaskRun } from '../../reconstruction/contract.ts'

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
    budget.spend(run.breaks.length)
    return run.breaks.flatMap((broken) =>
      broken.lost.length >= messages_min && isReset(run, broken) ? findingOf(run, broken) : [],
    )
  },
}

function findingOf(run: TaskRun, { call: index, lost }: HistoryBreak): FindingDraft[] {
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
