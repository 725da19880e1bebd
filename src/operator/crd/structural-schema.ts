/**
 * A structural schema: the subset of OpenAPI 3 that Kubernetes accepts in a CRD. Each value has one
 * type; there are no unions and no floats, and every string, list and map has a bound.
 */
export type StructuralSchema = {
  type: 'object' | 'array' | 'string' | 'integer' | 'boolean'
  description?: string
  format?: string
  nullable?: true
  default?: unknown
  enum?: readonly unknown[]
  pattern?: string
  minLength?: number
  maxLength?: number
  minimum?: number
  maximum?: number
  multipleOf?: number
  minItems?: number
  maxItems?: number
  minProperties?: number
  maxProperties?: number
  required?: readonly string[]
  properties?: Readonly<Record<string, StructuralSchema>>
  additionalProperties?: StructuralSchema
  items?: StructuralSchema
  'x-kubernetes-list-type'?: 'atomic' | 'set' | 'map'
  'x-kubernetes-list-map-keys'?: readonly string[]
  'x-kubernetes-map-type'?: 'granular' | 'atomic'
  'x-kubernetes-validations'?: readonly ValidationRule[]
}

/** A CEL rule for a value. */
export type ValidationRule = {
  rule: string
  message: string
  /** JSONPath of the field that an error names, relative to the value: `.days`. */
  fieldPath?: string
  reason?: string
}

/** A kind's schema does not fit a CRD. The message names the field and what was expected. */
class SchemaNotStructural extends Error {
  override readonly name = 'SchemaNotStructural'
}

/** Throws `SchemaNotStructural`: `spec.days: a number with a fraction, expected …`. */
export function notStructural(path: string, message: string): never {
  throw new SchemaNotStructural(`${path}: ${message}`)
}

/** Features of JavaScript's regular expressions that RE2, the API server's engine, lacks. */
const notOfRe2: readonly [RegExp, string][] = [
  [/\(\?<?[=!]/, 'a lookaround'],
  [/\\[1-9]/, 'a back-reference'],
  [/\\k</, 'a back-reference'],
  [/\\u/, String.raw`\u`],
  [/\\c/, String.raw`\c`],
  [/\[\^?\]/, 'an empty class'],
]

/** RE2's limit of repeats. */
const repeatsMax = 1_000

/** Throws `SchemaNotStructural` for a pattern that RE2 refuses or reads differently. */
export function assertPortablePattern(pattern: string, path: string): void {
  for (const [sign, name] of notOfRe2) {
    if (sign.test(pattern.replaceAll('\\\\', ''))) {
      notStructural(path, `${name} in the pattern ${pattern}, expected RE2 syntax`)
    }
  }
  for (const [, from, to] of pattern.matchAll(/\{(\d+)(?:,(\d*))?\}/g)) {
    if (Math.max(Number(from), Number(to ?? 0)) > repeatsMax) {
      notStructural(
        path,
        `more than ${repeatsMax} repeats in ${pattern}, expected a length instead`,
      )
    }
  }
}

type JsonSchema = { readonly [key: string]: unknown }

/** The rule of an immutable field. */
const immutableRule = 'self == oldSelf'

/**
 * Returns rules of an object for its optional immutable fields. A rule of the field itself applies
 * only when the old and the new object have the field, so the field could be removed and set again:
 * https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/#transition-rules
 */
export function parentRules(schema: JsonSchema, path: string): ValidationRule[] {
  const required = (schema['required'] ?? []) as string[]
  const fields = Object.entries((schema['properties'] ?? {}) as Record<string, JsonSchema>)
  const optional = fields.filter(
    ([name, field]) => !required.includes(name) && !('default' in field),
  )
  for (const [name, field] of optional) assertNothingImmutableBelow(field, `${path}.${name}`)
  return optional
    .filter(([, field]) => isImmutable(field))
    .map(([name]) => ({
      rule: `has(self.${name}) == has(oldSelf.${name})`,
      message: `${name} can not be added or removed later: create a new resource`,
    }))
}

function isImmutable(schema: JsonSchema): boolean {
  const rules = (schema['x-kubernetes-validations'] ?? []) as ValidationRule[]
  return rules.some(({ rule }) => rule === immutableRule)
}

/** Refuses immutable fields in an optional section, which could be removed and set again. */
function assertNothingImmutableBelow(section: JsonSchema, path: string): void {
  if (isImmutable(section)) return
  const fields = Object.entries((section['properties'] ?? {}) as Record<string, JsonSchema>)
  for (const [name, field] of fields) {
    if (isImmutable(field)) {
      notStructural(`${path}.${name}`, 'immutable in an optional section')
    }
    assertNothingImmutableBelow(field, `${path}.${name}`)
  }
}
