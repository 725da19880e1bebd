import { z } from 'zod'
import { totalExactMax } from '../../../../kernel/pages.ts'
import { idAfter, idPage, idPageQuery } from '../../../../model/id-pages.ts'
import { record } from '../../../../model/named-schemas.ts'
import { defineRoute, type Route } from '../../../../platform/http/index.ts'
import { tracePath } from '../../../traces/index.ts'
import type { RunsDb } from '../../contract.ts'
import { countRuns, listRuns, type RunFilter } from '../../runs/store.ts'
import { findTrace } from '../../runs/trace-target.ts'
import { readScope, type VerificationRoutesDeps } from '../contract.ts'
import { runSchema, toRunReply } from '../run-reply.ts'

/** Fields of a reply with a page of runs. */
export const runPageFields = {
  runs: z.array(runSchema).describe('Runs in any state, newest first.'),
  total: z.int().nonnegative(),
  total_is_exact: z.literal(false).optional(),
  next_cursor: z.string().nullable(),
}

/** GET /api/v1/verification/traces/{trace_id}/runs: the runs of a trace, newest first. */
export function listTraceRuns(deps: VerificationRoutesDeps): Route {
  return defineRoute({
    method: 'GET',
    url: '/api/v1/verification/traces/{trace_id}/runs',
    id: 'listTraceVerifications',
    summary: 'Verification runs of a trace, newest first',
    auth: 'jwt',
    scope: readScope,
    params: tracePath,
    query: z.strictObject(idPageQuery),
    reply: record('VerificationRunList', runPageFields),
    errors: ['trace_not_found', 'invalid_cursor', 'store_unavailable'],
    handle: async ({ params: { trace_id }, query, caller: { project_id } }) => {
      const trace = { project_id, trace_id }
      const page = await readRunPage(deps.db, trace, { list: `runs ${trace_id}`, ...query })
      if (page.total === 0) await findTrace(deps, trace)
      return page
    },
  })
}

/** Returns a page of runs. Throws `invalid_cursor`. */
export async function readRunPage(
  db: RunsDb,
  filter: RunFilter,
  { list, limit, cursor }: { list: string; limit: number; cursor?: string | undefined },
) {
  const before = idAfter(list, cursor)
  const [rows, counted] = await Promise.all([
    listRuns(db, filter, { before, limit: limit + 1 }),
    countRuns(db, filter, totalExactMax + 1),
  ])
  const { items, info } = idPage({ rows, counted }, { list, limit, idOf: ({ id }) => id })
  return { runs: items.map(toRunReply), ...info }
}
