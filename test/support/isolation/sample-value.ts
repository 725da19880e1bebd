import { isJson, type Json } from '../../../src/platform/http/json-schema.ts'

/**
 * Returns a small value that the JSON Schema accepts, as far as JSON Schema tells: required fields,
 * first choices, shortest texts. `$defs` of the root resolve references.
 */
export function sampleValue(schema: Json, root: Json = schema): unknown {
  const resolved = resolve(schema, root)
  if ('const' in resolved) return resolved['const']
  const values = resolved['enum']
  if (Array.isArray(values)) return values[0]
  const choices = resolved['anyOf'] ?? resolved['oneOf']
  if (Array.isArray(choices)) return sampleValue(choices[0], root)
  const parts = resolved['allOf']
  if (Array.isArray(parts)) {
    return Object.assign({}, ...parts.map((part) => sampleValue(part, root)))
  }
  const { type } = resolved
  return samples[String(Array.isArray(type) ? type[0] : type)]?.(resolved, root) ?? null
}

const samples: Record<string, (schema: Json, root: Json) => unknown> = {
  object: (schema, root) => {
    const required = Array.isArray(schema['required']) ? schema['required'].map(String) : []
    return Object.fromEntries(
      required.map((name) => [name, sampleValue(propertiesOf(schema)[name] ?? {}, root)]),
    )
  },
  array: (schema, root) => {
    const count = Number(schema['minItems'] ?? 0)
    const items = isJson(schema['items']) ? schema['items'] : {}
    return Array.from({ length: count }, () => sampleValue(items, root))
  },
  string: (schema) => sampleText(schema),
  integer: (schema) => Math.max(1, Number(schema['minimum'] ?? 1)),
  number: (schema) => Math.max(0.5, Number(schema['minimum'] ?? 0)),
  boolean: () => false,
}

function sampleText(schema: Json): string {
  const { format } = schema
  if (format === 'uuid') return '01890000-0000-7000-8000-00000000abcd'
  if (format === 'date-time') return '2026-11-20T10:00:00.000Z'
  if (format === 'email') return 'somebody@example.com'
  if (format === 'uri') return 'https://example.com/'
  return 'sample'.padEnd(Number(schema['minLength'] ?? 1), 'x')
}

/** Returns the schema that a reference of `root` names, or the schema itself. */
export function resolve(schema: Json, root: Json): Json {
  const { $ref } = schema
  if (typeof $ref !== 'string') return schema
  if ($ref === '#') return root
  const definitions = isJson(root['$defs']) ? root['$defs'] : {}
  const found = definitions[$ref.split('/').at(-1) ?? '']
  return isJson(found) ? found : {}
}

/** Returns the schemas of the named properties of an object. */
export function propertiesOf(schema: Json): Record<string, Json> {
  const properties = isJson(schema['properties']) ? schema['properties'] : {}
  return Object.fromEntries(
    Object.entries(properties).filter((entry): entry is [string, Json] => isJson(entry[1])),
  )
}
