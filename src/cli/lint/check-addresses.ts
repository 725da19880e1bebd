import type { Kind } from '../../operator/index.ts'
import { isTarget, openOutbound } from '../../platform/outbound/index.ts'
import { type Fault, faultAt, isObject } from './fault.ts'

/** Without allowed networks, which only the service knows. */
const outbound = openOutbound({ allowed: [] })

/**
 * Returns faults of the URLs of a NotificationChannel: errors for those that the service always
 * refuses, and warnings for addresses that it refuses unless its configuration allows the network.
 */
export function checkAddresses({ kind }: Pick<Kind, 'kind'>, spec: unknown): Fault[] {
  if (kind !== 'NotificationChannel' || !isObject(spec)) return []
  return Object.entries(spec).flatMap(([type, section]): Fault[] => {
    const url = isObject(section) ? section['url'] : undefined
    const fault = typeof url === 'string' ? outbound.refusal(url) : undefined
    if (fault === undefined) return []
    if (!isTarget(String(url))) return [faultAt(['spec', type, 'url'], fault.message)]
    const message = `${fault.message}. The service refuses the channel unless LOOPTRACE_OUTBOUND_ALLOWED has the network`
    return [{ ...faultAt(['spec', type, 'url'], message), level: 'warning' }]
  })
}
