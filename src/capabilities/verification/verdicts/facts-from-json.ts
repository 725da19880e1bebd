import { objectFrom } from '../../../kernel/json-values.ts'
import { findKind } from '../../provenance/values/index.ts'
import { type Fact, facts_max } from './judge-by-facts.ts'

/** Keys whose text names the object that they are in, in order of preference. */
const nameKeys = ['name', 'title', 'subject', 'label', 'product', 'project', 'model', 'plan']
/** Code units of a name; a longer text is a description. */
const maxNameLength = 80
/** Values of a document that are visited. */
const values_max = 200_000

/**
 * Reads facts from JSON, such as a tool's result: each number of an object with a name is a fact
 * about that name. `{"name": "Ina", "area_km2": 4}` reads as Ina, area, 4, km². Broken JSON has no
 * facts. Objects are visited without recursion, so depth is harmless.
 */
export function factsFromJson(source: string, json: string): Fact[] {
  const facts: Fact[] = []
  const open: unknown[] = [parseJson(json)]
  for (let visited = 0; open.length > 0 && visited < values_max; visited++) {
    const value = open.pop()
    for (const inner of valuesOf(value)) open.push(inner)
    for (const fact of factsOfObject(source, objectFrom(value))) facts.push(fact)
    if (facts.length >= facts_max) break
  }
  return facts.slice(0, facts_max)
}

function parseJson(json: string): unknown {
  try {
    return JSON.parse(json)
  } catch {
    return undefined
  }
}

/** Returns the objects and lists that a value holds. */
function valuesOf(value: unknown): unknown[] {
  const values = Array.isArray(value) ? value : Object.values(objectFrom(value) ?? {})
  return values.filter((inner) => typeof inner === 'object').slice(0, values_max)
}

function factsOfObject(source: string, object: Readonly<Record<string, unknown>> = {}): Fact[] {
  const subject = nameKeys.map((key) => object[key]).find((value) => typeof value === 'string')
  if (typeof subject !== 'string' || subject.length > maxNameLength) return []
  return Object.entries(object)
    .slice(0, facts_max)
    .flatMap(([key, value]) =>
      typeof value === 'number' ? [{ source, subject, ...readKey(key), value }] : [],
    )
}

/** Splits a key into the attribute and the unit: `area_km2`, `priceEur`, `unemployment_pct`. */
function readKey(key: string): { attribute: string; unit: string } {
  const words = key.replace(/(\p{Ll})(\p{Lu})/gu, '$1 $2').split(/[\s_.-]+/)
  const last = words.at(-1) ?? ''
  const hasUnit = words.length > 1 && findKind(last) !== undefined
  const attribute = (hasUnit ? words.slice(0, -1) : words).join(' ').toLowerCase()
  return { attribute, unit: hasUnit ? last : '' }
}
