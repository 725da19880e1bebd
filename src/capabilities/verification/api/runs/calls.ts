import { z } from 'zod'
import { dollarsFrom } from '../../../../kernel/dollars.ts'
import { idPage, idPageAfter, idPageQuery, pageFields } from '../../../../model/id-pages.ts'
import { dollarsSchema, record } from '../../../../model/named-schemas.ts'
import { defineRoute, type Route } from '../../../../platform/http/index.ts'
import { callsOf, countCalls, type StoredCall } from '../../runs/claims-store.ts'
import { readScope, type VerificationRoutesDeps } from '../contract.ts'
import { requireRun } from '../find-run.ts'
import { runPath } from './run.ts'

const tokens = z
  .int()
  .nonnegative()
  .nullable()
  .describe('Tokens of the call; null if the endpoint reports none.')

const callSchema = record('VerificationCall', {
  call_id: z.uuid(),
  verifier: z.string(),
  model: z.string().describe('Name of the model or search endpoint.'),
  outcome: z.string().describe('`answered`, `failed`, `over_budget`, or `sent` while it runs.'),
  input_tokens: tokens,
  output_tokens: tokens,
  cost_usd: dollarsSchema,
  duration_ms: z.number().nonnegative().nullable(),
  created_at: z.iso.datetime(),
  reply: z.record(z.string(), z.unknown()).nullable().describe('Reply of the endpoint.'),
})

/**
 * GET /api/v1/verification/runs/{run_id}/calls: the calls of models and search endpoints by a run,
 * oldest first. They are not observations of the project.
 */
export function listVerificationCalls({ db }: VerificationRoutesDeps): Route {
  return defineRoute({
    method: 'GET',
    url: '/api/v1/verification/runs/{run_id}/calls',
    id: 'listVerificationCalls',
    summary: 'Priced calls of a verification run',
    audit: 'content',
    auth: 'jwt',
    scope: readScope,
    params: runPath,
    query: z.strictObject(idPageQuery),
    reply: record('VerificationCallList', {
      calls: z.array(callSchema),
      ...pageFields,
    }),
    errors: ['verification_run_not_found', 'invalid_cursor', 'store_unavailable'],
    handle: async ({ params, query: { limit, cursor }, caller: { project_id } }) => {
      const run = await requireRun(db, { project_id, run_id: params.run_id })
      const list = `calls ${run.id}`
      const key = { project_id, run_id: run.id }
      const { count_max, ...bounds } = idPageAfter(list, { limit, cursor })
      const [rows, counted] = await Promise.all([
        callsOf(db, key, bounds),
        countCalls(db, key, count_max),
      ])
      const { items, info } = idPage({ rows, counted }, { list, limit, idOf: ({ id }) => id })
      return { calls: items.map(toReply), ...info }
    },
  })
}

function toReply(call: StoredCall): z.input<typeof callSchema> {
  const { id: call_id, verifier, model, outcome, input_tokens, output_tokens } = call
  const { nano_dollars, duration_ms, created_at, reply } = call
  const cost_usd = dollarsFrom(BigInt(nano_dollars))
  return {
    call_id,
    verifier,
    model,
    outcome,
    input_tokens,
    output_tokens,
    cost_usd,
    duration_ms,
    created_at,
    reply,
  }
}
