import { notStructural, type ValidationRule } from './structural-schema.ts'

type JsonSchema = { readonly [key: string]: unknown }

/** The rule by which a field says that it can't be changed. */
export const immutableRule = 'self == oldSelf'

/**
 * Rules of an object for its immutable fields that may be left out. A rule of the field itself is
 * asked only when the old and the new object have it, so it could be taken away and set anew:
 * https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/#transition-rules
 */
export function parentRules(schema: JsonSchema, path: string): ValidationRule[] {
  const required = (schema['required'] ?? []) as string[]
  const fields = Object.entries((schema['properties'] ?? {}) as Record<string, JsonSchema>)
  const loose = fields.filter(([name, field]) => !required.includes(name) && !('default' in field))
  for (const [name, field] of loose) assertNothingImmutableBelow(field, `${path}.${name}`)
  return loose
    .filter(([, field]) => isImmutable(field))
    .map(([name]) => ({
      rule: `has(self.${name}) == has(oldSelf.${name})`,
      message: `${name} can not be set or taken away later: make a new resource`,
    }))
}

function isImmutable(schema: JsonSchema): boolean {
  const rules = (schema['x-kubernetes-validations'] ?? []) as ValidationRule[]
  return rules.some(({ rule }) => rule === immutableRule)
}

/** Taking away the section and setting it anew would change what stands in it. */
function assertNothingImmutableBelow(section: JsonSchema, path: string): void {
  if (isImmutable(section)) return
  const fields = Object.entries((section['properties'] ?? {}) as Record<string, JsonSchema>)
  for (const [name, field] of fields) {
    if (isImmutable(field)) {
      notStructural(`${path}.${name}`, 'immutable in a section that may be left out')
    }
    assertNothingImmutableBelow(field, `${path}.${name}`)
  }
}
