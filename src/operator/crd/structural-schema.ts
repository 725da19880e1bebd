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
