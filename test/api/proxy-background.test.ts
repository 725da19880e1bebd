import { describe, expect, test } from 'vitest'
import { exchangeToObservation } from '../../src/capabilities/records/exchanges/mapping/exchange-to-records.ts'
import { createPricing } from '../../src/capabilities/records/pricing/index.ts'
import { findSameCalls } from '../../src/capabilities/records/same-call/index.ts'
import type { Exchange } from '../../src/model/exchange.ts'
import type { Observation } from '../../src/model/observation.ts'
import { type RecordedExchange, recordedSessions } from '../support/provider-sessions.ts'
import { type ProxyServer, proxyServer } from '../support/proxy-server.ts'
import { rawPost } from '../support/raw-post.ts'
import {
  json,
  type ReplayingProvider,
  replayingProvider,
  stream,
} from '../support/replaying-provider.ts'
import { hasSharedFixtures } from '../support/shared-fixtures.ts'

type Usage = Record<'input_uncached' | 'output_visible' | 'reasoning', number | null>
type Row = { kind: string; status: string; finish_reason: string | null; usage: Usage | null }

const headers = { 'x-looptrace-key': 'lt_valid', authorization: 'Bearer sk-theirs' }

/** The exchanges of a session that name one response. */
const sessions = recordedSessions<Row & { count_once_with: string | null }>().filter(
  ({ session }) => session().expect.some(({ count_once_with }) => count_once_with !== null),
)

async function play(
  { provider, proxy }: { provider: ReplayingProvider; proxy: ProxyServer },
  { request, response }: RecordedExchange,
): Promise<void> {
  const pieces = stream(response.body, 500).pieces
  provider.answer({ status: response.status, headers: response.headers, pieces })
  const sent = request.method === 'GET' ? '' : JSON.stringify(request.body ?? {})
  const url = `${proxy.origin}${request.path}`
  const answer = await rawPost(url, sent, headers, request.method).answer
  expect([answer.status, answer.body.toString()]).toEqual([response.status, response.body])
  expect(provider.requests.at(-1)?.url).toMatch(/\/v1(?:beta)?\/(?:responses|interactions)/)
  expect(provider.requests.at(-1)?.method).toBe(request.method)
}

function rowsOf(exchanges: readonly Exchange[]): Observation[] {
  const context = { pricing: createPricing(), countTokens: () => 0, response_bytes_max: 10_000_000 }
  const rows = exchanges.map((exchange) => exchangeToObservation(exchange, 'm', context))
  const keyOf = (row: Observation) => `${row.trace_id} ${row.observation_id} ${row.start_time}`
  return [...new Map(rows.map((row) => [keyOf(row), row])).values()]
}

/** When the provider began the responses of a session, in milliseconds since 1970. */
function startOf(exchanges: readonly RecordedExchange[]): number {
  const text = exchanges.map(({ response }) => response.body).join('')
  const created_s = /"created_at":\s*(\d+)/.exec(text)?.[1]
  return created_s === undefined
    ? Date.parse(/"created":\s*"([^"]+)"/.exec(text)?.[1] ?? '')
    : Number(created_s) * 1000
}

test.runIf(hasSharedFixtures)('there are sessions in the background', () => {
  expect(sessions.length).toBeGreaterThan(5)
})

describe.runIf(hasSharedFixtures)(
  'each response of a session in the background is one call',
  () => {
    test.each(sessions)('$name', async ({ session }) => {
      const { exchanges, expect: expected } = session()
      const start_ms = startOf(exchanges)
      await using provider = await replayingProvider()
      await using proxy = await proxyServer({ ...provider, clock: { now_ms: () => start_ms } })
      for (const exchange of exchanges) await play({ provider, proxy }, exchange)
      const calls = expected.filter(({ kind }) => kind === 'generation').length
      const rows = rowsOf(proxy.exchanges)
      const same = findSameCalls(rows)
      const counting = rows.filter((row) => !same.has(row))
      expect(counting).toHaveLength(calls)
      const sumOf = (name: keyof Usage) =>
        lastStated(expected).reduce((sum, usage) => sum + (usage[name] ?? 0), 0)
      const sum = (
        column: 'input_uncached_tokens' | 'output_visible_tokens' | 'reasoning_tokens',
      ) => counting.reduce((all, row) => all + (row[column] ?? 0), 0)
      expect([
        sum('input_uncached_tokens'),
        sum('output_visible_tokens'),
        sum('reasoning_tokens'),
      ]).toEqual([sumOf('input_uncached'), sumOf('output_visible'), sumOf('reasoning')])
    })
  },
)

/** The last stated usage of each response: exchanges of one follow each other. */
function lastStated(rows: readonly Row[]): Usage[] {
  const last: (Usage | null)[] = []
  for (const { kind, usage } of rows) {
    if (kind === 'generation') last.push(usage)
    else last[last.length - 1] = usage ?? last.at(-1) ?? null
  }
  return last.filter((usage) => usage !== null)
}

describe('what is recorded of retrievals', () => {
  const now_s = 1_790_000_000
  const clock = { now_ms: () => now_s * 1000 }
  const response = (status: string, more: object = {}) => ({
    ...{ id: 'resp_1', object: 'response', created_at: now_s - 60, status, model: 'm', output: [] },
    ...more,
  })
  const usage = { input_tokens: 3, output_tokens: 4, total_tokens: 7 }

  test('nothing of polls of running work, failed polls and responses of days ago', async () => {
    await using provider = await replayingProvider()
    await using proxy = await proxyServer({ ...provider, clock })
    const poll = async (answer: Parameters<ReplayingProvider['answer']>[0]) => {
      provider.answer(answer)
      await rawPost(`${proxy.origin}/v1/responses/resp_1`, '', headers, 'GET').answer
    }
    await poll(json(response('queued')))
    await poll(
      json(response('in_progress', { output: [{ type: 'message', status: 'completed' }] })),
    )
    await poll(json({ error: { message: 'no' } }, 404))
    await poll(json('not json'))
    await poll(stream('event: response.created\ndata: {}\n\n'))
    await poll(json(response('completed', { created_at: now_s - 100_000, usage })))
    expect(proxy.exchanges).toEqual([])
    expect((await proxy.metrics.expose()).body).toContain('endpoint="responses.retrieve"')
    await poll(json(response('completed', { usage })))
    await poll(json(response('completed', { usage })))
    expect(rowsOf(proxy.exchanges)).toMatchObject([
      {
        type: 'generation',
        response_id: 'resp_1',
        start_time: BigInt(now_s - 60) * 1_000_000_000n,
        input_uncached_tokens: 3,
        usage_source: 'provider',
      },
    ])
  })

  test('a cancellation without a body passes', async () => {
    await using provider = await replayingProvider()
    await using proxy = await proxyServer({ ...provider, clock })
    provider.answer(json(response('cancelled')))
    const answer = await fetch(`${proxy.origin}/v1/responses/resp_1/cancel`, {
      method: 'POST',
      headers,
    })
    expect(answer.status).toBe(200)
    expect(provider.requests.map(({ method, url }) => `${method} ${url}`)).toEqual([
      'POST /openai/v1/responses/resp_1/cancel',
    ])
    expect(rowsOf(proxy.exchanges)).toMatchObject([{ status: 'cancelled', usage_source: 'none' }])
  })

  test.each(['..', '%2e%2e', 'a%2Fb', 'lt_valid'])('the id %s is refused', async (id) => {
    await using provider = await replayingProvider()
    await using proxy = await proxyServer({ ...provider, clock })
    for (const path of [`/v1/responses/${id}`, `/v1beta/interactions/${id}`]) {
      const { status } = await rawPost(`${proxy.origin}${path}`, '', headers, 'GET').answer
      expect([400, 404, 405]).toContain(status)
    }
    expect(provider.requests).toEqual([])
  })

  test('a compaction and a count of tokens go to their paths', async () => {
    await using provider = await replayingProvider()
    await using proxy = await proxyServer({ ...provider, clock })
    const compacted = { id: 'resp_2', object: 'response.compaction', output: [], usage }
    const counted = { object: 'response.input_tokens', input_tokens: 5 }
    provider.answer(({ url }) => json(url.endsWith('compact') ? compacted : counted))
    for (const path of ['compact', 'input_tokens']) {
      await rawPost(`${proxy.origin}/v1/responses/${path}`, { model: 'm' }, headers).answer
    }
    expect(provider.requests.map(({ url }) => url)).toEqual([
      '/openai/v1/responses/compact',
      '/openai/v1/responses/input_tokens',
    ])
    expect(rowsOf(proxy.exchanges)).toMatchObject([
      { type: 'generation', name: 'compact m', input_uncached_tokens: 3 },
      { type: 'span', name: 'count_tokens m', usage_source: 'none' },
    ])
  })
})
