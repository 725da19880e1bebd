import { dollarsFrom } from '../../../kernel/dollars.ts'
import { decodeCursor, encodeCursor } from '../../../kernel/pages.ts'
import { problem } from '../../../kernel/problem.ts'
import type { LoadedTree } from '../load-tree.ts'
import type { TraceTree, TreeNode } from '../tree/contract.ts'
import { isoAt, msFrom } from '../tree/times.ts'
import type { PathQuery } from './critical-path-query.ts'
import { type CriticalPath, findCriticalPath, longestRoot } from './find-path.ts'
import { findGain, findSlack } from './find-slack.ts'
import { type PathAnswer, saves_max } from './path-fields.ts'
import {
  type NodeOnPath,
  nodesOnPath,
  type OnPath,
  operationsOnPath,
  sumUsage,
} from './path-shares.ts'

/** Returns the root of an id, or the longest. Throws `observation_not_found`. */
export function chosenRoot(tree: TraceTree, id: string | undefined): TreeNode | undefined {
  return id === undefined ? longestRoot(tree) : requireRoot(tree.roots, id)
}

/**
 * Returns the path of a root of a trace or task, whose id is `of`, and the path itself. Throws
 * `observation_not_found` and `invalid_cursor`.
 */
export function answerPath(
  { tree, revision }: LoadedTree,
  query: PathQuery,
  { of, root }: { of: string; root: TreeNode | undefined },
): { answer: PathAnswer; path: CriticalPath | undefined } {
  const list = `critical path ${of} ${root?.id ?? ''} ${query.clocks} ${revision}`
  const from = query.cursor === undefined ? 0 : readIndex(list, query.cursor)
  if (root === undefined) return { answer: emptyAnswer, path: undefined }
  const path = findCriticalPath(root)
  const slack = findSlack(path)
  const onPath = nodesOnPath(path)
  const segments = path.segments.slice(from, from + query.limit)
  const next = from + segments.length
  const answer: PathAnswer = {
    root: {
      ...toNodeFields(root),
      ...toStart(root.start),
      duration_ms: msFrom(root.end - root.start),
    },
    roots: tree.roots.length,
    ...toParts(path, onPath, query),
    segments: segments.map(({ node, start, end }) => ({
      node_id: node.id,
      trace_id: node.trace_id,
      ...toStart(start),
      duration_ms: msFrom(end - start),
    })),
    segments_total: path.segments.length,
    next_cursor: next < path.segments.length ? encodeCursor(list, [next]) : null,
    ...toSlack(path, slack, query.limit),
    used: toUsed(onPath, sumUsage(tree)),
    what_if: toWhatIf(path, slack, query),
  }
  return { answer, path }

  function toStart(start: number) {
    return { start_time: isoAt(tree.origin_ns, start) }
  }
}

const emptyAnswer: PathAnswer = {
  root: null,
  roots: 0,
  nodes: [],
  nodes_total: 0,
  operations: [],
  segments: [],
  segments_total: 0,
  next_cursor: null,
  slack: [],
  slack_total: 0,
  what_if: null,
  used: {
    tokens: { path: 0, trace: 0, share: null },
    cost_usd: { path: '0', trace: '0', share: null },
  },
}

function toNodeFields(node: TreeNode) {
  const { id: node_id, trace_id, row } = node
  return { node_id, trace_id, type: row?.type ?? 'synthetic', name: row?.name ?? '' }
}

function requireRoot(roots: readonly TreeNode[], id: string): TreeNode {
  const root = roots.find((each) => each.id === id)
  if (root !== undefined) return root
  throw problem('observation_not_found', {
    detail: `root: got "${id.slice(0, 80)}", expected a root`,
  })
}

/** Reads a cursor. It is valid for one revision of the trace, since changes move segments. */
function readIndex(list: string, cursor: string): number {
  const [index] = decodeCursor(list, cursor, 1)
  if (typeof index === 'number' && Number.isSafeInteger(index) && index >= 0) return index
  throw problem('invalid_cursor', {
    detail: `cursor: got "${cursor.slice(0, 80)}", expected a next_cursor of the current revision of the trace`,
  })
}

function toParts(
  path: CriticalPath,
  found: readonly NodeOnPath[],
  { limit, faster_percent }: PathQuery,
) {
  const { root } = path
  const whole = root.end - root.start
  const toReply = ({ on_path, tokens, nano_dollars }: OnPath) => ({
    on_path_ms: msFrom(on_path),
    share: whole === 0 ? 0 : on_path / whole,
    tokens,
    cost_usd: dollarsFrom(nano_dollars),
  })
  const saves = (node: TreeNode, at: number) =>
    at < saves_max ? msFrom(findGain(path, new Set([node]), faster_percent / 100)) : null
  return {
    nodes: found.slice(0, limit).map((each, at) => ({
      ...toNodeFields(each.node),
      ...toReply(each),
      depth: each.node.depth,
      segments: each.segments,
      saves_ms: saves(each.node, at),
    })),
    nodes_total: found.length,
    operations: operationsOnPath(found)
      .slice(0, limit)
      .map((each) => ({
        type: each.type,
        name: each.name,
        observations: each.observations,
        ...toReply(each),
      })),
  }
}

function toSlack(path: CriticalPath, slack: ReadonlyMap<TreeNode, number>, limit: number) {
  const onPathNodes = new Set(path.segments.map(({ node }) => node))
  const off = [...slack].filter(([node]) => !onPathNodes.has(node) && node !== path.root)
  off.sort(([a, one], [b, other]) => one - other || a.position - b.position)
  return {
    slack: off
      .slice(0, limit)
      .map(([node, ns]) => ({ ...toNodeFields(node), slack_ms: msFrom(ns) })),
    slack_total: off.length,
  }
}

type Used = Pick<OnPath, 'tokens' | 'nano_dollars'>

function toUsed(onPath: readonly Used[], all: Used): PathAnswer['used'] {
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

function toWhatIf(
  path: CriticalPath,
  slack: ReadonlyMap<TreeNode, number>,
  { what_if, what_if_name, faster_percent }: PathQuery,
): PathAnswer['what_if'] {
  if (what_if === undefined && what_if_name === undefined) return null
  const isTarget = ({ id, row }: TreeNode) =>
    row !== null && (what_if === undefined ? row.name === what_if_name : id === what_if)
  const targets = new Set([...path.stages.keys()].filter(isTarget))
  if (targets.size === 0) {
    throw problem('observation_not_found', {
      detail: `what_if: got "${(what_if ?? what_if_name ?? '').slice(0, 80)}", expected an observation within the root`,
    })
  }
  const saves = findGain(path, targets, faster_percent / 100)
  const [only] = what_if === undefined ? [] : targets
  return {
    observations: targets.size,
    faster_percent,
    saves_ms: msFrom(saves),
    duration_ms: msFrom(path.root.end - path.root.start - saves),
    slack_ms: only === undefined ? null : msFrom(slack.get(only) ?? 0),
  }
}
