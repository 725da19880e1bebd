import type { FindingDraft } from '../../contract.ts'
import type { TaskRun } from '../../reconstruction/index.ts'
import { toContextDraft } from '../drafts.ts'
import { placeOf } from '../finding-parts.ts'
import type { AnsweredQuestion } from './answered-questions.ts'

/**
 * Creates the finding of an answered question, which costs the user a turn. It is of medium severity if
 * the agent itself had asked before, or if the user says it again.
 */
export function toQuestionDraft(
  run: TaskRun,
  type: 'lost_context' | 'repeated_question',
  { answer, question, known, was_asked, is_said_again }: AnsweredQuestion,
): FindingDraft {
  const isElsewhere = known.task_id !== run.task_id
  return toContextDraft(run, {
    type,
    severity: was_asked || is_said_again ? 'medium' : 'low',
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
