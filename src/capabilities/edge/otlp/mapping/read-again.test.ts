import { expect, test } from 'vitest'
import {
  earlierContract,
  mappedRequest,
  onlyOne,
  otlpRequest,
  otlpSpan,
  storedFrom,
  testMapper,
} from '../../../../../test/support/otlp-spans.ts'
import { fixtureNames, readFixture } from '../../../../../test/support/shared-fixtures.ts'
import type { Observation } from '../../../../model/observation.ts'
import { createPricing } from '../../../records/pricing/index.ts'
import type { OtlpRequest, OtlpSpan } from '../contract.ts'
import { jsonDecoder } from '../decode/json/decoder.ts'
import { currentContract } from './contracts/registry.ts'
import { createRowReader } from './read-again.ts'

const pricing = createPricing()
const before = testMapper({ pricing, contract: earlierContract })
const now = testMapper({ pricing, contract: currentContract })
const readAgain = createRowReader({ pricing })

function rowsOf(mapper: typeof now, request: OtlpRequest<OtlpSpan>): Observation[] {
  return mapper.traces(request, mappedRequest).records.observations.map(storedFrom)
}

const folders = ['reports', 'otlp'] as const
const files = folders.flatMap((folder) =>
  fixtureNames(folder)
    .filter((name) => folder === 'otlp' || name.endsWith('.otlp.json'))
    .map((name) => `${folder}/${name}`),
)

test.runIf(files.length > 0).each(files)('%s of the earlier contract is read as today', (path) => {
  const { traces } = jsonDecoder()
  const request = traces(Buffer.from(JSON.stringify(readFixture(path))))
  const wanted = rowsOf(now, request)
  for (const [at, row] of rowsOf(before, request).entries()) {
    expect(wanted[at]).toMatchObject(readAgain(row).usage)
  }
})

const call = {
  'gen_ai.operation.name': 'chat',
  'gen_ai.provider.name': 'openai',
  'gen_ai.request.model': 'gpt-5-mini',
  'gen_ai.usage.input_tokens': 13_675,
  'gen_ai.usage.output_tokens': 10,
}

function stored(attributes: Parameters<typeof otlpSpan>[0], more: Partial<Observation> = {}) {
  return { ...onlyOne(rowsOf(before, otlpRequest([otlpSpan(attributes)]))), ...more }
}

test('what a span said under another name counts', () => {
  const row = stored({
    ...call,
    ...{ 'gen_ai.usage.input_cached_tokens': 9_216, 'gen_ai.response.id': 'r-1' },
    'openai.response.service_tier': 'flex',
  })
  expect(row).toMatchObject({ cache_read_tokens: 0, response_id: '', service_tier: '' })
  const { usage } = readAgain(row)
  expect(usage).toMatchObject({
    ...{ input_uncached_tokens: 4_459, cache_read_tokens: 9_216, output_visible_tokens: 10 },
    ...{ response_id: 'r-1', service_tier: 'flex', price_partial: [] },
  })
  expect(Number(usage.cost_usd)).toBeLessThan(Number(row.cost_usd) / 2)
})

test.each([
  ['another type', { type: 'tool' }],
  ['another model', { model: 'gpt-5' }],
  ['dropped attributes', { attributes: { 'mapping.dropped': '3' } }],
  ['no attributes left', { attributes: {} }],
] as const)('a span with %s keeps its usage', (_case, more) => {
  const row = stored({ ...call, 'gen_ai.usage.input_cached_tokens': 9_216 }, more as object)
  expect(row).toMatchObject(readAgain(row).usage)
})

test('an owner that the span did not name was guessed', () => {
  const said = stored({ ...call, 'user.id': 'ann', 'session.id': 'S', 'looptrace.task.id': 'T' })
  expect(said).toMatchObject(readAgain(said).owner)
  const guessed = { ...stored(call), task_id: 'T', task_implicit: false, user_id: 'ann' }
  expect(readAgain({ ...guessed, task_name: 'plan', conversation_id: 'c' }).owner).toEqual({
    ...{ task_id: guessed.trace_id, task_implicit: true, task_name: '', user_id: '' },
    ...{ conversation_id: '', conversation_external_id: '', release: '' },
  })
})

test('rows of today, and rows of others, keep what they say', () => {
  const today = onlyOne(rowsOf(now, otlpRequest([otlpSpan(call)])))
  const given = { ...today, user_id: 'given by its root' }
  expect(given).toMatchObject(readAgain(given).usage)
  expect(given).toMatchObject(readAgain(given).owner)
})

test('a proxied call shows its cost as ours or as reported, and gets a price if it has none', () => {
  const row = stored(call, { source: 'proxy', contract_version: 'proxy-v1' })
  const old = { ...row, cost_computed_usd: null, cost_reported_usd: null }
  expect(readAgain({ ...old, cost_usd: '0.120000000' }).usage).toMatchObject({
    ...{ cost_usd: '0.120000000', cost_computed_usd: '0.12', cost_reported_usd: null },
  })
  expect(readAgain({ ...old, cost_usd: '0.12', price_version: 'reported' }).usage).toMatchObject({
    ...{ cost_computed_usd: null, cost_reported_usd: '0.12' },
  })
  expect(readAgain({ ...old, cost_usd: null, price_version: '' }).usage.cost_usd).toBe(row.cost_usd)
})
