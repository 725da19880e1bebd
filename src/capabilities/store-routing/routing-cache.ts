import { BoundedCache } from '../../kernel/bounded-cache.ts'
import type { Clock } from '../../kernel/time.ts'
import { defaultRouting, type Routing } from './contract.ts'
import { findRouting, type RoutingDb } from './store.ts'

/** Maximum age of a cached routing. Backfills wait this long, until all processes follow. */
export const routingTtl_ms = 5_000

/** A process's cache of routings. */
export type RoutingCache = {
  /** Returns a project's routing, at most `routingTtl_ms` old. Rejects with the store's error. */
  routingOf(project_id: string): Promise<Routing>
  /** Drops a project's routing, after this process changed it. */
  forget(project_id: string): void
}

const projects_max = 10_000

type Known = { routing: Promise<Routing>; read_at_ms: number }

/** Creates a cache of routings. Concurrent callers share one read. */
export function createRoutingCache({ db, clock }: { db: RoutingDb; clock: Clock }): RoutingCache {
  const known = new BoundedCache<string, Known>(projects_max)
  return {
    routingOf: (project_id) => {
      const now_ms = clock.now_ms()
      const cached = known.get(project_id)
      if (cached && now_ms - cached.read_at_ms < routingTtl_ms) return cached.routing
      const routing = findRouting(db, project_id).then((stored) => stored ?? defaultRouting)
      known.set(project_id, { routing, read_at_ms: now_ms })
      routing.catch(() => {
        if (known.get(project_id)?.routing === routing) known.delete(project_id)
      })
      return routing
    },
    forget: (project_id) => {
      known.delete(project_id)
    },
  }
}
