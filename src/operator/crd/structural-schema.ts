/**
 * A structural schema: the part of OpenAPI 3 that Kubernetes takes in a CRD. One type a value, no
 * unions, no floats, and a bound on whatever can grow.
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

/** A rule in CEL of the value that it stands at. */
export type ValidationRule = {
  rule: string
  message: string
  /** JSONPath of the field to blame, from the value: `.days`. */
  fieldPath?: string
  reason?: string
}

/** A kind's schema can't stand in a CRD; the message names the field and what was expected. */
export class SchemaNotStructural extends Error {
  override readonly name = 'SchemaNotStructural'
}

/** Throws `SchemaNotStructural`: `spec.days: a number with a fraction, expected …`. */
export function notStructural(path: string, message: string): never {
  throw new SchemaNotStructural(`${path}: ${message}`)
}

/** What JavaScript's regular expressions have and RE2, the API server's engine, has not. */
const notOfRe2: readonly [RegExp, string][] = [
  [/\(\?<?[=!]/, 'a lookaround'],
  [/\\[1-9]/, 'a back-reference'],
  [/\\k</, 'a back-reference'],
  [/\\u/, String.raw`\u`],
  [/\\c/, String.raw`\c`],
  [/\[\^?\]/, 'an empty class'],
]

/** RE2 refuses longer repeats. */
const repeatsMax = 1_000

/** Throws `SchemaNotStructural` for a pattern that the API server would read otherwise or refuse. */
export function assertPortablePattern(pattern: string, path: string): void {
  for (const [sign, name] of notOfRe2) {
    if (sign.test(pattern.replaceAll('\\\\', ''))) {
      notStructural(path, `${name} in the pattern ${pattern}, expected what RE2 has`)
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
