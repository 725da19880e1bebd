import type { StructuralSchema, ValidationRule } from '../../operator/crd/index.ts'
import { celCheck, celValue } from './cel.ts'
import { type Fault, faultAt, isObject } from './fault.ts'
import type { Path } from './read-documents.ts'

/** The rules in CEL that a value breaks. Its structure has to be right. */
export function checkRules(value: unknown, schema: StructuralSchema, path: Path): Fault[] {
  if (value === null || value === undefined) return []
  const rules = schema['x-kubernetes-validations'] ?? []
  const self = rules.length === 0 ? undefined : celValue(value, schema)
  return [
    ...rules.flatMap((rule) => checkRule(rule, self, path)),
    ...partsOf(value, schema).flatMap(([step, part, of]) => checkRules(part, of, [...path, step])),
  ]
}

type Part = [string | number, unknown, StructuralSchema]

function partsOf(value: unknown, schema: StructuralSchema): Part[] {
  const { items, properties, additionalProperties } = schema
  if (Array.isArray(value)) {
    return items === undefined ? [] : value.map((item, index) => [index, item, items])
  }
  if (!isObject(value)) return []
  return Object.entries(value).flatMap(([name, field]): Part[] => {
    const of = properties?.[name] ?? additionalProperties
    return of === undefined ? [] : [[name, field, of]]
  })
}

function checkRule(rule: ValidationRule, self: unknown, path: Path): Fault[] {
  const at = [...path, ...(rule.fieldPath?.split('.').filter((step) => step !== '') ?? [])]
  let check: ReturnType<typeof celCheck>
  try {
    check = celCheck(rule.rule)
  } catch (error) {
    const message = `not checked here: ${rule.message} (${firstLine(error)})`
    return [{ ...faultAt(at, message), level: 'warning' }]
  }
  try {
    return check === undefined || check(self) ? [] : [faultAt(at, rule.message)]
  } catch (error) {
    // The API server refuses what a rule can't be asked about.
    return [faultAt(at, `${rule.message} (${firstLine(error)})`)]
  }
}

function firstLine(error: unknown): string {
  return (error as Error).message.split('\n')[0] ?? ''
}
