import { z } from 'zod'
import type { Detector, FindingDraft, WorkBudget } from '../../contract.ts'
import {
  argumentsOf,
  createWorldClock,
  effectOfTool,
  getJaccard,
  isPollingUse,
  remember,
  type StepFacts,
  stretchesOf,
  tellCalls,
  toCallEvidence,
  toLoopDraft,
  toTokenSet,
} from '../../facts/index.ts'
import type { TaskRun, ToolUse } from '../../reconstruction/index.ts'

const source =
  'Source: 800 labelled runs; loops of retrieval agents consist of near-equal searches.'

const settings = z.strictObject({
  repeats: z
    .int()
    .min(3)
    .max(1_000)
    .default(5)
    .describe(`Minimum similar calls with equal results within the window. ${source}`),
  window_steps: z
    .int()
    .min(3)
    .max(1_000)
    .default(20)
    .describe(`Size of the window in steps. ${source}`),
  jaccard_min: z
    .number()
    .min(0.5)
    .max(1)
    .default(0.9)
    .describe(
      `Minimum share of common words in two calls' arguments to count as similar. ${source}`,
    ),
})
type Settings = z.output<typeof settings>

/**
 * Finds calls of one tool that differ only in wording and return the same result. Counting up a
 * number (a page, an id) is not similar; tools that change things are ignored, because they return
 * the same result for different changes.
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
        .map((cluster) => toFinding(run, cluster, set)),
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
  /** True if one call's value differs much from the first call's: it may ask for something else. */
  is_loose: boolean
  is_found: boolean
}

/** Maximum open clusters per tool and result; the oldest is dropped. */
const maxOpenClusters = 20

type Limits = { set: Settings; budget: WorkBudget }

function clustersOf(run: TaskRun, stretch: readonly StepFacts[], limits: Limits): Cluster[] {
  const clock = createWorldClock(run, stretch[0]?.step.thread ?? 0)
  const open = new Map<string, Cluster[]>()
  const all: Cluster[] = []
  for (const [at, facts] of stretch.entries()) {
    limits.budget.spend(1)
    for (const { use, key } of comparableIn(facts)) {
      const clusters = open.get(key) ?? []
      const seen = { use, at, facts, moment: clock.moment() }
      const cluster = joinCluster(clusters, seen, limits)
      if (cluster !== undefined) all.push(cluster)
      open.set(
        key,
        cluster === undefined ? clusters : [...clusters, cluster].slice(-maxOpenClusters),
      )
    }
    clock.pass(facts)
  }
  return all
}

/** The comparable calls of a step, by tool and result. */
const comparableIn = remember(({ uses }: StepFacts) =>
  uses.filter(isComparable).map((use) => ({ use, key: `${use.name}\n${use.out}` })),
)

function isComparable(use: ToolUse): boolean {
  const isKnown = use.sig !== null && use.out !== null && use.fault !== 'outage'
  if (!isKnown || isPollingUse(use)) return false
  return use.fault === 'error' || effectOfTool(use) !== 'changes'
}

type SeenCall = { use: ToolUse; at: number; facts: StepFacts; moment: number }

/** Adds a call to the first similar cluster; otherwise starts and returns a new one. */
function joinCluster(
  clusters: readonly Cluster[],
  seen: SeenCall,
  { set, budget }: Limits,
): Cluster | undefined {
  const words = argumentWordsOf(seen.use)
  for (const cluster of clusters) {
    const isNear = (cluster.at.at(-1) ?? 0) > seen.at - set.window_steps
    if (cluster.moment !== seen.moment || !isNear) continue
    budget.spend(1 + Math.min(words.all.size, cluster.words.all.size))
    const likeness = compareArguments(cluster.words, words, set.jaccard_min)
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

/** Adds a call to a cluster; a step counts once, even with several similar calls. */
function extend(cluster: Cluster, { use, at, facts }: SeenCall, set: Settings): void {
  if (cluster.at.at(-1) === at) return
  cluster.at.push(at)
  cluster.steps.push(facts)
  cluster.uses.push(use)
  cluster.sigs.add(use.sig ?? '')
  const first = cluster.at.at(-set.repeats)
  cluster.is_found ||= first !== undefined && first > at - set.window_steps
}

function toFinding(
  run: TaskRun,
  { steps, uses, sigs, is_loose }: Cluster,
  set: Settings,
): FindingDraft {
  return toLoopDraft(run, {
    type: 'similar_call',
    severity: is_loose ? 'low' : 'medium',
    summary: `${tellCalls(uses)} ${steps.length} times with nearly the same arguments and the same result.`,
    steps,
    fresh: 1,
    period: null,
    repeats: steps.length,
    threshold: set.repeats,
    evidence: { calls: toCallEvidence(uses), different_calls: sigs.size },
  })
}

/** The words of a call's arguments: all of them, and by top-level key. */
type ArgumentWords = {
  all: ReadonlySet<string>
  values: ReadonlyMap<string, ReadonlySet<string>>
}

const keys_max = 32

/** Returns the words of a call's arguments, computed once per call. */
const argumentWordsOf = remember((use: ToolUse): ArgumentWords => {
  const values = new Map<string, ReadonlySet<string>>()
  for (const [key, value] of Object.entries(argumentsOf(use)).slice(0, keys_max)) {
    values.set(key, toTokenSet(typeof value === 'string' ? value : (JSON.stringify(value) ?? '')))
  }
  return { all: toTokenSet((use.arguments ?? '').replace(/\\[nrt"]/g, ' ')), values }
})

/** Similarity of two calls' arguments; `loosely`: one value differs much. */
type Likeness = 'closely' | 'loosely' | 'not'

/**
 * Minimum similarity of values with the same key; below it the calls may ask for different things.
 */
const minValueJaccard = 0.5

/**
 * Compares two calls: similar if their words are equal or nearly so. Calls that differ only in
 * numbers are not similar.
 */
function compareArguments(one: ArgumentWords, other: ArgumentWords, jaccard_min: number): Likeness {
  const alike = getJaccard(one.all, other.all)
  if (alike === 1) return 'closely'
  if (alike < jaccard_min || differInNumbersOnly(one.all, other.all)) return 'not'
  for (const [key, words] of one.values) {
    const others = other.values.get(key)
    if (others !== undefined && getJaccard(words, others) < minValueJaccard) return 'loosely'
  }
  return 'closely'
}

function differInNumbersOnly(one: ReadonlySet<string>, other: ReadonlySet<string>): boolean {
  return [...listMissing(one, other), ...listMissing(other, one)].every((word) =>
    /\p{N}/u.test(word),
  )
}

function listMissing(to: ReadonlySet<string>, words: ReadonlySet<string>): string[] {
  return [...words].filter((word) => !to.has(word))
}
