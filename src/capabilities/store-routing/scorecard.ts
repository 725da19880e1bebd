import type { CaseResult } from './benchmark-job.ts'
import { type QueryClass, queryClasses, type StoreName, storeNames } from './contract.ts'
import { rounded } from './durations.ts'
import type { shownStats } from './route-stats-route.ts'

/** How reads of a class went lately, on one store. */
export type LiveStats = ReturnType<typeof shownStats>

/** What a benchmark says of a class of reads. */
export type BenchmarkEvidence = {
  /** Queries that both stores answered. */
  cases: number
  /** Queries to which the stores answered different rows. */
  unequal: number
  /** Runs that failed, by store. */
  errors: Record<StoreName, number>
  /** Queries that the store answered sooner, by its median. */
  won: Record<StoreName, number>
  /** Geometric mean of PostgreSQL's medians over ClickHouse's; below 1: PostgreSQL is sooner. */
  ratio: number | null
}

/** Which store a class of reads should go to. */
export type Workload = {
  query_class: QueryClass
  verdict: 'recommended' | 'not_enough_evidence'
  recommended: StoreName | null
  /** 0 to 1. */
  confidence: number
  reason: string
  benchmark: BenchmarkEvidence
  live: LiveStats[]
}

/** Queries that both stores must have answered before their times say anything. */
const cases_min = 2
/** Above so many queries more of them make nobody surer. */
const cases_enough = 5
/** Requests of each store before what was seen live says anything. */
const live_min = 30
/** Less than a tenth is no difference: then the store that holds everything is the simpler choice. */
const difference_min = 0.1

/** Weighs the latest benchmark and the live figures. Pure. */
export function scorecardOf(cases: readonly CaseResult[], live: readonly LiveStats[]): Workload[] {
  return queryClasses.map((query_class) => {
    const mine = live.filter((each) => each.query_class === query_class)
    const evidence = evidenceOf(cases.filter((each) => each.query_class === query_class))
    return { query_class, ...verdictOf(evidence, mine), benchmark: evidence, live: mine }
  })
}

type Verdict = Pick<Workload, 'verdict' | 'recommended' | 'confidence' | 'reason'>

function verdictOf(evidence: BenchmarkEvidence, live: readonly LiveStats[]): Verdict {
  const { cases, unequal, errors, ratio, won } = evidence
  if (unequal > 0) {
    const reason = `The stores answered ${unequal} of ${cases} queries differently.`
    return recommend('clickhouse', 1, reason)
  }
  if (cases < cases_min || ratio === null) {
    const reason = `${cases} queries of a benchmark were answered by both stores; it takes ${cases_min}.`
    return { verdict: 'not_enough_evidence', recommended: null, confidence: 0, reason }
  }
  if (errors.postgres > errors.clickhouse) {
    return recommend('clickhouse', 0.9, `${errors.postgres} runs failed on PostgreSQL.`)
  }
  if (Math.abs(1 - ratio) < difference_min) {
    return recommend('clickhouse', 0.5, 'Both are as quick; ClickHouse holds everything.')
  }
  const store = ratio < 1 ? 'postgres' : 'clickhouse'
  const enough = Math.min(1, cases / cases_enough)
  const confidence = rounded((won[store] / cases) * enough * agreement(store, live))
  const times = rounded(ratio < 1 ? 1 / ratio : ratio)
  const reason = `It was sooner in ${won[store]} of ${cases} queries, ${times} times in the mean.`
  return recommend(store, confidence, reason)
}

function recommend(recommended: StoreName, confidence: number, reason: string): Verdict {
  return { verdict: 'recommended', recommended, confidence, reason }
}

/** 1 when live figures say the same, ½ when they say the opposite, between when they say nothing. */
function agreement(store: StoreName, live: readonly LiveStats[]): number {
  const p50 = (of: StoreName) => {
    const seen = live.find((each) => each.store === of && each.requests >= live_min)
    return seen?.p50_ms ?? undefined
  }
  const [clickhouse, postgres] = [p50('clickhouse'), p50('postgres')]
  if (clickhouse === undefined || postgres === undefined) return 0.8
  return (postgres < clickhouse ? 'postgres' : 'clickhouse') === store ? 1 : 0.5
}

function evidenceOf(cases: readonly CaseResult[]): BenchmarkEvidence {
  const errors = { clickhouse: 0, postgres: 0 }
  const won = { clickhouse: 0, postgres: 0 }
  const logs: number[] = []
  let unequal = 0
  for (const { stores, equal } of cases) {
    for (const store of storeNames) {
      errors[store] += stores.find((each) => each.store === store)?.errors ?? 0
    }
    const [clickhouse, postgres] = storeNames.map(
      (store) => stores.find((each) => each.store === store)?.median_ms ?? null,
    )
    if (clickhouse == null || postgres == null) continue
    if (equal === false) unequal += 1
    won[postgres < clickhouse ? 'postgres' : 'clickhouse'] += 1
    // What takes no time at all is not infinitely quicker.
    logs.push(Math.log(Math.max(postgres, 0.01) / Math.max(clickhouse, 0.01)))
  }
  const mean = logs.reduce((sum, log) => sum + log, 0) / logs.length
  const ratio = logs.length === 0 ? null : rounded(Math.exp(mean))
  return { cases: logs.length, unequal, errors, won, ratio }
}
