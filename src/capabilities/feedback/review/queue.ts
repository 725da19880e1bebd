import { z } from 'zod'
import { isoFromNs } from '../../../kernel/time.ts'
import {
  instantParameter,
  integerParameter,
  textParameter,
  windowWithin,
} from '../../../model/list-query.ts'
import { record } from '../../../model/named-schemas.ts'
import { severities } from '../../../model/severity.ts'
import { type RiskFacts, riskOfFindings } from '../../incidents/index.ts'
import { type ClaimToReview, claimsToReview, verdictSchema } from '../../verification/index.ts'
import type { InsightDb } from '../contract.ts'
import { claims_max } from './labels.ts'
import {
  type Candidate,
  claimsOf,
  findingsOfQueue,
  type QueueFilter,
  type QueueFinding,
  selectCandidates,
} from './queue-store.ts'

const count = z.int().nonnegative()
const share = z.number().min(0).max(1)
const findings_max = 10

const reviewFactors = ['findings', 'feedback', 'trust', 'uncertainty'] as const

/** A task in the review queue, in replies. */
export const reviewTask = record('ReviewTask', {
  task_id: z.string(),
  name: z.string(),
  release: z.string().nullable(),
  started_at: z.iso.datetime(),
  risk: share.describe('How urgently it should be reviewed: the weighted sum of the factors.'),
  factors: record(
    'ReviewFactors',
    Object.fromEntries(reviewFactors.map((factor) => [factor, share])) as Record<
      (typeof reviewFactors)[number],
      typeof share
    >,
  ),
  findings: z
    .array(
      record('ReviewFinding', {
        finding_id: z.uuid(),
        detector: z.string(),
        type: z.string(),
        severity: z.enum(severities),
        state: z.string(),
        confidence: share,
        summary: z.string(),
      }),
    )
    .max(findings_max)
    .describe('The most severe findings.'),
  findings_total: count,
  claims: z
    .array(
      record('ReviewTaskClaim', {
        claim_id: z.uuid(),
        trace_id: z.guid(),
        text: z.string(),
        at: z
          .tuple([count, count])
          .describe('UTF-16 offsets in the answer: start, end (exclusive).'),
        verdict: verdictSchema.describe('Verdict of the verifiers.'),
        probability: share
          .nullable()
          .describe('Probability that the claim is true; null if no verifier decided it.'),
      }),
    )
    .max(claims_max)
    .describe('The first claims of the newest verified answer, in its order.'),
  claims_total: count,
  labels: count.describe('Number of reviewers who labelled the task.'),
  claimed_until: z.iso
    .datetime()
    .nullable()
    .describe('End of the caller’s claim; null without a claim.'),
  links: z.record(z.string(), z.string()).describe('Paths: `task`, `timeline`, `labels`.'),
})

/** Query parameters that choose tasks of the queue. */
export const queueQuery = {
  from: instantParameter(
    'Only tasks with activity at or after this instant. Default: 30 days before `to`.',
  ),
  to: instantParameter(
    'Only tasks that started before this instant, at most 90 days after `from`. Default: now.',
  ),
  name: textParameter('Only tasks of exactly this name.'),
  release: textParameter('Only tasks of this release.'),
  finding_type: textParameter('Only tasks with a finding of this type, such as `repeat_call`.'),
  reviewers: integerParameter({
    minimum: 1,
    maximum: 5,
    default: 1,
    description: 'Labels, each of another reviewer, after which a task leaves the queue.',
  }),
}

type QueueRequest = {
  from?: bigint | undefined
  to?: bigint | undefined
  name?: string | undefined
  release?: string | undefined
  finding_type?: string | undefined
  reviewers: number
}

/** Returns the filter of a request. Throws `invalid_request` for a wrong window. */
export function toQueueFilter(
  { from, to, ...query }: QueueRequest,
  { project_id, reviewer, now_ms }: { project_id: string; reviewer: string; now_ms: number },
): QueueFilter {
  const window = windowWithin({ from, to }, { now_ms, days_default: 30, days_max: 90 })
  return {
    ...query,
    project_id,
    reviewer,
    now: new Date(now_ms).toISOString(),
    from: isoFromNs(window.from),
    to: isoFromNs(window.to),
  }
}

/** A candidate with its findings and its risk. */
export type QueuedTask = Candidate & ReviewRisk & { findings: readonly QueueFinding[] }

/** Reads the queue of a reviewer, highest risk first; ties are in order of task ids. */
export async function readQueue(db: InsightDb, filter: QueueFilter): Promise<QueuedTask[]> {
  const candidates = await selectCandidates(db, filter)
  const ids = candidates.map(({ task_id }) => task_id)
  const findings = await findingsOfQueue(db, filter.project_id, ids)
  const byTask = Map.groupBy(findings, ({ task_id }) => task_id)
  return candidates
    .map((task) => {
      const own = byTask.get(task.task_id) ?? []
      const { trust, coverage, is_negative, labels } = task
      const facts = { findings: own, trust, coverage, is_negative, is_labelled: labels > 0 }
      const { risk, factors } = reviewRisk(facts)
      // The risk is rounded, because cursors contain it and are compared with it.
      return { ...task, findings: own, risk: Math.round(risk * 1e9) / 1e9, factors }
    })
    .toSorted(byRisk)
}

/** Facts about a task that decide its position in the queue. */
export type ReviewFacts = {
  /** Findings that were not withdrawn. */
  findings: RiskFacts['findings']
  /** Trust score of the task's newest verified answer, 0–1; null without a verified answer. */
  trust: number | null
  /** Share of that answer's claims that a verifier decided, 0–1; null without such an answer. */
  coverage: number | null
  /** Whether end users gave negative feedback. */
  is_negative: boolean
  /** Whether a reviewer has labelled the task. */
  is_labelled: boolean
}

type ReviewFactor = (typeof reviewFactors)[number]

/** Weights of the factors. They add up to 1. */
export const reviewWeights: Readonly<Record<ReviewFactor, number>> = {
  findings: 0.4,
  feedback: 0.25,
  trust: 0.2,
  uncertainty: 0.15,
}

/** The risk of a task, 0–1, and the value of each factor, 0–1. */
type ReviewRisk = { risk: number; factors: Record<ReviewFactor, number> }

/**
 * Computes how urgently a task should be reviewed: the weighted sum of
 * - findings: 1 − Π(1 − risk of the finding), with the risks of the high-risk tasks;
 * - feedback: 1 for negative feedback without a label;
 * - trust: 1 − trust; 0 if the task was not verified;
 * - uncertainty: how useful a label is. The maximum of 4c(1 − c) over findings of confidence c, and
 *   of the share of claims that no verifier decided.
 * Unlike in the risk of high-risk tasks, an unknown factor counts as 0: a task needs a reason.
 */
export function reviewRisk(facts: ReviewFacts): ReviewRisk {
  const { findings, trust, coverage, is_negative, is_labelled } = facts
  const unsure = findings.map(({ confidence }) => 4 * confidence * (1 - confidence))
  const factors = {
    findings: riskOfFindings(findings),
    feedback: is_negative && !is_labelled ? 1 : 0,
    trust: trust === null ? 0 : 1 - trust,
    uncertainty: Math.max(0, ...unsure, coverage === null ? 0 : 1 - coverage),
  }
  const risk = reviewFactors.reduce((sum, one) => sum + reviewWeights[one] * factors[one], 0)
  return { risk: Math.min(1, risk), factors }
}

function byRisk(one: QueuedTask, other: QueuedTask): number {
  return other.risk - one.risk || (one.task_id < other.task_id ? -1 : 1)
}

/** Shapes tasks of the queue for a reply. */
export async function toReviewTasks(
  db: InsightDb,
  filter: QueueFilter,
  tasks: readonly QueuedTask[],
): Promise<z.input<typeof reviewTask>[]> {
  const { project_id } = filter
  const task_ids = tasks.map(({ task_id }) => task_id)
  const [taken, found] = await Promise.all([
    claimsOf(db, filter),
    claimsToReview(db, project_id, { task_ids, limit: claims_max }),
  ])
  const byTask = Map.groupBy(found, ({ task_id }) => task_id)
  return tasks.map(({ findings, trust: _t, coverage: _c, is_negative: _n, ...task }) => {
    const path = encodeURIComponent(task.task_id)
    const url = `/api/v1/tasks/${path}`
    return {
      ...task,
      findings: findings.slice(0, findings_max).map(({ task_id: _, ...finding }) => finding),
      findings_total: findings.length,
      claims: (byTask.get(task.task_id) ?? []).map(toReviewClaim),
      claims_total: byTask.get(task.task_id)?.[0]?.total ?? 0,
      claimed_until: taken.get(task.task_id) ?? null,
      links: {
        task: url,
        timeline: `${url}/timeline`,
        labels: `/api/v1/feedback/review/${path}/labels`,
      },
    }
  })
}

function toReviewClaim({ task_id: _, total: _total, verdict, ...claim }: ClaimToReview) {
  return { ...claim, verdict: verdict as z.input<typeof verdictSchema> }
}
