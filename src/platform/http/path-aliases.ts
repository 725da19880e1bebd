import type { PathAlias, RawRoute } from './route.ts'

type Find = (method: string | undefined, path: string) => RawRoute | undefined

/**
 * Makes the search for the raw route of a path by its aliases. Returns the route and its own path. It
 * is used for paths that no raw route has.
 */
export function createAliasFinder(
  routes: readonly RawRoute[],
  find: Find,
): (method: string | undefined, path: string) => { route: RawRoute; path: string } | undefined {
  const known = new Set(routes.flatMap(({ aliases = [] }) => aliases))
  const aliases = [...known].toSorted((a, b) => b.start.length - a.start.length)
  return (method, asked) => {
    for (const alias of aliases) {
      const path = ownPath(asked, alias)
      const route = path === undefined ? undefined : find(method, path)
      if (path !== undefined && route?.aliases?.includes(alias)) return { route, path }
    }
    return undefined
  }
}

function ownPath(path: string, { start, instead_of }: PathAlias): string | undefined {
  return path.startsWith(`${start}/`) ? instead_of + path.slice(start.length) : undefined
}
