import { once } from 'node:events'
import { request as httpRequest } from 'node:http'
import { Readable } from 'node:stream'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { afterEach, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { problem } from '../../src/kernel/problem.ts'
import {
  Answer,
  createHttpServer,
  defineRawRoute,
  defineRoute,
  etagOf,
  eventsMediaType,
  type HttpServer,
  type HttpServerOptions,
  ifMatchHeader,
  openapiDocument,
  writeIfMatch,
} from '../../src/platform/http/index.ts'
import { createLogger, createMetrics } from '../../src/platform/telemetry/index.ts'

const open: HttpServer[] = []
afterEach(async () => {
  await Promise.all(open.splice(0).map((server) => server.close()))
})

const publicly = { auth: 'public', scope: { level: 'public' }, errors: [] } as const
const text = z.strictObject({ text: z.string() })
const long = 'a long answer '.repeat(200)

const getText = defineRoute({
  ...{ ...publicly, method: 'GET', url: '/api/v1/texts/{n}', id: 'getText', summary: 'A text' },
  params: z.strictObject({ n: z.coerce.number() }),
  reply: text,
  handle: async ({ params }) => ({ text: long.slice(0, params.n) }),
})

const getLines = defineRoute({
  ...{ ...publicly, method: 'GET', url: '/api/v1/events', id: 'getEvents', summary: 'Events' },
  events: true,
  reply: z.string(),
  handle: async () =>
    Answer.stream({ media_type: eventsMediaType, open: () => Readable.from([long, long]) }, {}),
})

const showKey = defineRoute({
  ...{ ...publicly, method: 'GET', url: '/api/v1/key', id: 'showKey', summary: 'A key' },
  shown_once: ['text'],
  reply: text,
  handle: async () => ({ text: long }),
})

const signIn = defineRoute({
  ...{ ...publicly, method: 'POST', url: '/api/v1/sign-in', id: 'signIn', summary: 'A token' },
  reply: text,
  handle: async () => ({ text: long }),
})

async function serve(
  routes: HttpServerOptions['routes'],
  more: Partial<HttpServerOptions> = {},
): Promise<HttpServer> {
  const server = await createHttpServer({
    routes,
    authorize: async () => {
      throw problem('credentials_missing')
    },
    idempotency: {
      claim: async () => ({ state: 'new' }),
      keep: async () => undefined,
      release: async () => undefined,
    },
    logger: createLogger({ role: 'test', level: 'silent' }),
    metrics: createMetrics(),
    clock: { now_ms: () => Date.now() },
    body_bytes_max: 1000,
    header_bytes_max: 8192,
    rate_per_minute_max: 0,
    request_timeout_ms: 5000,
    keep_alive_ms: 1000,
    check_replies: true,
    ...more,
  })
  open.push(server)
  return server
}

describe('compression', () => {
  const accepting = (coding: string) => ({ 'accept-encoding': coding })

  test.each([
    ['gzip', gunzipSync],
    ['br', brotliDecompressSync],
  ] as const)('an answer of more than 1 KB is sent as %s', async (coding, decompress) => {
    const app = await serve([getText])
    const reply = await app.inject({ url: '/api/v1/texts/2000', headers: accepting(coding) })
    expect(reply.headers).toMatchObject({ 'content-encoding': coding, vary: 'Accept-Encoding' })
    expect(reply.headers['content-length']).toBe(String(reply.rawPayload.length))
    expect(reply.rawPayload.length).toBeLessThan(300)
    expect(JSON.parse(decompress(reply.rawPayload).toString())).toEqual({
      text: long.slice(0, 2000),
    })
  })

  test('an answer is plain when it is small or the client accepts no coding', async () => {
    const app = await serve([getText])
    const small = await app.inject({ url: '/api/v1/texts/900', headers: accepting('br, gzip') })
    const plain = await app.inject('/api/v1/texts/2000')
    for (const reply of [small, plain]) expect(reply.headers['content-encoding']).toBeUndefined()
    expect(plain.json()).toEqual({ text: long.slice(0, 2000) })
    expect(plain.headers.vary).toBe('Accept-Encoding')
  })

  test.each([
    ['a stream of events', getLines],
    ['an answer with a secret', showKey],
    ['an answer to a sign-in', signIn],
  ])('%s is plain', async (_, route) => {
    const app = await serve([route])
    const { method, url } = route
    const reply = await app.inject({ method, url, headers: accepting('br, gzip') })
    expect([reply.statusCode, reply.headers['content-encoding']]).toEqual([200, undefined])
    expect(reply.payload).toContain(long)
  })
})

describe('If-None-Match', () => {
  /** An object with a version, and a fact beside it that changes by itself. */
  function versioned() {
    const stored = { version: 1, next: 'monday' }
    const thing = z.strictObject({ version: z.int(), next: z.string() })
    const shared = { ...publicly, url: '/api/v1/thing', etag: true, reply: thing } as const
    const toAnswer = () => new Answer({ ...stored }, { headers: { etag: etagOf(stored.version) } })
    const get = defineRoute({
      ...{ ...shared, method: 'GET', id: 'getThing', summary: 'A thing' },
      handle: async () => toAnswer(),
    })
    const put = defineRoute({
      ...{ ...shared, method: 'PUT', id: 'putThing', summary: 'Replaces a thing' },
      headers: [ifMatchHeader],
      errors: ['precondition_failed'],
      handle: async ({ headers }) => {
        await writeIfMatch(headers, {
          write: async (version) => {
            if (version !== undefined && version !== stored.version) return undefined
            stored.version += 1
            return stored
          },
          find: async () => stored,
        })
        return toAnswer()
      },
    })
    return { stored, routes: [get, put] }
  }

  test('the answer is 304 without a body while nothing that it shows has changed', async () => {
    const { stored, routes } = versioned()
    const app = await serve(routes)
    const read = (held?: string) =>
      app.inject({
        url: '/api/v1/thing',
        headers: held === undefined ? {} : { 'if-none-match': held },
      })
    const first = await read()
    const etag = String(first.headers.etag)
    expect(etag).toMatch(/^"1-[\w-]{16}"$/)
    for (const held of [etag, `W/${etag}`, `"x", ${etag}`, '*']) {
      const again = await read(held)
      expect([again.statusCode, again.payload, again.headers.etag]).toEqual([304, '', etag])
    }
    expect((await read('"1"')).statusCode).toBe(200)
    stored.next = 'tuesday'
    const moved = await read(etag)
    expect([moved.statusCode, moved.json()]).toEqual([200, { version: 1, next: 'tuesday' }])
    expect(moved.headers.etag).toMatch(/^"1-/)
  })

  test('the ETag of a read names the version to replace', async () => {
    const { stored, routes } = versioned()
    const app = await serve(routes)
    const { etag } = (await app.inject('/api/v1/thing')).headers
    stored.next = 'tuesday'
    const put = (held: string) =>
      app.inject({ method: 'PUT', url: '/api/v1/thing', headers: { 'if-match': held } })
    const replaced = await put(String(etag))
    expect([replaced.statusCode, replaced.headers.etag]).toEqual([200, '"2"'])
    expect((await put(String(etag))).statusCode).toBe(412)
    expect((await put('"2-short"')).statusCode).toBe(412)
    expect((await put('"2"')).statusCode).toBe(200)
  })

  test('the document says so', () => {
    const document = openapiDocument(versioned().routes, { version: '0' })
    const { get, put } = (document as { paths: Record<string, Record<string, object>> }).paths[
      '/api/v1/thing'
    ] ?? { get: {}, put: {} }
    expect(JSON.stringify(get)).toContain('If-None-Match')
    expect(Object.keys((get as { responses: object }).responses)).toContain('304')
    expect(JSON.stringify(put)).not.toContain('If-None-Match')
  })
})

describe('pages of other origins', () => {
  const page = 'https://app.example.com'
  const exportSpans = rawRoute('/v1/traces', { cross_origin: true })
  const callModel = rawRoute('/v1/chat/completions', {})

  function rawRoute(url: string, more: { cross_origin?: true }) {
    return defineRawRoute({
      ...{ ...publicly, method: 'POST', url, id: `post${url.length}`, summary: 'Takes a body' },
      ...{ every_method: true, headers: [], reply: z.unknown(), error_format: 'RpcStatus' },
      ...more,
      handle: (_, response) => void response.writeHead(200, ['X-Own', '1']).end('{}'),
      refuse: (_, response, fault) => void response.writeHead(fault.status).end(),
    })
  }

  async function listening(allowed_origins: string[] = [page]) {
    const app = await serve([getText, exportSpans, callModel], { allowed_origins })
    const port = await app.listen({ host: '127.0.0.1', port: 0 })
    return async (method: string, path: string, headers: Record<string, string>) => {
      const sent = httpRequest({ port, method, path, headers, agent: false })
      sent.end()
      const [response] = await once(sent, 'response')
      response.resume()
      return { status: response.statusCode as number, headers: response.headers }
    }
  }

  test.each([
    ['/api/v1/texts/1', 'GET'],
    ['/v1/traces', 'POST'],
  ])('a page of an allowed origin may call %s', async (path, method) => {
    const call = await listening()
    const preflight = await call('OPTIONS', path, {
      ...{ origin: page, 'access-control-request-method': method },
    })
    expect(preflight.status).toBe(204)
    expect(preflight.headers).toMatchObject({
      'access-control-allow-origin': page,
      'access-control-allow-methods': method,
      'access-control-allow-headers': expect.stringContaining('X-API-Key'),
      vary: 'Origin',
    })
    const reply = await call(method, path, { origin: page })
    expect([reply.status, reply.headers['access-control-allow-origin']]).toEqual([200, page])
    for (const { headers } of [preflight, reply]) {
      expect(headers['access-control-allow-credentials']).toBeUndefined()
    }
  })

  test.each([
    ['another origin', 'https://evil.example.com', [page]],
    ['another scheme', 'http://app.example.com', [page]],
    ['a page without an origin', 'null', [page]],
    ['any origin without the setting', page, []],
  ])('%s may not', async (_, origin, allowed) => {
    const call = await listening(allowed)
    for (const [path, method] of [
      ['/api/v1/texts/1', 'GET'],
      ['/v1/traces', 'POST'],
    ] as const) {
      const asked = { origin, 'access-control-request-method': method }
      const preflight = await call('OPTIONS', path, asked)
      const reply = await call(method, path, { origin })
      for (const { headers } of [preflight, reply]) {
        expect(headers['access-control-allow-origin']).toBeUndefined()
      }
    }
  })

  test('calls of models stay closed to pages', async () => {
    const call = await listening()
    const reply = await call('POST', '/v1/chat/completions', { origin: page })
    expect(reply.headers['access-control-allow-origin']).toBeUndefined()
  })
})
