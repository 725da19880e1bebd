import { describe, expect, test } from 'vitest'
import { loadConfig } from '../platform/config/index.ts'
import { toOperatorSettings } from './operator.ts'

const settingsOf = (env: Record<string, string>) =>
  toOperatorSettings(
    loadConfig(
      'operator',
      Object.fromEntries(Object.entries(env).map(([name, value]) => [`LOOPTRACE_${name}`, value])),
    ),
  )
const selectorOf = (selector: unknown) =>
  settingsOf({ OPERATOR_NAMESPACE_SELECTOR: JSON.stringify(selector) }).namespace_selector

describe('the namespace selector', () => {
  test.each([
    undefined,
    { matchLabels: { 'example.com/looptrace': 'enabled', team: '' } },
    { matchExpressions: [{ key: 'team', operator: 'In', values: ['a', 'b'] }] },
    { matchExpressions: [{ key: 'team', operator: 'DoesNotExist' }] },
  ])('is read: %j', (selector) => {
    const env = selector && { OPERATOR_NAMESPACE_SELECTOR: JSON.stringify(selector) }
    expect(settingsOf(env ?? {}).namespace_selector).toEqual(selector)
  })

  test.each<[unknown, string]>([
    ['team=a', 'expected a label selector in JSON'],
    [{ matchLabel: {} }, 'expected a label selector in JSON'],
    [{ matchLabels: { a: 'b c' } }, 'expected a label selector in JSON: matchLabels.a'],
    [{ matchLabels: { 'a b': 'c' } }, 'got the label "a b"'],
    [{}, 'got no condition'],
    [{ matchLabels: {} }, 'got no condition'],
    [{ matchExpressions: [{ key: 'a', operator: 'In' }] }, 'got In with 0 values'],
    [{ matchExpressions: [{ key: 'a', operator: 'Exists', values: ['b'] }] }, 'In and NotIn only'],
  ])('is refused: %j', (selector, message) => {
    expect(() => selectorOf(selector)).toThrow(message)
  })

  test('is refused beside names', () => {
    const OPERATOR_NAMESPACE_SELECTOR = '{"matchLabels":{"a":"b"}}'
    expect(() => settingsOf({ OPERATOR_NAMESPACE_SELECTOR, OPERATOR_NAMESPACES: 'a' })).toThrow(
      'expected no LOOPTRACE_OPERATOR_NAMESPACES',
    )
  })
})

test('a proxy URL has no character that a template or a dotenv file could read otherwise', () => {
  const urlOf = (url: string) => settingsOf({ OPERATOR_PROXY_URL: url }).proxy_url
  expect(urlOf('https://looptrace.example.com:8443/')).toBe('https://looptrace.example.com:8443')
  expect(urlOf('http://[::1]:8080')).toBe('http://[::1]:8080')
  for (const host of ["a'b", 'a$b', 'a"b', 'a`b', 'x'.repeat(250)]) {
    expect(() => urlOf(`http://${host}`), host).toThrow('LOOPTRACE_OPERATOR_PROXY_URL')
  }
})
