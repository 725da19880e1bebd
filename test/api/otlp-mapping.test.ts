import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { mappingRoutes } from '../../src/capabilities/edge/otlp/index.ts'
import { currentContract } from '../../src/capabilities/edge/otlp/mapping/contracts/registry.ts'
import { problem } from '../../src/kernel/problem.ts'
import type { Observation } from '../../src/model/observation.ts'
import { observationOf } from '../support/observations.ts'
import { mapAttributes, mappedRequest, storedFrom } from '../support/otlp-spans.ts'
import { openRouteServer, type RouteServer } from '../support/route-server.ts'
import { keyOf, tokenOf } from '../support/task-api.ts'

const contractUrl = '/api/v2/observability/mappings/otlp'
const explainUrl = `${contractUrl}/explain`
const { project_id } = mappedRequest
const mapped = storedFrom(
  mapAttributes({ 'gen_ai.request.model': 'gpt-4o', 'llm.model_name': 'other' }),
)
const proxied = observationOf({ project_id, observation_id: 'aaaaaaaaaaaaaaaa' })
const rows: Observation[] = [mapped, proxied]

let server: RouteServer
let isStoreAway = false
beforeAll(async () => {
  const observation = async (
    project: string,
    ids: { trace_id: string; observation_id: string },
  ) => {
    if (isStoreAway) throw problem('store_unavailable')
    return rows.find(
      (row) =>
        row.project_id === project &&
        row.trace_id === ids.trace_id &&
        row.observation_id === ids.observation_id,
    )
  }
  server = await openRouteServer(mappingRoutes({ store: { observation } }))
})
afterAll(() => server.close())

function explainPath(row: { trace_id: string; observation_id: string }) {
  return `${explainUrl}?trace_id=${row.trace_id}&observation_id=${row.observation_id}`
}

describe('the contract', () => {
  test('is served as it is executed, with the values of the specification', async () => {
    const { status, body } = await server.get(contractUrl, keyOf(project_id, 'tasks:read'))
    expect(status).toBe(200)
    expect(body).toEqual(JSON.parse(JSON.stringify(currentContract)))
    expect(body).toMatchObject({
      version: 'phase9-otlp-v1',
      direction: 'otlp_to_observability',
      w3c_propagation: {
        traceparent: 'obs_correlations.correlation_type=w3c_traceparent',
        tracestate: 'obs_correlations.correlation_type=w3c_tracestate',
        baggage: 'obs_correlations.correlation_type=w3c_baggage',
      },
    })
  })

  test.each(['ingest:write', 'traces:read', 'query:run', 'tasks:read'])(
    'a key with %s reads it, and so does a viewer',
    async (scope) => {
      expect((await server.get(contractUrl, keyOf(project_id, scope))).status).toBe(200)
      expect((await server.get(contractUrl, tokenOf('viewer', project_id))).status).toBe(200)
    },
  )

  test('no, wrong and insufficient credentials', async () => {
    expect((await server.get(contractUrl, {})).body['code']).toBe('credentials_missing')
    const weak = await server.get(contractUrl, keyOf(project_id, 'proxy:write'))
    expect([weak.status, weak.body['code']]).toEqual([403, 'permission_denied'])
  })
})

describe('the explanation', () => {
  const key = keyOf(project_id, 'traces:read')

  test('names the key of each field, for both spellings of a trace id', async () => {
    const hex = { ...mapped, trace_id: mapped.trace_id.replaceAll('-', '').toUpperCase() }
    for (const row of [mapped, hex]) {
      const { status, body } = await server.get(explainPath(row), key)
      expect(status).toBe(200)
      expect(body).toMatchObject({
        trace_id: mapped.trace_id,
        observation_id: mapped.observation_id,
        contract_version: 'phase9-otlp-v1',
      })
      const fields = body['fields'] as Record<string, unknown>[]
      expect(fields.find(({ field }) => field === 'model_requested')).toEqual({
        field: 'model_requested',
        level: 'span',
        value: 'gpt-4o',
        source: 'gen_ai.request.model',
        given_by: 'rule',
        place: 1,
        lost: [{ key: 'llm.model_name', place: 4, reason: 'lower_priority' }],
      })
    }
  })

  test('a missing span, or one of another project, is 404; a proxied call is 409', async () => {
    const none = await server.get(explainPath({ ...mapped, observation_id: 'bbbb' }), key)
    expect([none.status, none.body['code']]).toEqual([404, 'observation_not_found'])
    const foreign = await server.get(explainPath(mapped), keyOf(randomUUID(), 'traces:read'))
    expect([foreign.status, foreign.body['code']]).toEqual([404, 'observation_not_found'])
    const other = await server.get(explainPath(proxied), key)
    expect([other.status, other.body['code']]).toEqual([409, 'not_mapped_from_otlp'])
  })

  test.each([
    ['', 'query.trace_id'],
    [`?trace_id=${mapped.trace_id}`, 'query.observation_id'],
    ['?trace_id=xyz&observation_id=a', 'query.trace_id'],
    [`?trace_id=${mapped.trace_id}&observation_id=${'a'.repeat(65)}`, 'query.observation_id'],
  ])('%s is 400', async (query, pointer) => {
    const { status, body } = await server.get(`${explainUrl}${query}`, key)
    expect([status, body['code']]).toEqual([400, 'invalid_request'])
    expect(body['errors']).toContainEqual(expect.objectContaining({ pointer }))
  })

  test('scopes: reading traces, queries and ingest may, others not', async () => {
    for (const scope of ['traces:read', 'query:run', 'ingest:write']) {
      expect((await server.get(explainPath(mapped), keyOf(project_id, scope))).status).toBe(200)
    }
    const weak = await server.get(explainPath(mapped), keyOf(project_id, 'tasks:read'))
    expect(weak.status).toBe(403)
    const viewer = await server.get(explainPath(mapped), tokenOf('viewer', project_id))
    expect(viewer.status).toBe(200)
  })

  test('an unavailable store is 503', async () => {
    isStoreAway = true
    const { status, body } = await server.get(explainPath(mapped), key)
    isStoreAway = false
    expect([status, body['code']]).toEqual([503, 'store_unavailable'])
  })
})
