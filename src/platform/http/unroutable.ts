import { type Problem, problem } from '../../kernel/problem.ts'
import { withoutProjectKeys } from '../../kernel/project-key-text.ts'
import type { RawRoute, Route } from './route.ts'

/** Responses to requests that match no route. */
export type Unroutable = {
  /** Returns the error: a malformed path, an unknown path, or an unsupported method. */
  faultOf(method: string | undefined, url: string): Problem
  /** Returns the methods of a path with `OPTIONS`, for `Allow`; empty for an unknown path. */
  allowed(path: string): readonly string[]
  /**
   * Returns the raw route whose error format applies to an unknown path, if any: the one that shares
   * the most steps with it, and more than any route of the product APIs.
   */
  rawBeside(path: string): RawRoute | undefined
}

/** Maximum characters of a path in an error. */
const quoted_max = 200

/** Prepares the responses for these routes. */
export function createUnroutable(routes: readonly (Route | RawRoute)[]): Unroutable {
  const patterns = [...Map.groupBy(routes, ({ url }) => url)].map(([url, same]) => ({
    pattern: patternOf(url, same.some(isServedBelow)),
    methods: methodsOf(same),
  }))
  const withSteps = routes.map((route) => ({ route, steps: route.url.split('/') }))
  const allowed = (path: string) =>
    patterns.find(({ pattern }) => pattern.test(path))?.methods ?? []
  return {
    allowed,
    faultOf(method, url) {
      const path = pathOf(url)
      const shown = withoutProjectKeys(path).slice(0, quoted_max)
      if (!isDecodable(path)) {
        const detail = `${shown}: expected a path whose percent escapes are UTF-8`
        return problem('invalid_request', { detail, faults: [{ pointer: 'path', detail }] })
      }
      const methods = allowed(path)
      if (methods.length === 0) {
        return problem('route_not_found', { detail: `There is no ${shown}` })
      }
      const wanted = methods.filter((each) => each !== 'HEAD' && each !== 'OPTIONS')
      return problem('method_not_allowed', {
        detail: `${shown} does not support ${method}, expected ${wanted.join(' or ')}`,
        headers: { allow: methods.join(', ') },
      })
    },
    rawBeside(path) {
      const asked = path.split('/')
      // All paths share the empty step before the first slash.
      let [best, shared]: [RawRoute | undefined, number] = [undefined, 1]
      let sharedWithApi = 1
      for (const { route, steps } of withSteps) {
        const same = sharedSteps(steps, asked)
        if (route.kind === 'api') sharedWithApi = Math.max(sharedWithApi, same)
        else if (same > shared) [best, shared] = [route, same]
      }
      return shared > sharedWithApi ? best : undefined
    },
  }
}

/** Returns the path of a URL without its query. */
export function pathOf(url: string): string {
  const end = url.indexOf('?')
  return end === -1 ? url : url.slice(0, end)
}

function isServedBelow(route: Route | RawRoute): boolean {
  return route.kind === 'raw' && route.below === true
}

function isDecodable(path: string): boolean {
  try {
    decodeURIComponent(path)
    return true
  } catch {
    return false
  }
}

function methodsOf(routes: readonly (Route | RawRoute)[]): string[] {
  const methods = new Set<string>(routes.map(({ method }) => method))
  if (methods.has('GET') && routes.some(({ kind }) => kind === 'api')) methods.add('HEAD')
  return [...methods.add('OPTIONS')].toSorted()
}

/** Returns the pattern of the paths of a route. `below`: with those below its URL. */
export function patternOf(url: string, below = false): RegExp {
  const own = url.replaceAll('.', '\\.').replaceAll(/\{[a-z_]+\}/g, '[^/]+')
  return new RegExp(`^${own}${below ? '(?:/.*)?' : ''}$`)
}

/** Counts the equal steps at the start of two paths, with the empty one before the first slash. */
function sharedSteps(a: readonly string[], b: readonly string[]): number {
  const differs = a.findIndex((step, at) => step !== b[at])
  return differs === -1 ? a.length : differs
}
