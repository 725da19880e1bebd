import { describe, expect, test } from 'vitest'
import type { CaseResult } from '../store-benchmark/benchmark-job.ts'
import { type LiveStats, makeScorecard } from './scorecard.ts'

type Told = { ms: [clickhouse: number, postgres: number]; equal?: boolean; errors?: number }

function list(cases: readonly Told[], live: readonly LiveStats[] = []) {
  const results = cases.map(({ ms, equal = true, errors = 0 }, at): CaseResult => {
    const common = { runs: 5, error: null, p95_ms: null, rows_read: null, rows: 1 }
    return {
      ...{ name: `case ${at}`, origin: 'suite', kind: 'query', query_class: 'list', query: {} },
      equal,
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
