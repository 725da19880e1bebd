import { createAnnouncer, EventHub } from '../capabilities/events/index.ts'
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

/** Opens the event streams of the process. `listen` closes them, before the server. */
export function openEventHub(
  { metrics }: Pick<EventsContext, 'metrics'>,
  broadcast: Broadcast,
): EventHub {
  return new EventHub({ broadcast, metrics })
}
