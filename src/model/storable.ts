import type { z } from 'zod'

/**
 * Refines a body that is stored as `jsonb`: refuses texts with U+0000 or half of a surrogate pair,
 * which PostgreSQL cannot store.
 */
export function refuseUnstorable(body: unknown, context: z.core.$RefinementCtx): void {
  for (const path of unstorablePaths(body)) {
    const message = 'expected text without U+0000 and without half of a surrogate pair'
    context.addIssue({ code: 'custom', path, message, input: undefined })
  }
}

/** Returns the paths of the texts of a JSON value that PostgreSQL cannot store. */
function unstorablePaths(value: unknown): PropertyKey[][] {
  if (typeof value === 'string') {
    return value.isWellFormed() && !value.includes('\u0000') ? [] : [[]]
  }
  if (typeof value !== 'object' || value === null) return []
  const entries = Array.isArray(value) ? [...value.entries()] : Object.entries(value)
  return entries.flatMap(([key, inner]) => unstorablePaths(inner).map((path) => [key, ...path]))
}
