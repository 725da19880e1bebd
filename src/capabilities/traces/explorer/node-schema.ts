import { z } from 'zod'
import { dollarsSchema, record } from '../../../model/named-schemas.ts'
import { observationTypes, statuses } from '../../../model/observation.ts'
import { marks } from '../tree/contract.ts'

const count = z.int().nonnegative()
const instant = z.iso.datetime({ offset: false })
const ms = z.number().nonnegative()
const text = z.string().nullable()

/** Tokens in disjoint buckets; null where nothing is said. */
export const tokensSchema = z
  .strictObject({
    input_uncached: count.nullable(),
    cache_read: count.nullable(),
    cache_write: count.nullable(),
    output_visible: count.nullable(),
    reasoning: count.nullable(),
    total: count.nullable(),
  })
  .meta({
    id: 'RollupTokens',
    description: 'Tokens in disjoint buckets; `total` is their sum. null: nothing is said.',
  })

/** Sums over a node and what is below it, or over a whole trace. */
export const rollupSchema = z
  .strictObject({
    observations: count.describe('Observations, of any type.'),
    calls: count.describe('Model calls; one that two instruments told of is one.'),
    errors: count.describe('Observations that failed.'),
    cancelled: count.describe('Observations that were cancelled.'),
    tokens: tokensSchema,
    cost_usd: dollarsSchema,
    unpriced_calls: count.describe('Calls without a known cost; `cost_usd` lacks them.'),
  })
  .meta({ id: 'Rollup', description: 'Sums over it and all below it, each thing once.' })

const share = z
  .enum(['own', 'aggregate', 'none'])
  .meta({ id: 'RollupShare' })
  .describe('`own`: counted. `aggregate`: it repeats what those below it say. `none`: unknown.')

/** One node of a trace's tree. */
export const nodeSchema = z
  .strictObject({
    node_id: z.string().describe('The observation; of a synthetic root `orphans:<trace_id>`.'),
    parent_id: text.describe('The node above it; null for a root.'),
    missing_parent_id: text.describe('The parent that an orphan names.'),
    depth: count.describe('0 for roots.'),
    type: z.enum([...observationTypes, 'synthetic']).meta({ id: 'NodeType' }),
    name: z.string(),
    status: z
      .enum(statuses)

      .nullable()
      .describe('null for a synthetic root.'),
    service_name: text,
    marks: z.array(z.enum(marks)).describe('What is not as it should be with it.'),
    start_time: instant.describe('Corrected where clocks differ: see `skew_ms`.'),
    end_time: instant.describe('Corrected likewise; never before `start_time`.'),
    recorded: z
      .strictObject({ start_time: instant, end_time: instant })
      .meta({ id: 'RecordedTimes' })
      .nullable()
      .describe('Its times as they were recorded, where those shown are others.'),
    skew_ms: z.number().describe('By how much its times were moved.'),
    offset_ms: z.number().describe('Its start, from the start of the trace.'),
    duration_ms: ms,
    self_ms: ms.describe('In which none of its children ran.'),
    overlap_ms: ms.describe('By how much its children ran side by side.'),
    gap: z
      .strictObject({ start_time: instant, duration_ms: ms })
      .meta({ id: 'NodeGap' })
      .nullable()
      .describe('The longest time in which it ran and none of its children did, if it has any.'),
    usage: z
      .strictObject({ share, tokens: tokensSchema })
      .meta({ id: 'NodeUsage' })
      .describe('What it says itself that it used.'),
    cost: z
      .strictObject({ share, cost_usd: dollarsSchema.nullable() })
      .meta({ id: 'NodeCost' })
      .describe('What it says itself that it cost.'),
    rollup: rollupSchema,
    children: record('NodeChildren', {
      total: count,
      shown: count.describe('Of them on this page, from the first on.'),
      next_cursor: text.describe('For the others; null when there are none.'),
    }),
    descendants: count.describe('Nodes below it.'),
    path: z
      .array(z.string())
      .optional()
      .describe('With a filter: the nodes above it, from the top; at most the 100 nearest.'),
    details: z
      .strictObject({
        provider: text,
        model: text.describe('As it answered, else as it was asked for.'),
        agent_name: text,
        level: text,
        outcome: text,
        status_code: count,
        finish_reason: text,
        error_type: text,
        error_message: text.describe('Cut to 500 characters.'),
        content_state: text,
        time_to_first_token_ms: ms.nullable(),
      })
      .meta({ id: 'NodeDetails' })
      .nullable()
      .describe('null for a synthetic root.'),
  })
  .meta({ id: 'TraceNode' })
export type ShownNode = z.infer<typeof nodeSchema>
