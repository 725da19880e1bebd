import type { StructuralSchema } from '../../operator/crd/index.ts'
import { isObject } from './fault.ts'

/**
 * The value as the API server stores it: a field that is missing has its default, and one that is
 * null where that is not allowed is missing.
 */
export function withDefaults(value: unknown, schema: StructuralSchema): unknown {
  const { items, additionalProperties, properties } = schema
  if (items !== undefined && Array.isArray(value)) {
    return value.map((item) => withDefaults(item, items))
  }
  if (!isObject(value)) return value
  const kept = Object.entries(value).filter(([name, field]) => {
    return field !== null || (properties?.[name] ?? additionalProperties ?? nullable).nullable
  })
  const filled = kept.map(([name, field]) => {
    const of = properties?.[name] ?? additionalProperties
    return [name, of === undefined ? field : withDefaults(field, of)]
  })
  const missing = Object.entries(properties ?? {}).filter(
    ([name, field]) => field.default !== undefined && !kept.some(([one]) => one === name),
  )
  const added = missing.map(([name, field]) => [name, withDefaults(field.default, field)])
  return Object.fromEntries([...filled, ...added])
}

/** Fields that the schema does not know keep their null. */
const nullable = { nullable: true }
