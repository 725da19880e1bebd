/** A JSON object: a JSON Schema, or a part of an OpenAPI document. */
export type Json = { [key: string]: unknown }

/** Keywords with a schema as value. */
const oneSchema = ['items', 'additionalProperties', 'propertyNames', 'not'] as const
/** Keywords with a list of schemas as value. */
const schemaLists = ['anyOf', 'oneOf', 'allOf', 'prefixItems'] as const
/** Keywords with named schemas as value. */
const schemaMaps = ['properties', 'patternProperties'] as const
/** Keywords that do not affect validation. */
const annotations = new Set(['description', 'default', 'title', 'examples', 'deprecated'])

export function isJson(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Applies `change` to every nested schema (innermost first), then to this one. */
export function mapSchema(schema: Json, change: (schema: Json) => Json): Json {
  return change(mapInnerSchemas(schema, (inner) => mapSchema(inner, change)))
}

/** Applies `change` to the schemas directly inside this one. */
export function mapInnerSchemas(schema: Json, change: (schema: Json) => Json): Json {
  const changed: Json = { ...schema }
  const one = (value: unknown) => (isJson(value) ? change(value) : value)
  for (const keyword of oneSchema) {
    if (keyword in changed) changed[keyword] = one(changed[keyword])
  }
  for (const keyword of schemaLists) {
    const list = changed[keyword]
    if (Array.isArray(list)) changed[keyword] = list.map(one)
  }
  for (const keyword of schemaMaps) {
    const map = changed[keyword]
    if (!isJson(map)) continue
    changed[keyword] = Object.fromEntries(Object.entries(map).map(([key, to]) => [key, one(to)]))
  }
  return changed
}

/** Splits a schema into validation keywords and annotations. */
export function splitAnnotations(schema: Json): { rules: Json; notes: Json } {
  const entries = Object.entries(schema)
  return {
    rules: Object.fromEntries(entries.filter(([key]) => !annotations.has(key))),
    notes: Object.fromEntries(entries.filter(([key]) => annotations.has(key))),
  }
}
