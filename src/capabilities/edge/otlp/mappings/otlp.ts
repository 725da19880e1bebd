import { z } from 'zod'
import { defineRoute, type Route } from '../../../../platform/http/index.ts'
import {
  type MappingContract,
  spanFieldNames,
  traceFieldNames,
  transformNames,
} from '../mapping/contracts/contract-shape.ts'

const sourceSchema = z
  .object({
    from: z.string().describe('What kind of place the value stands in.'),
    key: z.string().optional(),
    keys: z.array(z.string()).readonly().optional(),
    event: z.string().optional(),
    present: z.array(z.string()).readonly().optional(),
    without: z.array(z.string()).readonly().optional(),
    in_scopes: z.array(z.string()).readonly().optional(),
    except_scopes: z.array(z.string()).readonly().optional(),
    of_types: z.array(z.string()).readonly().optional().describe('Types of spans it counts in.'),
    except_types: z.array(z.string()).readonly().optional(),
    with_event: z.string().optional().describe('An event that the span must have.'),
    path: z.array(z.string()).readonly().optional(),
    transform: z.enum(transformNames).optional(),
    table: z.string().optional(),
    gives: z.string().optional(),
    only: z.array(z.string()).readonly().optional(),
    except: z.array(z.string()).readonly().optional(),
    silent: z.literal(true).optional(),
  })
  .meta({ id: 'MappingSource' })

const ruleSchema = z
  .object({
    reads: z.string(),
    chars_max: z.int().optional(),
    sources: z.array(sourceSchema).readonly().describe('In order; the first usable one wins.'),
  })
  .meta({ id: 'MappingRule' })

const replySchema = z
  .object({
    version: z.string(),
    direction: z.literal('otlp_to_observability'),
    trace_level: z
      .object({ fields: z.record(z.enum(traceFieldNames), ruleSchema) })
      .meta({ id: 'TraceLevelMapping' }),
    span_level: z
      .object({
        fields: z.record(z.enum(spanFieldNames), ruleSchema),
        metadata_prefixes: z.array(z.string()).readonly(),
        content_prefixes: z.array(z.string()).readonly(),
        resource_attributes: z.array(z.string()).readonly(),
        genai_events: z.array(z.string()).readonly(),
      })
      .meta({ id: 'SpanLevelMapping' }),
    tables: z.record(
      z.string(),
      z
        .object({
          values: z.record(z.string(), z.string()),
          else: z.enum(['as_is', 'before_dot']).optional(),
        })
        .meta({ id: 'MappingTable' }),
    ),
    limits: z
      .object({
        attribute_bytes_max: z.int(),
        attributes_max: z.int(),
        text_chars_max: z.int(),
        json_bytes_max: z.int(),
        tool_calls_max: z.int(),
        tool_bytes_max: z.int(),
        index_end: z.int(),
        forbidden_keys: z.array(z.string()).readonly(),
        credential_keys: z
          .array(z.string())
          .readonly()
          .describe('Attributes whose keys end like this are not kept.'),
      })
      .meta({ id: 'MappingLimits' }),
    w3c_propagation: z
      .object({
        traceparent: z.string(),
        tracestate: z.string(),
        baggage: z.string(),
      })
      .meta({ id: 'W3cPropagation' }),
  })
  .meta({ id: 'OtlpMapping' })

/**
 * GET /api/v2/observability/mappings/otlp: the very contract that spans are mapped by
 * (specification 2.6 and 4.6).
 */
export function getOtlpMapping({ contract }: { contract: MappingContract }): Route {
  return defineRoute({
    method: 'GET',
    url: '/api/v2/observability/mappings/otlp',
    id: 'getOtlpMapping',
    summary: 'How OTLP spans become observations: ordered sources of each field',
    auth: 'jwt_or_key',
    scope: {
      level: 'project',
      role: 'viewer',
      key: ['ingest:write', 'traces:read', 'query:run', 'tasks:read'],
    },
    reply: replySchema,
    errors: [],
    handle: async () => contract,
  })
}
