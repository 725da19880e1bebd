import { z } from 'zod'
import { kornGraubard, type RateInterval } from '../../../kernel/statistics/rate-interval.ts'
import { record, windowSchema } from '../../../model/named-schemas.ts'
import { defineRoute, type Route } from '../../../platform/http/index.ts'
import { type InsightDeps, labelReadScope } from '../contract.ts'
import { hourWindow, windowQuery } from '../counting/window.ts'
import { type ReviewedFinding, reviewedFindings } from './labels-store.ts'

/** Reviewed findings below which no precision is shown. */
const reviewed_min = 10
const findings_max = 20_000
/** Error of an interval on each side: 95 % confidence. */
const tail = 0.025

const count = z.int().nonnegative()
const share = z.number().min(0).max(1)

/**
 * GET /api/v1/feedback/detector-precision: how many findings of each detector reviewers confirm.
 */
export function getDetectorPrecision({ db, clock }: InsightDeps): Route {
  return defineRoute({
    method: 'GET',
    url: '/api/v1/feedback/detector-precision',
    id: 'getDetectorPrecision',
    summary: 'Precision of each detector on this project, by reviewed findings',
    auth: 'jwt',
    scope: labelReadScope,
    query: z.strictObject(windowQuery),
    reply: record('DetectorPrecisionList', {
      window: windowSchema.describe('Verdicts that were last changed in it.'),
      reviewed_min: count.describe('Reviewed findings that a precision needs.'),
      note: z.string().describe('Population that the precision describes.'),
      detectors: z
        .array(
          record('DetectorPrecision', {
            detector: z.string(),
            type: z.string().describe('Type of the findings.'),
            reviewed: count.describe('Findings with a majority verdict.'),
            right: count,
            disputed: count.describe('Findings with a tie of verdicts, not counted in `reviewed`.'),
            precision: share
              .nullable()
              .describe('`right` / `reviewed`; null below `reviewed_min`.'),
            interval: z
              .tuple([share, share])
              .nullable()
              .describe(
                '95 % interval over users; null below `reviewed_min`, or if all findings are of one user.',
              ),
            too_few: z.boolean(),
          }),
        )
        .describe('Most reviewed first.'),
    }),
    errors: ['store_unavailable'],
    handle: async ({ query, caller: { project_id } }) => {
      const window = hourWindow(query, clock.now_ms())
      const findings = await reviewedFindings(db, { project_id, ...window }, findings_max)
      return { window, reviewed_min, note, detectors: measurePrecision(findings) }
    },
  })
}

const note =
  'Reviewers see risky tasks first, so the precision is that of findings of such tasks, ' +
  'not of all findings.'

/** Measures the precision of each detector and type of finding. */
function measurePrecision(findings: readonly ReviewedFinding[]) {
  const byType = Map.groupBy(findings, ({ detector, type }) => JSON.stringify([detector, type]))
  return [...byType.values()]
    .flatMap((of) => {
      const [first] = of
      return first === undefined ? [] : [measureType(first, of)]
    })
    .toSorted(
      (one, other) => other.reviewed - one.reviewed || (one.detector < other.detector ? -1 : 1),
    )
}

function measureType({ detector, type }: ReviewedFinding, of: readonly ReviewedFinding[]) {
  const decided = of.filter(({ right, wrong }) => right !== wrong)
  const isRight = (one: ReviewedFinding) => one.right > one.wrong
  const right = decided.filter(isRight).length
  const too_few = decided.length < reviewed_min
  const clusters = [...Map.groupBy(decided, ({ cluster }) => cluster).values()].map((own) => {
    return { n: own.length, k: own.filter(isRight).length }
  })
  const interval: RateInterval | undefined = too_few ? undefined : kornGraubard(clusters, tail)
  return {
    detector,
    type,
    reviewed: decided.length,
    right,
    too_few,
    disputed: of.length - decided.length,
    precision: too_few ? null : right / decided.length,
    interval: interval === undefined ? null : ([...interval] as [number, number]),
  }
}
