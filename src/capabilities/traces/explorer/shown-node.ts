import { dollarsFrom, shownDollars } from '../../../kernel/dollars.ts'
import { isoFromNs } from '../../../kernel/time.ts'
import type { RollUp, TraceRow, TreeNode } from '../tree/contract.ts'
import { totalOf } from '../tree/roll-up.ts'
import { isoAt, msFrom } from '../tree/shown-times.ts'
import type { ShownNode } from './node-schema.ts'
import { detailsKey, type NodeDetails } from './read-details.ts'

/** What a page knows beside a node. */
export type Showing = {
  origin_ns: bigint
  details: ReadonlyMap<string, NodeDetails>
  /** How many of its children the page has, and the cursor for those behind. */
  shown: number
  next_cursor: string | null
  /** The nodes above it, for what a filter found. */
  path?: string[]
}

/** Shapes a node. */
export function shownNode(node: TreeNode, about: Showing): ShownNode {
  const { row, parent } = node
  const { origin_ns, details, shown, next_cursor, path } = about
  return {
    node_id: node.id,
    parent_id: parent?.id ?? null,
    missing_parent_id: node.marks.includes('orphan') ? (row?.parent_observation_id ?? null) : null,
    depth: node.depth,
    type: row?.type ?? 'synthetic',
    name: row?.name ?? 'observations without a parent',
    status: row?.status ?? null,
    service_name: row?.service_name || null,
    marks: node.marks,
    ...timesOf(node, origin_ns),
    usage: { share: node.usage, tokens: ownTokens(row) },
    cost: { share: node.cost, cost_usd: row?.cost_usd ? shownDollars(row.cost_usd) : null },
    rollup: shownRollup(node.rollup),
    children: { total: node.children.length, shown, next_cursor },
    descendants: node.last - node.position,
    ...(path && { path }),
    details: details.get(detailsKey(node)) ?? null,
  }
}

function timesOf(node: TreeNode, origin_ns: bigint) {
  const { row, start, end, skew, gap } = node
  const moved = skew !== 0 || node.marks.includes('ends_before_start')
  return {
    start_time: isoAt(origin_ns, start),
    end_time: isoAt(origin_ns, end),
    recorded:
      row !== null && moved
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

function ownTokens(row: TraceRow | null): ShownNode['usage']['tokens'] {
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

/** Shapes the sums of a node. */
export function shownRollup(rollup: RollUp): ShownNode['rollup'] {
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
  }
}
