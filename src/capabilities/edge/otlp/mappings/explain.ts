import { z } from 'zod'
import { traceIdFrom } from '../../../../kernel/ids.ts'
import { problem } from '../../../../kernel/problem.ts'
import { traceIdSchema } from '../../../../model/observation.ts'
import { defineRoute, type Route } from '../../../../platform/http/index.ts'
import type { ObservationStore } from '../../../storage/index.ts'
import { createExplainer } from '../mapping/explanation.ts'

const querySchema = z.object({
  trace_id: z
    .string()
    .transform((text, context) => {
      const uuid = traceIdFrom(text)
      if (uuid !== undefined) return uuid
      const message = `got "${text.slice(0, 80)}", expected a UUID or 32 hex digits`
      context.issues.push({ code: 'custom', input: text, message })
      return z.NEVER
    })
    .meta({ description: 'Trace id, a UUID or the 32 hex digits of W3C.', type: 'string' }),
  observation_id: z.string().min(1).max(64).describe('The span id.'),
})

const fieldSchema = z
  .object({
    field: z.string(),
    level: z.enum(['trace', 'span']),
    value: z.string().nullable().describe('Cut to 200 characters.'),
    source: z
      .string()
      .nullable()
      .describe('The source that gave the value, as named in the contract.'),
    given_by: z.enum(['rule', 'default', 'trace', 'nothing']),
    place: z.int().nullable().describe("Position of the source in the field's list, from 1."),
    lost: z
      .array(
        z
          .object({
            key: z.string(),
            place: z.int(),
            reason: z.enum(['lower_priority', 'not_usable']),
          })
          .meta({ id: 'LostSource' }),
      )
      .describe('Sources that were present but did not give the value.'),
  })
  .meta({ id: 'MappedField' })

const replySchema = z
  .object({
    trace_id: traceIdSchema,
    observation_id: z.string(),
    contract_version: z.string(),
    is_contract_known: z.boolean(),
    fields: z.array(fieldSchema),
    dropped_content_keys: z.array(z.string()),
    defaults: z.array(z.string()),
    cut: z.array(z.string()),
    implied: z.array(z.string()),
    price_version: z
      .string()
      .describe(
        'Origin of `cost_usd`: `reported`, or the name of a price table; it ends in ` by model` when ' +
          'the span names no provider of the table. Empty without a cost.',
      ),
    attributes: z
      .object({
        cut: z.int(),
        dropped: z.int(),
        dropped_keys: z.array(z.string()),
      })
      .meta({ id: 'CutAttributes' }),
  })
  .meta({ id: 'OtlpMappingExplanation' })

/** GET /api/v2/observability/mappings/otlp/explain: the source of each field of a stored span. */
export function explainOtlpMapping(deps: { store: Pick<ObservationStore, 'observation'> }): Route {
  const explain = createExplainer()
  return defineRoute({
    method: 'GET',
    url: '/api/v2/observability/mappings/otlp/explain',
    id: 'explainOtlpMapping',
    summary:
      'Explain the mapping of a span: the source of each field, and losses, cuts and defaults',
    audit: 'content',
    auth: 'jwt_or_key',
    scope: {
      level: 'project',
      role: 'viewer',
      key: ['traces:read', 'query:run', 'ingest:write'],
    },
    query: querySchema,
    reply: replySchema,
    errors: ['observation_not_found', 'not_mapped_from_otlp'],
    handle: async ({ query, caller: { project_id } }) => {
      const row = await deps.store.observation(project_id, query)
      if (row === undefined) {
        const detail = `got "${query.observation_id}", expected a span of trace ${query.trace_id}`
        throw problem('observation_not_found', { detail })
      }
      return { ...query, ...explain(row) }
    },
  })
}
