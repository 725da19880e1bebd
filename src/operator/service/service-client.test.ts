import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, test } from 'vitest'
import { freePort } from '../../../test/support/free-port.ts'
import {
  createServiceClient,
  parseRetryAfter,
  ServiceRefusal,
  type ServiceRequest,
  ServiceUnavailable,
} from './service-client.ts'

const key = 'lt_op_a-secret'

type Serve = (request: IncomingMessage, response: ServerResponse) => void

/** Starts a service that answers with `serve`. */
async function serving(serve: Serve, { timeout_ms = 5_000, requests_max = 4 } = {}) {
  const server = createServer(serve)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    client: createServiceClient({ url, key: async () => key, timeout_ms, requests_max }),
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

function reply(status: number, body: unknown, headers: Record<string, string> = {}): Serve {
  return (_request, response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers })
    response.end(typeof body === 'string' ? body : JSON.stringify(body))
  }
}

const get: ServiceRequest = { method: 'GET', path: '/api/v2/x?y=1' }

test('sends method, path, headers and body, and returns body and version', async () => {
  let seen: { method?: string | undefined; url?: string | undefined; body: string } | undefined
  let headers: IncomingMessage['headers'] = {}
  await using on = await serving(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    seen = { method: request.method, url: request.url, body }
    headers = request.headers
    reply(200, { days: 3 }, { etag: '"4"' })(request, response)
  })
  const answer = await on.client.request({
    ...{ method: 'PUT', path: '/api/v2/x', project_id: 'p', body: { a: 1 } },
    ...{ if_match: '"3"', idempotency_key: 'k' },
  })
  expect(answer).toEqual({ status: 200, body: { days: 3 }, etag: '"4"' })
  expect(seen).toEqual({ method: 'PUT', url: '/api/v2/x', body: '{"a":1}' })
  expect(headers).toMatchObject({
    ...{ 'x-api-key': key, 'x-project-id': 'p', 'if-match': '"3"', 'idempotency-key': 'k' },
  })
})

test('an answer without a body is undefined', async () => {
  await using on = await serving((_request, response) => response.writeHead(204).end())
  expect(await on.client.request(get)).toEqual({ status: 204, body: undefined, etag: undefined })
})

test.each([400, 403, 404, 409, 412])('%i is a refusal with its problem', async (status) => {
  await using on = await serving(reply(status, { code: 'some_code', detail: 'what it is' }))
  const asked = on.client.request(get)
  await expect(asked).rejects.toBeInstanceOf(ServiceRefusal)
  await expect(asked).rejects.toMatchObject({ status, code: 'some_code', message: 'what it is' })
})

test.each([301, 401, 429, 500, 502, 503])(
  '%i means that the service is unavailable',
  async (status) => {
    await using on = await serving(reply(status, '<html>', { 'retry-after': '7' }))
    const asked = on.client.request(get)
    await expect(asked).rejects.toBeInstanceOf(ServiceUnavailable)
    await expect(asked).rejects.toMatchObject({ retry_after_ms: 7_000 })
    await expect(asked).rejects.toThrow('GET /api/v2/x?y=1')
  },
)

test('an answer that is not JSON is rejected', async () => {
  await using on = await serving(reply(200, '<html>welcome</html>'))
  await expect(on.client.request(get)).rejects.toThrow('check LOOPTRACE_SERVICE_URL')
})

test('a request times out; no message contains the key', async () => {
  await using on = await serving(() => undefined, { timeout_ms: 100 })
  const error = await on.client.request(get).catch((thrown: unknown) => thrown)
  expect(error).toBeInstanceOf(ServiceUnavailable)
  expect(String(error)).toContain('GET /api/v2/x?y=1: no answer')
  expect(JSON.stringify([String(error), error])).not.toContain(key)
})

test('an unreachable service and an unreadable key have messages of their own', async () => {
  const options = {
    url: `http://127.0.0.1:${await freePort()}`,
    timeout_ms: 1_000,
    requests_max: 1,
  }
  const unreachable = createServiceClient({ ...options, key: async () => key })
  await expect(unreachable.request(get)).rejects.toThrow('ECONNREFUSED')
  const keyless = createServiceClient({
    ...options,
    key: () => Promise.reject(new Error('ENOENT: no such file')),
  })
  await expect(keyless.request(get)).rejects.toThrow('reading the key of the operator failed')
})

test('requests_max bounds the concurrent requests', async () => {
  let now = 0
  let most = 0
  const slow: Serve = (request, response) => {
    now += 1
    most = Math.max(most, now)
    setTimeout(() => {
      now -= 1
      reply(200, {})(request, response)
    }, 20)
  }
  await using on = await serving(slow, { requests_max: 3 })
  await Promise.all(Array.from({ length: 12 }, () => on.client.request(get)))
  expect(most).toBe(3)
})

test.each([
  [null, null, undefined],
  ['3', null, 3_000],
  ['soon', null, undefined],
  ['Thu, 01 Jan 2026 00:00:30 GMT', 'Thu, 01 Jan 2026 00:00:00 GMT', 30_000],
  ['Thu, 01 Jan 2026 00:00:30 GMT', 'Thu, 01 Jan 2026 00:01:00 GMT', 0],
  ['Thu, 01 Jan 2026 00:00:30 GMT', null, undefined],
])('Retry-After %s, Date %s', (value, date, expected) => {
  expect(parseRetryAfter(value, date)).toBe(expected)
})
