import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { fuzzRuns } from '../../../../test/support/suite/budget.ts'
import { compilePolicy } from './compile-policy.ts'
import type { Mask, Masker } from './contract.ts'
import { maskText } from './mask-text.ts'

function maskerOf(...masks: Partial<Mask>[]): Masker {
  const whole = masks.map((mask) => ({
    name: 'm',
    pattern: null,
    keys: null,
    replacement: '[masked:m]',
    ...mask,
  }))
  const { masker } = compilePolicy({ content: 'full', sample_rate: 1, masks: whole })
  if (masker === undefined) throw new Error('no masks were given')
  return masker
}

const secret = maskerOf({ pattern: 'SECRET-[0-9]+' })
const password = maskerOf({ keys: ['password', 'Api_Key'] })

describe('a pattern', () => {
  test.each([
    ['plain SECRET-1 text SECRET-22.', 'plain [masked:m] text [masked:m].'],
    ['{"a":"SECRET-1"}', '{"a":"[masked:m]"}'],
    ['{ "SECRET-1" : [1, "x", "SECRET-2"] }', '{ "[masked:m]" : [1, "x", "[masked:m]"] }'],
    ['"\\u0053ECRET-1"', '"[masked:m]"'],
    ['{"a":"{\\"b\\":\\"\\\\u0053ECRET-1\\"}"}', '{"a":"{\\"b\\":\\"[masked:m]\\"}"}'],
    ['{"cut":"\\u0053ECRET-1 and so', '{"cut":"[masked:m] and so"'],
    ['[1,2', '[1,2'],
    ['', ''],
  ])('in %s', (text, expected) => {
    expect(maskText(text, secret)).toBe(expected)
  })

  test('sees numbers as they are written', () => {
    const card = maskerOf({ pattern: '^[0-9]{16,}$' })
    expect(maskText('{"card":41111111111111112222,"n":1.50}', card)).toBe(
      '{"card":"[masked:m]","n":1.50}',
    )
  })

  test('sees a string by itself, so that anchors mean its ends', () => {
    expect(maskText('["x","xx"]', maskerOf({ pattern: '^x$' }))).toBe('["[masked:m]","xx"]')
  })

  test('may have a replacement with signs that mean something to others', () => {
    const mask = maskerOf({ pattern: 'x', replacement: '$1$&"\\' })
    expect(maskText('x', mask)).toBe('$1$&"\\')
    expect(JSON.parse(maskText('{"a":"x"}', mask))).toEqual({ a: '$1$&"\\' })
  })
})

describe('a key', () => {
  test.each([
    ['{"password":"a","b":1}', '{"password":"[masked:m]","b":1}'],
    ['{"PASSWORD" : {"a":["}"]} , "b":1}', '{"PASSWORD" : "[masked:m]" , "b":1}'],
    [
      '[{"api_key":null},{"x":{"password":[1,[2]]}}]',
      '[{"api_key":"[masked:m]"},{"x":{"password":"[masked:m]"}}]',
    ],
    ['{"\\u0070assword":1}', '{"\\u0070assword":"[masked:m]"}'],
    [
      '{"arguments":"{\\"password\\":\\"a\\"}"}',
      '{"arguments":"{\\"password\\":\\"[masked:m]\\"}"}',
    ],
    ['{"password":"cut of', '{"password":"[masked:m]"'],
    ['{"password":[1,{"a":"cut', '{"password":"[masked:m]"'],
    ['["password","b"]', '["password","b"]'],
    ['password: a', 'password: a'],
  ])('in %s', (text, expected) => {
    expect(maskText(text, password)).toBe(expected)
  })
})

const word = fc.string({ unit: 'grapheme', maxLength: 8 })
const digits = fc.integer({ min: 0, max: 999 })
const withSecret = fc.tuple(word, digits, word).map(([a, n, b]) => `${a}SECRET-${n}${b}`)
const leaf = fc.oneof(word, withSecret, fc.double(), fc.boolean(), fc.constant(null))
const { json } = fc.letrec((tie) => ({
  json: fc.oneof(
    { maxDepth: 4 },
    leaf,
    fc.array(tie('json'), { maxLength: 4 }),
    fc.dictionary(fc.oneof(word, withSecret, fc.constant('password')), tie('json'), { maxKeys: 4 }),
    tie('json').map((value) => JSON.stringify(value)),
  ),
}))

function texts(value: unknown): string[] {
  if (typeof value === 'string') {
    try {
      const parsed: unknown = JSON.parse(value)
      return typeof parsed === 'object' ? texts(parsed) : [value]
    } catch {
      return [value]
    }
  }
  if (typeof value !== 'object' || value === null) return [String(value)]
  return Object.entries(value).flatMap(([key, inner]) => [key, ...texts(inner)])
}

function valuesOf(key: string, value: unknown): unknown[] {
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, inner]) =>
    name === key ? [inner] : valuesOf(key, inner),
  )
}

const both = maskerOf({ pattern: 'SECRET-[0-9]+' }, { keys: ['password'] })

test('nothing that a mask matches survives in any JSON, and JSON it stays', () => {
  fc.assert(
    fc.property(fc.array(json, { minLength: 1 }), fc.nat(2), (value, indent) => {
      const masked: unknown = JSON.parse(maskText(JSON.stringify(value, null, indent), both))
      expect(texts(masked).filter((text) => /SECRET-[0-9]/.test(text))).toEqual([])
      expect(valuesOf('password', masked).filter((inner) => inner !== '[masked:m]')).toEqual([])
    }),
    { numRuns: fuzzRuns(1000) },
  )
})

test('JSON without anything to mask stays as it is written', () => {
  const free = fc.json({ stringUnit: 'grapheme' })
  fc.assert(
    fc.property(free, (text) => {
      expect(maskText(text, both)).toBe(text)
    }),
  )
})

test('nothing that a pattern matches survives in JSON that was cut anywhere', () => {
  fc.assert(
    fc.property(fc.array(json, { minLength: 1 }), fc.nat(), (value, cut) => {
      const text = JSON.stringify(value)
      const masked = maskText(text.slice(0, 1 + (cut % text.length)), both)
      expect(masked).not.toMatch(/SECRET-[0-9]/)
    }),
    { numRuns: fuzzRuns(1000) },
  )
})

test('any text at all is taken', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: 'binary' }),
      fc.constantFrom('', '{', '["', '{"password":'),
      (text, start) => {
        expect(maskText(`${start}${text}`, both)).not.toMatch(/SECRET-[0-9]/)
      },
    ),
  )
})
