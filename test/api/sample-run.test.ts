import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { beforeAll, describe, expect, test } from 'vitest'
import {
  runSample,
  type SampleOptions,
  type ScriptedProvider,
  type SeenRequest,
  sampleScript,
} from '../../src/capabilities/onboarding/index.ts'
import { testProvider } from '../support/provider.ts'

const taskIdOf = (request: SeenRequest) => headerOf(request, 'x-task-id')

function headerOf({ headers }: SeenRequest, wanted: string): string | undefined {
  return headers.find(([name]) => name.toLowerCase() === wanted)?.[1]
}

type Message = {
  role: string
  content: unknown
  tool_calls?: { id: string; function: { name: string; arguments: string } }[]
}
type Body = { messages: Message[]; stream: boolean; tools: unknown[] }

function bodyOf({ body }: SeenRequest): Body {
  return JSON.parse(body.toString('utf8'))
}

/**
 * Plays the tasks API from what the provider saw: each task is not there at first, then shows one
 * call more at each look, up to `calls_shown_max`.
 */
async function tasksApi(provider: ScriptedProvider, calls_shown_max = Infinity) {
  const asked: string[] = []
  const server = createServer((incoming, response) => {
    asked.push(`${incoming.method} ${incoming.url} ${incoming.headers['x-api-key']}`)
    const task_id = decodeURIComponent(incoming.url?.split(/[/?]/)[4] ?? '')
    const calls = provider.seen().requests.filter((request) => taskIdOf(request) === task_id)
    const looks = asked.filter((line) => line.startsWith(`GET /api/v1/tasks/${task_id} `)).length
    const shown = Math.min(looks - 1, calls.length, calls_shown_max)
    const task = {
      task_id,
      name: headerOf(calls[0] as SeenRequest, 'x-task-name'),
      state: incoming.method === 'PUT' ? 'completed' : 'running',
      calls: shown,
      errors: 0,
      duration_ms: 900,
      tokens: { input_uncached: 1, cache_read: 2, output_visible: 3, reasoning: 0, total: 6 },
      cost_usd: '0.001',
      models: ['gpt-4.1-mini'],
      providers: ['openai'],
    }
    const entries = [{ role: 'state_change', running: { elapsed_ms: 0 }, change: 'created' }]
    const reply = incoming.url?.includes('/timeline') ? { entries } : task
    response.writeHead(shown > 0 ? 200 : 404).end(JSON.stringify(reply))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    [Symbol.asyncDispose]: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

function optionsFor(urls: { base_url: string; api_url: string }): SampleOptions {
  return {
    ...urls,
    project_key: 'lt_test',
    provider_key: 'provider-test',
    model: 'gpt-4.1-mini',
    run_id: 'r1',
    log: () => undefined,
  }
}

async function playedOnce() {
  await using provider = await testProvider({ script: sampleScript })
  await using api = await tasksApi(provider)
  const told: string[] = []
  const log = (text: string) => told.push(text)
  const options = optionsFor({ base_url: provider.url, api_url: api.url })
  const outcome = await runSample({ ...options, log })
  return { outcome, told, asked: api.asked, requests: provider.seen().requests }
}

describe('the sample run', () => {
  let played: Awaited<ReturnType<typeof playedOnce>>
  beforeAll(async () => {
    played = await playedOnce()
  })

  test('plays two tasks of one conversation, with tools and streams', () => {
    const { outcome, requests } = played
    expect(outcome.tasks).toEqual([
      { task_id: 'refund-1042-r1', calls: 6 },
      { task_id: 'refund-1042-when-r1', calls: 2 },
    ])
    expect(requests.map(taskIdOf)).toEqual(
      outcome.tasks.flatMap(({ task_id, calls }) => Array<string>(calls).fill(task_id)),
    )
    expect(requests.map((request) => bodyOf(request).stream)).toEqual(
      requests.map((_, index) => index === 2 || index === 5),
    )
    for (const request of requests) {
      expect(headerOf(request, 'x-conversation-id')).toBe(outcome.conversation_id)
      expect(headerOf(request, 'authorization')).toBe('Bearer provider-test')
      expect(headerOf(request, 'x-api-key')).toBe('lt_test')
      expect(headerOf(request, 'x-user-id')).toBe('customer-301')
      expect(request.status).toBe(200)
    }
  })

  test('sends the whole history again, each tool call with its result', () => {
    const histories = played.requests.map((request) => bodyOf(request).messages)
    const refund = histories.slice(0, 6)
    expect(refund.map((messages) => messages.length)).toEqual([2, 4, 6, 8, 10, 12])
    for (const [index, messages] of refund.slice(1).entries()) {
      expect(messages.slice(0, -2)).toEqual(refund[index])
      const [call, result] = messages.slice(-2)
      expect(result).toMatchObject({ role: 'tool', tool_call_id: call?.tool_calls?.[0]?.id })
    }
    const asked = refund.at(-1)?.flatMap(({ tool_calls }) => tool_calls ?? []) ?? []
    const refunds = asked.filter((call) => call.function.name === 'issue_refund')
    expect(refunds.map((call) => JSON.parse(call.function.arguments))).toEqual(
      Array(2).fill({ order_id: '1042', amount_usd: 94.5, reason: 'damaged on arrival' }),
    )
    const texts = refund.at(-1)?.map(({ content }) => String(content)) ?? []
    expect(texts.filter((content) => content.includes('gateway_timeout'))).toHaveLength(1)
    expect(histories.at(-1)?.filter(({ role }) => role === 'user')).toHaveLength(2)
  })

  test('waits until the API shows all calls, completes both tasks and tells of them', () => {
    const of = (task_id: string) => played.asked.filter((line) => line.includes(`/${task_id}`))
    expect(of('refund-1042-r1 ')).toHaveLength(7)
    for (const task_id of ['refund-1042-r1', 'refund-1042-when-r1']) {
      expect(of(`${task_id}/`)).toEqual([
        `PUT /api/v1/tasks/${task_id}/complete lt_test`,
        `GET /api/v1/tasks/${task_id}/timeline?limit=100 lt_test`,
      ])
    }
    expect(played.told).toHaveLength(2)
    expect(played.told[0]).toContain('Refund for order 1042  (refund-1042-r1)')
    expect(played.told[0]).toContain('completed')
  })
})

test('a run says how many calls were missing when they do not come', async () => {
  await using provider = await testProvider({ script: sampleScript })
  await using api = await tasksApi(provider, 4)
  const options = optionsFor({ base_url: provider.url, api_url: api.url })
  let asked_ms = 0
  const clock = {
    now_ms: () => {
      asked_ms += 100
      return asked_ms
    },
  }
  await expect(runSample({ ...options, clock, wait_ms_max: 700 })).rejects.toThrow(
    'task "refund-1042-r1" shows 4 calls after 700 ms, expected 6',
  )
})

test('a run says what the proxy answered when a call fails', async () => {
  const steps = [{ reply: { error: { status: 503, message: 'too much' } } }]
  await using provider = await testProvider({ script: { steps } })
  const options = optionsFor({ base_url: provider.url, api_url: provider.url })
  await expect(runSample(options)).rejects.toThrow(/status 503: .*too much/)
})
