import { z } from 'zod'
import type { Detector, FindingDraft, MemoryEntry, Severity } from '../../contract.ts'
import {
  type Dialogue,
  findResets,
  placeOf,
  readDialogues,
  readStatements,
  toContextDraft,
} from '../../facts/index.ts'
import type { HistoryBreak, Message, TaskRun } from '../../reconstruction/index.ts'

const settings = z.strictObject({})

/**
 * Finds histories whose older messages were dropped or replaced by a summary. The severity depends
 * on the statements that were lost with them.
 */
export const contextTruncated: Detector<typeof settings> = {
  name: 'context_truncated',
  kind: 'context',
  types: ['context_truncated'],
  version: 1,
  needs: ['texts', 'history'],
  settings,
  detect(run, _settings, budget, prior) {
    if (run.breaks.length === 0) return []
    const { dialogues } = readDialogues(run, prior)
    const resets = findResets(run)
    return dialogues.flatMap((dialogue) => {
      const breaks = run.breaks.filter(
        (broken) => broken.thread === dialogue.thread.index && !resets.has(broken),
      )
      budget.spend(run.breaks.length + breaks.length)
      return kinds.flatMap((kind) =>
        toFindings(
          run,
          dialogue,
          breaks.filter((broken) => broken.kind === kind),
        ),
      )
    })
  },
}

const kinds = ['truncated', 'compacted'] as const

/**
 * Combines all breaks of one kind in a thread into one finding, because a client that cuts does so
 * at every call.
 */
function toFindings(
  run: TaskRun,
  dialogue: Dialogue,
  breaks: readonly HistoryBreak[],
): FindingDraft[] {
  const [first] = breaks
  const call = first && run.calls[first.call]
  if (first === undefined || call === undefined) return []
  const lost = breaks.flatMap((broken) => broken.lost.flatMap((index) => run.messages[index] ?? []))
  const gone = findLostStatements(run, dialogue, lost)
  const isCut = first.kind === 'truncated'
  const steps = breaks.flatMap((broken) => run.calls[broken.call]?.step ?? [])
  const [statement] = gone
  const [message] = lost
  return [
    toContextDraft(run, {
      type: 'context_truncated',
      severity: severityOf(isCut, gone.length),
      topic: first.kind,
      summary: isCut
        ? `The client dropped ${lost.length} messages of the history${gone.length > 0 ? `, and with them: ${statement?.quote}` : ''}.`
        : `The client replaced ${lost.length} messages with a summary.`,
      original_context: statement?.quote ?? message?.text ?? '',
      violation: isCut
        ? `${lost.length} messages are gone from the history.`
        : `A summary replaced ${lost.length} messages.`,
      original: statement?.place ?? run.calls[message?.call ?? first.call] ?? call,
      steps,
      begins_at: placeOf(call),
      recovered: false,
      confidence: isCut ? 0.95 : 0.9,
      evidence: {
        by: first.kind,
        lost_messages: lost.length,
        lost_statements: gone.slice(0, statements_max).map(({ quote }) => quote),
        breaks: breaks.length,
      },
    }),
  ]
}

const statements_max = 5

/** Returns the lost statements that were still valid and never repeated. */
function findLostStatements(
  run: TaskRun,
  { answers, messages }: Dialogue,
  lost: readonly Message[],
): MemoryEntry[] {
  const active = answers.at(-1)?.active ?? []
  const gone = new Set(lost)
  const kept = messages
    .filter((message) => !gone.has(message))
    .flatMap((message) => readStatements(message).statements)
  const keptSlots = new Set(kept.map(({ slot, value }) => `${slot}=${value}`))
  const from = new Set(lost.map(({ call }) => run.calls[call]?.observation_id))
  return active.filter(
    ({ place, slot, value, holds, quote, is_likely }) =>
      holds === 'always' &&
      !is_likely &&
      from.has(place.observation_id) &&
      !keptSlots.has(`${slot}=${value}`) &&
      lost.some(({ text }) => text.includes(quote)),
  )
}

/** Returns the severity; a summary alone loses no context. */
function severityOf(isCut: boolean, statementsGone: number): Severity {
  if (!isCut) return 'info'
  return statementsGone > 0 ? 'medium' : 'low'
}
