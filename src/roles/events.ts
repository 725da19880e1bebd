import { createAnnouncer, EventHub } from '../capabilities/events/index.ts'
import type { RoleConfig } from '../platform/config/index.ts'
import type { Broadcast } from '../platform/queue/index.ts'
import type { Relational } from '../platform/relational/index.ts'
import type { RoleContext } from './running.ts'

type EventsContext = Pick<RoleContext, 'metrics' | 'parts'>

/** Announces the changes that this process commits, until the role ends. */
export function openAnnouncer(
  { metrics, parts }: EventsContext,
  {
    relational,
    broadcast,
  }: { relational: Pick<Relational<unknown>, 'onCommitted'>; broadcast: Broadcast },
): void {
  const announcer = createAnnouncer({ broadcast, metrics })
  relational.onCommitted((changes) => announcer.add(changes))
  parts.defer(() => announcer.close())
}

type StreamConfig = Pick<RoleConfig<'api'>, 'event_streams_per_project_max' | 'event_streams_max'>

/** Opens the event streams of the process. `listen` closes them, before the server. */
export function openEventHub(
  { metrics }: Pick<EventsContext, 'metrics'>,
  config: StreamConfig,
  broadcast: Broadcast,
): EventHub {
  const settings = {
    streams_per_project_max: config.event_streams_per_project_max,
    streams_max: config.event_streams_max,
  }
  return new EventHub({ broadcast, metrics, settings })
}
