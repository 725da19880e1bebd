import { z } from 'zod'
import type { Detector, FindingDraft, WorkBudget } from '../../contract.ts'
import { callsShown, loopDraft, toolNames } from '../../evidence/loop-draft.ts'
import { isPollingUse } from '../../evidence/polling.ts'
import { remember } from '../../evidence/remember.ts'
import {
  type ArgumentWords,
  argumentWordsOf,
  likenessOf,
} from '../../evidence/similar-arguments.ts'
import { type StepFacts, stretchesOf } from '../../evidence/step-facts.ts'
import { effectOfTool } from '../../evidence/tool-effect.ts'
import { createWorldClock } from '../../evidence/world-clock.ts'
import type { TaskRun, ToolUse } from '../../reconstruction/contract.ts'

const source =
  'Source: 800 labelled runs; near-equal searches are what loops of retrieval agents are made of.'

const settings = z.strictObject({
  repeats: z
    .int()
    .min(3)
    .max(1_000)
    .default(5)
    .describe(
      `Similar calls with equal results in the window from which on it is a loop. ${source}`,
    ),
  window_steps: z
    .int()
    .min(3)
    .max(1_000)
    .default(20)
    .describe(`Steps that are looked at together. ${source}`),
  jaccard_min: z
    .number()
    .min(0.5)
    .max(1)
    .default(0.9)
    .describe(`Shared words by all words of two calls' arguments to count as similar. ${source}`),
})
type Settings = z.output<typeof settings>

/**
 * Calls of one tool that differ in wording only and bring the same result. Counting up a number (a
 * page, an id) is no likeness, and a tool that changes things answers alike for different things.
 */
export const similarCall: Detector<typeof settings> = {
  name: 'similar_call',
  kind: 'loop',
  types: ['similar_call'],
  version: 1,
  needs: ['arguments', 'results'],
  settings,
  detect(run, set, budget) {
    return stretchesOf(run).flatMap((stretch) =>
      clustersOf(run, stretch, { set, budget })
        .filter(({ is_found, sigs }) => is_found && sigs.size > 1)
        .map((cluster) => draft(run, cluster, set)),
    )
  },
}

type Cluster = {
  moment: number
  words: ArgumentWords
  at: number[]
  steps: StepFacts[]
  uses: ToolUse[]
  sigs: Set<string>
  /** One call's value shares little with that of the first: it may ask something else. */
  is_loose: boolean
  is_found: boolean
}

/** Clusters of one tool and result that are open at a time; the oldest is given up. */
const openClusters_max = 20

type Bounds = { set: Settings; budget: WorkBudget }

function clustersOf(run: TaskRun, stretch: readonly StepFacts[], bounds: Bounds): Cluster[] {
  const clock = createWorldClock(run, stretch[0]?.step.thread ?? 0)
  const open = new Map<string, Cluster[]>()
  const all: Cluster[] = []
  for (const [at, facts] of stretch.entries()) {
    bounds.budget.spend(1)
    for (const use of facts.uses.filter(isComparable)) {
      const key = `${use.name}\n${use.out}`
      const clusters = open.get(key) ?? []
      const seen = { use, at, facts, moment: clock.moment() }
      const cluster = joined(clusters, seen, bounds)
      if (cluster !== undefined) all.push(cluster)
      open.set(
        key,
        cluster === undefined ? clusters : [...clusters, cluster].slice(-openClusters_max),
      )
    }
    clock.pass(facts)
  }
  return all
}

const isComparable = remember((use: ToolUse): boolean => {
  const isKnown = use.sig !== null && use.out !== null && use.fault !== 'outage'
  if (!isKnown || isPollingUse(use)) return false
  return use.fault === 'error' || effectOfTool(use) !== 'changes'
})

type Seen = { use: ToolUse; at: number; facts: StepFacts; moment: number }

/** Puts a call to the first cluster that it is like; else it begins one, which is the answer. */
function joined(
  clusters: readonly Cluster[],
  seen: Seen,
  { set, budget }: Bounds,
): Cluster | undefined {
  const words = argumentWordsOf(seen.use)
  for (const cluster of clusters) {
    const isNear = (cluster.at.at(-1) ?? 0) > seen.at - set.window_steps
    if (cluster.moment !== seen.moment || !isNear) continue
    budget.spend(1 + Math.min(words.all.size, cluster.words.all.size))
    const likeness = likenessOf(cluster.words, words, set.jaccard_min)
    if (likeness === 'not') continue
    cluster.is_loose ||= likeness === 'loosely'
    extend(cluster, seen, set)
    return undefined
  }
  const cluster: Cluster = {
    moment: seen.moment,
    words,
    at: [],
    steps: [],
    uses: [],
    sigs: new Set(),
    is_loose: false,
    is_found: false,
  }
  extend(cluster, seen, set)
  return cluster
}

/** A step counts once, however many similar calls it holds. */
function extend(cluster: Cluster, { use, at, facts }: Seen, set: Settings): void {
  if (cluster.at.at(-1) === at) return
  cluster.at.push(at)
  cluster.steps.push(facts)
  cluster.uses.push(use)
  cluster.sigs.add(use.sig ?? '')
  const first = cluster.at.at(-set.repeats)
  cluster.is_found ||= first !== undefined && first > at - set.window_steps
}

function draft(
  run: TaskRun,
  { steps, uses, sigs, is_loose }: Cluster,
  set: Settings,
): FindingDraft {
  return loopDraft(run, {
    type: 'similar_call',
    severity: is_loose ? 'low' : 'medium',
    summary: `${toolNames(uses)} was called ${steps.length} times with nearly the same arguments and the same result.`,
    steps,
    fresh: 1,
    period: null,
    repeats: steps.length,
    threshold: set.repeats,
    evidence: { calls: callsShown(uses), different_calls: sigs.size },
  })
}
