import type { FindingDraft } from '../contract.ts'
import { placeOf } from '../evidence/places.ts'
import type { TaskRun } from '../reconstruction/contract.ts'
import type { AskedAgain } from './asked-again.ts'
import { contextFinding } from './context-finding.ts'

/** The finding of a question for what is known: it costs the user a turn. */
export function askedAgainFinding(
  run: TaskRun,
  type: 'lost_context' | 'repeated_question',
  { answer, question, known }: AskedAgain,
): FindingDraft {
  const isElsewhere = known.task_id !== run.task_id
  return contextFinding(run, {
    type,
    severity: 'medium',
    topic: `question:${question.words}`,
    summary: `The agent asks "${question.sentence}"; the user had said: ${known.quote}`,
    original_context: known.quote,
    violation: question.sentence,
    original: known.place,
    steps: [answer.step.index],
    begins_at: placeOf(answer.call),
    is_waste: true,
    recovered: false,
    confidence: isElsewhere ? 0.7 : 0.85,
    evidence: { question: question.sentence, known: known.value, said_in_task: known.task_id },
  })
}
