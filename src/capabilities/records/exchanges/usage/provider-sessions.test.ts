import { describe, expect, test } from 'vitest'
import {
  endpointOf,
  type RecordedExchange,
  recordedSessions,
} from '../../../../../test/support/provider-sessions.ts'
import { hasSharedFixtures } from '../../../../../test/support/shared-fixtures.ts'
import type { ExchangeFacts } from '../../../../model/exchange.ts'
import { readAnswer } from '../answer/read-answer.ts'
import { readRequest } from '../mapping/read-request.ts'
import { type CallUsage, callUsage } from './call-usage.ts'

type Buckets = Record<
  'input_uncached' | 'cache_read' | 'cache_write' | 'output_visible' | 'reasoning',
  number | null
>

type Expected = {
  exchange: string
  usage: Buckets | null
  provider_total?: number | null
  accept?: { usage?: (Buckets | null)[] }
  usage_by_model?: Record<string, { input: number; output: number }>
  cache_write_by_life?: { '5m': number; '1h': number }
  tool_use_prompt_tokens?: number
  service_tier?: string | null
}

const sessions = recordedSessions<Expected>()

function usageOf({ request, response }: RecordedExchange, provider: string): CallUsage {
  const facts = {
    endpoint: endpointOf(request) ?? 'chat.completions',
    provider,
    streamed: response.streamed,
    response_type: response.headers['content-type'] ?? '',
    response_encoding: '',
    content_state: 'full',
    status_code: response.status,
  } as unknown as ExchangeFacts
  return callUsage({
    facts,
    request: readRequest(Buffer.from(JSON.stringify(request.body ?? {})), facts),
    answer: readAnswer(Buffer.from(response.body), facts, 10_000_000),
    outcome: 'complete',
    countTokens: () => 0,
  })
}

function toBuckets({ usage, usage_source }: CallUsage): Buckets | null {
  if (usage === undefined || usage_source !== 'provider') return null
  const { buckets } = usage
  return {
    input_uncached: buckets.input_uncached_tokens,
    cache_read: buckets.cache_read_tokens,
    cache_write: buckets.cache_write_tokens,
    output_visible: buckets.output_visible_tokens,
    reasoning: buckets.reasoning_tokens,
  }
}

const zeros = (buckets: Buckets | null) =>
  buckets && Object.fromEntries(Object.entries(buckets).map(([name, count]) => [name, count ?? 0]))

const sumOf = (buckets: Buckets | null) =>
  Object.values(buckets ?? {}).reduce<number>((sum, count) => sum + (count ?? 0), 0)

const tierWords: Record<string, string> = {
  default: 'standard',
  auto: 'standard',
  ON_DEMAND: 'standard',
  ON_DEMAND_FLEX: 'flex',
  PROVISIONED_THROUGHPUT: 'provisioned',
}

test.runIf(hasSharedFixtures)(
  'sessions of all formats state most usage, and a total for half',
  () => {
    const rows = sessions.flatMap(({ session }) => session().expect)
    expect(rows.filter(({ usage }) => usage !== null).length).toBeGreaterThan(150)
    expect(rows.filter(({ provider_total }) => provider_total != null).length).toBeGreaterThan(80)
  },
)

describe.runIf(hasSharedFixtures)('recorded sessions of providers', () => {
  test.each(sessions)('$name', ({ session, provider }) => {
    const { exchanges, expect: rows } = session()
    for (const [at, exchange] of exchanges.entries()) {
      const row = rows[at]
      if (row === undefined) throw new Error('an exchange without an expectation')
      if (row.usage !== null) expectUsage(usageOf(exchange, provider), row, row.usage)
    }
  })
})

function expectUsage(call: CallUsage, row: Expected, usage: Buckets): void {
  const buckets = toBuckets(call)
  const accepted = [usage, ...(row.accept?.usage ?? [])].map(zeros)
  expect(accepted, row.exchange).toContainEqual(zeros(buckets))
  if (buckets === null) return
  if (typeof row.provider_total === 'number') expect(sumOf(buckets)).toBe(row.provider_total)
  expect(call.inconsistency).toBe('')
  expectFacts(call, row)
}

function expectFacts({ usage, service_tier }: CallUsage, row: Expected): void {
  const { cache_write_by_life: lives, tool_use_prompt_tokens, usage_by_model } = row
  const details = usage?.details ?? {}
  if (lives !== undefined) {
    expect([details.cache_write_5m ?? 0, details.cache_write_1h ?? 0]).toEqual([
      lives['5m'],
      lives['1h'],
    ])
  }
  if (tool_use_prompt_tokens !== undefined) {
    expect(details.tool_use_prompt ?? 0).toBe(tool_use_prompt_tokens)
  }
  if (row.service_tier) {
    expect(service_tier).toBe(tierWords[row.service_tier] ?? row.service_tier)
  }
  if (usage_by_model !== undefined) {
    const others = (usage?.steps ?? []).filter(({ model }) => model !== '')
    for (const { model, buckets } of others) {
      const { input_uncached_tokens, cache_read_tokens, cache_write_tokens } = buckets
      const input = input_uncached_tokens + cache_read_tokens + cache_write_tokens
      const output = buckets.output_visible_tokens + buckets.reasoning_tokens
      expect({ input, output }).toEqual(usage_by_model[model])
    }
    expect(others.length).toBeGreaterThan(0)
  }
}
