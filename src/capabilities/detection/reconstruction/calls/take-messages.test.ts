import { describe, expect, test } from 'vitest'
import { observationOf } from '../../../../../test/support/observations.ts'
import type { Observation, ToolCall } from '../../../../model/observation.ts'
import type { ToolUse } from '../contract.ts'
import { readMessages } from '../reading/read-messages.ts'
import { reconstruct } from '../reconstruction.ts'
import { bounds } from '../run-state.ts'

const origin = 1_790_000_000_000_000_000n

/** A call without a history that starts at a given second of its task and takes half a second. */
function call(id: string, second: number, more: Partial<Observation> = {}): Observation {
  const start_time = origin + BigInt(second) * 1_000_000_000n
  const times = { start_time, end_time: start_time + 500_000_000n }
  return observationOf({ project_id: 'p', observation_id: id, ...times, ...more })
}

function asks(id: string, second: number, ...calls: readonly (readonly [string, string?])[]) {
  const tool_calls = calls.map(([call_id, name = 'find']) => tool(call_id, name))
  return call(id, second, { tool_calls })
}

function brings(id: string, second: number, ...results: readonly (readonly [string, string])[]) {
  const tool_results = results.map(([tool_call_id, content]) => ({ tool_call_id, content }))
  return call(id, second, { tool_results })
}

function ran(id: string, second: number, ran_tool: ToolCall, content: string): Observation {
  const tool_results = [{ tool_call_id: ran_tool.id, content }]
  return call(id, second, { type: 'tool', tool_calls: [ran_tool], tool_results })
}

function tool(id: string, name = 'find'): ToolCall {
  return { id, name, arguments: '{}' }
}

/** The asking call, the result, and the call that contained it. */
function joins(...rows: readonly Observation[]): string[] {
  return reconstruct(rows).tools.map(
    ({ asked_by, result, answered_by, orphan }: ToolUse) =>
      `${orphan === 'result' ? 'unasked' : asked_by.observation_id} ${result ?? '-'} ${
        answered_by?.observation_id ?? '-'
      }`,
  )
}

describe('results of calls without a history', () => {
  test('answer the calls that asked for them', () => {
    expect(joins(asks('a', 0, ['1']), brings('b', 1, ['1', 'ok']))).toEqual(['a ok b'])
  })

  test('are added once, although later calls and retries re-send them', () => {
    expect(
      joins(
        asks('a', 0, ['1']),
        brings('b', 1, ['1', 'ok']),
        brings('b again', 2, ['1', 'ok']),
        asks('c', 3, ['2']),
        brings('d', 4, ['1', 'ok'], ['2', 'ok']),
        brings('e', 5, ['1', 'ok'], ['2', 'ok']),
      ),
    ).toEqual(['a ok b', 'c ok d'])
  })

  test('are new under a reused id, even with the same content', () => {
    expect(
      joins(
        asks('a', 0, ['1']),
        brings('b', 1, ['1', 'ok']),
        asks('c', 2, ['1']),
        brings('d', 3, ['1', 'ok']),
      ),
    ).toEqual(['a ok b', 'c ok d'])
  })

  test('with a whole history, the last one under a reused id is new', () => {
    expect(
      joins(
        asks('a', 0, ['1']),
        brings('b', 1, ['1', 'old']),
        asks('c', 2, ['1']),
        brings('d', 3, ['1', 'old'], ['1', 'new']),
      ),
    ).toEqual(['a old b', 'c new d'])
  })

  test('answer calls with the same id in the order asked', () => {
    expect(joins(asks('a', 0, ['1'], ['1']), brings('b', 1, ['1', 'x'], ['1', 'y']))).toEqual([
      'a x b',
      'a y b',
    ])
  })

  test('answer legacy function calls by name', () => {
    expect(
      joins(
        asks('a', 0, ['', 'find'], ['', 'count'], ['', 'find']),
        brings('b', 1, ['find', 'x'], ['find', 'y'], ['count', 'z']),
      ),
    ).toEqual(['a x b', 'a z b', 'a y b'])
  })

  test('are kept once when no call asked for them; long ones are compared in full', () => {
    const long = 'x'.repeat(5_000)
    const rows = [
      brings('b', 1, ['9', `${long}a`]),
      brings('c', 2, ['9', `${long}a`]),
      brings('d', 3, ['8', `${long}b`]),
    ]
    expect(joins(...rows)).toEqual([`unasked ${long}a b`, `unasked ${long}b d`])
  })

  test('are left out beyond a limit, and the run reports it', () => {
    const per_row = 1_000
    const rows = Array.from({ length: bounds.maxResultCounts / per_row + 1 }, (_, row) =>
      brings(
        `r${String(row).padStart(3, '0')}`,
        row,
        ...Array.from({ length: per_row }, (_one, at) => [`${row}-${at}`, 'x'] as const),
      ),
    )
    const { left_out, tools } = reconstruct(rows)
    expect(tools).toHaveLength(bounds.tools_max)
    expect(left_out).toContain('results of calls without a history beyond 100000')
  })

  test('answer their calls when their content is off', () => {
    const dropped = { content_state: 'dropped' } as const
    const [use] = reconstruct([
      { ...asks('a', 0, ['1']), ...dropped },
      { ...brings('b', 1, ['1', '']), ...dropped },
    ]).tools
    expect(use).toMatchObject({ is_answered: true, result: null, fault: null, orphan: null })
  })
})

describe('tools that ran in their own observations', () => {
  test('answer a call without an id once, even if a message contains the result too', () => {
    expect(
      joins(asks('a', 0, ['']), ran('t', 1, tool('1'), 'ok'), brings('b', 2, ['1', 'ok'])),
    ).toEqual(['a ok t'])
    expect(
      joins(asks('a', 0, ['']), ran('t', 1, tool(''), 'ok'), brings('b', 2, ['find', 'ok'])),
    ).toEqual(['a ok t'])
  })

  test('are listed once when two instrumentations record the run', () => {
    const inner = { ...ran('inner', 2, tool(''), 'ok'), parent_observation_id: 't' }
    const other = { ...ran('other', 3, tool('2'), 'ok'), parent_observation_id: 't' }
    expect(joins(asks('a', 0, ['1']), ran('t', 1, tool('1'), 'ok'), inner, other)).toEqual([
      'a ok t',
      'other ok other',
    ])
  })

  test('belong to the last answer only if it does not list its calls', () => {
    const silent = call('a', 0, { content_state: 'dropped' })
    expect(joins(silent, ran('t', 1, tool('1'), 'ok'), ran('u', 2, tool('2'), 'no'))).toEqual([
      'a ok t',
      'a no u',
    ])
    expect(joins(asks('a', 0, ['1']), ran('u', 2, tool('2'), 'no'))).toEqual(['a - -', 'u no u'])
  })
})

test('messages with roles of smolagents are an answer and a text for the model', () => {
  const said = [
    { role: 'tool-call', content: 'Calling tools: read_file' },
    { role: 'tool-response', content: 'Observation: file not found' },
  ]
  expect(readMessages(said, 'system').map(({ role }) => role)).toEqual(['assistant', 'user'])
})
