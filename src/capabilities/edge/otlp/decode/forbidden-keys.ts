/**
 * Keys that no attribute and no map may have: assigned to an object, they reach its prototype.
 * Told by their lengths first, as this is asked for every attribute.
 */
export function isForbiddenKey(key: string): boolean {
  if (key.length === 9) return key === '__proto__' || key === 'prototype'
  return key.length === 11 && key === 'constructor'
}
