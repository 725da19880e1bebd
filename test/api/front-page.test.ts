import { afterEach, describe, expect, test } from 'vitest'
import type { HttpServer, RawRoute, Route } from '../../src/platform/http/index.ts'
import { servedCatalogue as catalogue, createDescribedServer } from '../support/described-server.ts'

const open: HttpServer[] = []
afterEach(async () => {
  await Promise.all(open.splice(0).map((server) => server.close()))
})

const ofProxy = catalogue.filter(({ kind }) => kind === 'raw')

async function serve(served: (Route | RawRoute)[]): Promise<HttpServer> {
  const server = await createDescribedServer(served)
  open.push(server)
  return server
}

describe('GET /', () => {
  test('describes the server, and the entry points that it serves', async () => {
    const server = await serve(catalogue)
    const reply = await server.inject({ method: 'GET', url: '/' })
    expect(reply.statusCode).toBe(200)
    expect(reply.headers['content-type']).toBe('application/json; charset=utf-8')
    const body = reply.json()
    expect(body).toMatchObject({ name: 'Looptrace', version: '1.2.3', openapi: '/openapi.json' })
    expect(body.ways_in.map(({ method, path }: never) => `${method} ${path}`)).toEqual([
      'POST /v1/chat/completions',
      'POST /v1/completions',
      'POST /v1/responses',
      'GET /v1/responses',
      'POST /v1/messages',
      'POST /v1beta/models/{model}:generateContent',
      'POST /v1/traces',
      'POST /v1/logs',
      'POST /api/v2/observability/ingest',
      'GET /api/v1/tasks',
    ])
    expect(body.docs).toContain('docs/guides/first-trace.md')
  })

  test('of a proxy names no product API', async () => {
    const server = await serve(ofProxy)
    const { ways_in } = (await server.inject({ method: 'GET', url: '/' })).json()
    expect(ways_in.map(({ path }: { path: string }) => path)).toEqual([
      '/v1/chat/completions',
      '/v1/completions',
      ...['/v1/responses', '/v1/responses'],
      '/v1/messages',
      '/v1beta/models/{model}:generateContent',
      '/v1/traces',
      '/v1/logs',
    ])
  })

  test('says nothing that the OpenAPI document does not say publicly', async () => {
    const server = await serve(catalogue)
    const body = (await server.inject({ method: 'GET', url: '/' })).json()
    const document = (await server.inject({ method: 'GET', url: '/openapi.json' })).json()
    expect(body.version).toBe(document.info.version)
    expect(Object.keys(body)).toEqual([
      'name',
      'description',
      'version',
      'openapi',
      'reference',
      'docs',
      'ways_in',
    ])
    for (const { method, path, summary } of body.ways_in) {
      expect(document.paths[path][method.toLowerCase()].summary).toBe(summary)
    }
  })

  test.each([
    ['text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8', 'text/html'],
    ['text/html', 'text/html'],
    ['TEXT/HTML; q=0.9, application/json;q=0.2', 'text/html'],
    ['*/*', 'application/json'],
    ['application/json, text/plain, */*', 'application/json'],
    ['application/json, text/html;q=0.9', 'application/json'],
    ['text/html;q=0, */*', 'application/json'],
    ['text/html;q=abc', 'application/json'],
    ['', 'application/json'],
  ])('answers Accept %j with %s', async (accept, type) => {
    const server = await serve(ofProxy)
    const reply = await server.inject({ method: 'GET', url: '/', headers: { accept } })
    expect(reply.headers['content-type']).toBe(`${type}; charset=utf-8`)
    expect(reply.headers['vary']).toMatch(/^accept(?:, accept-encoding)?$/i)
  })

  test('as a page runs nothing, loads nothing and cannot be framed', async () => {
    const server = await serve(catalogue)
    const reply = await server.inject({ url: '/', headers: { accept: 'text/html' } })
    expect(reply.headers).toMatchObject({
      'content-security-policy':
        "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
    })
    expect(reply.body).toMatch(/^<!doctype html>/)
    expect(reply.body).toContain('<a href="/openapi.json">')
    expect(reply.body).toContain('<a href="/docs">')
    expect(reply.body).toContain('POST /v1/chat/completions')
    expect(reply.body).not.toMatch(/<script|<style|<img|<iframe|style=|\son\w+=|javascript:/i)
  })

  test('repeats nothing of a request', async () => {
    const server = await serve(catalogue)
    for (const accept of ['text/html', 'application/json']) {
      const payload = '"><script>alert(1)</script>'
      const headers = {
        accept,
        host: `${payload}.example`,
        'x-api-key': 'lt_secret',
        cookie: 'c=1',
      }
      const url = `/?next=${encodeURIComponent(payload)}`
      const { body } = await server.inject({ method: 'GET', url, headers })
      expect(body).not.toMatch(/<script|alert|\.example|lt_secret|c=1/)
    }
  })

  test('accepts no other method', async () => {
    const server = await serve(catalogue)
    const reply = await server.inject({ method: 'POST', url: '/' })
    expect([reply.statusCode, reply.json().code]).toEqual([405, 'method_not_allowed'])
  })
})
