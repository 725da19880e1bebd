import type { Logger, Metrics } from '../../../platform/telemetry/index.ts'
import type { DetectionDb } from '../detection-deps.ts'
import { type ContextJudge, createContextJudge, type JudgeSettings } from './context-judge.ts'
import { openJudgeSpend } from './judge-spend.ts'

/**
 * Opens the judge, counts what it is asked and logs why it gave no answer, without what was asked.
 * Without settings there is none, and nothing is ever sent. Once per process: it registers a metric.
 */
export function openJudge(
  { db, metrics, logger }: { db: DetectionDb; metrics: Metrics; logger: Logger },
  settings: JudgeSettings | undefined,
): ContextJudge | undefined {
  const questions = metrics.counter({
    name: 'looptrace_judge_questions_total',
    help: 'Questions for the judge model, by how it ended: answered, failed, over_budget, aborted.',
    labels: ['result'],
  })
  if (settings === undefined) return undefined
  const judge = createContextJudge(settings, openJudgeSpend({ db }))
  return async (question) => {
    const judgement = await judge(question)
    questions.inc({ result: judgement.outcome })
    if (judgement.outcome === 'failed') {
      const { project_id, task_id } = question.run
      const { reason } = judgement
      logger.warn({ project_id, task_id, reason }, 'the judge gave no answer that can be used')
    }
    return judgement
  }
}
