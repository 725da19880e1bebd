import { z } from 'zod'
import { dollarsFrom, shownDollars } from '../../../kernel/dollars.ts'
import { isoFromNs } from '../../../kernel/time.ts'
import { callCostFields } from '../../../model/call-cost.ts'
import { dollarsSchema, record } from '../../../model/named-schemas.ts'
import { observationTypes, statuses } from '../../../model/observation.ts'
import { type MarksAt, markFields } from '../../detection/index.ts'
import { marks, type RollUp, type TraceRow, type TreeNode } from '../tree/contract.ts'
import { totalOf } from '../tree/roll-up.ts'
import { isoAt, msFrom } from '../tree/times.ts'

const count = z.int().nonnegative()

const instant = z.iso.datetime({ offset: false })

const ms = z.number().nonnegative()

const text = z.string().nullable()

/** Tokens in disjoint buckets; null where unknown. */
const tokensSchema = z
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
    description: 'Tokens in disjoint buckets; `total` is their sum. null: unknown.',
  })

/** Sums over a node and its descendants, or over a whole tree. */
export const rollupSchema = z
  .strictObject({
    observations: count.describe('Observations of any type.'),
    calls: count.describe('Model calls. A call reported by two instruments counts once.'),
    errors: count.describe('Observations that failed.'),
    cancelled: count.describe('Observations that were cancelled.'),
    tokens: tokensSchema,
    cost_usd: dollarsSchema,
    unpriced_calls: count.describe('Calls without a known cost; not included in `cost_usd`.'),
    merged_calls: count.describe(
      'Further records of the calls, by another instrument; not counted.',
    ),
    partially_priced_calls: count.describe(
      'Calls in `cost_usd` with parts that have no rate of their own.',
    ),
  })
  .meta({
    id: 'Rollup',
    description: 'Sums over a node and its descendants, each item counted once.',
  })

const share = z
  .enum(['own', 'aggregate', 'none'])
  .meta({ id: 'RollupShare' })
  .describe(
    '`own`: counted in the sums. `aggregate`: repeats the values of its descendants. `none`: unknown.',
  )

/** One node of a trace's tree. */
export const nodeSchema = z
  .strictObject({
    node_id: z.string().describe('Observation id; `orphans:<trace_id>` for a synthetic root.'),
    trace_id: z.guid().describe('W3C trace id of the node, as a UUID.'),
    parent_id: text.describe('Parent node id; null for a root.'),
    missing_parent_id: text.describe('Parent id that is not in the tree; null for other nodes.'),
    depth: count.describe('Depth in the tree; 0 for roots.'),
    type: z.enum([...observationTypes, 'synthetic']).meta({ id: 'NodeType' }),
    name: z.string(),
    status: z.enum(statuses).nullable().describe('null for a synthetic root.'),
    service_name: text,
    marks: z.array(z.enum(marks)).describe('Anomalies of the node.'),
    start_time: instant.describe('Start, corrected where clocks differ; see `skew_ms`.'),
    end_time: instant.describe('End, corrected likewise; never before `start_time`.'),
    recorded: z
      .strictObject({ start_time: instant, end_time: instant })
      .meta({ id: 'RecordedTimes' })
      .nullable()
      .describe('Recorded times, if they differ from the corrected ones.'),
    skew_ms: z.number().describe('Correction of the times, in milliseconds.'),
    offset_ms: z
      .number()
      .describe('Time from the earliest recorded start of the tree to the start of the node.'),
    duration_ms: ms,
    self_ms: ms.describe('Time in which no child ran.'),
    overlap_ms: ms.describe('Time in which children overlapped.'),
    gap: z
      .strictObject({ start_time: instant, duration_ms: ms })
      .meta({ id: 'NodeGap' })
      .nullable()
      .describe('Longest period in which no child ran; null without children.'),
    counted_with: text.describe(
      'Observation that counts the call of this one in the sums; null for all other observations.',
    ),
    usage: z
      .strictObject({ share, tokens: tokensSchema })
      .meta({ id: 'NodeUsage' })
      .describe('Tokens that the node itself reports.'),
    cost: z
      .strictObject({ share, cost_usd: dollarsSchema.nullable() })
      .meta({ id: 'NodeCost' })
      .describe('Cost that the node itself reports.'),
    rollup: rollupSchema,
    children: record('NodeChildren', {
      total: count,
      shown: count.describe('Children on this page, counted from the first.'),
      next_cursor: text.describe('Cursor of further children; null without any.'),
    }),
    descendants: count.describe('Number of descendants.'),
    ...markFields,
    step: markFields.step.describe(
      'Index of its step, from 0, if a finding starts here; null otherwise.',
    ),
    path: z
      .array(z.string())
      .optional()
      .describe('With a filter: ancestors from the root down; at most the 100 nearest.'),
    details: z
      .strictObject({
        provider: text,
        model: text.describe('Model that answered, else model requested.'),
        agent_name: text,
        level: text,
        outcome: text,
        status_code: count,
        finish_reason: text,
        error_type: text,
        error_message: text.describe('Error message, cut to 500 characters.'),
        content_state: text,
        time_to_first_token_ms: ms.nullable(),
        ...callCostFields,
      })
      .meta({ id: 'NodeDetails' })
      .nullable()
      .describe('null for a synthetic root.'),
  })
  .meta({ id: 'TraceNode' })

export type NodeReply = z.infer<typeof nodeSchema>

export type NodeDetails = NonNullable<NodeReply['details']>

/** Returns the key of a node's details. */
function detailsKey({ row }: TreeNode): string {
  return row === null ? '' : `${row.start_time} ${row.trace_id} ${row.observation_id}`
}

/** The context of a node's reply. */
type NodeContext = {
  origin_ns: bigint
  details: ReadonlyMap<string, NodeDetails>
  marksAt: MarksAt
  /** Children of the node on the page. `next_cursor`: of its further children. */
  shown: number
  next_cursor: string | null
  /** Ancestors of a filtered node. */
  path?: string[]
}

/** Converts a node to its reply. */
export function toNodeReply(node: TreeNode, context: NodeContext): NodeReply {
  const { row, parent } = node
  const { origin_ns, details, marksAt, shown, next_cursor, path } = context
  return {
    node_id: node.id,
    trace_id: node.trace_id,
    parent_id: parent?.id ?? null,
    missing_parent_id: findMissingParent(node),
    depth: node.depth,
    ...toLabels(node),
    status: row?.status ?? null,
    service_name: row?.service_name || null,
    marks: node.marks,
    ...toTimes(node, origin_ns),
    counted_with: row?.counted_with || null,
    usage: { share: node.usage, tokens: ownTokens(row) },
    cost: { share: node.cost, cost_usd: row?.cost_usd ? shownDollars(row.cost_usd) : null },
    rollup: shownRollup(node.rollup),
    children: { total: node.children.length, shown, next_cursor },
    descendants: node.last - node.position,
    ...marksAt({ trace_id: node.trace_id, observation_id: node.id }),
    ...(path && { path }),
    details: details.get(detailsKey(node)) ?? null,
  }
}

function findMissingParent({ row, marks }: TreeNode): string | null {
  const isMissing = marks.includes('orphan') || marks.includes('outer_parent')
  return isMissing ? (row?.parent_observation_id ?? null) : null
}

/** Returns the type and name of a node in replies. */
export function toLabels({ row }: TreeNode) {
  return {
    type: row?.type ?? ('synthetic' as const),
    name: row?.name ?? 'observations without a parent',
  }
}

function toTimes(node: TreeNode, origin_ns: bigint) {
  const { row, start, end, skew, gap } = node
  const isCorrected = skew !== 0 || node.marks.includes('ends_before_start')
  return {
    start_time: isoAt(origin_ns, start),
    end_time: isoAt(origin_ns, end),
    recorded:
      row !== null && isCorrected
        ? { start_time: isoFromNs(row.start_time), end_time: isoFromNs(row.end_time) }
        : null,
    skew_ms: msFrom(skew),
    offset_ms: msFrom(start),
    duration_ms: msFrom(end - start),
    self_ms: msFrom(node.self),
    overlap_ms: msFrom(node.overlap),
    gap: gap && {
      start_time: isoAt(origin_ns, gap.start),
      duration_ms: msFrom(gap.end - gap.start),
    },
  }
}

function ownTokens(row: TraceRow | null): NodeReply['usage']['tokens'] {
  const known = row?.input_uncached_tokens ?? row?.output_visible_tokens ?? null
  return {
    input_uncached: row?.input_uncached_tokens ?? null,
    cache_read: row?.cache_read_tokens ?? null,
    cache_write: row?.cache_write_tokens ?? null,
    output_visible: row?.output_visible_tokens ?? null,
    reasoning: row?.reasoning_tokens ?? null,
    total: row === null || (known === null && totalOf(row) === 0) ? null : totalOf(row),
  }
}

/** Converts the sums of a node to their reply. */
export function shownRollup(rollup: RollUp): NodeReply['rollup'] {
  return {
    observations: rollup.observations,
    calls: rollup.calls,
    errors: rollup.errors,
    cancelled: rollup.cancelled,
    tokens: {
      input_uncached: rollup.input_uncached_tokens,
      cache_read: rollup.cache_read_tokens,
      cache_write: rollup.cache_write_tokens,
      output_visible: rollup.output_visible_tokens,
      reasoning: rollup.reasoning_tokens,
      total: rollup.total_tokens,
    },
    cost_usd: dollarsFrom(rollup.nano_dollars),
    unpriced_calls: rollup.unpriced_calls,
    merged_calls: rollup.merged_calls,
    partially_priced_calls: rollup.partially_priced_calls,
  }
}
