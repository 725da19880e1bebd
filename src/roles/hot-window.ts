import type { SecondStore } from '../capabilities/observability/ingest/index.ts'
import type { Chore, JobHandler } from '../capabilities/observability/jobs/index.ts'
import {
  chooseByRouting,
  createHotWrites,
  createRoutingCache,
  hotWindowBackfill,
  hotWindowChores,
  hotWindowTrim,
  type StoreRoutingDeps,
} from '../capabilities/observability/store-routing/index.ts'
import { openHotRowWriter, openHotSource } from '../capabilities/observability/stores/index.ts'
import type { RoleContext } from './running.ts'
import type { Stores } from './stores.ts'

/** The worker's part in hot windows: its second write, and the jobs that fill and trim them. */
export function openHotWindows(
  { clock, logger, metrics }: RoleContext,
  { db, columnar }: Pick<Stores, 'db' | 'columnar'>,
): { second: SecondStore; handlers: JobHandler[]; chores: Chore[] } {
  const writer = openHotRowWriter(db)
  const routings = createRoutingCache({ db, clock })
  return {
    second: createHotWrites({ db, writer, routings, clock, logger, metrics }),
    handlers: [
      hotWindowBackfill({ db, writer, source: openHotSource({ columnar }) }),
      hotWindowTrim({ db, clock }),
    ],
    chores: hotWindowChores({ db, writer, clock }),
  }
}

/** What an API answers of store routing, and how it chooses a store. */
export function openStoreRouting(
  { clock }: Pick<RoleContext, 'clock'>,
  { db }: Pick<Stores, 'db'>,
): { deps: StoreRoutingDeps; chooseStore: ReturnType<typeof chooseByRouting> } {
  const routings = createRoutingCache({ db, clock })
  return {
    deps: { db, clock, routings },
    chooseStore: chooseByRouting({ db, routings, clock }),
  }
}
