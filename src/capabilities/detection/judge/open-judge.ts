import { sql } from '../../../platform/relational/index.ts'
import type { Logger, Metrics } from '../../../platform/telemetry/index.ts'
import type { DetectionDb } from '../ports.ts'
import {
  type ContextJudge,
  createContextJudge,
  type JudgeSettings,
  type JudgeSpend,
} from './context-judge.ts'

/**
 * Opens the judge, counts its questions and logs why it gave no usable answer, without the
 * question. Without settings there is no judge and nothing is sent. Call once per process: it
 * registers a metric.
 */
export function openJudge(
  { db, metrics, logger }: { db: DetectionDb; metrics: Metrics; logger: Logger },
  settings: JudgeSettings | undefined,
): ContextJudge | undefined {
  const questions = metrics.counter({
    name: 'looptrace_judge_questions_total',
    help: 'Questions to the judge model by result: answered, failed, over_budget, aborted.',
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
      logger.warn({ project_id, task_id, reason }, 'the judge gave no usable answer')
    }
    return judgement
  }
}

/**
 * Keeps each project's spending of its latest day in PostgreSQL. A process whose clock lags books
 * on the day that others have started. Rejects when PostgreSQL is unavailable.
 */
export function openJudgeSpend({ db }: { db: DetectionDb }): JudgeSpend {
  return {
    book: async ({ project_id, day, nano_dollars, max }) => {
      const { rows } = await sql`
        insert into judge_spend (project_id, day, nano_dollars)
        select ${project_id}::uuid, ${day}::date, ${String(nano_dollars)}::bigint
        where ${String(nano_dollars)}::bigint <= ${String(max)}::bigint
        on conflict (project_id) do update set
          day = greatest(judge_spend.day, excluded.day), nano_dollars = ${sumOfDay}
        where ${sumOfDay} <= ${String(max)}::bigint
        returning 1
      `.execute(db)
      return rows.length > 0
    },
  }
}

const sumOfDay = sql.raw(`excluded.nano_dollars +
  case when judge_spend.day < excluded.day then 0 else judge_spend.nano_dollars end`)
