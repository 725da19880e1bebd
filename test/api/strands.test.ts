import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  createMapper,
  currentContract,
  jsonDecoder,
} from '../../src/capabilities/observability/otlp/index.ts'
import { createPricing } from '../../src/capabilities/observability/pricing/index.ts'
import { newId } from '../../src/kernel/ids.ts'
import type { Observation } from '../../src/model/observation.ts'
import { type DetectionApi, openDetectionApi } from '../support/detection.ts'
import type { PlainTraces } from '../support/otlp-messages.ts'
import { storedFrom } from '../support/otlp-spans.ts'
import {
  type StrandsStyle,
  type StrandsTurn,
  strandsSpans,
  strandsStyles,
} from '../support/strands-spans.ts'

const mapper = createMapper({ contract: currentContract, pricing: createPricing() })
const decoder = jsonDecoder()

/** The rows of a run, through the decoder and the mapping. */
function rowsOf(project_id: string, style: StrandsStyle, turns: readonly StrandsTurn[]) {
  const { scope, spans } = strandsSpans(style, turns, randomBytes(16).toString('hex'))
  const traces: PlainTraces = {
    resourceSpans: [{ scopeSpans: [{ scope: { name: scope }, spans }] }],
  }
  const request = decoder.traces(Buffer.from(JSON.stringify(traces)))
  const about = { project_id, environment: '', release: '', received_at_ms: 1_790_000_100_000 }
  return mapper.traces(request, about).records.observations.map(storedFrom)
}

const args = { customer_id: 'C-1042', status: 'open' }
const turn: StrandsTurn = { name: 'search_orders', input: args, result: '[]' }
const sixEqual = Array.from({ length: 6 }, () => turn)

let api: DetectionApi
beforeAll(async () => {
  api = await openDetectionApi()
  api.bench.startWorker()
})
afterAll(() => api?.[Symbol.asyncDispose]())

type Call = { name: string; arguments: { text: string }; result: { text: string } }

async function readAs(rows: readonly Observation[], project: string) {
  await api.bench.bring(rows)
  await api.bench.untilDetected()
  const task_id = rows[0]?.task_id ?? ''
  const calls = await api.get(project, `/tasks/${task_id}/tool-calls`)
  const loops = await api.get(project, `/tasks/${task_id}/loops`)
  const task = await api.get(project, `/tasks/${task_id}`)
  return { calls: calls.body, loops: loops.body, task: task.body }
}

describe.each(strandsStyles)('an agent of Strands that reports as %s', (style) => {
  test('asks six times for the same: six tool calls, a loop, and what it cost', async () => {
    const project = await api.bench.newProject()
    const { calls, loops, task } = await readAs(rowsOf(project, style, sixEqual), project)
    expect(calls).toMatchObject({ total: 6, content: 'full', left_out: [] })
    for (const call of calls['tool_calls'] as Call[]) {
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

  test('a tool that fails each time is a tool failure, with what it said', async () => {
    const project = await api.bench.newProject()
    const failing: StrandsTurn = { ...turn, result: 'orders database is locked', failed: true }
    const { calls, task } = await readAs(rowsOf(project, style, [failing, failing]), project)
    expect(calls).toMatchObject({
      total: 2,
      tool_calls: [
        { error: 'error', result: { text: 'orders database is locked' } },
        { error: 'error', result: { text: 'orders database is locked' } },
      ],
    })
    expect(task['verdict']).toMatchObject({ root_cause: { type: 'tool_failure' } })
  })

  test('the rows: types, usage, prices by model, and why each call ended', () => {
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
