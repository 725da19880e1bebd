import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { observationOf } from '../../../test/support/observations.ts'
import { dollarsFrom, nanoDollarsFrom } from '../../kernel/dollars.ts'
import type { Observation } from '../../model/observation.ts'
import { reconstruct } from '../detection/reconstruction/index.ts'
import { createTimelineBuilder } from './build-timeline.ts'
import type { TaskEventRow } from './store.ts'
import { comparePositions, type TimelineEntry } from './timeline-entry.ts'

const project_id = '0198c0de-0000-7000-8000-00000000000a'
const origin = 1_790_000_000_000_000_000n

/** A call from second to second of the task. */
function call(id: string, from: number, to: number, more: Partial<Observation> = {}): Observation {
  const start_time = origin + BigInt(Math.round(from * 1000)) * 1_000_000n
  const end_time = origin + BigInt(Math.round(to * 1000)) * 1_000_000n
  return observationOf({ project_id, observation_id: id, start_time, end_time, ...more })
}

function eventAt(seconds: number, kind: TaskEventRow['kind'], id = kind as string): TaskEventRow {
  const at = new Date(Number(origin / 1_000_000n) + seconds * 1000).toISOString()
  const actor = { actor_kind: 'key', actor_id: 'k1', note: null }
  return { id, project_id, task_id: 'task-1', kind, at, ...actor }
}

function timeline(
  rows: readonly Observation[],
  events: readonly TaskEventRow[] = [],
  options = { gap_min_ms: 5000, text_length_max: 50 },
): TimelineEntry[] {
  const builder = createTimelineBuilder(options)
  builder.add(rows)
  return builder.finish(reconstruct(rows), events).map(({ entry }) => entry)
}

const find = { id: 'c1', name: 'find', arguments: '{"q":1}' }

describe('a task of two calls and a tool', () => {
  const entries = timeline(
    [
      call('a', 0, 1, { tool_calls: [find] }),
      call('b', 3, 4, { tool_results: [{ tool_call_id: 'c1', content: 'found' }] }),
    ],
    [eventAt(0, 'created'), eventAt(20, 'completed')],
  )

  test('has its entries in order', () => {
    expect(entries.map(({ role }) => role)).toEqual([
      'state_change',
      'model_call',
      'tool_call',
      'tool_result',
      'model_call',
      'state_change',
    ])
  })

  test('joins the tool call and its result', () => {
    expect(entries[2]).toMatchObject({
      observation_id: 'a',
      tool_name: 'find',
      arguments: '{"q":1}',
      orphan: false,
      latency_ms: 2000,
      result_observation_id: 'b',
    })
    expect(entries[3]).toMatchObject({
      observation_id: 'b',
      tool_name: 'find',
      content: 'found',
      orphan: false,
      latency_ms: 2000,
      call_observation_id: 'a',
    })
  })

  test('has distances, gaps and sums', () => {
    expect(entries.map((entry) => entry.since_previous_ms)).toEqual([0, 0, 1000, 2000, 0, 17_000])
    expect(entries.map((entry) => entry.gap_ms)).toEqual([null, null, null, null, null, 16_000])
    expect(entries.at(-1)?.running).toEqual({
      calls: 2,
      errors: 0,
      tool_calls: 1,
      total_tokens: 30,
      cost_usd: '0.002',
      elapsed_ms: 20_000,
    })
  })
})

test('a running tool or overlapping call leaves no gap', () => {
  const entries = timeline([
    call('a', 0, 1, { tool_calls: [find] }),
    call('b', 30, 60, { tool_results: [{ tool_call_id: 'c1', content: 'found' }] }),
    call('c', 31, 32),
    call('d', 62, 63),
    call('e', 68, 69),
  ])
  expect(entries.map((entry) => entry.gap_ms)).toEqual([null, null, null, null, null, null, 5000])
})

test('orphans are marked: a tool call without a result, a result without a tool call', () => {
  const stray = { tool_call_id: 'c9', content: 'x' }
  const entries = timeline([
    call('a', 0, 1, { tool_calls: [find] }),
    call('b', 2, 3, { tool_results: [stray] }),
  ])
  expect(entries[1]).toMatchObject({ role: 'tool_call', orphan: true, latency_ms: null })
  expect(entries[2]).toMatchObject({ role: 'tool_result', orphan: true, tool_name: null })
})

test('a failed call has its error; unknown tokens and cost stay null', () => {
  const none = {
    input_uncached_tokens: null,
    cache_read_tokens: null,
    cache_write_tokens: null,
    output_visible_tokens: null,
    reasoning_tokens: null,
  }
  const [entry] = timeline([
    call('a', 0, 1, {
      ...none,
      error_type: 'rate_limit',
      error_message: 'slow down',
      outcome: 'provider_error',
      status: 'error',
      status_code: 429,
      usage_source: 'none',
      cost_usd: null,
      model: '',
    }),
  ])
  expect(entry).toMatchObject({
    error: { type: 'rate_limit', message: 'slow down' },
    model: 'm-1',
    tokens: { input_uncached: null, total: 0, source: 'none' },
    cost_usd: null,
    running: { calls: 1, errors: 1, cost_usd: '0' },
  })
})

test('long texts are cut', () => {
  const entries = timeline([
    call('a', 0, 1, { tool_calls: [{ ...find, arguments: 'x'.repeat(60) }] }),
  ])
  expect(entries[1]).toMatchObject({ arguments: 'x'.repeat(50), is_cut: true })
})

test('times keep their nanoseconds; clock differences cause no negative latency', () => {
  const late = origin + 7n
  const entries = timeline([
    call('a', 0, 5, { start_time: late, tool_calls: [find] }),
    call('b', 4, 6, { tool_results: [{ tool_call_id: 'c1', content: 'found' }] }),
  ])
  expect(entries[0]?.time).toMatch(/\.000000007Z$/)
  expect(entries.find(({ role }) => role === 'tool_call')).toMatchObject({ latency_ms: 0 })
})

function isCall(row: Observation): boolean {
  return row.type === 'generation' || row.type === 'embedding'
}

/** An embedding asks for no tools. */
function isGeneration({ type }: Observation): boolean {
  return type === 'generation'
}

/** Tasks with few ids, so that ids come again, overlapping calls and equal instants. */
const anyRows = fc
  .array(
    fc.record({
      start: fc.integer({ min: 0, max: 40 }),
      length: fc.integer({ min: 0, max: 20 }),
      type: fc.constantFrom('generation', 'generation', 'embedding', 'tool', 'agent', 'span'),
      status: fc.constantFrom('ok', 'error', 'cancelled'),
      tokens: fc.option(fc.nat(1000)),
      nano: fc.option(fc.bigInt({ min: 0n, max: 10n ** 12n })),
      tools: fc.array(fc.constantFrom('', '1', '2', '3'), { maxLength: 3 }),
      results: fc.array(
        fc.record({
          tool_call_id: fc.constantFrom('', '1', '2', '3', 'f'),
          content: fc.constantFrom('ok', 'no'),
        }),
        { maxLength: 4 },
      ),
    }),
    { maxLength: 25 },
  )
  .map((given) =>
    given
      .map((one, index) =>
        call(String(index).padStart(3, '0'), one.start, one.start + one.length, {
          type: one.type as Observation['type'],
          status: one.status as Observation['status'],
          input_uncached_tokens: one.tokens,
          cost_usd: one.nano === null ? null : dollarsFrom(one.nano),
          tool_calls: one.tools.map((id) => ({ id, name: 'f', arguments: '' })),
          tool_results: one.results,
        }),
      )
      .sort((a, b) =>
        a.start_time === b.start_time
          ? a.observation_id.localeCompare(b.observation_id)
          : Number(a.start_time - b.start_time),
      ),
  )

const anyEvents = fc
  .array(fc.nat(60), { maxLength: 3 })
  .map((seconds) => [
    ...seconds.map((at, index) => eventAt(at, 'late_activity', `e${index}`)),
    eventAt(0, 'created'),
  ])

describe('for any task', () => {
  test('entries are in order and no two share a position', () => {
    fc.assert(
      fc.property(anyRows, anyEvents, (rows, events) => {
        const builder = createTimelineBuilder({ gap_min_ms: 1, text_length_max: 10 })
        builder.add(rows)
        const placed = builder.finish(reconstruct(rows), events)
        for (const [index, { position, entry }] of placed.entries()) {
          const before = placed[index - 1]
          if (before === undefined) continue
          expect(comparePositions(before.position, position)).toBeLessThan(0)
          expect(before.position.time <= position.time).toBe(true)
          expect(entry.running.elapsed_ms).toBeGreaterThanOrEqual(before.entry.running.elapsed_ms)
        }
      }),
    )
  })

  test('running totals are the sums of the model calls so far', () => {
    fc.assert(
      fc.property(anyRows, anyEvents, (rows, events) => {
        let tokens = 0
        let nano = 0n
        let calls = 0
        for (const entry of timeline(rows, events)) {
          if (entry.role === 'model_call') {
            calls += 1
            tokens += entry.tokens.total
            nano += nanoDollarsFrom(entry.cost_usd ?? '0')
          }
          const { running } = entry
          expect([running.calls, running.total_tokens, running.cost_usd]).toEqual([
            calls,
            tokens,
            dollarsFrom(nano),
          ])
        }
        expect(calls).toBe(rows.filter(isCall).length)
      }),
    )
  })

  test('each tool call and each result is joined at most once, and both sides agree', () => {
    fc.assert(
      fc.property(anyRows, (rows) => {
        const entries = timeline(rows)
        const calls = entries.filter((entry) => entry.role === 'tool_call')
        const results = entries.filter((entry) => entry.role === 'tool_result')
        const fromCalls = calls
          .filter((entry) => !entry.orphan)
          .map((entry) => `${entry.observation_id} ${entry.result_observation_id}`)
        const fromResults = results
          .filter((entry) => !entry.orphan)
          .map((entry) => `${entry.call_observation_id} ${entry.observation_id}`)
        expect(fromCalls.toSorted()).toEqual(fromResults.toSorted())
        const asking = rows.filter(isGeneration).flatMap((row) => row.tool_calls)
        const running = rows.filter(({ type }) => type === 'tool')
        expect(calls.length).toBeGreaterThanOrEqual(asking.length)
        expect(calls.length).toBeLessThanOrEqual(asking.length + running.length)
        const told = results.filter(({ status }) => status !== null)
        expect(told.map((entry) => entry.observation_id).toSorted()).toEqual(
          running.map((row) => row.observation_id).toSorted(),
        )
      }),
    )
  })

  test('the result does not depend on the portions of the rows', () => {
    fc.assert(
      fc.property(anyRows, fc.integer({ min: 1, max: 5 }), (rows, portion) => {
        const builder = createTimelineBuilder({ gap_min_ms: 5000, text_length_max: 50 })
        for (let at = 0; at < rows.length; at += portion) builder.add(rows.slice(at, at + portion))
        expect(builder.finish(reconstruct(rows), []).map(({ entry }) => entry)).toEqual(
          timeline(rows),
        )
      }),
    )
  })
})
