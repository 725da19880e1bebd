import { findings } from './entities/findings.ts'
import { observations } from './entities/observations.ts'
import { correlations, events, links } from './entities/records.ts'
import { tasks } from './entities/tasks.ts'
import { traces } from './entities/traces.ts'
import type { Entity } from './field.ts'

/** The names of all entities. */
export const entityNames = [
  'observations',
  'traces',
  'events',
  'links',
  'correlations',
  'tasks',
  'findings',
] as const

export type EntityName = (typeof entityNames)[number]

/** All entities, by name. */
export const catalogue: Readonly<Record<EntityName, Entity>> = {
  observations,
  traces,
  events,
  links,
  correlations,
  tasks,
  findings,
}
