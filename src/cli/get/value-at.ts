/**
 * The value at the JSONPath of a printer column: `.spec.days`,
 * `.status.conditions[?(@.type=="Ready")].status`. undefined where there is none.
 */
export function valueAt(object: unknown, path: string): unknown {
  const steps = path.matchAll(/\.([\w-]+)|\[\?\(@\.(\w+)==["']([^"']*)["']\)\]|\[(\d+)\]/g)
  return steps.reduce<unknown>((value, [, field, key, wanted, index]) => {
    if (key !== undefined) return itemsOf(value).find((item) => fieldOf(item, key) === wanted)
    if (index !== undefined) return itemsOf(value)[Number(index)]
    return fieldOf(value, field ?? '')
  }, object)
}

function fieldOf(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null) return undefined
  return (value as Record<string, unknown>)[name]
}

function itemsOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}
