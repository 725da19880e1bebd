import { z } from 'zod'
import { idPage, idPageAfter, idPageQuery, pageFields } from '../../../../model/id-pages.ts'
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
  ...pageFields,
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
  const { count_max, ...bounds } = idPageAfter(list, { limit, cursor })
  const [rows, counted] = await Promise.all([
    listRuns(db, filter, bounds),
    countRuns(db, filter, count_max),
  ])
  const { items, info } = idPage({ rows, counted }, { list, limit, idOf: ({ id }) => id })
  return { runs: items.map(toRunReply), ...info }
}
