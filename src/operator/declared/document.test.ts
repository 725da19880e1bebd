import fc from 'fast-check'
import { expect, test } from 'vitest'
import { z } from 'zod'
import {
  converted,
  documentOf,
  elsewhere,
  named,
  placed,
  refusedAs,
  toSpecPath,
} from './document.ts'

const share = converted(z.string().max(9), Number)

const step = z.strictObject({
  minSamples: z.int(),
  maxShare: share.optional().describe('A share.'),
  isOff: named(z.boolean().default(false), 'off'),
  secretRef: elsewhere(z.string()).optional(),
})

const spec = z.strictObject({
  taskName: z.string().optional(),
  firstStep: step.optional(),
  allSteps: z.array(step).default([]),
  labels: z.record(z.string(), z.string()).default({}),
  traces: placed(z.int().optional(), (days) => ({ days: { traces: days } })),
  events: placed(z.int().optional(), (days) => ({ days: { events: days } })),
  suspend: elsewhere(z.boolean().default(false)),
})

type Step = { min_samples: number; max_share?: number; off: boolean }
type Document = {
  task_name?: string
  first_step?: Step | { min_samples: number }
  all_steps: Step[]
  labels: object
  days?: { traces?: number; events?: number }
}

const toDocument = documentOf<Document>()(spec)

test('fields have the same names in snake_case, or their places', () => {
  const given = {
    taskName: 'checkout',
    firstStep: { minSamples: 1, maxShare: '0.5', isOff: true, secretRef: 'hidden' },
    allSteps: [{ minSamples: 2 }],
    labels: { minSamples: 'of a user' },
    ...{ traces: 9, events: 3, suspend: true },
  }
  expect(toDocument(spec.parse(given))).toEqual({
    task_name: 'checkout',
    first_step: { min_samples: 1, max_share: 0.5, off: true },
    all_steps: [{ min_samples: 2, off: false }],
    labels: { minSamples: 'of a user' },
    days: { traces: 9, events: 3 },
  })
  expect(toDocument(spec.parse({ taskName: undefined }))).toEqual({ all_steps: [], labels: {} })
})

test('a field without a place in the document does not compile', () => {
  const wrong = z.strictObject({ ...spec.shape, newField: z.string().optional() })
  const nested = z.strictObject({
    firstStep: z.strictObject({ ...step.shape, newField: z.string() }).optional(),
    allSteps: z.array(z.strictObject({ ...step.shape, newField: z.string() })).default([]),
  })
  // @ts-expect-error: "newField"
  const one = documentOf<Document>()(wrong)
  // @ts-expect-error: "firstStep.newField" | "allSteps.newField"
  const other = documentOf<Document>()(nested)
  // A field that does not compile is still in the document, which the service then refuses.
  expect(one(wrong.parse({ newField: 'x' }))).toMatchObject({ new_field: 'x' })
  const item = { minSamples: 1, newField: 'x' }
  expect(other(nested.parse({ allSteps: [item] }))).toMatchObject({
    all_steps: [{ new_field: 'x' }],
  })
})

test('the path of each value of a document leads back to the field of the spec', () => {
  const steps = fc.record({ minSamples: fc.nat(), isOff: fc.boolean() })
  const specs = fc.record(
    { taskName: fc.string(), firstStep: steps, allSteps: fc.array(steps, { maxLength: 3 }) },
    { requiredKeys: [] },
  )
  fc.assert(
    fc.property(specs, (given) => {
      const value = spec.parse(given)
      const document = toDocument(value)
      for (const path of pathsOf(document)) {
        expect(at(value, toSpecPath(spec, path))).toEqual(at(document, path))
      }
    }),
  )
})

/** Returns the paths of the values that are neither objects nor lists. */
function pathsOf(value: unknown): (string | number)[][] {
  if (typeof value !== 'object' || value === null) return [[]]
  const entries: [string | number, unknown][] = Array.isArray(value)
    ? [...value.entries()]
    : Object.entries(value)
  return entries.flatMap(([name, inner]) => pathsOf(inner).map((path) => [name, ...path]))
}

const at = (value: unknown, path: readonly (string | number)[]): unknown =>
  path.reduce((inner: unknown, name) => Object(inner)[name], value)

test('the service refuses a spec in its own words, at the field of the spec', () => {
  const body = z.object({ all_steps: z.array(z.object({ min_samples: z.int().max(5) })) })
  const checked = refusedAs(spec, { body, toBody: toDocument })
  const { error } = checked.safeParse({ allSteps: [{ minSamples: 1 }, { minSamples: 9 }] })
  expect(error?.issues.map(({ path }) => path)).toEqual([['allSteps', 1, 'minSamples']])
  // An error of the spec itself is reported alone.
  const faults = checked.safeParse({ taskName: 1, allSteps: [{ minSamples: 9 }] }).error?.issues
  expect(faults?.map(({ path }) => path)).toEqual([['taskName']])
})
