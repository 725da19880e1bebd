import type { Route } from '../../../platform/http/index.ts'
import { notificationChannelRoutes } from './channels.ts'
import type { ChannelRoutesDeps } from './contract.ts'
import { listChannelDeliveries, listIncidentDeliveries } from './deliveries.ts'
import { previewChannel } from './preview.ts'
import { resendNotification } from './resend.ts'
import { testChannel } from './test.ts'

/** The routes of notification channels and deliveries. */
export function channelRoutes(deps: ChannelRoutesDeps): Route[] {
  return [
    ...notificationChannelRoutes(deps),
    testChannel(deps),
    previewChannel(deps),
    listChannelDeliveries(deps),
    listIncidentDeliveries(deps),
    resendNotification(deps),
  ]
}
