import { z } from 'zod'
import { dollarsFrom } from '../../../kernel/dollars.ts'
import { decodeCursor, encodeCursor } from '../../../kernel/pages.ts'
import { problem } from '../../../kernel/problem.ts'
import { dollarsSchema, record } from '../../../model/named-schemas.ts'
import type { LoadedTree } from '../load-tree.ts'
import type { TreeNode } from '../tree/contract.ts'
import { isoAt, msFrom } from '../tree/shown-times.ts'
import type { CriticalPathQuery } from './critical-path-query.ts'
import { type CriticalPath, criticalPathOf, longestRoot } from './find-path.ts'
import { findSlack } from './find-slack.ts'
import {
  type NodeOnPath,
  nodesOnPath,
  type OnPath,
  operationsOnPath,
  usedBy,
} from './path-shares.ts'
import { gainOf } from './what-if.ts'

/** Nodes for which the answer tells what they would save, if each alone were faster. */
const saves_max = 10

const count = z.int().nonnegative()
const ms = z.number().nonnegative()
const share = z.number().min(0).max(1)
const shownNode = {
  node_id: z.string(),
  type: z.string().describe('As in the explorer; `synthetic` for a root of orphans.'),
  name: z.string(),
}
const onPath = {
  on_path_ms: ms.describe('What of the path it is.'),
  share: share.describe('Of the duration of the root.'),
  tokens: count,
  cost_usd: dollarsSchema,
}

/** The part of an answer that is about one trace. */
export const pathFields = {
  root: z
    .strictObject({ ...shownNode, start_time: z.iso.datetime({ offset: false }), duration_ms: ms })
    .meta({ id: 'CriticalPathRoot' })
    .nullable()
    .describe('Whose path it is; null when the trace has no observation.'),
  roots: count.describe('Roots of the trace.'),
  nodes: z
    .array(
      record('CriticalPathNode', {
        ...shownNode,
        ...onPath,
        depth: count,
        segments: count.describe('Stretches of the path that it is.'),
        saves_ms: ms
          .nullable()
          .describe(
            `What the root would save if it alone were faster; of the ${saves_max} largest only.`,
          ),
      }),
    )
    .describe('What the path is made of, the largest part first.'),
  nodes_total: count,
  operations: z
    .array(
      record('CriticalPathOperation', {
        type: z.string(),
        name: z.string(),
        ...onPath,
        observations: count,
      }),
    )
    .describe('The same by type and name.'),
  segments: z
    .array(
      record('CriticalPathSegment', {
        node_id: z.string(),
        start_time: z.iso.datetime({ offset: false }),
        duration_ms: ms,
      }),
    )
    .describe('The path in the order of time; all of it lasts as long as the root.'),
  segments_total: count,
  next_cursor: z.string().nullable().describe('For further segments; null when there are none.'),
  used: z
    .strictObject({
      tokens: record('TokenShare', { path: count, trace: count, share: share.nullable() }),
      cost_usd: record('CostShare', {
        path: dollarsSchema,
        trace: dollarsSchema,
        share: share.nullable(),
      }),
    })
    .meta({ id: 'CriticalPathUse' })
    .describe('What of all that the trace used was used on the path; null: it used nothing.'),
  slack: z
    .array(record('NodeSlack', { ...shownNode, slack_ms: ms }))
    .describe('Off the path: how much later each could have ended for free, the least first.'),
  slack_total: count,
  what_if: z
    .strictObject({
      observations: count.describe('How many would be faster.'),
      faster_percent: count,
      saves_ms: ms,
      duration_ms: ms.describe('Of the root, then.'),
      slack_ms: ms.nullable().describe('Of the observation, when it is one of this root.'),
    })
    .meta({ id: 'WhatIf' })
    .nullable()
    .describe('null unless it is asked for.'),
}
type Answer = z.infer<z.ZodObject<typeof pathFields>>

/** Tells the path of a trace. Throws `observation_not_found` and `invalid_cursor`. */
export function answerPath(
  { tree, revision }: LoadedTree,
  query: CriticalPathQuery,
  trace_id: string,
): Answer {
  const root = query.root === undefined ? longestRoot(tree) : rootNamed(tree.roots, query.root)
  const list = `critical path ${trace_id} ${root?.id ?? ''} ${query.clocks} ${revision}`
  const from = query.cursor === undefined ? 0 : placeIn(list, query.cursor)
  if (root === undefined) return emptyAnswer
  const path = criticalPathOf(root)
  const slack = findSlack(path)
  const onPath = nodesOnPath(path)
  const segments = path.segments.slice(from, from + query.limit)
  const next = from + segments.length
  return {
    root: { ...named(root), ...startOf(root.start), duration_ms: msFrom(root.end - root.start) },
    roots: tree.roots.length,
    ...partsOf(path, onPath, query),
    segments: segments.map(({ node, start, end }) => ({
      node_id: node.id,
      ...startOf(start),
      duration_ms: msFrom(end - start),
    })),
    segments_total: path.segments.length,
    next_cursor: next < path.segments.length ? encodeCursor(list, [next]) : null,
    ...slackOf(path, slack, query.limit),
    used: usedOf(onPath, usedBy(tree)),
    what_if: whatIfOf(path, slack, query),
  }

  function startOf(start: number) {
    return { start_time: isoAt(tree.origin_ns, start) }
  }
}

const emptyAnswer: Answer = {
  ...{ root: null, roots: 0, nodes: [], nodes_total: 0, operations: [], segments: [] },
  ...{ segments_total: 0, next_cursor: null, slack: [], slack_total: 0, what_if: null },
  used: {
    tokens: { path: 0, trace: 0, share: null },
    cost_usd: { path: '0', trace: '0', share: null },
  },
}

function named(node: TreeNode) {
  return { node_id: node.id, type: node.row?.type ?? 'synthetic', name: node.row?.name ?? '' }
}

function rootNamed(roots: readonly TreeNode[], id: string): TreeNode {
  const root = roots.find((each) => each.id === id)
  if (root !== undefined) return root
  throw problem('observation_not_found', {
    detail: `root: got "${id.slice(0, 80)}", expected a root of this trace`,
  })
}

/** A path that has changed has other places, so a cursor is for one revision. */
function placeIn(list: string, cursor: string): number {
  const [place] = decodeCursor(list, cursor, 1)
  if (typeof place === 'number' && Number.isSafeInteger(place) && place >= 0) return place
  throw problem('invalid_cursor', {
    detail: `cursor: got "${cursor.slice(0, 80)}", expected a next_cursor of this path as it is now`,
  })
}

function partsOf(
  path: CriticalPath,
  found: readonly NodeOnPath[],
  { limit, faster_percent }: CriticalPathQuery,
) {
  const { root } = path
  const whole = root.end - root.start
  const shown = ({ on_path, tokens, nano_dollars }: OnPath) => ({
    on_path_ms: msFrom(on_path),
    share: whole === 0 ? 0 : on_path / whole,
    tokens,
    cost_usd: dollarsFrom(nano_dollars),
  })
  const saves = (node: TreeNode, at: number) =>
    at < saves_max ? msFrom(gainOf(path, new Set([node]), faster_percent / 100)) : null
  return {
    nodes: found.slice(0, limit).map((each, at) => ({
      ...named(each.node),
      ...shown(each),
      depth: each.node.depth,
      segments: each.segments,
      saves_ms: saves(each.node, at),
    })),
    nodes_total: found.length,
    operations: operationsOnPath(found)
      .slice(0, limit)
      .map((each) => ({
        ...{ type: each.type, name: each.name, observations: each.observations },
        ...shown(each),
      })),
  }
}

function slackOf(path: CriticalPath, slack: ReadonlyMap<TreeNode, number>, limit: number) {
  const isOn = new Set(path.segments.map(({ node }) => node))
  const off = [...slack].filter(([node]) => !isOn.has(node) && node !== path.root)
  off.sort(([a, one], [b, other]) => one - other || a.position - b.position)
  return {
    slack: off.slice(0, limit).map(([node, ns]) => ({ ...named(node), slack_ms: msFrom(ns) })),
    slack_total: off.length,
  }
}

type Used = Pick<OnPath, 'tokens' | 'nano_dollars'>

function usedOf(onPath: readonly Used[], all: Used): Answer['used'] {
  let [tokens, nano_dollars] = [0, 0n]
  for (const each of onPath) {
    tokens += each.tokens
    nano_dollars += each.nano_dollars
  }
  const ratio = (part: number, whole: number) => (whole === 0 ? null : Math.min(1, part / whole))
  return {
    tokens: { path: tokens, trace: all.tokens, share: ratio(tokens, all.tokens) },
    cost_usd: {
      path: dollarsFrom(nano_dollars),
      trace: dollarsFrom(all.nano_dollars),
      share: ratio(Number(nano_dollars), Number(all.nano_dollars)),
    },
  }
}

function whatIfOf(
  path: CriticalPath,
  slack: ReadonlyMap<TreeNode, number>,
  { what_if, what_if_name, faster_percent }: CriticalPathQuery,
): Answer['what_if'] {
  if (what_if === undefined && what_if_name === undefined) return null
  const isMeant = ({ id, row }: TreeNode) =>
    row !== null && (what_if === undefined ? row.name === what_if_name : id === what_if)
  const targets = new Set([...path.stages.keys()].filter(isMeant))
  if (targets.size === 0) {
    throw problem('observation_not_found', {
      detail: `what_if: got "${(what_if ?? what_if_name ?? '').slice(0, 80)}", expected what ran within the root`,
    })
  }
  const saves = gainOf(path, targets, faster_percent / 100)
  const [only] = what_if === undefined ? [] : targets
  return {
    observations: targets.size,
    faster_percent,
    saves_ms: msFrom(saves),
    duration_ms: msFrom(path.root.end - path.root.start - saves),
    slack_ms: only === undefined ? null : msFrom(slack.get(only) ?? 0),
  }
}
