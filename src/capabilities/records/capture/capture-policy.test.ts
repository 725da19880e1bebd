import { expect, test } from 'vitest'
import { policyBody } from './capture-policy.ts'

const faultsOf = (body: unknown) =>
  policyBody.safeParse(body).error?.issues.map(({ path, message }) => [path.join('/'), message])

test('what is left out is the default', () => {
  expect(policyBody.parse({})).toEqual({ content: 'full', sample_rate: 1, masks: [] })
  expect(policyBody.parse({ masks: [{ name: 'mail', pattern: '\\S+@\\S+' }] }).masks).toEqual([
    { name: 'mail', pattern: '\\S+@\\S+', keys: null, replacement: '[masked:mail]' },
  ])
})

test.each([
  [{ name: 'a', pattern: '(' }, '/pattern', /got "\(", expected RE2 syntax: .*missing closing/],
  [{ name: 'a', pattern: '(?=x)' }, '/pattern', /expected RE2 syntax/],
  [{ name: 'a', pattern: 'a*' }, '/pattern', /expected a pattern that does not match empty text/],
  [
    { name: 'a', pattern: 'x'.repeat(1001) },
    '/pattern',
    /got 1001 characters, expected at most 1000/,
  ],
  [{ name: 'a', pattern: '\\w{900}'.repeat(10) }, '/pattern', /states, expected at most 5000/],
  [{ name: 'a', pattern: '[a-z]+' }, '/replacement', /which the pattern matches itself/],
  [{ name: 'a' }, '/pattern', /got neither, expected either pattern or keys/],
  [{ name: 'a', pattern: 'x', keys: ['y'] }, '/pattern', /got both/],
  [{ name: 'a b', keys: ['y'] }, '/name', /expected 1 to 64/],
])('the mask %j is refused', (mask, pointer, message) => {
  const [fault] = faultsOf({ masks: [mask] }) ?? []
  expect(fault).toEqual([`masks/0${pointer}`, expect.stringMatching(message)])
})

test('masks are counted, and have names of their own', () => {
  const masks = Array.from({ length: 51 }, (_, i) => ({ name: `m${i}`, keys: ['x'] }))
  expect(faultsOf({ masks })).toEqual([['masks', 'got 51 masks, expected at most 50']])
  expect(faultsOf({ masks: masks.slice(0, 50) })).toBeUndefined()
  const twice = [
    { name: 'a', keys: ['x'] },
    { name: 'a', keys: ['y'] },
  ]
  expect(faultsOf({ masks: twice })).toEqual([
    ['masks/1/name', 'got "a" twice, expected names that differ'],
  ])
})
