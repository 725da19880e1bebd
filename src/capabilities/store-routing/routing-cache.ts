import { BoundedCache } from '../../kernel/bounded-cache.ts'
import type { Clock } from '../../kernel/time.ts'
import { defaultRouting, type Routing } from './contract.ts'
import { findRouting, type RoutingDb } from './store.ts'

/** How old a routing may be that a process goes by. Backfills wait until all know it. */
export const routingTtl_ms = 5_000

/** The routings as a process knows them. */
export type RoutingCache = {
  /** A project's routing, at most `routingTtl_ms` old. Rejects with the store's error. */
  routingOf(project_id: string): Promise<Routing>
  /** Has the project read again: its routing was changed here. */
  forget(project_id: string): void
}

const projects_max = 10_000

type Known = { routing: Promise<Routing>; read_at_ms: number }

/** Makes the reader of routings of a process. Those that ask at one time share a reading. */
export function createRoutingCache(about: { db: RoutingDb; clock: Clock }): RoutingCache {
  const { db, clock } = about
  const known = new BoundedCache<string, Known>(projects_max)
  return {
    routingOf: (project_id) => {
      const now_ms = clock.now_ms()
      const found = known.get(project_id)
      if (found && now_ms - found.read_at_ms < routingTtl_ms) return found.routing
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
