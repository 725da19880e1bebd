import { z } from 'zod'
import { dollarsFrom } from '../../../kernel/dollars.ts'
import { dollarsSchema } from '../../../model/named-schemas.ts'
import { statuses } from '../../../model/observation.ts'
import type { TreeNode } from '../tree/contract.ts'
import { isoAt, msFrom } from '../tree/shown-times.ts'
import { type Pair, stateOf } from './compare-trees.ts'

const side = z
  .strictObject({
    node_id: z.string(),
    status: z.enum(statuses).nullable(),
    start_time: z.iso.datetime({ offset: false }),
    duration_ms: z.number().nonnegative(),
    self_ms: z.number().nonnegative(),
    tokens: z.int().nonnegative().describe('Of it and all below it.'),
    cost_usd: dollarsSchema.describe('Of it and all below it.'),
    descendants: z.int().nonnegative(),
  })
  .meta({ id: 'ComparedNode' })
  .nullable()

/** Two nodes that belong together, or one that has no counterpart. */
export const pairSchema = z
  .strictObject({
    state: z
      .enum(['matched', 'changed', 'added', 'removed'])
      .describe('`changed`: it ended otherwise. `added`: only on the right. `removed`: only left.'),
    type: z.string(),
    name: z.string(),
    depth: z.int().nonnegative(),
    left: side,
    right: side,
    difference: z
      .strictObject({
        duration_ms: z.number(),
        self_ms: z.number(),
        tokens: z.int(),
        cost_usd: dollarsSchema,
      })
      .meta({ id: 'NodeDifference' })
      .nullable()
      .describe('Right less left; null without a counterpart.'),
  })
  .meta({ id: 'ComparedPair' })

/** Shapes a pair; each side's times begin at its own origin. */
export function shownPair(
  pair: Pair,
  origins: { left: bigint; right: bigint },
): z.infer<typeof pairSchema> {
  const { left, right, depth } = pair
  const row = (left ?? right)?.row
  const operation = { type: row?.type ?? 'synthetic', name: row?.name ?? '' }
  const about = { state: stateOf(pair), ...operation, depth }
  if (left === null || right === null) {
    return {
      ...about,
      left: left && shownSide(left, origins.left),
      right: right && shownSide(right, origins.right),
      difference: null,
    }
  }
  return {
    ...about,
    left: shownSide(left, origins.left),
    right: shownSide(right, origins.right),
    difference: {
      duration_ms: msFrom(right.end - right.start - (left.end - left.start)),
      self_ms: msFrom(right.self - left.self),
      tokens: right.rollup.total_tokens - left.rollup.total_tokens,
      cost_usd: dollarsFrom(right.rollup.nano_dollars - left.rollup.nano_dollars),
    },
  }
}

function shownSide(node: TreeNode, origin_ns: bigint) {
  return {
    node_id: node.id,
    status: node.row?.status ?? null,
    start_time: isoAt(origin_ns, node.start),
    duration_ms: msFrom(node.end - node.start),
    self_ms: msFrom(node.self),
    tokens: node.rollup.total_tokens,
    cost_usd: dollarsFrom(node.rollup.nano_dollars),
    descendants: node.last - node.position,
  }
}
