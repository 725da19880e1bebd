import { sql } from '../../../platform/relational/index.ts'
import type { DetectionDb } from '../detection-deps.ts'
import type { JudgeSpend } from './context-judge.ts'

/**
 * Keeps in PostgreSQL what projects spend on the judge, each its last day. One whose clock is behind
 * books on the day that others have begun. Rejects when PostgreSQL is out of reach.
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
