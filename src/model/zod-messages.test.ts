import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { refusalOf } from './zod-messages.ts'

/** A secret that no refusal may quote. */
const secret = 'hunter2-hunter2'

function refusals(schema: z.ZodType, value: unknown): string[] {
  const { error } = schema.safeParse(value)
  const valueAt = (path: readonly PropertyKey[]) =>
    path.reduce<unknown>((from, step) => Object(from)[step], value)
  return (error?.issues ?? []).map((issue) => refusalOf(issue, valueAt(issue.path)))
}

describe('a refusal', () => {
  test.each<[z.ZodType, unknown, string]>([
    [z.string(), undefined, 'expected text, got nothing'],
    [z.number(), secret, 'expected a number, got text'],
    [z.array(z.string()), null, 'expected a list, got null'],
    [z.int(), 1.5, 'expected a whole number, got a number'],
    [z.enum(['a', 'b']), secret, 'expected one of a, b'],
    [z.literal('a'), secret, 'expected a'],
    [z.string().min(3), 'x', 'expected at least 3 characters'],
    [z.array(z.int()).max(1), [1, 2], 'expected at most 1 items'],
    [z.number().positive(), 0, 'expected more than 0'],
    [z.url(), secret, 'expected a URL'],
    [z.iso.datetime(), secret, 'expected an instant such as 2026-01-05T12:00:00Z'],
    [z.string().regex(/^a+$/), secret, 'expected text that matches /^a+$/'],
    [z.union([z.int(), z.boolean()]), secret, 'expected another kind of value'],
    [z.strictObject({}), { [secret.slice(0, 3)]: secret }, 'expected no "hun"'],
    [
      z.record(z.string().regex(/^a$/), z.int()),
      { b: 1 },
      'expected another name: expected text that matches /^a$/',
    ],
    [z.string().regex(/^a$/, { error: 'expected a name' }), secret, 'expected a name'],
    [z.string().refine(() => false, 'got another one'), secret, 'got another one'],
  ])('%# is ours, and does not quote the value', (schema, value, expected) => {
    const found = refusals(schema, value)
    expect(found).toEqual([expected])
    expect(found.join()).not.toContain(secret)
  })

  test('of a union that a field decides names the values of the field', () => {
    const one = z.strictObject({ type: z.literal('a') })
    const union = z.discriminatedUnion('type', [one, z.strictObject({ type: z.literal('b') })])
    expect(refusals(union, { type: secret })).toEqual(['expected one of a, b'])
  })
})
