import type { FieldType } from './field.ts'

/** What a condition can ask. */
export const operators = [
  'eq',
  'ne',
  'gt',
  'gte',
  'lt',
  'lte',
  'in',
  'not_in',
  'contains',
  'starts_with',
  'exists',
] as const
export type Operator = (typeof operators)[number]

const ordered = ['eq', 'ne', 'gt', 'gte', 'lt', 'lte'] as const

/** What can be asked of values of each type. */
export const operatorsByType: Readonly<Record<FieldType, readonly Operator[]>> = {
  text: operators,
  uuid: ['eq', 'ne', 'in', 'not_in', 'exists'],
  integer: [...ordered, 'in', 'not_in', 'exists'],
  decimal: [...ordered, 'exists'],
  float: [...ordered, 'exists'],
  time: [...ordered, 'exists'],
  bool: ['eq', 'ne', 'exists'],
  list: ['contains', 'exists'],
  json: ['exists'],
}
