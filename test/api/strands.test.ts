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
import { type StrandsStyle, strandsSpans, strandsStyles } from '../support/strands-spans.ts'

function rowsOf(project_id: string, style: StrandsStyle, turns: readonly AgentTurn[]) {
  return rowsOfSpans(project_id, strandsSpans(style, turns, randomBytes(16).toString('hex')))
}

const args = { customer_id: 'C-1042', status: 'open' }
const turn: AgentTurn = { name: 'search_orders', input: args, result: '[]' }
const sixEqual = Array.from({ length: 6 }, () => turn)

let api: DetectionApi
beforeAll(async () => {
  api = await openDetectionApi()
  api.bench.startWorker()
})
afterAll(() => api?.[Symbol.asyncDispose]())

describe.each(strandsStyles)('a Strands agent that reports as %s', (style) => {
  test('makes the same call six times: six tool calls, a loop, and its cost', async () => {
    const project = await api.bench.newProject()
    const { calls, loops, task } = await readTask(api, rowsOf(project, style, sixEqual))
    expect(calls).toMatchObject({ total: 6, content: 'full', left_out: [] })
    for (const call of calls['tool_calls'] as ShownToolCall[]) {
      expect(call).toMatchObject({
        name: 'search_orders',
        answered: true,
        error: null,
        orphan: null,
        result: { text: '[]' },
      })
      expect(JSON.parse(call.arguments.text)).toEqual(args)
    }
    expect(loops).toMatchObject({
      total: 1,
      loops: [{ type: 'repeat_call', start_step: 0, repeats: 6 }],
    })
    expect(task).toMatchObject({ calls: 7 })
    expect(Number(task['cost_usd'])).toBeCloseTo(0.03352272, 9)
  })

  test('a tool that fails each time is a tool failure, with its error', async () => {
    const project = await api.bench.newProject()
    const failing: AgentTurn = { ...turn, result: 'orders database is locked', failed: true }
    const { calls, task } = await readTask(api, rowsOf(project, style, [failing, failing]))
    expect(calls).toMatchObject({
      total: 2,
      tool_calls: [
        { error: 'error', result: { text: 'orders database is locked' } },
        { error: 'error', result: { text: 'orders database is locked' } },
      ],
    })
    expect(task['verdict']).toMatchObject({ root_cause: { type: 'tool_failure' } })
  })

  test('the rows: types, usage, prices by model, and finish reasons', () => {
    const rows = rowsOf(newId(), style, [turn])
    const chats = rows.filter(({ type }) => type === 'generation')
    expect(chats.map(({ finish_reason }) => finish_reason)).toEqual(['tool_calls', 'end_turn'])
    for (const chat of chats) {
      expect(chat).toMatchObject({
        cache_read_tokens: 512,
        output_visible_tokens: 60,
        usage_semantics: style === 'typescript' ? 'exclusive' : 'inclusive',
        price_version: expect.stringMatching(/^genai-prices .* by model$/),
      })
    }
    expect(chats.map((chat) => chat.input_uncached_tokens)).toEqual([800, 900])
    expect(rows.flatMap(({ tool_calls }) => tool_calls).length).toBe(2)
    const [tool] = rows.filter(({ type }) => type === 'tool')
    expect(JSON.parse(tool?.input ?? '')).toEqual(args)
    expect(JSON.parse(tool?.output ?? '')).toEqual([{ text: '[]' }])
    const cycles = rows.filter(({ name }) => name.endsWith('_cycle'))
    expect(cycles).toHaveLength(2)
    expect(rows.filter(({ cost_usd }) => cost_usd !== null)).toEqual(chats)
  })
})
