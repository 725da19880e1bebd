import { readFile } from 'node:fs/promises'
import { Validator } from '@seriousme/openapi-schema-validator'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { default as formats } from 'ajv-formats'
import { expect, test } from 'vitest'
import { canonicalJson } from '../src/kernel/canonical-json.ts'
import { isJson, type Json } from '../src/platform/http/json-schema.ts'

const text = await readFile('docs/reference/openapi.json', 'utf8')
const document: OpenApi = JSON.parse(text)
const { schemas, parameters } = document.components

type OpenApi = Json & {
  tags: { name: string; description: string }[]
  paths: Record<string, Record<string, Operation>>
  components: { schemas: Record<string, Json>; parameters: Record<string, Json> } & Json
}
type Operation = Json & {
  operationId: string
  tags: string[]
  parameters?: Json[]
  responses: Record<string, Json>
}

const operations = Object.values(document.paths).flatMap((item) => Object.values(item))

test('the document is valid OpenAPI 3.1', async () => {
  const validator = new Validator()
  const result = await validator.validate(structuredClone(document))
  expect(result.errors ?? []).toEqual([])
  expect(result.valid).toBe(true)
  expect(validator.version).toBe('3.1')
})

test('every component is a JSON Schema, and every reference resolves', () => {
  const ajv = new Ajv2020({ strict: true, strictTypes: false, strictRequired: false })
  formats.default(ajv)
  ajv.addVocabulary(['discriminator', 'example', 'components'])
  ajv.addSchema({ $id: 'https://looptrace.test/openapi', components: { schemas } })
  for (const name of Object.keys(schemas)) {
    const $ref = `https://looptrace.test/openapi#/components/schemas/${name}`
    expect(() => ajv.compile({ $ref }), name).not.toThrow()
  }
  for (const reference of text.matchAll(/"\$ref":"#\/([^"]+)"/g)) {
    const steps = (reference[1] ?? '').split('/')
    const found = steps.reduce<unknown>((at, step) => isJson(at) && at[step], document)
    expect(isJson(found), reference[1]).toBe(true)
  }
})

test('the document has at most 3.2 KB per operation, as it is served', () => {
  const operations = Object.values(document.paths ?? {}).flatMap((path) => Object.keys(path ?? {}))
  const bytes = Buffer.byteLength(JSON.stringify(document))
  expect(bytes / operations.length).toBeLessThanOrEqual(3_200)
})

test('the records of the product have names', () => {
  const records = [
    ...['Task', 'TaskList', 'Conversation', 'ConversationList', 'TimelineEntry', 'ModelCallEntry'],
    ...['Finding', 'TaskLoopList', 'TaskFindingList', 'ToolCall', 'Verdict', 'ContextFailure'],
    ...['TraceEvent', 'TraceLink', 'Correlation', 'TraceNode', 'CriticalPath', 'TraceComparison'],
    ...['IngestRequest', 'IngestStatus', 'IngestObservation', 'IngestTrace', 'IngestEvent'],
    ...['Query', 'AggregateQuery', 'Filter', 'QueryPage', 'QueryExplanation', 'SavedQuery'],
    ...['RetentionPolicy', 'LegalHold', 'RetentionRun', 'ArchiveRun', 'RestoreRun', 'Erasure'],
    ...['StoreRouting', 'StoreBenchmark', 'StoreScorecard', 'CapturePolicy', 'Ledger'],
    ...['Organization', 'Project', 'Member', 'ServiceAccount', 'ApiKey', 'AccessToken'],
    ...['Problem', 'ProblemCode', 'Fault', 'ProviderError', 'RpcStatus'],
    ...['Timestamp', 'Uuid', 'TraceId', 'DecimalUsd', 'Severity', 'KeyScope', 'Count'],
  ]
  expect(Object.keys(schemas)).toEqual(expect.arrayContaining(records))
})

test('no record is inline: an object with fields is a component', () => {
  const inline = inlineSchemas().filter(({ schema }) => isJson(schema['properties']))
  expect(inline.map(({ place }) => place)).toEqual([])
})

test('no list of values, pattern or union is written twice', () => {
  const written = inlineSchemas().filter(({ schema }) => isWorthAName(schema))
  const byText = Map.groupBy(written, ({ schema }) => canonicalJson(withoutNotes(schema)))
  const repeated = [...byText.values()].filter((same) => same.length > 1)
  expect(repeated.map((same) => same.map(({ place }) => place))).toEqual([])
})

test('parameters that most operations have are shared', () => {
  const names = Object.values(parameters).map(({ name }) => name)
  const shared = ['limit', 'cursor', 'X-Project-ID', 'If-Match', 'Idempotency-Key', 'task_id']
  expect(names).toEqual(expect.arrayContaining(shared))
  const inline = operations.flatMap(({ parameters: own = [] }) => own).filter(isInline)
  for (const name of shared) {
    const repeated = inline.filter((parameter) => parameter['name'] === name)
    expect(new Set(repeated.map(canonicalJson)).size, name).toBe(repeated.length)
  }
})

test('errors refer to shared responses', () => {
  const errors = operations.flatMap(({ responses }) =>
    Object.entries(responses).filter(([status]) => Number(status) >= 400),
  )
  expect(errors.length).toBeGreaterThan(500)
  for (const [, response] of errors) expect(response['$ref']).toMatch(/^#\/components\/responses\//)
})

test('a filter refers to itself', () => {
  expect(schemas['AndFilter']?.['properties']).toMatchObject({
    and: { items: { $ref: '#/components/schemas/Filter' } },
  })
})

test('unions of records have a discriminator', () => {
  expect(schemas['TimelineEntry']?.['discriminator']).toMatchObject({ propertyName: 'role' })
  expect(schemas['TokenRequest']?.['discriminator']).toMatchObject({ propertyName: 'grant_type' })
})

test('every tag has a description', () => {
  const described = document.tags.filter(({ description }) => description.length > 10)
  const names = described.map(({ name }) => name)
  expect(new Set(operations.flatMap(({ tags }) => tags))).toEqual(new Set(names))
})

function isInline(parameter: Json): boolean {
  return parameter['$ref'] === undefined
}

function isWorthAName({ enum: values, pattern, anyOf, oneOf }: Json): boolean {
  const union = (Array.isArray(oneOf) ? oneOf : anyOf) as Json[] | undefined
  const isUnion = union?.filter(({ type }) => type !== 'null').length
  return Array.isArray(values) || pattern !== undefined || (isUnion ?? 0) > 1
}

function withoutNotes({ description: _text, default: _default, ...schema }: Json): Json {
  return schema
}

/** Every inline schema in the document (neither a component nor a reference), with its position. */
function inlineSchemas(): { place: string; schema: Json }[] {
  const found: { place: string; schema: Json }[] = []
  const visit = (value: unknown, place: string): void => {
    if (Array.isArray(value)) {
      for (const [at, each] of value.entries()) visit(each, `${place}/${at}`)
    }
    if (!isJson(value)) return
    const isComponent = /^\/components\/schemas\/[^/]+$/.test(place)
    if (!isComponent && isSchema(value, place)) found.push({ place, schema: value })
    for (const [key, inner] of Object.entries(value)) {
      if (!['default', 'example', 'examples', 'mapping'].includes(key)) {
        visit(inner, `${place}/${key}`)
      }
    }
  }
  visit(document.paths, '/paths')
  visit(document.components, '/components')
  return found
}

function isSchema(value: Json, place: string): boolean {
  const isField = /\/(properties\/[^/]+|items|additionalProperties|schema|(any|one|all)Of\/\d+)$/
  return value['$ref'] === undefined && isField.test(place)
}
