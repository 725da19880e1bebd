import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { consolePage, consoleRoutes } from '../../src/capabilities/console/index.ts'
import { type AccessApp, startAccessApp } from '../support/access-app.ts'
import { ensureConsole } from '../support/console.ts'

let app: AccessApp
beforeAll(async () => {
  await ensureConsole()
  app = await startAccessApp({ routes: consoleRoutes() })
})
afterAll(() => app.close())

const open = (url: string, headers: Record<string, string> = {}) =>
  app.server.inject({ method: 'GET', url, headers })

test.each([
  '/sign-in',
  '/set-password',
  '/p/01a22650-d4ad-744c-bbc6-468a817f0b1f',
  '/p/x/tasks?from=-1h',
  '/p/x/tasks/a%2Fb%3Fc',
])('%s opens the page, which loads files of its own server only', async (url) => {
  const { statusCode, headers, body } = await open(url)
  expect(statusCode).toBe(200)
  expect(headers).toMatchObject({
    'content-type': 'text/html; charset=utf-8',
    'cache-control': 'no-cache',
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
  })
  expect(headers['content-security-policy']).toMatch(/^default-src 'none'; script-src 'self'/)
  expect(headers['content-security-policy']).not.toMatch(/unsafe|data:|https?:|\*/)
  expect(headers['set-cookie']).toBeUndefined()
  expect(body).toBe(consolePage())
  // Text of the address is never in the page.
  expect(body).not.toContain('-1h')
  expect(body).not.toMatch(/<script(?![^>]* src=)|<style|\son\w+=/)
})

describe('a file of the console', () => {
  const file = () => /assets\/index-[\w-]+\.js/.exec(consolePage())?.[0] ?? ''

  test('is kept for ever, since its name changes with its content', async () => {
    const { statusCode, headers } = await open(`/${file()}`)
    expect(statusCode).toBe(200)
    expect(headers).toMatchObject({
      'content-type': 'text/javascript; charset=utf-8',
      'cache-control': 'public, max-age=31536000, immutable',
      vary: 'accept-encoding',
    })
    expect(headers['content-encoding']).toBeUndefined()
  })

  test('comes in the coding that the browser accepts', async () => {
    const plain = (await open(`/${file()}`)).body
    const brotli = await open(`/${file()}`, { 'accept-encoding': 'gzip, deflate, br' })
    expect(brotli.headers['content-encoding']).toBe('br')
    expect(brotliDecompressSync(brotli.rawPayload).toString()).toBe(plain)
    const gzip = await open(`/${file()}`, { 'accept-encoding': 'gzip' })
    expect(gzip.headers['content-encoding']).toBe('gzip')
    expect(gunzipSync(gzip.rawPayload).toString()).toBe(plain)
  })

  test('of another version is not found, and no other file of the machine is', async () => {
    for (const name of ['index-old.js', '..%2Findex.html', '..%2F..%2Fpackage.json']) {
      const { statusCode, headers } = await open(`/assets/${name}`)
      expect([name, statusCode]).toEqual([name, 404])
      expect(headers['cache-control']).toBe('no-store')
    }
  })
})

test('addresses outside of the console are not answered with its page', async () => {
  for (const url of ['/tasks', '/p', '/p/a/b/c/d', '/api/v1/unknown', '/v1/unknown']) {
    const { statusCode, headers } = await open(url, { accept: 'text/html' })
    expect([url, statusCode]).toEqual([url, 404])
    expect(headers['content-type']).toContain('application/problem+json')
  }
})
