import type { StructuralSchema } from '../../operator/crd/index.ts'
import { type Fault, faultAt, isObject, quoted } from './fault.ts'
import type { Path } from './read-documents.ts'

type About = {
  schema: StructuralSchema
  path: Path
  checkItem: (value: unknown, schema: StructuralSchema, path: Path) => Fault[]
}

/** What a list's schema refuses: its length, its items, and two of the same where each is one. */
export function checkList(value: readonly unknown[], about: About): Fault[] {
  const { schema, path, checkItem } = about
  const { minItems = 0, maxItems = Infinity, items } = schema
  const { length } = value
  if (length < minItems || length > maxItems) {
    return [faultAt(path, `got ${length} items, expected ${minItems} to ${maxItems}`)]
  }
  return [
    ...doubles(value, schema).map(({ index, text }) =>
      faultAt([...path, index], `got ${text} twice, expected each once`),
    ),
    ...(items === undefined
      ? []
      : value.flatMap((item, index) => checkItem(item, items, [...path, index]))),
  ]
}

/** Items that are there before: by their keys in a map list, by their value in a set. */
function doubles(value: readonly unknown[], schema: StructuralSchema) {
  if (schema['x-kubernetes-list-type'] === 'atomic') return []
  const keys = schema['x-kubernetes-list-map-keys']
  const seen = new Set<string>()
  return value.flatMap((item, index) => {
    const text = quoted(keys === undefined ? item : identityOf(item, keys))
    const isDouble = seen.has(text)
    seen.add(text)
    return isDouble ? [{ index, text }] : []
  })
}

function identityOf(item: unknown, keys: readonly string[]): unknown {
  if (!isObject(item)) return item
  const values = keys.map((key) => item[key])
  return values.length === 1 ? values[0] : values
}
