import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { fuzzRuns } from '../../../../../test/support/suite/budget.ts'
import { ProvidersFileRefused, parseProviders } from './parse-providers.ts'

const local = {
  name: 'local',
  base_url: 'https://models.example/v1',
  formats: ['chat.completions'],
}
const textOf = (...providers: object[]) => JSON.stringify({ providers })

test('an entry has defaults', () => {
  expect(parseProviders(textOf(local))).toEqual([
    { ...local, key_in: undefined, paths: {}, key_file: undefined, key_for: new Set() },
  ])
})

test('a file without providers is valid', () => {
  expect(parseProviders('providers: []')).toEqual([])
})

const id = '01900000-0000-7000-8000-000000000001'
const key_file = '/keys/local'

describe('is refused', () => {
  test.each([
    ['', 'the file: Invalid input: expected object'],
    ['providers: [', 'line 1: expected YAML'],
    ['a: &a [*a]', 'the file'],
    [textOf(local, local), 'two providers have the name local'],
    [textOf({ ...local, name: 'A b' }), 'providers.0.name: expected 1–64'],
    [textOf({ ...local, base_url: 'ftp://x' }), 'providers.0.base_url: expected an http or https'],
    [textOf({ ...local, base_url: 'https://u:secret-p@x' }), 'without user'],
    [textOf({ ...local, base_url: 'https://x?a=secret-q' }), 'providers.0.base_url'],
    [textOf({ name: 'local', formats: ['messages'] }), 'providers.0.base_url: is missing'],
    [textOf({ name: 'local', base_url: 'https://x' }), 'providers.0.formats: is missing'],
    [textOf({ ...local, formats: ['chat'] }), 'providers.0.formats.0: Invalid option'],
    [textOf({ ...local, key_in: 'cookie' }), 'providers.0.key_in: Invalid option'],
    [textOf({ ...local, api_key: 'secret-value' }), 'providers.0: has an unknown field'],
    [textOf({ ...local, key_file }), 'providers.0.key_for: is missing'],
    [textOf({ ...local, key_file, key_for: ['x'] }), 'providers.0.key_for.0: Invalid UUID'],
    [textOf({ ...local, key_file, key_for: 'some' }), 'key_for: expected "all" or a list of ids'],
    [textOf({ ...local, key_file, key_for: [id], key_in: 'none' }), 'providers.0.key_file'],
    [textOf({ ...local, paths: { messages: '/m' } }), 'messages is not in "formats"'],
    [textOf({ ...local, paths: { 'chat.completions': 'm' } }), 'begins with "/"'],
    [textOf({ ...local, paths: { 'chat.completions': '/a/../b' } }), 'begins with "/"'],
    [textOf({ ...local, paths: { interactions: '/m' } }), 'providers.0.paths'],
    [textOf({ name: 'openai', base_url: 'https://x' }), 'the provider is known'],
  ])('%s', (text, says) => {
    expect(() => parseProviders(text)).toThrow(ProvidersFileRefused)
    expect(() => parseProviders(text)).toThrow(says)
    expect(() => parseProviders(text)).not.toThrow(/secret-/)
  })
})

test('any text is parsed or refused, and no message quotes it', () => {
  const value = fc.stringMatching(/^[a-z]{12}$/).map((text) => `sk-${text}`)
  const given = fc.record(
    {
      name: fc.oneof(fc.constant('local'), value),
      base_url: fc.oneof(fc.constant('https://x'), value),
      formats: fc.oneof(fc.constant(['messages']), fc.array(value), value),
      key_in: value,
      key_file: value,
      key_for: fc.oneof(value, fc.array(value)),
      paths: fc.oneof(value, fc.dictionary(fc.constant('messages'), value)),
    },
    { requiredKeys: [] },
  )
  const text = fc.oneof(fc.string(), given.map(textOf), value)
  fc.assert(
    fc.property(text, (written) => {
      try {
        parseProviders(written)
      } catch (error) {
        expect(error).toBeInstanceOf(ProvidersFileRefused)
        expect(String(error)).not.toMatch(/sk-[a-z]{12}/)
      }
    }),
    { numRuns: fuzzRuns(2_000) },
  )
})
