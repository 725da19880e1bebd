import type { z } from 'zod'

/**
 * Refines a body that is stored as `jsonb`: refuses texts with U+0000 or half of a surrogate pair,
 * which PostgreSQL cannot store.
 */
export function refuseUnstorable(body: unknown, context: z.core.$RefinementCtx): void {
  const isUnstorable = (text: string) => !text.isWellFormed() || text.includes('\u0000')
  for (const path of pathsOfTexts(body, isUnstorable)) {
    const message = 'expected text without U+0000 and without half of a surrogate pair'
    context.addIssue({ code: 'custom', path, message, input: undefined })
  }
}

/** Returns the paths of the texts and keys of a JSON value that have a property. */
export function pathsOfTexts(value: unknown, has: (text: string) => boolean): PropertyKey[][] {
  if (typeof value === 'string') return has(value) ? [[]] : []
  if (typeof value !== 'object' || value === null) return []
  const entries = Array.isArray(value) ? [...value.entries()] : Object.entries(value)
  return entries.flatMap(([key, inner]) =>
    typeof key === 'string' && has(key)
      ? [[key]]
      : pathsOfTexts(inner, has).map((path) => [key, ...path]),
  )
}
