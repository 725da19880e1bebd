import { rowOf } from '../compile/read-rows.ts'
import type { Query } from '../language/check-query.ts'
import { shownColumns, shownStats } from './answer-parts.ts'
import { askedQuery } from './asked-run.ts'
import { cursorBehind, positionIn } from './page-cursor.ts'
import { type RunDeps, runQuery } from './run-query.ts'
import { withSlices } from './with-slices.ts'

/** What is asked: a query, and where its page begins. */
export type PageAsked = {
  query: Query
  cursor: string | undefined
  project_id: string
  signal: AbortSignal
}

/** Runs a query and shapes its page. Throws as `runQuery` does, and `invalid_cursor`. */
export async function answerQuery(deps: RunDeps, { cursor, ...given }: PageAsked) {
  const { query: body, ...caller } = given
  const query = await withSlices(deps, body, caller.project_id)
  const asked = askedQuery(query, caller, ({ keys }) =>
    cursor === undefined ? undefined : positionIn(list(), cursor, keys),
  )
  const list = () => `${asked.entity} ${asked.query.hash}`
  const ran = await runQuery(deps, asked)
  const { columns, keys } = ran.statement
  const last = ran.rows.length > query.limit ? ran.rows[query.limit - 1] : undefined
  return {
    rows: ran.rows.slice(0, query.limit).map((row) => rowOf(row, columns)),
    columns: shownColumns(columns),
    next_cursor: last === undefined ? null : cursorBehind(list(), last, keys),
    served_by: ran.served_by,
    fallback_reason: ran.fallback_reason,
    stats: shownStats(ran.stats),
  }
}
