import { expect, test } from 'vitest'
import { formats } from '../formats.ts'
import { providers } from '../providers.ts'
import { pathsOf } from './upstream.ts'

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
  expect(paths['generate_content']).toEqual({ path: root, from: 0 })
  expect(paths['chat.completions']?.path).toBe(`${base}/chat/completions`)
})

test('a path that names a model follows the base URL without the version of the client', () => {
  expect(pathsOf(openai, '/gateway/v1').models).toEqual({ path: '/gateway/v1', from: 3 })
})

test('every format has a provider, and its usual provider speaks it', () => {
  const spoken = Object.fromEntries(
    [openai, anthropic, gemini].map((provider) => [provider.name, pathsOf(provider, '/v1')]),
  )
  for (const [endpoint, { provider }] of Object.entries(formats)) {
    expect(spoken[provider], endpoint).toHaveProperty([endpoint])
  }
})
