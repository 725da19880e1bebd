import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Stored } from './declared-object.ts'
import { type Declaration, reconcileDeclared } from './reconcile-declared.ts'

const owner = { kind: 'Rule', namespace: 'team', name: 'one', uid: 'u1' }

type Fields = Readonly<Record<string, unknown>>
type Rule = Stored & { fields: Fields }

/** A service with at most one rule, which counts the writes. */
function serviceOf(rule: Rule | undefined, { isDeaf = false } = {}) {
  const service = { rule, writes: 0 }
  const object = {
    owner,
    find: async () => service.rule,
    write: async ({ managed_by: _, ...fields }: Fields) => {
      service.writes += 1
      if (!isDeaf) service.rule = { fields, managed_by: owner, version: service.writes }
    },
    remove: async () => undefined,
  }
  return { service, object: object as unknown as Declaration<Rule, object>['object'] }
}

function declare(
  object: Declaration<Rule, object>['object'],
  fields: Fields,
  more: Partial<Declaration<Rule, object>> = {},
) {
  const declaration: Declaration<Rule, object> = {
    ...{ noun: 'rule', action: 'PutRule', object, was_applied: false },
    body: { ...fields, managed_by: owner },
    valuesOf: (stored) => ({ ...stored.fields, managed_by: stored.managed_by }),
    report: ({ version }) => ({ conditions: [], status: { version } }),
    ...more,
  }
  return reconcileDeclared(declaration, { noteExternalId: async () => undefined })
}

test('an absent object is created, and then nothing is written', async () => {
  const { service, object } = serviceOf(undefined)
  expect(await declare(object, { a: 1 })).toMatchObject({
    events: [{ type: 'Normal', reason: 'Created', action: 'PutRule', note: 'Created the rule.' }],
    ...{ drifted: 0, status: { version: 1 } },
  })
  expect(await declare(object, { a: 1, b: undefined })).toMatchObject({ events: [], drifted: 0 })
  expect(service.writes).toBe(1)
})

test.each([
  ['a new generation', {}, ['Updated', 'Wrote a'], 0],
  ['a reason', { because: 'resumed: x' }, ['Updated', 'Wrote a (resumed: x)'], 0],
  [
    'a change by someone else',
    { was_applied: true },
    ['DriftCorrected', 'Corrected changes made in the service: a'],
    1,
  ],
  [
    'a change that is not counted',
    { was_applied: true, is_no_drift: (path: string) => path === 'a' },
    ['Updated', 'Wrote a'],
    0,
  ],
])('%s is one event', async (_, more, [reason, note], drifted) => {
  const { object } = serviceOf({ fields: { a: 0 }, managed_by: owner })
  const result = await declare(object, { a: 1 }, more)
  expect(result).toMatchObject({ events: [{ reason, note }], drifted })
})

test('an object without an owner is taken over', async () => {
  const { object } = serviceOf({ fields: { a: 0 }, managed_by: null, version: 7 })
  expect(await declare(object, { a: 1 })).toMatchObject({
    events: [{ reason: 'Adopted', note: 'Took over version 7: a, managed_by' }],
  })
})

test('an object that is never absent has drifted if it is', async () => {
  const { object } = serviceOf(undefined)
  const result = await declare(object, { a: 1 }, { was_applied: true, is_permanent: true })
  expect(result).toMatchObject({ drifted: 2, events: [{ reason: 'DriftCorrected' }] })
})

test('an object that is due is written again without an event', async () => {
  const { service, object } = serviceOf({ fields: { a: 1 }, managed_by: owner })
  expect(await declare(object, { a: 1 }, { isDue: () => true })).toMatchObject({ events: [] })
  expect(service.writes).toBe(1)
})

test('a read-back that differs is not Ready', async () => {
  const { object } = serviceOf({ fields: { a: 0 }, managed_by: owner }, { isDeaf: true })
  await expect(declare(object, { a: 1 })).rejects.toMatchObject({
    ...{ name: 'NotReady', reason: 'NotApplied', again_after_ms: 10_000 },
    message: 'the rule was written, but the read-back differs: a',
  })
  const absent = serviceOf(undefined, { isDeaf: true })
  await expect(declare(absent.object, {})).rejects.toMatchObject({ reason: 'NotApplied' })
})

test('with any document before, the service then has the declared one, and each difference counts once', async () => {
  const values = fc.dictionary(
    fc.constantFrom('a', 'b', 'c', 'd'),
    fc.oneof(fc.nat(2), fc.constant(null), fc.array(fc.nat(1), { maxLength: 2 })),
  )
  await fc.assert(
    fc.asyncProperty(values, values, async (stored, declared) => {
      const { service, object } = serviceOf({ fields: stored, managed_by: owner })
      const wrong = ['a', 'b', 'c', 'd'].filter(
        (name) => !isDeepStrictEqual(stored[name] ?? null, declared[name] ?? null),
      )
      const { drifted } = await declare(object, declared, { was_applied: true })
      expect(drifted).toBe(wrong.length)
      expect(service.writes).toBe(wrong.length === 0 ? 0 : 1)
      expect(await declare(object, declared)).toMatchObject({ events: [] })
    }),
  )
})
