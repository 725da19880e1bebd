import { describe, expect, test } from 'vitest'
import type { CaseResult } from '../store-benchmark/benchmark-job.ts'
import { comparePairs } from '../store-benchmark/compare-pairs.ts'
import { type LiveStats, makeScorecard } from './scorecard.ts'

/** `spread`: PostgreSQL's runs alternate between its duration times and by this factor. */
type Told = {
  ms: [clickhouse: number, postgres: number]
  equal?: boolean
  errors?: number
  pairs?: number
  spread?: number
}

function list(cases: readonly Told[], live: readonly LiveStats[] = []) {
  const results = cases.map((told, at): CaseResult => {
    const { ms, equal = true, errors = 0, pairs = 16, spread = 1.01 } = told
    const runs = Array.from({ length: pairs }, (_, run) => spread ** (run % 2 === 0 ? 1 : -1))
    const compared = comparePairs(
      runs.map(() => ms[0]),
      runs.map((factor) => ms[1] * factor),
    )
    const common = { runs: 5, error: null, p95_ms: null, rows_read: null, rows: 1 }
    return {
      ...{ name: `case ${at}`, origin: 'suite', kind: 'query', query_class: 'list', query: {} },
      equal,
      ...compared,
      stores: [
        { store: 'clickhouse', errors: 0, median_ms: ms[0], ...common },
        { store: 'postgres', errors, median_ms: ms[1], ...common },
      ],
    }
  })
  const found = makeScorecard(results, live).find(({ query_class }) => query_class === 'list')
  if (found === undefined) throw new Error('no list')
  return found
}

const seen = (store: LiveStats['store'], p50_ms: number, requests = 100): LiveStats => ({
  ...{ query_class: 'list', store, requests, errors: 0, error_rate: 0, fallbacks: 0 },
  ...{ p50_ms, p95_ms: p50_ms, rows_read_avg: null },
})

describe('a scorecard', () => {
  test('without enough evidence recommends no store', () => {
    const unknown = { verdict: 'not_enough_evidence', recommended: null, confidence: 0 }
    expect(list([])).toMatchObject({ ...unknown, benchmark: { cases: 0, ratio: null } })
    expect(list([{ ms: [10, 1] }])).toMatchObject(unknown)
    const few = list(Array.from({ length: 9 }, () => ({ ms: [10, 1], pairs: 14 })))
    expect(few).toMatchObject({ ...unknown, benchmark: { cases: 0, answered: 9, ratio: null } })
    expect(few.reason).toContain('0 of 9 queries')
    expect(makeScorecard([], []).map(({ query_class }) => query_class)).toEqual([
      'point',
      'list',
      'aggregate',
      'explorer',
    ])
  })

  test('recommends the faster store, with more confidence for more evidence', () => {
    const five = Array.from({ length: 5 }, (): Told => ({ ms: [8, 2] }))
    const sure = list(five, [seen('clickhouse', 9), seen('postgres', 3)])
    expect(sure).toMatchObject({
      recommended: 'postgres',
      confidence: 1,
      benchmark: { ratio: 0.25 },
    })
    const unsure = [
      list(five),
      list(five.slice(0, 2)),
      list([...five.slice(0, 4), { ms: [2, 8] }]),
      list(five, [seen('clickhouse', 3), seen('postgres', 9)]),
    ]
    for (const each of unsure) {
      expect(each.recommended).toBe('postgres')
      expect(each.confidence).toBeLessThan(1)
    }
    expect(list(five, [seen('clickhouse', 3, 5), seen('postgres', 9, 5)]).confidence).toBe(0.8)
    expect(list(five.map(({ ms: [a, b] }) => ({ ms: [b, a] })))).toMatchObject({
      recommended: 'clickhouse',
    })
  })

  test('says that it cannot tell when the interval holds both answers', () => {
    const noisy = list(Array.from({ length: 3 }, () => ({ ms: [10, 9], spread: 3 })))
    expect(noisy).toMatchObject({ verdict: 'not_enough_evidence', recommended: null })
    expect(noisy.reason).toContain('cannot tell which store is faster')
    expect(noisy.benchmark.ratio_low).toBeLessThan(1)
    expect(noisy.benchmark.ratio_high).toBeGreaterThan(1)
    const calm = list(Array.from({ length: 3 }, () => ({ ms: [10, 5], spread: 1.3 })))
    expect(calm.recommended).toBe('postgres')
    expect(calm.reason).toMatch(/by a factor of 1\.\d+ to 2\.\d+/)
  })

  test('does not count a benchmark of an earlier version, which has no pairs', () => {
    const stores = (['clickhouse', 'postgres'] as const).map((store) => ({
      ...{ store, runs: 5, errors: 0, error: null, median_ms: 1, p95_ms: 1 },
      ...{ rows_read: null, rows: 1 },
    }))
    const old = { name: 'old', origin: 'suite', kind: 'query', query_class: 'list', query: {} }
    const cases = Array.from({ length: 5 }, () => ({ ...old, stores, equal: true }) as never)
    const found = makeScorecard(cases, []).find(({ query_class }) => query_class === 'list')
    expect(found).toMatchObject({ verdict: 'not_enough_evidence', benchmark: { answered: 5 } })
  })

  test('does not recommend a store that is not faster, fails, or answers differently', () => {
    expect(list([{ ms: [10, 9.8] }, { ms: [5, 5.1] }])).toMatchObject({
      recommended: 'clickhouse',
      confidence: 0.5,
    })
    expect(list([{ ms: [10, 1], errors: 1 }, { ms: [10, 1] }]).recommended).toBe('clickhouse')
    expect(list([{ ms: [10, 1], equal: false }, { ms: [10, 1] }])).toMatchObject({
      recommended: 'clickhouse',
      confidence: 1,
      reason: 'The stores answered 1 of 2 queries differently.',
    })
  })
})
