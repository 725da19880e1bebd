import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { newId } from '../../src/kernel/ids.ts'
import {
  type AgentTurn,
  readTask,
  rowsOfSpans,
  type ShownToolCall,
} from '../support/agent-telemetry.ts'
import { type DetectionApi, openDetectionApi } from '../support/detection.ts'
import {
  type LangGraphListener,
  langGraphListeners,
  langGraphSpans,
} from '../support/langgraph-spans.ts'

function rowsOf(project_id: string, listener: LangGraphListener, turns: readonly AgentTurn[]) {
  return rowsOfSpans(project_id, langGraphSpans(listener, turns, randomBytes(16).toString('hex')))
}

const args = { customer_id: 'C-1042', status: 'open' }
const turn: AgentTurn = { name: 'search_orders', input: args, result: 'none' }
const fourEqual = Array.from({ length: 4 }, () => turn)

let api: DetectionApi
beforeAll(async () => {
  api = await openDetectionApi()
  api.bench.startWorker()
})
afterAll(() => api?.[Symbol.asyncDispose]())

describe.each(langGraphListeners)('a LangGraph agent recorded by %s', (listener) => {
  test('makes the same call four times: one task, four tool calls, a loop', async () => {
    const project = await api.bench.newProject()
    const rows = rowsOf(project, listener, fourEqual)
    expect(new Set(rows.map(({ task_id }) => task_id)).size).toBe(1)
    const { calls, loops, task } = await readTask(api, rows)
    expect(calls).toMatchObject({ total: 4, content: 'full', left_out: [] })
    for (const call of calls['tool_calls'] as ShownToolCall[]) {
      expect(call).toMatchObject({ name: turn.name, orphan: null, result: { text: 'none' } })
      expect(JSON.parse(call.arguments.text)).toEqual(args)
    }
    expect(loops).toMatchObject({ total: 1, loops: [{ type: 'repeat_call', repeats: 4 }] })
    expect(task).toMatchObject({ calls: 5 })
    expect(Number(task['cost_usd'])).toBeCloseTo(5 * cost, 9)
  })

  test('the rows have the same buckets, and tools have their calls', () => {
    const rows = rowsOf(newId(), listener, [turn])
    for (const chat of rows.filter(({ type }) => type === 'generation')) {
      expect(chat).toMatchObject({ input_uncached_tokens: 86, cache_read_tokens: 1_920 })
      const { output_visible_tokens: visible, reasoning_tokens: reasoning } = chat
      // OpenLLMetry does not report reasoning.
      expect([visible, reasoning]).toEqual(listener === 'openllmetry' ? [300, 0] : [108, 192])
    }
    const tools = rows.filter(({ type }) => type === 'tool')
    expect(tools).toMatchObject([
      {
        input: JSON.stringify(args),
        output: 'none',
        tool_calls: [{ id: 'c0', name: 'search_orders' }],
        tool_results: [{ tool_call_id: 'c0', content: 'none' }],
      },
    ])
  })
})

/** Cost of 86 input tokens, 1,920 cached tokens and 300 output tokens of gpt-5-mini. */
const cost = (86 * 0.25 + 1_920 * 0.025 + 300 * 2) / 1e6
