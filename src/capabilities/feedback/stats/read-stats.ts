import { problem } from '../../../kernel/problem.ts'
import {
  clopperPearson,
  effectiveSize,
  type RateInterval,
} from '../../../kernel/statistics/rate-interval.ts'
import type { InsightDb } from '../contract.ts'
import {
  type ClusterCounts,
  countByFeature,
  countDue,
  type RatedWindow,
  toRatedWindow,
} from '../counting/counts-store.ts'
import { countResponses, type RespondedTasks } from '../counting/task-days-store.ts'
import type { HourWindow } from '../counting/window.ts'
import { type FeedbackSource, feedbackSources } from '../votes/vote.ts'
import {
  readWaiting,
  type SourceVotes,
  type Votes,
  votesByLabel,
  votesByTime,
} from './stats-store.ts'

/** Dimensions of the groups. */
export const groupKinds = ['tool', 'model', 'task_name', 'release', 'environment'] as const
type GroupKind = (typeof groupKinds)[number]

/** A request for statistics. */
export type StatsRequest = HourWindow & {
  project_id: string
  source: FeedbackSource
  unit?: Unit | undefined
  /** Maximum values of a dimension. */
  groups_max: number
}

type Unit = 'hour' | 'day'

const count_max = 10_000
const labels_max = 50
const hour_ms = 3_600_000
const maxHoursDefault = 48
const hours_max = 7 * 24

/** Reads the statistics of a window. Throws `invalid_request` for too many buckets. */
export async function readStats(db: InsightDb, request: StatsRequest) {
  const { project_id, source, from, to, groups_max } = request
  const unit = unitOf(request)
  const of = { project_id, from, to }
  const windows = await Promise.all(
    feedbackSources.map((one) => toRatedWindow(db, { ...of, source: one })),
  )
  const wanted = windows.find((one) => one.source === source)
  const others = windows.filter((one) => one !== wanted)
  const [byTime, groups, totals, responses, labels, waiting, uncounted] = await Promise.all([
    votesByTime(db, project_id, { from, to, unit }),
    wanted === undefined ? [] : countGroups(db, wanted, groups_max),
    Promise.all(others.map((window) => clustersOfAll(db, window))),
    countResponses(db, project_id, { from, to }),
    votesByLabel(db, { ...of, source }, labels_max),
    readWaiting(db, project_id, { from, to, limit: count_max }),
    countDue(db, project_id, count_max),
  ])
  return {
    window: { from, to },
    unit,
    sources: feedbackSources.map((one) => {
      const other = others.findIndex((window) => window.source === one)
      const counted = other === -1 ? groups : (totals[other] ?? [])
      return toSourceStats(one, {
        votes: byTime.filter((votes) => votes.source === one),
        clusters: counted.find(({ feature }) => feature === '')?.clusters ?? [],
        buckets: bucketsOf({ from, to }, unit),
      })
    }),
    source,
    groups: toGroups(groups, responses),
    labels: labels.map((votes) => ({ ...votes, votes: sumVotes(votes) })),
    response: toResponse(responses.find(({ feature }) => feature === '')),
    clustered_by: wanted?.is_exact === false ? ('user_group' as const) : ('user' as const),
    ...waiting,
    uncounted,
  }
}

function unitOf({ unit, from, to }: StatsRequest): Unit {
  const hours = (Date.parse(to) - Date.parse(from)) / hour_ms
  if (unit === 'hour' && hours > hours_max) {
    const detail = `got "hour" for a window of ${hours} hours, expected at most ${hours_max} hours`
    throw problem('invalid_request', {
      detail: `query.unit: ${detail}`,
      faults: [{ pointer: 'query.unit', detail }],
    })
  }
  return unit ?? (hours <= maxHoursDefault ? 'hour' : 'day')
}

async function clustersOfAll(db: InsightDb, window: RatedWindow) {
  const choice = { of: 'votes', least: 1, features_max: 1, kinds: [] } as const
  return (await countByFeature(db, window, choice)).counted
}

async function countGroups(db: InsightDb, window: RatedWindow, features_max: number) {
  const choice = { of: 'votes', least: 1, features_max, kinds: groupKinds } as const
  return (await countByFeature(db, window, choice)).counted
}

type TimedVotes = {
  votes: readonly SourceVotes[]
  clusters: readonly ClusterCounts[]
  buckets: readonly string[]
}

function toSourceStats(source: FeedbackSource, { votes, clusters, buckets }: TimedVotes) {
  const byTime = new Map(votes.map((one) => [one.at, one]))
  const total = votes.reduce(addVotes, none)
  const worth = independentShare(clusters)
  return {
    source,
    ...withSum(total),
    ...toRate({ negative: total.negative, all: sumVotes(total) }, clusters),
    clusters: clusters.length,
    series: buckets.map((at) => {
      const counted = withSum(byTime.get(at) ?? none)
      const { votes: n, negative: k } = counted
      const known = n > 0 && worth !== null
      return {
        at,
        ...counted,
        rate: n === 0 ? null : k / n,
        interval: known ? toPair(wilson({ n: n * worth, k: k * worth })) : null,
      }
    }),
  }
}

const none: Votes = { negative: 0, neutral: 0, positive: 0 }

function addVotes(sum: Votes, votes: Votes): Votes {
  return {
    negative: sum.negative + votes.negative,
    neutral: sum.neutral + votes.neutral,
    positive: sum.positive + votes.positive,
  }
}

function withSum({ negative, neutral, positive }: Votes) {
  return { votes: negative + neutral + positive, negative, neutral, positive }
}

function toPair([low, high]: readonly [number, number]): [number, number] {
  return [low, high]
}

type Counted = { feature: string; clusters: readonly ClusterCounts[] }

function toGroups(counted: readonly Counted[], responses: readonly RespondedTasks[]) {
  const byFeature = new Map(responses.map((one) => [one.feature, one]))
  const groups = counted.map(({ feature, clusters }) => {
    const votes = clusters.reduce((sum, [, n]) => sum + n, 0)
    const negative = clusters.reduce((sum, [, , k]) => sum + k, 0)
    const { tasks, rate: response_rate } = toResponse(byFeature.get(feature))
    const value = feature.slice(feature.indexOf(':') + 1)
    const shown = { value, votes, negative, ...toRate({ negative, all: votes }, clusters) }
    return { feature, group: { ...shown, clusters: clusters.length, tasks, response_rate } }
  })
  const ofKind = (kind: GroupKind) =>
    groups
      .filter(({ feature }) => feature.startsWith(`${kind}:`))
      .map(({ group }) => group)
      .toSorted((one, other) => other.votes - one.votes || (one.value < other.value ? -1 : 1))
  return {
    tool: ofKind('tool'),
    model: ofKind('model'),
    task_name: ofKind('task_name'),
    release: ofKind('release'),
    environment: ofKind('environment'),
  }
}

function toResponse(counted: RespondedTasks | undefined) {
  const { tasks = 0, rated = 0 } = counted ?? {}
  return { tasks, rated, rate: tasks === 0 ? null : rated / tasks }
}

/** Error of an interval on each side: 95 % confidence. */
const tail = 0.025

/**
 * A rate of negative votes with its interval, 0–1; null without votes, or with fewer than 2 users.
 */
type Rate = { rate: number | null; interval: [low: number, high: number] | null }

/**
 * Returns the rate of negative votes with the interval of Korn and Graubard, because votes of one
 * user are not independent samples. The window of the clusters may differ slightly: they decide
 * only how many independent votes a vote is worth.
 */
function toRate(
  { negative, all }: { negative: number; all: number },
  clusters: readonly ClusterCounts[],
): Rate {
  if (all === 0) return { rate: null, interval: null }
  const worth = independentShare(clusters)
  const rate = negative / all
  if (worth === null) return { rate, interval: null }
  return { rate, interval: [...clopperPearson({ n: all * worth, k: negative * worth }, tail)] }
}

/**
 * Returns the effective sample size of clusters divided by their votes, 0–1; null for fewer than
 * two clusters.
 */
function independentShare(clusters: readonly ClusterCounts[]): number | null {
  const all = clusters.reduce((sum, [, n]) => sum + n, 0)
  const size = effectiveSize(
    clusters.map(([, n, k]) => ({ n, k })),
    tail,
  )
  return size === undefined ? null : size / all
}

const z = 1.959964

/** Returns the interval of Wilson (1927) for a rate; n may be a fraction. For display only. */
function wilson({ n, k }: { n: number; k: number }): RateInterval {
  const rate = k / n
  const centre = (rate + (z * z) / (2 * n)) / (1 + (z * z) / n)
  const reach = (z / (1 + (z * z) / n)) * Math.sqrt((rate * (1 - rate)) / n + (z * z) / (4 * n * n))
  return [Math.max(0, centre - reach), Math.min(1, centre + reach)]
}

/** Returns the number of votes. */
function sumVotes({ negative, neutral, positive }: Votes): number {
  return negative + neutral + positive
}

/** Returns the time buckets of a window, ISO 8601, in order. */
function bucketsOf({ from, to }: { from: string; to: string }, unit: 'hour' | 'day'): string[] {
  const step_ms = unit === 'hour' ? 3_600_000 : 86_400_000
  const from_ms = Date.parse(from)
  const buckets: string[] = []
  for (let at_ms = from_ms - (from_ms % step_ms); at_ms < Date.parse(to); at_ms += step_ms) {
    buckets.push(new Date(at_ms).toISOString())
  }
  return buckets
}
