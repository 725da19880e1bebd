import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { fuzzRuns } from '../../../../test/support/suite/budget.ts'
import { isModelCall } from '../../../model/observation.ts'
import { type CallRow, findSameCalls, hasOpenCall } from './find-same-calls.ts'

function row(id: string, parent: string, more: Partial<CallRow> = {}): CallRow {
  return {
    ...{ observation_id: id, parent_observation_id: parent, type: 'generation', status: 'ok' },
    ...{
      source: 'otlp',
      start_time: 0n,
      end_time: 1_000_000_000n,
      usage_source: 'provider',
      cost_usd: '0.1',
    },
    ...{ model: '', model_requested: 'gpt-4o', response_id: '' },
    ...more,
  }
}

/** For each row that does not count itself: the one that counts. */
function merged(rows: readonly CallRow[]): Record<string, string> {
  return Object.fromEntries([...findSameCalls(rows)].map(([one, id]) => [one.observation_id, id]))
}

describe('one call', () => {
  test('of a framework, a library and the proxy counts in the record of the proxy', () => {
    const rows = [
      row('chain', '', { type: 'chain' }),
      row('framework', 'chain', { model_requested: 'openai/gpt-4o' }),
      row('library', 'framework', { model: 'gpt-4o-2024-08-06' }),
      row('http', 'library', { type: 'span' }),
      row('proxy', 'http', { source: 'proxy', model: 'gpt-4o-2024-08-06', response_id: 'r1' }),
    ]
    expect(merged(rows)).toEqual({ framework: 'proxy', library: 'proxy' })
  })

  test('of two instrumentations counts where the usage of the provider is, else innermost', () => {
    expect(merged([row('a', ''), row('b', 'a', { start_time: 1n })])).toEqual({ a: 'b' })
    const without = row('b', 'a', { usage_source: 'none', start_time: 1n })
    expect(merged([row('a', ''), without])).toEqual({ b: 'a' })
    const bare = row('p', 'a', { source: 'proxy', content_state: 'dropped' })
    expect(merged([row('a', '', { content_state: 'full' }), bare])).toEqual({ p: 'a' })
  })

  test('that the proxy and a library saw side by side is known by its response', () => {
    const proxy = row('p', 'agent', { source: 'proxy', response_id: 'r1', start_time: 5n })
    const rows = [row('s', 'agent', { response_id: 'r1' }), proxy]
    expect(merged(rows)).toEqual({ s: 'p' })
  })

  test('spans side by side that name one response, one within the time of the other', () => {
    const outer = row('outer', 'agent', { response_id: 'r1', start_time: 1n, end_time: 9n })
    const inner = row('inner', 'agent', { response_id: 'r1', start_time: 2n, end_time: 8n })
    expect(merged([inner, outer])).toEqual({ outer: 'inner' })
    const bare = { ...inner, content_state: 'dropped' as const }
    expect(merged([{ ...outer, content_state: 'full' }, bare])).toEqual({ inner: 'outer' })
  })
})

describe('calls of their own are', () => {
  test('those inside a tool or an agent of a call', () => {
    for (const type of ['tool', 'agent'] as const) {
      const rows = [row('a', ''), row('between', 'a', { type }), row('b', 'between')]
      expect(merged(rows)).toEqual({})
    }
  })

  test('a retry inside one call of a framework: both are billed', () => {
    const rows = [
      row('outer', ''),
      row('first', 'outer', { status: 'error', start_time: 1n }),
      row('second', 'outer', { start_time: 2n }),
    ]
    expect(merged(rows)).toEqual({ outer: 'second' })
    const billed = rows.map((one) => ({ ...one, status: 'ok' as const }))
    expect(merged(billed)).toEqual({ outer: 'second' })
  })

  test('a fallback to another model', () => {
    const rows = [
      row('outer', '', { model: 'claude', model_requested: 'gpt-4o' }),
      row('first', 'outer', { status: 'error', start_time: 1n }),
      row('second', 'outer', { model_requested: 'claude', start_time: 2n }),
    ]
    expect(merged(rows)).toEqual({ outer: 'second' })
    expect(merged([row('a', ''), row('b', 'a', { model_requested: 'claude' })])).toEqual({})
  })

  test('parallel calls with one text, and calls with other responses', () => {
    expect(merged([row('a', 'agent'), row('b', 'agent')])).toEqual({})
    const named = { response_id: 'r1', end_time: 9n }
    const twins = [row('a', 'agent', named), row('b', 'agent', { ...named, start_time: 1n })]
    expect(merged([...twins, row('c', 'agent', { ...named, start_time: 2n })])).toEqual({})
    expect(merged([row('a', 'x', named), row('b', 'y', named)])).toEqual({})
    expect(merged([row('a', '', named), row('b', '', named)])).toEqual({})
    const later = row('b', 'agent', { ...named, start_time: 5n, end_time: 12n })
    expect(merged([row('a', 'agent', named), later])).toEqual({})
    const [a, b] = [row('a', '', { response_id: 'r1' }), row('b', 'a', { response_id: 'r2' })]
    expect(merged([a, b])).toEqual({})
  })

  test('those of a server that names every response alike', () => {
    const at = (seconds: number) => BigInt(seconds) * 1_000_000_000n
    const rows = [0, 60, 120].flatMap((start) => [
      row(`s${start}`, 'agent', { response_id: 'r', ...times(start, 3) }),
      row(`p${start}`, 'agent', { response_id: 'r', source: 'proxy', ...times(start + 1, 1) }),
    ])
    function times(start: number, lasts: number) {
      return { start_time: at(start), end_time: at(start + lasts) }
    }
    expect(merged(rows)).toEqual({ s0: 'p0', s60: 'p60', s120: 'p120' })
  })
})

test('cycles and long chains end', () => {
  expect(merged([row('a', 'b'), row('b', 'a', { start_time: 1n })])).toEqual(expect.anything())
  const chain = Array.from({ length: 20_000 }, (_, at) =>
    row(`${at}`, at === 0 ? 'call' : `${at - 1}`, { type: 'span', start_time: BigInt(at) }),
  )
  const rows = [row('call', ''), ...chain, row('inner', '19999', { start_time: 9n })]
  expect(merged(rows.toReversed())).toEqual({ call: 'inner' })
})

const anyRow = fc.record({
  parent: fc.nat(),
  type: fc.constantFrom<CallRow['type'][]>('generation', 'generation', 'span', 'agent', 'tool'),
  status: fc.constantFrom<CallRow['status'][]>('ok', 'ok', 'error'),
  source: fc.constantFrom<CallRow['source'][]>('otlp', 'otlp', 'proxy'),
  usage_source: fc.constantFrom<CallRow['usage_source'][]>('provider', 'none'),
  cost_usd: fc.constantFrom('0.1', null),
  model_requested: fc.constantFrom('a', 'b', ''),
  response_id: fc.constantFrom('', '', 'r1', 'r2'),
  start: fc.nat({ max: 3 }),
})

const trace = fc.array(anyRow, { minLength: 1, maxLength: 9 }).map((rows) =>
  rows.map(({ parent, start, ...more }, at) =>
    row(`n${at}`, at === 0 || parent % 4 === 0 ? '' : `n${parent % at}`, {
      ...more,
      start_time: BigInt(start),
    }),
  ),
)

test('in any order the same rows count; each other row names one that counts', () => {
  const shuffled = trace.chain((rows) =>
    fc.tuple(
      fc.constant(rows),
      fc.shuffledSubarray(rows, { minLength: rows.length, maxLength: rows.length }),
    ),
  )
  fc.assert(
    fc.property(shuffled, ([rows, other]) => {
      const same = merged(rows)
      expect(merged(other)).toEqual(same)
      for (const [id, counts] of Object.entries(same)) {
        const [one, by] = [id, counts].map((name) => rows.find((r) => r.observation_id === name))
        expect(one && isModelCall(one) && by && isModelCall(by)).toBe(true)
        expect(same[counts]).toBeUndefined()
        expect(one?.source === 'proxy' && by?.source === 'proxy').toBe(false)
      }
    }),
    { numRuns: fuzzRuns(4_000) },
  )
})

test('no row is merged without a call around it or a record of the proxy with its response', () => {
  fc.assert(
    fc.property(trace, (rows) => {
      for (const [one] of findSameCalls(rows)) {
        const isNested = rows.some(
          (other) => isAround(rows, other, one) || isAround(rows, one, other),
        )
        const isAnswered = rows.some(
          (other) => other.source !== one.source && other.response_id === one.response_id,
        )
        const isBeside = rows.some(
          (other) =>
            other !== one &&
            other.parent_observation_id === one.parent_observation_id &&
            other.response_id === one.response_id,
        )
        expect(isNested || (one.response_id !== '' && (isAnswered || isBeside))).toBe(true)
      }
    }),
    { numRuns: fuzzRuns(2_000) },
  )
})

/** Whether the first row is the nearest call around the second, with no tool or agent between. */
function isAround(rows: readonly CallRow[], outer: CallRow, inner: CallRow): boolean {
  if (!isModelCall(outer) || !isModelCall(inner)) return false
  let at = rows.find((one) => one.observation_id === inner.parent_observation_id)
  while (at !== undefined && at.type === 'span') {
    const id: string = at.parent_observation_id
    at = rows.find((one) => one.observation_id === id)
  }
  return at === outer
}

test('rows without an open call are the same calls among further rows above them', () => {
  fc.assert(
    fc.property(trace, fc.nat(), (rows, at) => {
      const stored = rows.filter((_, place) => place !== at % rows.length)
      const others = rows.filter((one) => !stored.includes(one))
      if (hasOpenCall(stored) || others.some(isModelCall)) return
      // A row between that is not a call joins no calls, unless one of them waited for it.
      expect(merged(rows)).toEqual(merged(stored))
    }),
    { numRuns: fuzzRuns(2_000) },
  )
})
