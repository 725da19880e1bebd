import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { beforeAll, describe, expect, test } from 'vitest'
import {
  runSample,
  type SampleOptions,
  type ScriptedProvider,
  type SeenRequest,
  sampleScript,
} from '../../src/capabilities/demo/index.ts'
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

type Shape = {
  /** Maximum calls of a task that are shown. */
  calls_shown_max?: number
  /** How often detection is asked before it has analysed all of a task. */
  looks?: number
}

/**
 * Simulates the tasks API from the provider's requests: each task is missing at first, then shows
 * one call more at each read, and has a verdict once it is completed and was analysed.
 */
async function tasksApi(
  provider: ScriptedProvider,
  { calls_shown_max = Infinity, looks = 2 }: Shape = {},
) {
  const asked: string[] = []
  const server = createServer((incoming, response) => {
    asked.push(`${incoming.method} ${incoming.url} ${incoming.headers['x-api-key']}`)
    const [, , , , name = '', rest] = incoming.url?.split(/[/?]/) ?? []
    const task_id = decodeURIComponent(name)
    const calls = provider.seen().requests.filter((request) => taskIdOf(request) === task_id)
    const times = (line: string) => asked.filter((one) => one.startsWith(line)).length
    const seen = times(`GET /api/v1/tasks/${task_id} `)
    const shown = Math.min(seen - 1, calls.length, calls_shown_max)
    const isCompleted = times(`PUT /api/v1/tasks/${task_id}/complete`) > 0
    const is_current = times(`GET /api/v1/tasks/${task_id}/findings`) >= looks
    const verdict = { summary: `of ${task_id}`, worst_severity: null, root_cause: null }
    const task = { task_id, calls: shown, verdict: isCompleted && is_current ? verdict : null }
    const reply = rest === 'findings' ? { is_current: isCompleted && is_current } : task
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
    log: () => undefined,
  }
}

/** Time that advances with each reading. */
function quickClock() {
  let now = 0
  return {
    now_ms: () => {
      now += 100
      return now
    },
  }
}

async function playedOnce() {
  await using provider = await testProvider({ script: sampleScript })
  await using api = await tasksApi(provider)
  const told: string[] = []
  const log = (text: string) => told.push(text)
  const options = optionsFor({ base_url: provider.url, api_url: api.url })
  await runSample({ ...options, log })
  return { told, asked: api.asked, requests: provider.seen().requests }
}

const looping = 'refund-1042'
const twin = 'refund-1043'

describe('the sample run', () => {
  let played: Awaited<ReturnType<typeof playedOnce>>
  beforeAll(async () => {
    played = await playedOnce()
  })

  test('plays two tasks, with tools and streams, that have the tag of the sample', () => {
    const { requests } = played
    expect(requests.map(taskIdOf)).toEqual([
      ...Array<string>(7).fill(looping),
      ...Array<string>(5).fill(twin),
    ])
    expect(requests.filter((request) => bodyOf(request).stream)).toHaveLength(4)
    for (const request of requests) {
      expect(headerOf(request, 'x-conversation-id')).toBe(
        taskIdOf(request)?.replace('refund', 'sample'),
      )
      expect(headerOf(request, 'authorization')).toBe('Bearer provider-test')
      expect(headerOf(request, 'x-api-key')).toBe('lt_test')
      expect(headerOf(request, 'x-user-id')).toBe('looptrace-sample')
      expect(headerOf(request, 'x-task-name')).toMatch(/^Sample: /)
      expect(request.status).toBe(200)
    }
  })

  test('sends the whole history again, each tool call with its result', () => {
    const histories = played.requests.map((request) => bodyOf(request).messages)
    for (const run of [histories.slice(0, 7), histories.slice(7)]) {
      expect(run.map((messages) => messages.length)).toEqual(run.map((_, call) => 2 + 2 * call))
      for (const [index, messages] of run.slice(1).entries()) {
        expect(messages.slice(0, -2)).toEqual(run[index])
        const [call, result] = messages.slice(-2)
        expect(result).toMatchObject({ role: 'tool', tool_call_id: call?.tool_calls?.[0]?.id })
      }
    }
  })

  test('has an agent that repeats its request, and a healthy one that rephrases it', () => {
    const asked = (call: number) => {
      const messages = bodyOf(played.requests[call] as SeenRequest).messages
      return messages.flatMap(({ tool_calls }) => tool_calls ?? []).map((one) => one.function)
    }
    const searches = asked(6).filter(({ name }) => name === 'search_policy')
    expect(searches).toHaveLength(5)
    expect(new Set(searches.map((one) => one.arguments)).size).toBe(1)
    expect(asked(11).map(({ name }) => name)).toEqual([
      'look_up_order',
      'search_policy',
      'search_policy',
      'issue_refund',
    ])
    expect(new Set(asked(11).map((one) => one.arguments)).size).toBe(4)
    expect(asked(11)[1]).toEqual(searches[0])
  })

  test('waits for all calls, completes both tasks and shows the verdict of each', () => {
    const of = (text: string) => played.asked.filter((line) => line.includes(text))
    expect(of(`GET /api/v1/tasks/${looping} `).length).toBeGreaterThanOrEqual(8)
    for (const task_id of [looping, twin]) {
      expect(of(`PUT /api/v1/tasks/${task_id}/complete lt_test`)).toHaveLength(1)
      expect(of(`GET /api/v1/tasks/${task_id}/findings`)).toHaveLength(2)
    }
    expect(played.told).toHaveLength(1)
    expect(played.told[0]).toContain(`of ${looping}\n`)
    expect(played.told[0]).toContain(`of ${twin}\n`)
  })
})

test.concurrent('waits a bounded time for missing calls; the report says how to ask', async () => {
  await using provider = await testProvider({ script: sampleScript })
  await using api = await tasksApi(provider, { calls_shown_max: 5 })
  const told: string[] = []
  const options = optionsFor({ base_url: provider.url, api_url: api.url })
  const log = (text: string) => told.push(text)
  await runSample({ ...options, log, clock: quickClock(), wait_ms_max: 1_000 })
  expect(told.join('')).toContain(`${looping}  no verdict yet; read it later`)
  expect(told.join('')).toContain(`tasks/${looping} \\\n`)
  expect(told.join('')).toContain(`${twin}  nothing wrong found`)
  expect(api.asked.filter((line) => line.startsWith(`PUT /api/v1/tasks/${looping}/`))).toEqual([])
})

test.concurrent('waits a bounded time for missing verdicts, and then names them', async () => {
  await using provider = await testProvider({ script: sampleScript })
  await using api = await tasksApi(provider, { looks: Infinity })
  const told: string[] = []
  const options = optionsFor({ base_url: provider.url, api_url: api.url })
  const log = (text: string) => told.push(text)
  await runSample({ ...options, log, clock: quickClock(), wait_ms_max: 1_000 })
  expect(told.join('')).toContain(`${looping}  no verdict yet; read it later`)
  expect(told.join('')).toContain(`${twin}  no verdict yet; read it later`)
})

test('a run ends at once when it is stopped', async () => {
  await using provider = await testProvider({ script: sampleScript })
  await using api = await tasksApi(provider, { looks: Infinity })
  const ending = new AbortController()
  const options = optionsFor({ base_url: provider.url, api_url: api.url })
  const run = runSample({ ...options, signal: ending.signal })
  setTimeout(() => ending.abort(new Error('enough')), 300)
  await expect(run).rejects.toThrow('enough')
})

test("a run reports the proxy's answer when a call fails", async () => {
  const steps = [{ reply: { error: { status: 503, message: 'too much' } } }]
  await using provider = await testProvider({ script: { steps } })
  const options = optionsFor({ base_url: provider.url, api_url: provider.url })
  await expect(runSample(options)).rejects.toThrow(/status 503: .*too much/)
})
