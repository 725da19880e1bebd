import type { Route } from '../../platform/http/index.ts'
import type { EventHub } from './event-hub.ts'
import { getEvents } from './events.ts'

export { createAnnouncer } from './announcer.ts'
export { EventHub } from './event-hub.ts'

/** The route of event streams. */
export function eventRoutes(deps: { events: Pick<EventHub, 'open'> }): Route[] {
  return [getEvents(deps)]
}
