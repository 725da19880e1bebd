import fc from 'fast-check'
import { expect, test } from 'vitest'
import { fuzzRuns } from '../../../../../test/support/suite/budget.ts'
import { Problem } from '../../../../kernel/problem.ts'
import type { Dialect } from '../formats.ts'
import { keyHeader, readCredentials, withKeyHeader } from './credentials.ts'
import { createRequestHeaderReader } from './request-headers.ts'

const read = createRequestHeaderReader()

function codeOf(step: () => unknown): string {
  try {
    step()
    return ''
  } catch (error) {
    return error instanceof Problem ? error.code : String(error)
  }
}

const names = [
  'x-api-key',
  'x-looptrace-key',
  'authorization',
  'x-goog-api-key',
  'api-key',
] as const
const part = fc.oneof(
  fc.constantFrom('lt_a', 'lt_a', 'lt_b'),
  fc.constantFrom('sk-1', 'sk-ant-api', 'sk-ant-oat', 'AIza-lt_', 'default_key'),
)
const values = fc.array(part, { minLength: 1, maxLength: 2 })
const sent = fc.record({
  headers: fc.dictionary(fc.constantFrom(...names), values, { maxKeys: 3 }),
  query: fc.array(fc.tuple(fc.constantFrom('key', 'alt', 'token'), part), { maxLength: 3 }),
  dialect: fc.constantFrom<Dialect>('openai', 'anthropic', 'google'),
})

/** The usual places of a provider's key, and then the others, as the guide lists them. */
const order: Record<Dialect, readonly string[]> = {
  openai: ['authorization', 'api-key', 'x-api-key', 'x-goog-api-key'],
  anthropic: ['x-api-key', 'authorization', 'api-key', 'x-goog-api-key'],
  google: ['x-goog-api-key', 'query', 'authorization', 'x-api-key', 'api-key'],
}

/** The call of the specification goes on as it came: its Authorization is one value. */
function wholeAuthorization(
  { isPlain }: { isPlain: boolean },
  { authorization }: Partial<Record<string, string[]>>,
): string | undefined {
  return isPlain ? authorization?.join(', ') : undefined
}

test('keys are found as a simple reading finds them', () => {
  const property = fc.property(sent, ({ headers, query, dialect }) => {
    const flat = Object.entries(headers).flatMap(([name, keys]) => [
      name,
      `${name === 'authorization' ? 'Bearer ' : ''}${keys.join(', ')}`,
    ])
    const pairs = query.map(([name, value]) => `${name}=${value}`)
    const asked = query.length === 0 ? '' : `?${pairs.join('&')}`
    const places: Record<string, string[]> = {
      ...headers,
      query: query.filter(([name]) => name === 'key').map(([, value]) => value),
    }
    const ours = new Set(
      Object.values(places)
        .flat()
        .filter((key) => key.startsWith('lt_')),
    )
    const act = () => readCredentials(read(flat), asked, dialect)
    if (ours.size > 1) {
      expect(codeOf(act)).toBe('credentials_invalid')
      return
    }
    const [only] = ours
    if (only === undefined) {
      // As the specification has it, X-API-Key beside Authorization is a project key of any form.
      const isNamed = dialect === 'openai' && headers['x-api-key'] !== undefined
      const others = ['x-looptrace-key', 'x-goog-api-key', 'api-key'].some(
        (name) => name in headers,
      )
      if (!isNamed || others) expect(codeOf(act)).toBe('credentials_missing')
      return
    }
    const found = act()
    const theirs = order[dialect]
      .flatMap((name) => places[name] ?? [])
      .find((key) => !key.startsWith('lt_'))
    const expected = wholeAuthorization(found, headers) ?? theirs ?? ''
    expect([found.project_key, found.provider_key]).toEqual([only, expected])
    const kept = query.filter(
      ([name, value]) => !value.startsWith('lt_') && !(name === 'key' && dialect === 'google'),
    )
    expect(new URLSearchParams(found.query).toString()).toBe(new URLSearchParams(kept).toString())
    if (found.isPlain) expect(Object.keys(headers).toSorted()).not.toContain('api-key')
  })
  fc.assert(property, { numRuns: fuzzRuns(8_000) })
})

test('the call of the specification goes on as it came', () => {
  const headers = read(['X-API-Key', 'lt_a', 'Authorization', 'bearer  sk-1', 'X-Else', 'e'])
  expect(readCredentials(headers, '?a=1', 'openai')).toEqual({
    project_key: 'lt_a',
    project_key_place: 'X-API-Key',
    provider_key: 'sk-1',
    isPlain: true,
    query: '?a=1',
  })
  expect(headers.forwarded).toEqual(['Authorization', 'bearer  sk-1', 'X-Else', 'e'])
})

test('a key takes the place of Authorization', () => {
  const flat = ['AUTHORIZATION', 'Bearer lt_a', 'X-Else', 'e']
  const [name, value] = keyHeader('anthropic', 'sk-ant-api')
  expect(withKeyHeader(flat, [name, value])).toEqual(['X-Else', 'e', 'x-api-key', 'sk-ant-api'])
})
