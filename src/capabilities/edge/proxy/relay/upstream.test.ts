import { describe, expect, test } from 'vitest'
import { defaultProxySettings } from '../contract.ts'
import { formats } from '../formats.ts'
import { providers } from '../providers.ts'
import {
  createUpstreams,
  declaredPaths,
  enterUpstream,
  leaveUpstream,
  pathsOf,
  type UpstreamPath,
  upstreamUrl,
} from './upstream.ts'

const noPath: UpstreamPath = { path: 'none', adds: 'nothing' }
const [openai, anthropic, gemini] = providers

test.each([
  ['/v1beta/openai', ''],
  ['/gateway/v1beta/openai', '/gateway'],
  ['/v1beta', ''],
  ['/v1', ''],
  ['/openai', ''],
  ['/gateway', '/gateway'],
  ['', ''],
])('the Gemini API beside the base URL %s is below "%s"', (base, root) => {
  const paths = pathsOf(gemini, base)
  expect(paths['generate_content']).toEqual({ path: root, adds: 'path' })
  expect(paths['chat.completions']?.path).toBe(`${base}/chat/completions`)
})

test('a path that names a model follows the base URL without the version of the client', () => {
  const { models } = pathsOf(openai, '/gateway/v1')
  expect(models).toEqual({ path: '/gateway/v1', adds: 'path_without_start' })
  const target = { path: '/v1/models/m', query: '?a=1' }
  expect(upstreamUrl(models ?? noPath, target)).toBe('/gateway/v1/models/m?a=1')
})

test('a provider of the file may have paths of its own, and a version of its own', () => {
  const declared = {
    formats: ['chat.completions', 'generate_content'] as const,
    paths: { 'chat.completions': '/chat?version=2' },
  }
  const paths = declaredPaths(declared, '/base/v7')
  const at = (path: string, query: string, endpoint: (typeof declared.formats)[number]) =>
    upstreamUrl(paths[endpoint] ?? noPath, { path, query })
  expect(at('/v1/chat/completions', '', 'chat.completions')).toBe('/base/v7/chat?version=2')
  expect(at('/x', '?a=1&b=2', 'chat.completions')).toBe('/base/v7/chat?version=2&a=1&b=2')
  const gemini = '/models/m:generateContent'
  for (const version of ['/v1', '/v1beta']) {
    expect(at(version + gemini, '?alt=sse', 'generate_content')).toBe(`/base/v7${gemini}?alt=sse`)
  }
})

test('every format has a provider, and its usual provider speaks it', () => {
  const spoken = Object.fromEntries(
    [openai, anthropic, gemini].map((provider) => [provider.name, pathsOf(provider, '/v1')]),
  )
  for (const [endpoint, { provider }] of Object.entries(formats)) {
    expect(spoken[provider], endpoint).toHaveProperty([endpoint])
  }
})

describe('a provider that was replaced', () => {
  const declared = (port: number) => ({
    ...{ name: 'local', base_url: `http://127.0.0.1:${port}/v1`, formats: ['messages'] as const },
    ...{ key_in: undefined, paths: {}, key_file: undefined, key_for: new Set<string>() },
    key: undefined,
  })
  const opened = () => {
    const lookup = () => () => expect.unreachable('nothing connects')
    const upstreams = createUpstreams({ base_urls: {}, settings: defaultProxySettings, lookup })
    upstreams.declare([declared(1)])
    const before = upstreams.get('local')
    if (before === undefined) throw new Error('the provider is missing')
    return { upstreams, before }
  }

  test('closes its connections once its last call has ended', async () => {
    const { upstreams, before } = opened()
    enterUpstream(before)
    enterUpstream(before)
    upstreams.declare([declared(2)])
    expect(upstreams.get('local')).not.toBe(before)
    leaveUpstream(before)
    expect(before.pool.closed).toBe(false)
    leaveUpstream(before)
    expect(before.pool.closed).toBe(true)
    await upstreams.close()
  })

  test('closes them at once without a call, and at the end with one', async () => {
    const { upstreams, before } = opened()
    upstreams.declare([declared(2)])
    expect(before.pool.closed).toBe(true)
    const held = upstreams.get('local')
    if (held === undefined) throw new Error('the provider is missing')
    enterUpstream(held)
    upstreams.declare([])
    expect(held.pool.closed).toBe(false)
    await upstreams.close()
    expect(held.pool.destroyed).toBe(true)
    leaveUpstream(held)
  })
})
