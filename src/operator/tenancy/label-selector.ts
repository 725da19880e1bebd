import { z } from 'zod'
import type { LabelSelector } from './grant.ts'

const label = z
  .string()
  .max(317)
  .regex(/^([a-z0-9]([a-z0-9.-]*[a-z0-9])?\/)?[A-Za-z0-9]([A-Za-z0-9_.-]*[A-Za-z0-9])?$/)
const labelValue = z
  .string()
  .max(63)
  .regex(/^([A-Za-z0-9]([A-Za-z0-9_.-]*[A-Za-z0-9])?)?$/)

const expression = z
  .strictObject({
    key: label.describe('Key of the label.'),
    operator: z.enum(['In', 'NotIn', 'Exists', 'DoesNotExist']).describe('Condition on the label.'),
    values: z
      .array(labelValue)
      .max(64)
      .optional()
      .describe('Values for `In` and `NotIn`.')
      .meta({ 'x-kubernetes-list-type': 'set' }),
  })
  .meta({
    'x-kubernetes-validations': [
      {
        rule: "(self.operator in ['In', 'NotIn']) == (has(self.values) && size(self.values) > 0)",
        message: 'expected values with In and NotIn only',
      },
    ],
  })

/** A label selector for namespaces (metav1.LabelSelector). */
export const labelSelector = z.strictObject({
  matchLabels: z
    .record(z.string(), labelValue)
    .meta({ maxProperties: 16 })
    .optional()
    .describe('Labels that the namespace must have.'),
  matchExpressions: z
    .array(expression)
    .max(16)
    .optional()
    .describe('Conditions that the labels of the namespace must meet.'),
})

/**
 * Returns what is wrong with a selector that no CRD has checked; undefined for a valid one. One
 * without any condition counts as wrong, because it would select every namespace.
 */
export function findSelectorFault(selector: LabelSelector): string | undefined {
  const { matchLabels = {}, matchExpressions = [] } = selector
  const key = Object.keys(matchLabels).find((one) => !label.safeParse(one).success)
  if (key !== undefined) return `got the label ${JSON.stringify(key)}, expected the key of a label`
  for (const { key: of, operator, values = [] } of matchExpressions) {
    const needsValues = operator === 'In' || operator === 'NotIn'
    if (needsValues !== values.length > 0) {
      return `got ${operator} with ${values.length} values for the label ${of}, expected values with In and NotIn only`
    }
  }
  const isEmpty = Object.keys(matchLabels).length + matchExpressions.length === 0
  return isEmpty ? 'got no condition, expected at least one' : undefined
}
