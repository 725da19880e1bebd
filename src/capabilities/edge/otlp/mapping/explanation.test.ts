import { expect, test } from 'vitest'
import { observationOf } from '../../../../../test/support/observations.ts'
import {
  earlierContract,
  mapAttributes,
  mappedRequest,
  mapSpans,
  onlyOne,
  otlpRequest,
  otlpSpan,
  storedFrom,
  testMapper,
} from '../../../../../test/support/otlp-spans.ts'
import { mappingPage } from '../mappings/otlp.ts'
import { currentContract } from './contracts/registry.ts'
import { sourceName } from './contracts/sources.ts'
import { createExplainer, type Explanation } from './explanation.ts'

const explain = createExplainer()

function fieldOf({ fields }: Explanation, name: string) {
  const found = fields.find(({ field }) => field === name)
  if (found === undefined) throw new Error(`expected a field ${name}`)
  return found
}

const draft = mapAttributes(
  {
    'gen_ai.response.model': '',
    'llm.response.model_name': 'm-2',
    'ai.response.model': 'm-3',
    'gen_ai.input.messages': '[{"role":"user"}]',
    'input.value': 'raw',
    'gen_ai.usage.input_tokens': 10,
    'gen_ai.usage.cache_read.input_tokens': 4,
    'gen_ai.prompt.5000.content': 'far',
  },
  { span: { end_time: 0n }, resource: { 'service.name': 'shop' } },
)
const explainField = explain(storedFrom(draft))

test('mapped_from is short', () => {
  expect(draft.mapped_from).toBe(
    'type=fields:model+input_tokens;model=llm.response.model_name;service_name=resource:service.name;' +
      'input=gen_ai.system_instructions+gen_ai.input.messages;' +
      'input_tokens=gen_ai.usage.input_tokens;' +
      'cache_read_tokens=gen_ai.usage.cache_read.input_tokens' +
      '|lost:gen_ai.response.model,ai.response.model,input.value|default:end_time',
  )
})

test('a field has its value, source, position, and the unused sources with reasons', () => {
  expect(fieldOf(explainField, 'model')).toEqual({
    field: 'model',
    level: 'span',
    value: 'm-2',
    source: 'llm.response.model_name',
    given_by: 'rule',
    place: 3,
    lost: [
      { key: 'gen_ai.response.model', place: 2, reason: 'not_usable' },
      { key: 'ai.response.model', place: 4, reason: 'lower_priority' },
    ],
  })
  expect(fieldOf(explainField, 'input_tokens')).toMatchObject({ value: '10', place: 5, lost: [] })
})

test('defaults, missing values and inherited values are distinguished', () => {
  expect(fieldOf(explainField, 'status')).toMatchObject({ value: 'ok', given_by: 'default' })
  expect(fieldOf(explainField, 'task_id')).toMatchObject({
    value: `${draft.trace_id} (the trace)`,
    source: 'request:trace_id',
    given_by: 'default',
  })
  expect(fieldOf(explainField, 'user_id')).toMatchObject({ value: null, given_by: 'nothing' })
  const [, child] = mapSpans([
    otlpSpan({ 'user.id': 'ada', 'looptrace.task.id': 't' }),
    otlpSpan({}, { span_id: 'bbbbbbbbbbbbbbbb', parent_span_id: '00f067aa0ba902b7' }),
  ]).observations
  if (child === undefined) throw new Error('expected two spans')
  const ofChild = explain(storedFrom(child))
  expect(fieldOf(ofChild, 'user_id')).toMatchObject({ value: 'ada', given_by: 'trace' })
  expect(fieldOf(ofChild, 'task_id')).toMatchObject({ value: 't', given_by: 'trace' })
})

test('dropped content, defaults and refused keys are named', () => {
  expect(explainField).toMatchObject({
    contract_version: 'phase9-otlp-v1',
    is_contract_known: true,
    dropped_content_keys: ['input.value'],
    defaults: ['end_time'],
    cut: [],
    attributes: { cut: 0, dropped: 1, dropped_keys: ['gen_ai.prompt.5000.content'] },
  })
})

test('the price table of a cost is named', () => {
  const row = { ...storedFrom(draft), cost_usd: '0.5', price_version: 'a table by model' }
  expect(explain(row).price_version).toBe('a table by model')
})

test('a row of an earlier contract is explained by that contract', () => {
  const explainBoth = createExplainer([earlierContract, currentContract])
  const { contract_version } = onlyOne(
    testMapper({ contract: earlierContract }).traces(otlpRequest([otlpSpan()]), mappedRequest)
      .records.observations,
  )
  const found = explainBoth({ ...storedFrom(draft), contract_version })
  expect(found.is_contract_known).toBe(true)
  expect(fieldOf(found, 'input_tokens')).toMatchObject({ value: '10', place: 5, lost: [] })
  const fields = found.fields.map(({ field }) => field)
  expect(fields).not.toContain('service_tier')
  expect(explainBoth(storedFrom(draft)).fields.map(({ field }) => field)).toContain('service_tier')
})

test('a row of an unknown contract is explained as far as possible', () => {
  const row = { ...storedFrom(draft), contract_version: 'phase99' }
  const found = explain(row)
  expect(found.is_contract_known).toBe(false)
  expect(fieldOf(found, 'model')).toMatchObject({
    source: 'llm.response.model_name',
    place: null,
  })
})

test('a proxied call has no OTLP mapping', () => {
  const row = observationOf({ project_id: mappedRequest.project_id, source: 'proxy' })
  expect(() => explain(row)).toThrow(expect.objectContaining({ code: 'not_mapped_from_otlp' }))
})

test("the names of a field's sources are unique, except for the span's status", () => {
  const { trace_level, span_level } = currentContract
  for (const [field, { sources }] of Object.entries({
    ...trace_level.fields,
    ...span_level.fields,
  })) {
    const names = sources.map(sourceName).filter((name) => name !== 'span:status')
    expect(new Set(names).size, field).toBe(names.length)
  }
})

test('the page has every field and every key of the contract', () => {
  const page = mappingPage(currentContract)
  const rules = { ...currentContract.trace_level.fields, ...currentContract.span_level.fields }
  for (const [name, { sources }] of Object.entries(rules)) {
    expect(page).toContain(`| \`${name}\` |`)
    for (const source of sources) if ('key' in source) expect(page).toContain(source.key)
  }
  expect(page).not.toContain('undefined')
})
