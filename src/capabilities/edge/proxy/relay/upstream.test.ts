import { expect, test } from 'vitest'
import { formats } from '../formats.ts'
import { providers } from '../providers.ts'
import { declaredPaths, pathsOf, type UpstreamPath, upstreamUrl } from './upstream.ts'

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
