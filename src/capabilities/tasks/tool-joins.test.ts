import { expect, test } from 'vitest'
import { type AskedTool, createToolJoins } from './tool-joins.ts'

const at = (name: string, time = 0n) => ({ observation_id: name, trace_id: 't', time })

function asked(id: string, from = 'a', tool_name = 'find'): AskedTool {
  return {
    ...at(from),
    tool_call_id: id,
    tool_name,
    arguments: { text: '{}', is_cut: false },
    result: undefined,
  }
}

const result = (tool_call_id: string, content = 'ok') => ({ tool_call_id, content })

test('a result answers the call that asked for it', () => {
  const joins = createToolJoins()
  const tool = asked('1')
  joins.asked([tool])
  expect(joins.answered([result('1')], at('b', 9n))).toEqual([{ result: result('1'), asked: tool }])
  expect(tool.result).toEqual(at('b', 9n))
})

test('a history that every later call sends again brings each result once', () => {
  const joins = createToolJoins()
  joins.asked([asked('1')])
  expect(joins.answered([result('1')], at('b'))).toHaveLength(1)
  joins.asked([asked('2', 'b')])
  expect(joins.answered([result('1'), result('2')], at('c'))).toMatchObject([
    { result: { tool_call_id: '2' }, asked: { observation_id: 'b' } },
  ])
  expect(joins.answered([result('1'), result('2')], at('d'))).toEqual([])
})

test('a retry of the call that brought a result brings it no second time', () => {
  const joins = createToolJoins()
  joins.asked([asked('1')])
  expect(joins.answered([result('1')], at('b'))).toHaveLength(1)
  expect(joins.answered([result('1')], at('b again'))).toEqual([])
})

test('an id that is used again, with the same content, is a new result of the new call', () => {
  const joins = createToolJoins()
  joins.asked([asked('1', 'a')])
  joins.answered([result('1')], at('b'))
  const second = asked('1', 'b')
  joins.asked([second])
  expect(joins.answered([result('1')], at('c'))).toEqual([{ result: result('1'), asked: second }])
})

test('with a whole history, the last result under an id used again is the new one', () => {
  const joins = createToolJoins()
  joins.asked([asked('1', 'a')])
  joins.answered([result('1', 'old')], at('b'))
  const second = asked('1', 'b')
  joins.asked([second])
  const brought = joins.answered([result('1', 'old'), result('1', 'new')], at('c'))
  expect(brought).toEqual([{ result: result('1', 'new'), asked: second }])
})

test('old function calls, without ids, are answered under their name, in the order asked', () => {
  const joins = createToolJoins()
  const tools = [asked('', 'a', 'find'), asked('', 'a', 'count'), asked('', 'a', 'find')]
  joins.asked(tools)
  const results = [result('find', 'x'), result('find', 'y'), result('count', 'z')]
  expect(joins.answered(results, at('b')).map((joined) => joined.asked)).toEqual([
    tools[0],
    tools[2],
    tools[1],
  ])
})

test('a result nobody asked for has no tool call; a long one is told apart by all of it', () => {
  const joins = createToolJoins()
  const long = 'x'.repeat(5000)
  expect(joins.answered([result('9', `${long}a`)], at('b'))).toEqual([
    { result: result('9', `${long}a`), asked: undefined },
  ])
  expect(joins.answered([result('9', `${long}a`)], at('c'))).toEqual([])
  expect(joins.answered([result('9', `${long}b`)], at('d'))).toHaveLength(1)
})
