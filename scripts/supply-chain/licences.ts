import parse from 'spdx-expression-parse'
import type { Exceptions } from './exceptions.ts'

/** A package of `package-lock.json`, by its folder. */
type LockedPackage = {
  license?: unknown
  dev?: boolean
  devOptional?: boolean
  version?: string
  /** A link to a folder of the checkout, which has an entry of its own. */
  link?: boolean
}

/**
 * Returns a fault for each production dependency of a lock file whose licence is not allowed and
 * has no exception, and for each exception that no package needs.
 */
export function findLicenceFaults(
  packages: Readonly<Record<string, LockedPackage>>,
  { allowed, exceptions }: Exceptions['licences'],
): string[] {
  const faults: string[] = []
  const needed = new Set<string>()
  for (const [folder, { license, dev, version, link }] of Object.entries(packages)) {
    if (folder === '' || dev === true || link === true) continue
    const licence = typeof license === 'string' ? license : null
    if (licence !== null && isAllowed(licence, new Set(allowed))) continue
    const name = folder.split('node_modules/').at(-1) ?? folder
    const has = exceptions.some((each) => each.package === name && each.licence === licence)
    if (has) needed.add(name)
    else faults.push(`${name} ${version}: the licence ${licence ?? '(none)'} is not allowed`)
  }
  const unneeded = exceptions.filter((each) => !needed.has(each.package))
  return [...faults, ...unneeded.map((each) => `${each.package}: its exception is not needed`)]
}

/** Returns whether an SPDX expression can be met with allowed licences. */
function isAllowed(expression: string, allowed: ReadonlySet<string>): boolean {
  try {
    return meets(parse(expression), allowed)
  } catch {
    return false
  }
}

function meets(info: parse.Info, allowed: ReadonlySet<string>): boolean {
  if ('conjunction' in info) {
    const sides = [info.left, info.right]
    return info.conjunction === 'or'
      ? sides.some((side) => meets(side, allowed))
      : sides.every((side) => meets(side, allowed))
  }
  return info.exception === undefined && allowed.has(info.license)
}
