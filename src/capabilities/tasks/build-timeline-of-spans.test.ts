import { describe, expect, test } from 'vitest'
import { observationOf } from '../../../test/support/observations.ts'
import type { Observation, ToolCall } from '../../model/observation.ts'
import { reconstruct } from '../detection/reconstruction/index.ts'
import { createTimelineBuilder } from './build-timeline.ts'
import type { TimelineEntry } from './timeline-entry.ts'

const project_id = '0198c0de-0000-7000-8000-00000000000a'
const origin = 1_790_000_000_000_000_000n

type Type = Observation['type']

/** A span from second to second of its trace. */
function span(
  [type, id]: readonly [Type, string],
  [from, to]: readonly [number, number],
  more: Partial<Observation> = {},
): Observation {
  const start_time = origin + BigInt(Math.round(from * 1000)) * 1_000_000n
  const end_time = origin + BigInt(Math.round(to * 1000)) * 1_000_000n
  const name = `${type} ${id}`
  const times = { start_time, end_time }
  return observationOf({ project_id, observation_id: id, type, name, ...times, ...more })
}

/** A tool span, as the mapping makes its row: it carries itself. */
function tool(
  id: string,
  [from, to]: readonly [number, number],
  { call, content = 'done', ...more }: { call: ToolCall; content?: string } & Partial<Observation>,
): Observation {
  const tool_results = content === '' ? [] : [{ tool_call_id: call.id, content }]
  return span(['tool', id], [from, to], { tool_calls: [call], tool_results, ...more })
}

function timeline(rows: readonly Observation[]): TimelineEntry[] {
  const builder = createTimelineBuilder({ gap_min_ms: 1000, text_length_max: 50 })
  builder.add(rows)
  return builder.finish(reconstruct(rows), []).map(({ entry }) => entry)
}

const summary = (entries: readonly TimelineEntry[]) =>
  entries.map((entry) => `${entry.role} ${'observation_id' in entry ? entry.observation_id : ''}`)

const find = { id: 'c1', name: 'find', arguments: '{"q":1}' }
const count = { id: 'c2', name: 'count', arguments: '{}' }

describe('an agent with generations, tools, a retriever and plain spans', () => {
  const entries = timeline([
    span(['span', 'http'], [0, 20]),
    span(['agent', 'agent'], [0, 20], { tool_calls: [find, count], agent_name: 'helper' }),
    span(['generation', 'g1'], [1, 2], { tool_calls: [find, count] }),
    tool('t1', [2.5, 4], { call: find, content: '{"found":1}' }),
    tool('t2', [2.6, 3], { call: count, content: '', status: 'error', error_type: 'Timeout' }),
    span(['retriever', 'r'], [4, 8]),
    span(['span', 'broken'], [8, 8.5], { status: 'error', error_message: 'no disk' }),
    span(['generation', 'g2'], [8.5, 9], {
      tool_results: [
        { tool_call_id: 'c1', content: '"{\\"found\\":1}"' },
        { tool_call_id: 'c2', content: 'it failed' },
      ],
    }),
  ])

  test('shows each call, tool and result once, and no plain span that succeeded', () => {
    expect(summary(entries)).toEqual([
      'operation agent',
      'model_call g1',
      'tool_call g1',
      'tool_call g1',
      'tool_result t2',
      'tool_result t1',
      'operation r',
      'operation broken',
      'model_call g2',
    ])
    expect(entries.at(-1)?.running).toMatchObject({ calls: 2, tool_calls: 2, errors: 0 })
  })

  test('a tool call is joined with the span that ran it', () => {
    expect(entries[2]).toMatchObject({
      tool_call_id: 'c1',
      arguments: '{"q":1}',
      orphan: false,
      latency_ms: 2000,
      result_observation_id: 't1',
    })
    expect(entries[5]).toMatchObject({
      tool_call_id: 'c1',
      tool_name: 'find',
      content: '{"found":1}',
      orphan: false,
      latency_ms: 2000,
      execution_ms: 1500,
      status: 'ok',
      error: null,
      call_observation_id: 'g1',
    })
    expect(entries[4]).toMatchObject({
      tool_name: 'count',
      content: '',
      status: 'error',
      error: { type: 'Timeout', message: '' },
    })
  })

  test('operations have their type and status', () => {
    expect(entries[0]).toMatchObject({
      type: 'agent',
      name: 'agent agent',
      agent_name: 'helper',
      status: 'ok',
      error: null,
      latency_ms: 20_000,
    })
    expect(entries[7]).toMatchObject({ type: 'span', error: { type: '', message: 'no disk' } })
  })

  test('enclosing operations do not close gaps; a retriever does', () => {
    expect(entries.map(({ gap_ms }) => gap_ms)).toEqual([
      null,
      1000,
      ...Array.from({ length: 7 }, () => null),
    ])
  })
})

const nameless = { ...find, id: '' }

test('tools without an id are joined by name and order, within their trace', () => {
  const other = '0198c0de-0000-7000-8000-000000000002'
  const entries = timeline([
    span(['generation', 'g1'], [0, 1], { tool_calls: [find, { ...find, id: 'c9' }] }),
    span(['generation', 'g2'], [0, 1], { tool_calls: [find], trace_id: other }),
    tool('t1', [2, 3], { call: nameless, content: 'first' }),
    tool('t2', [2.5, 4], { call: nameless, content: 'second' }),
    tool('t3', [5, 6], { call: nameless, content: 'third', trace_id: other }),
  ])
  const results = entries.filter(({ role }) => role === 'tool_result')
  expect(results).toMatchObject([
    { content: 'first', call_observation_id: 'g1', tool_call_id: 'c1' },
    { content: 'second', call_observation_id: 'g1', tool_call_id: 'c9' },
    { content: 'third', call_observation_id: 'g2', tool_call_id: 'c1' },
  ])
  expect(entries.filter(({ role }) => role === 'tool_call')).toHaveLength(3)
})

test('a tool call without an id is joined with a tool observation that has one', () => {
  const entries = timeline([
    span(['generation', 'g1'], [0, 1], { tool_calls: [nameless] }),
    tool('t1', [2, 3], { call: find }),
  ])
  expect(summary(entries)).toEqual(['model_call g1', 'tool_call g1', 'tool_result t1'])
})

test('calls with different ids are different calls, even with the same name', () => {
  const entries = timeline([
    span(['generation', 'g1'], [0, 1], { tool_calls: [find] }),
    tool('t1', [2, 3], { call: { ...find, id: 'c9' } }),
  ])
  expect(entries.filter(({ role }) => role === 'tool_call')).toMatchObject([
    { observation_id: 'g1', orphan: true },
    { observation_id: 't1', orphan: false },
  ])
})

test('a tool observation without a known request also gives its tool call', () => {
  const entries = timeline([
    tool('t1', [2, 3], { call: { id: '', name: '', arguments: '' } }),
    span(['generation', 'g1'], [4, 5]),
  ])
  expect(summary(entries)).toEqual(['tool_call t1', 'tool_result t1', 'model_call g1'])
  expect(entries[0]).toMatchObject({ tool_name: 'tool t1', orphan: false, latency_ms: 1000 })
  expect(entries[1]).toMatchObject({ tool_name: 'tool t1', call_observation_id: 't1' })
})

test('the call of a tool of zero duration comes before its result', () => {
  expect(summary(timeline([tool('t1', [2, 2], { call: find })]))).toEqual([
    'tool_call t1',
    'tool_result t1',
  ])
})

test('two instrumentations of one run give one entry', () => {
  const entries = timeline([
    span(['generation', 'g1'], [0, 1], { tool_calls: [find] }),
    tool('t1', [2, 4], { call: find }),
    tool('mcp', [2.5, 3.5], { call: nameless, parent_observation_id: 't1' }),
    tool('inner', [2.6, 3], { call: count, parent_observation_id: 'mcp' }),
  ])
  expect(summary(entries)).toEqual([
    'model_call g1',
    'tool_call g1',
    'tool_call inner',
    'tool_result inner',
    'tool_result t1',
  ])
})

test('a proxied call is joined with the span of the tool that it requested', () => {
  const entries = timeline([
    span(['generation', 'g1'], [0, 1], { tool_calls: [find] }),
    tool('t1', [1.5, 2], { call: find, content: 'x' }),
    span(['generation', 'g2'], [3, 4], { tool_results: [{ tool_call_id: 'c1', content: 'x' }] }),
    span(['generation', 'g3'], [5, 6], {
      tool_results: [
        { tool_call_id: 'c1', content: 'x' },
        { tool_call_id: 'c7', content: 'unasked' },
      ],
    }),
  ])
  expect(entries.filter(({ role }) => role === 'tool_result')).toMatchObject([
    { observation_id: 't1', orphan: false },
    { observation_id: 'g3', tool_call_id: 'c7', orphan: true },
  ])
})
