import { z } from 'zod'
import { shownDollars } from '../../../kernel/dollars.ts'
import { record } from '../../../model/named-schemas.ts'
import { type Finding, findingSchema } from '../../detection/index.ts'
import { type LoadedTree, readFields, toReadFields } from '../load-tree.ts'
import { observationKey, spanRoots } from '../tree/build-tree.ts'
import type { TraceTree, TreeNode } from '../tree/contract.ts'
import { msFrom } from '../tree/times.ts'
import { answerPath, chosenRoot } from './answer-path.ts'
import type { PathQuery } from './critical-path-query.ts'
import type { CriticalPath } from './find-path.ts'
import { pathFields } from './path-fields.ts'

const { finding_id, kind, type, severity, state, summary } = findingSchema.shape
const { wasted_tokens, wasted_cost_usd } = findingSchema.shape

const onFindings = {
  on_path_ms: z.number().nonnegative().describe('Time on the path, in milliseconds.'),
  share: z.number().min(0).max(1).describe('Share of the duration of the root, 0 to 1.'),
}

/** The reply of the path of a task. */
export const taskPathReply = record('TaskCriticalPath', {
  task_id: z.string().describe('The task.'),
  ...readFields,
  ...pathFields,
  in_findings: record('PathInFindings', onFindings).describe(
    'The part of the path within the steps of any finding.',
  ),
  findings: z
    .array(
      record('FindingOnPath', {
        finding_id,
        kind,
        type,
        severity,
        state,
        summary,
        ...onFindings,
        wasted_tokens,
        wasted_cost_usd,
      }),
    )
    .describe(
      'Findings by their part of the path: that of their steps and all that ran within them. Steps of several findings count for each.',
    ),
  findings_total: z.int().nonnegative(),
})

/**
 * Returns the critical path of a task: by default from the start of its first root to the end of
 * its last one, over all its traces. Between its roots, the task itself is on the path: it waited
 * for a person, or for work that was not recorded. Throws like `answerPath`.
 */
export function answerTaskPath(
  loaded: LoadedTree,
  findings: readonly Finding[],
  { task_id, query }: { task_id: string; query: PathQuery },
): z.input<typeof taskPathReply> {
  const { tree } = loaded
  const root = query.root === undefined ? wholeTask(tree) : chosenRoot(tree, query.root)
  const { answer, path } = answerPath(loaded, query, { of: task_id, root })
  const parts = path === undefined ? noParts : partsOf(tree, path, findings)
  const whole = path === undefined ? 0 : path.root.end - path.root.start
  const toReply = (on_path: number) => ({
    on_path_ms: msFrom(on_path),
    share: whole === 0 ? 0 : on_path / whole,
  })
  const all = [...parts.by_finding].sort(([, one], [, other]) => other - one)
  return {
    task_id,
    ...toReadFields(loaded),
    ...answer,
    in_findings: toReply(parts.any),
    findings: all.slice(0, query.limit).map(([finding, on_path]) => ({
      finding_id: finding.finding_id,
      kind: finding.kind,
      type: finding.type,
      severity: finding.severity,
      state: finding.state,
      summary: finding.summary,
      ...toReply(on_path),
      wasted_tokens: finding.wasted_tokens,
      wasted_cost_usd: shownDollars(finding.wasted_cost_usd),
    })),
    findings_total: all.length,
  }
}

/** Returns a node above all roots; undefined without roots. */
function wholeTask(tree: TraceTree): TreeNode | undefined {
  if (tree.roots.length === 0) return undefined
  const whole = spanRoots(tree)
  whole.position = -1
  // A faster step makes the task faster through its root.
  for (const root of tree.roots) root.parent = whole
  return whole
}

/** Parts of a path in nanoseconds. Findings without a step in the tree are left out. */
type Parts = { any: number; by_finding: ReadonlyMap<Finding, number> }

const noParts: Parts = { any: 0, by_finding: new Map() }

function partsOf(tree: TraceTree, path: CriticalPath, findings: readonly Finding[]): Parts {
  const within = findingsWithin(tree, findings)
  const by_finding = new Map<Finding, number>()
  for (const found of new Set(within.values())) for (const one of found) by_finding.set(one, 0)
  let any = 0
  for (const { node, start, end } of path.segments) {
    const found = within.get(node)
    if (found === undefined) continue
    any += end - start
    for (const one of found) by_finding.set(one, (by_finding.get(one) ?? 0) + end - start)
  }
  return { any, by_finding }
}

/** Returns the findings of each node that has some, its own and those of its ancestors. */
function findingsWithin(
  { nodes }: TraceTree,
  findings: readonly Finding[],
): Map<TreeNode, ReadonlySet<Finding>> {
  const byPlace = findingsByPlace(findings)
  const within = new Map<TreeNode, ReadonlySet<Finding>>()
  for (const node of nodes) {
    const own = byPlace.get(observationKey({ trace_id: node.trace_id, observation_id: node.id }))
    const above = node.parent === null ? undefined : within.get(node.parent)
    const all = own !== undefined && above !== undefined ? own.union(above) : (own ?? above)
    if (all !== undefined) within.set(node, all)
  }
  return within
}

function findingsByPlace(findings: readonly Finding[]): Map<string, Set<Finding>> {
  const byPlace = new Map<string, Set<Finding>>()
  for (const finding of findings) {
    for (const place of finding.places) {
      const key = observationKey(place)
      byPlace.set(key, (byPlace.get(key) ?? new Set()).add(finding))
    }
  }
  return byPlace
}
