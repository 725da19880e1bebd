import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  type SchemaVersion,
  schemaVersionNamed,
  schemaVersions,
} from '../../src/capabilities/records/schema/index.ts'
import { keyScopes } from '../../src/kernel/scopes.ts'
import { type IngestRequestApi, openIngestRequestApi } from '../support/ingest-request-api.ts'
import { testPostgres } from '../support/postgres.ts'
import { keyOf, tokenOf } from '../support/task-api.ts'

const url = '/api/v2/observability/schema'
let api: IngestRequestApi
beforeAll(async () => {
  api = await openIngestRequestApi(await testPostgres())
})
afterAll(() => api[Symbol.asyncDispose]())

describe('GET /api/v2/observability/schema/versions', () => {
  test('lists the only version', async () => {
    const { status, body } = await api.get(`${url}/versions`)
    expect(status).toBe(200)
    expect(body).toEqual({
      versions: [
        {
          version: '2026-02-23',
          status: 'active',
          released_at: '2026-02-23T00:00:00.000Z',
          compatibility_notes: 'Initial canonical observability schema contract v2.',
        },
      ],
      total: 1,
    })
  })
})

describe('GET /api/v2/observability/schema', () => {
  test('is the JSON Schema of a batch, with its version', async () => {
    const { status, body } = await api.get(url)
    expect(status).toBe(200)
    expect(body).toMatchObject({
      version: '2026-02-23',
      status: 'active',
      schema: {
        $schema: 'https://json-schema.org/draft/2020-12/schema',
        additionalProperties: false,
        properties: {
          schema_version: { const: '2026-02-23' },
          traces: { items: { required: ['trace_id'], additionalProperties: false } },
          observations: {
            items: {
              required: ['trace_id', 'observation_id', 'start_time'],
              additionalProperties: false,
              properties: {
                start_time: { type: 'string', format: 'date-time' },
                attributes: { anyOf: [{ type: 'object' }, { type: 'null' }] },
              },
            },
          },
          events: { items: { required: ['trace_id', 'time', 'name'] } },
          links: { items: { required: ['trace_id', 'observation_id', 'linked_trace_id'] } },
          correlations: {
            items: { required: ['trace_id', 'correlation_type', 'correlation_value'] },
          },
        },
      },
    })
  })

  test('names the severities that a level may have', async () => {
    const { body } = await api.get(url)
    const level = { $ref: '#/$defs/AnyLevel' }
    const properties = { level: { anyOf: [level, { type: 'null' }] } }
    const names = ['debug', 'default', 'warning', 'error', 'info', 'fatal']
    expect(body).toMatchObject({
      schema: {
        properties: { observations: { items: { properties } }, events: { items: { properties } } },
        $defs: { AnyLevel: { enum: expect.arrayContaining(names) } },
      },
    })
  })

  test('a version can be named', async () => {
    expect((await api.get(`${url}?version=2026-02-23`)).body['version']).toBe('2026-02-23')
    const unknown = await api.get(`${url}?version=2025-01-01`)
    expect(unknown).toMatchObject({ status: 400, body: { code: 'unknown_schema_version' } })
    expect(unknown.body['detail']).toContain('2026-02-23')
  })
})

describe.each([url, `${url}/versions`])('permissions of %s', (path) => {
  test.each(keyScopes)('a key with %s', async (scope) => {
    expect((await api.get(path, keyOf(api.project_id, scope))).status).toBe(200)
  })

  test('a viewer of the project, and not without credentials', async () => {
    expect((await api.get(path, tokenOf('viewer', api.project_id))).status).toBe(200)
    expect((await api.get(path, {})).body['code']).toBe('credentials_missing')
    expect((await api.get(path, tokenOf('nobody', api.project_id))).status).toBe(401)
  })
})

describe('the registry', () => {
  const [real] = schemaVersions as [SchemaVersion]
  const known: SchemaVersion[] = [
    { ...real, version: '2027-03-01', status: 'deprecated' },
    { ...real, version: '2027-02-01' },
    { ...real, version: '2027-01-01' },
    { ...real, version: '2026-01-01', status: 'retired' },
  ]

  test('without a name it is the newest active version', () => {
    expect(schemaVersionNamed(undefined, known).version).toBe('2027-02-01')
  })

  test('a deprecated version is accepted, a retired or unknown one refused with the list', () => {
    expect(schemaVersionNamed('2027-03-01', known).version).toBe('2027-03-01')
    for (const name of ['2026-01-01', '1999-01-01', '']) {
      expect(() => schemaVersionNamed(name, known)).toThrow(
        `schema_version: got "${name}", expected one of 2027-03-01, 2027-02-01, 2027-01-01`,
      )
    }
  })

  test('is sorted newest first', () => {
    const versions = schemaVersions.map(({ version }) => version)
    expect(versions).toEqual(versions.toSorted().toReversed())
  })
})
