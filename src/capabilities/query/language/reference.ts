import type { Faults } from './faults.ts'
import { unexpected } from './faults.ts'
import type { Entity, Field } from './field.ts'
import { queryLimits } from './limits.ts'
import { nearNames } from './near-names.ts'

/** A field as a query names it: one of the catalogue, or a key of a map. */
export type Reference = { name: string; field: Field; map_key?: string }

/** Finds the field that a query names; tells the valid ones when there is none. */
export function referenceOf(
  entity: Entity,
  name: string,
  path: readonly (string | number)[],
  faults: Faults,
): Reference | undefined {
  const field = Object.hasOwn(entity.fields, name) ? entity.fields[name] : undefined
  if (field) return { name, field }
  const dot = name.indexOf('.')
  const map = dot > 0 ? name.slice(0, dot) : ''
  if (!entity.maps.includes(map)) return faults.add(path, unknownField(entity, name))
  const map_key = name.slice(dot + 1)
  const length_max = queryLimits.map_key_characters_max
  if (map_key === '' || map_key.length > length_max || map_key.includes('\u0000')) {
    return faults.add(path, unexpected(name, `a key of 1 to ${length_max} characters, no U+0000`))
  }
  return { name, map_key, field: { name: map, type: 'text', about: '', content: true } }
}

function unknownField(entity: Entity, name: string): string {
  const names = Object.keys(entity.fields)
  const near = nearNames(name, names)
  const meant = near.length > 0 ? `${near.join(' or ')}? One of ` : ''
  const maps = entity.maps.map((map) => `${map}.<key>`)
  const all = [...names, ...maps].join(', ')
  return unexpected(name, `a field of ${entity.name}: ${meant}${all}`)
}
