/**
 * A table of header names that mean something; each has a role. Most names mean nothing, and are
 * told apart by their length and first letter, without being hashed or lower-cased.
 */
export type HeaderRoles<Role> = {
  /** The role of a name in any spelling, or undefined. */
  of(name: string): Role | undefined
}

/** Spellings that are remembered, so that a name is lower-cased once. */
const spellings_max = 512
/** Names of this length and more share one place in the filter. */
const length_max = 63

/** Makes the table; the names are lower-case. Each table keeps its own memory of spellings. */
export function createHeaderRoles<Role>(roles: ReadonlyMap<string, Role>): HeaderRoles<Role> {
  const spelled = new Map<string, Role | undefined>()
  const filter = new Uint8Array((length_max + 1) * 32)
  for (const name of roles.keys()) filter[placeOf(name)] = 1
  return {
    of(name) {
      if (filter[placeOf(name)] === 0) return undefined
      const known = spelled.get(name)
      if (known !== undefined) return known
      const role = roles.get(name.toLowerCase())
      if (role !== undefined && spelled.size < spellings_max) spelled.set(name, role)
      return role
    },
  }
}

/** Five bits of the first letter are the same in both cases. */
function placeOf(name: string): number {
  return Math.min(name.length, length_max) * 32 + (name.charCodeAt(0) & 31)
}
