/** A JSON object: a JSON Schema, or a part of an OpenAPI document. */
export type Json = { [key: string]: unknown }

/** Keywords whose value is a schema. */
const oneSchema = ['items', 'additionalProperties', 'propertyNames', 'not'] as const
/** Keywords whose value is a list of schemas. */
const schemaLists = ['anyOf', 'oneOf', 'allOf', 'prefixItems'] as const
/** Keywords whose value has schemas by name. */
const schemaMaps = ['properties', 'patternProperties'] as const
/** Keywords that say nothing about what is valid. */
const annotations = new Set(['description', 'default', 'title', 'examples', 'deprecated'])

export function isJson(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Calls `change` for every schema inside this one (innermost first), then for this one. */
export function mapSchema(schema: Json, change: (schema: Json) => Json): Json {
  return change(mapInnerSchemas(schema, (inner) => mapSchema(inner, change)))
}

/** Replaces the schemas directly inside this one. */
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

/** Splits a schema into what it says about values, and its annotations. */
export function splitAnnotations(schema: Json): { rules: Json; notes: Json } {
  const entries = Object.entries(schema)
  return {
    rules: Object.fromEntries(entries.filter(([key]) => !annotations.has(key))),
    notes: Object.fromEntries(entries.filter(([key]) => annotations.has(key))),
  }
}
