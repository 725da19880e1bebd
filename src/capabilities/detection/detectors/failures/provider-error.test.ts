import { describe, expect, test } from 'vitest'
import { agentRun } from '../../../../../test/corpus/agent-run.ts'
import { findingsOf, serious } from '../../../../../test/support/failure-findings.ts'
import { providerError } from './provider-error.ts'

const limited = { status: 429, type: 'rate_limit_exceeded', message: 'Slow down' }

describe('each class of error has its own type', () => {
  const away = { status: 502, type: 'provider_unreachable', outcome: 'upstream_cut' as const }
  test.each([
    ['provider_auth', { status: 401, type: 'invalid_api_key' }, 'high'],
    ['provider_auth', { status: 403, type: 'permission_denied' }, 'high'],
    ['provider_not_found', { status: 404, type: 'model_not_found' }, 'high'],
    ['provider_rate_limit', limited, 'medium'],
    ['provider_rate_limit', { status: 429, type: 'insufficient_quota' }, 'high'],
    ['provider_bad_request', { status: 422, type: 'unprocessable_entity' }, 'high'],
    ['provider_server_error', { status: 503, type: 'overloaded' }, 'medium'],
    ['provider_timeout', { status: 504, outcome: 'timeout' as const }, 'medium'],
    ['provider_connection', away, 'medium'],
  ])('%s of %o', (type, error, severity) => {
    const run = agentRun('class').user('Hi').assistant({ error })
    expect(findingsOf(providerError, run)).toMatchObject([
      { kind: 'failure', type, severity, recovered: false, repeats: 1 },
    ])
  })
})

test.each([
  ['RateLimitError', 'provider_rate_limit'],
  ['openai.AuthenticationError', 'provider_auth'],
  ['APITimeoutError', 'provider_timeout'],
  ['APIConnectionError', 'provider_connection'],
  ['InternalServerError', 'provider_server_error'],
  ['500', 'provider_server_error'],
  ['ValueError', 'provider_error'],
])('a span without content shows %s by the name of its error', (type, expected) => {
  const run = agentRun('span', { source: 'otlp_no_content' })
    .user('Hi')
    .assistant({ error: { type } })
  expect(findingsOf(providerError, run)).toMatchObject([{ type: expected }])
})

test('failed calls in a row are one finding, with their errors', () => {
  const run = agentRun('streak')
    .user('Hi')
    .times(4, (agent) => agent.assistant({ error: limited }).wait(1_000))
  const [finding, ...others] = findingsOf(providerError, run)
  expect(others).toEqual([])
  expect(finding).toMatchObject({ severity: 'high', repeats: 4, recovered: false })
  expect(finding?.places).toHaveLength(4)
  expect(finding?.evidence).toMatchObject({ calls: 4, status_code: 429 })
  expect(finding?.summary).toContain('Slow down')
  const more = run.assistant({ error: limited })
  expect(findingsOf(providerError, more)[0]?.anchor).toBe(finding?.anchor)
})

describe('healthy twins', () => {
  test('a limit, a pause, and an answer', () => {
    const run = agentRun('429 then 200')
      .user('Hi')
      .assistant({ error: limited })
      .wait(2_000)
      .assistant('Hello!')
    expect(findingsOf(providerError, run)).toMatchObject([{ recovered: true, severity: 'low' }])
  })

  test('five server errors, and then the rest of the work', () => {
    const run = agentRun('500s')
      .user('Hi')
      .times(5, (agent) => agent.assistant({ error: { status: 500 } }))
      .tool({ name: 'look' }, 'found')
      .assistant('Here it is.')
    expect(serious(findingsOf(providerError, run))).toEqual([])
  })

  test('a disconnecting client is not a failure of the provider', () => {
    const run = agentRun('left')
      .user('Hi')
      .assistant({ error: { status: 499, outcome: 'client_gone' } })
    expect(findingsOf(providerError, run)).toEqual([])
  })

  test('a full window is left to the context detectors', () => {
    const error = { status: 400, type: 'context_length_exceeded', message: 'maximum context' }
    const run = agentRun('full').user('Hi').assistant({ error })
    expect(findingsOf(providerError, run)).toEqual([])
  })
})
