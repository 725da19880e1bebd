import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { tracesJson } from '../support/otlp-message.ts'
import { otlpProject, type TestReceiver, testReceiver } from '../support/otlp-receiver.ts'

const exports = '/api/public/otel/v1/traces'
const ingestion = '/api/public/ingestion'

function basic(secret: string, user = 'pk-lf-1'): Record<string, string> {
  return { Authorization: `Basic ${Buffer.from(`${user}:${secret}`).toString('base64')}` }
}

function post(
  { url }: TestReceiver,
  path: string,
  body: string | Buffer | ReadableStream,
  headers: Record<string, string> = basic('lt_writer'),
): Promise<Response> {
  const sent = Buffer.isBuffer(body) ? new Uint8Array(body) : body
  const all = { 'Content-Type': 'application/json', ...headers }
  return fetch(`${url}${path}`, { method: 'POST', body: sent, headers: all, duplex: 'half' })
}

describe('a key in Basic credentials', () => {
  test.each([
    ['as the password', basic('lt_writer')],
    ['as the password, without a user', basic('lt_writer', '')],
    ['as the user', basic('', 'lt_writer')],
    ['of a gateway, beside our header', { ...basic('secret'), 'X-API-Key': 'lt_writer' }],
  ])('%s exports', async (_, headers) => {
    await using receiver = await testReceiver()
    for (const path of [exports, '/v1/traces']) {
      expect((await post(receiver, path, tracesJson([{}]), headers)).status).toBe(200)
    }
    expect(receiver.requests.map(({ project_id }) => project_id)).toEqual([
      otlpProject,
      otlpProject,
    ])
  })

  test.each([
    ['of Langfuse', basic('sk-lf-2'), 401, /LANGFUSE_SECRET_KEY/],
    ['of nobody', basic('lt_foreign'), 401, /unknown or revoked/],
    ['without its scope', basic('lt_reader'), 403, /ingest:write/],
    ['of an archived project', basic('lt_archived'), 409, /archived/],
    ['that is not base64', { Authorization: 'Basic lt_writer:' }, 401, /missing/],
    ['with another scheme', { Authorization: 'Digest x' }, 401, /missing/],
  ])('%s is refused', async (_, headers, status, message) => {
    await using receiver = await testReceiver()
    for (const path of [exports, ingestion]) {
      const answer = await post(receiver, path, '{}', headers)
      expect(answer.status).toBe(status)
      const text = await answer.text()
      expect(JSON.parse(text)).toMatchObject({ message: expect.stringMatching(message) })
      expect(text).not.toContain('lt_foreign')
    }
    const answer = await fetch(`${receiver.url}/api/public/projects`, { headers })
    expect(answer.status).toBe(status)
    expect(receiver.requests).toEqual([])
  })
})

describe('the older ingestion', () => {
  const batch = JSON.stringify({ batch: [{ id: 'a', type: 'trace-create' }, { id: 'b' }, 7] })
  const error = {
    status: 400,
    message: expect.stringMatching(/Nothing of this batch was stored.*project key/),
    error: 'ingestion_unsupported',
  }

  test.each([
    ['as JSON', batch, {}],
    ['with gzip', gzipSync(batch), { 'Content-Encoding': 'gzip' }],
  ])('%s answers each item as Langfuse does', async (_, body, headers) => {
    await using receiver = await testReceiver()
    const answer = await post(receiver, ingestion, body, { ...basic('lt_writer'), ...headers })
    expect(answer.status).toBe(207)
    const ids = ['a', 'b', '']
    const errors = ids.map((id) => ({ id, ...error }))
    expect(await answer.json()).toEqual({ successes: [], errors })
  })

  test.each([
    ['no JSON', 'x'],
    ['another object', '{"batch":"a"}'],
    ['a list', '[1]'],
    ['deep JSON', `{"batch":[${'['.repeat(50_000)}${']'.repeat(50_000)}]}`],
  ])('of %s says so once', async (_, body) => {
    await using receiver = await testReceiver()
    const answer = await post(receiver, ingestion, body)
    expect(answer.status).toBe(207)
    expect(await answer.json()).toEqual({ successes: [], errors: [{ id: '', ...error }] })
  })
})

describe('the other calls of its SDKs', () => {
  test('the check of credentials returns the project of the key', async () => {
    await using receiver = await testReceiver()
    const url = `${receiver.url}/api/public/projects`
    const answer = await fetch(url, { headers: basic('lt_writer') })
    expect(await answer.json()).toMatchObject({ data: [{ id: otlpProject, metadata: {} }] })
  })

  test('the check of the server needs no key', async () => {
    await using receiver = await testReceiver()
    const answer = await fetch(`${receiver.url}/api/public/health`)
    expect([answer.status, await answer.json()]).toMatchObject([200, { status: 'OK' }])
  })

  test.each([
    ['GET', '/api/public/v2/prompts/a', 404],
    ['POST', '/api/public/scores', 404],
    ['POST', '/api/public/media', 404],
    ['DELETE', '/api/public/projects', 405],
    ['GET', ingestion, 405],
  ])('%s %s says what is taken', async (method, path, status) => {
    await using receiver = await testReceiver()
    const body = method === 'POST' ? '[{}]' : null
    const answer = await fetch(`${receiver.url}${path}`, {
      method,
      body,
      headers: basic('lt_writer'),
    })
    expect(answer.status).toBe(status)
    expect(await answer.json()).toEqual({
      message: expect.stringContaining('Looptrace takes the traces of Langfuse SDKs'),
      error: status === 404 ? 'route_not_found' : 'method_not_allowed',
    })
  })

  test.each([
    ['GET', ingestion, 'POST'],
    ['DELETE', '/api/public/projects', 'GET'],
    ['POST', '/api/public/health', 'GET'],
  ])('%s %s has the method in `Allow`', async (method, path, allowed) => {
    await using receiver = await testReceiver()
    const answer = await fetch(`${receiver.url}${path}`, { method, headers: basic('lt_writer') })
    expect([answer.status, answer.headers.get('allow')]).toEqual([405, allowed])
  })

  test('the refusal of a key over its limit has the limit and the time to wait', async () => {
    await using receiver = await testReceiver({ settings: { requests_per_minute: 1 } })
    const send = () => post(receiver, ingestion, '{"batch":[]}')
    expect((await send()).status).toBe(207)
    const answer = await send()
    expect([answer.status, answer.headers.get('ratelimit-limit')]).toEqual([429, '1'])
    expect(answer.headers.get('ratelimit-remaining')).toBe('0')
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0)
  })

  test('a refusal while keys cannot be looked up has the time to wait', async () => {
    await using receiver = await testReceiver()
    const answer = await post(receiver, ingestion, '{"batch":[]}', basic('lt_away'))
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '2'])
  })

  test('a key in an unknown path is not in the answer', async () => {
    await using receiver = await testReceiver()
    const answer = await fetch(`${receiver.url}/api/public/lt_AbCd1234_0123456789abcdef`)
    expect(await answer.text()).not.toContain('0123456789abcdef')
  })
})

describe('large bodies', () => {
  /** A stream of as many bytes, without a declared length. */
  function streamOf(bytes: number): ReadableStream {
    const chunk = new Uint8Array(1024 * 1024).fill(0x5b)
    let left = bytes
    return new ReadableStream({
      pull: (controller) => {
        if (left <= 0) return controller.close()
        left -= chunk.length
        controller.enqueue(chunk)
      },
    })
  }

  test.each([
    ['100 MB of spans', exports, 100e6],
    ['100 MB of a batch', ingestion, 100e6],
    ['a batch over its own limit', ingestion, 6e6],
  ])('%s are refused, and nothing stays in memory', async (_, path, bytes) => {
    await using receiver = await testReceiver()
    const refused = await post(receiver, path, streamOf(bytes)).then(
      async (answer) => [answer.status, String(Object.keys((await answer.json()) as object))],
      // The connection may be closed before the client has read the answer.
      () => [413, ''],
    )
    expect(refused[0]).toBe(413)
    expect(await receiver.counted('looptrace_otlp_inflight_bytes')).toBe(0)
    expect(receiver.requests).toEqual([])
  })

  test('a batch that grows when decompressed is refused', async () => {
    await using receiver = await testReceiver()
    const body = gzipSync(Buffer.alloc(6 * 1024 * 1024, 0x20))
    const headers = { ...basic('lt_writer'), 'Content-Encoding': 'gzip' }
    const answer = await post(receiver, ingestion, body, headers)
    expect([answer.status, await answer.json()]).toMatchObject([413, { error: 'body_too_large' }])
  })

  test('deep JSON of spans is refused or cut, and the server goes on', async () => {
    await using receiver = await testReceiver()
    const deep = `{"resourceSpans":[{"resource":{"attributes":[{"key":"a","value":${'{"arrayValue":{"values":['.repeat(2_000)}{}${']}}'.repeat(2_000)}}]}}]}`
    expect((await post(receiver, exports, deep)).status).toBe(200)
    expect((await post(receiver, exports, tracesJson([{}]))).status).toBe(200)
  })
})
