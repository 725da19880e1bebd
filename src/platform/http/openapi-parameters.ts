import { canonicalJson } from '../../kernel/canonical-json.ts'
import type { Json } from './json-schema.ts'

/** Parameters that several operations share, and references to them. */
export type SharedParameters = {
  /** `components.parameters`, by name. */
  components: Record<string, Json>
  /** Returns the parameter, or a reference to it if it is shared. */
  of(parameter: Json): Json
}

/**
 * Finds the parameters of more than one operation. A shared parameter is named after its wire name.
 * If several have the same wire name, the most frequent one gets the name.
 */
export function sharedParameters(all: readonly Json[]): SharedParameters {
  const byText = Map.groupBy(all, canonicalJson)
  const shared = [...byText.values()]
    .filter((same) => same.length > 1)
    .toSorted((a, b) => b.length - a.length)
  const components = new Map<string, Json>()
  const names = new Map<string, string>()
  for (const [parameter] of shared) {
    const name = pascalCase(String(parameter?.['name']))
    if (parameter === undefined || components.has(name)) continue
    components.set(name, parameter)
    names.set(canonicalJson(parameter), name)
  }
  return {
    components: Object.fromEntries([...components].toSorted(([a], [b]) => (a < b ? -1 : 1))),
    of: (parameter) => {
      const name = names.get(canonicalJson(parameter))
      return name === undefined ? parameter : { $ref: `#/components/parameters/${name}` }
    },
  }
}

function pascalCase(name: string): string {
  const words = name.split(/[^A-Za-z0-9]+/)
  return words.map((word) => `${word.slice(0, 1).toUpperCase()}${word.slice(1)}`).join('')
}
