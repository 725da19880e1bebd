import type { Logger } from '../../platform/telemetry/index.ts'
import type { Installation } from '../installation.ts'
import type { ServiceClient } from '../service/service-client.ts'
import type { Grant, LabelSelector } from '../tenancy/grant.ts'
import type { GrantBook } from '../tenancy/grant-book.ts'
import type { Presence } from './presence.ts'
import type { Timing } from './timing.ts'

/** Time between looks for changes, and between reports without one. */
const [look_ms, repeat_ms] = [10_000, 5 * 60_000]

type ReportOptions = {
  book: Pick<GrantBook, 'all' | 'select'>
  service: ServiceClient
  presence: Pick<Presence, 'whenAllowed' | 'installation'>
  /** Whether the labels by which grants select namespaces were read. */
  areLabelsKnown(): boolean
  timing: Timing
  logger: Logger
}

/**
 * Reports the grants in force to the service, which shows them to the administrators of each
 * project: the first 1,000 by name after a change, and every five minutes. A report that fails is
 * repeated, and delays nothing else. Runs until the signal aborts.
 */
export async function reportGrants(options: ReportOptions, signal: AbortSignal): Promise<void> {
  const { presence, service, timing, logger } = options
  let last = { text: '', at_ms: 0, failure: '' }
  let isCut = false
  const round = async (installation: Installation) => {
    const left_out = options.book.all().length - grants_max
    if (left_out > 0 && !isCut) {
      logger.warn({ left_out }, 'the service shows only the first 1,000 grants by name')
    }
    isCut = left_out > 0
    const body = grantReport(options.book, installation.cluster)
    const [text, now_ms] = [JSON.stringify(body), timing.clock.now_ms()]
    if (text === last.text && now_ms - last.at_ms < repeat_ms) return
    const path = `/api/v2/access/installations/${installation.id}/grants`
    await service.request({ method: 'PUT', path, body })
    last = { text, at_ms: now_ms, failure: '' }
  }
  while (!signal.aborted) {
    await presence.whenAllowed(signal)
    const installation = presence.installation()
    if (!signal.aborted && installation !== undefined && options.areLabelsKnown()) {
      await round(installation).catch((error: unknown) => {
        const reason = error instanceof Error ? error.message : String(error)
        if (reason !== last.failure) logger.warn({ reason }, 'reporting the grants failed')
        last = { ...last, failure: reason }
      })
    }
    await timing.sleep(look_ms, signal)
  }
}

/** Maximum grants of a report: the service refuses a longer one. */
const grants_max = 1_000

/** Namespaces of a grant in a report. */
const namespaces_max = 50

/** Returns the body of a report: the first 1,000 grants by name, each with its first 50 namespaces. */
export function grantReport(book: Pick<GrantBook, 'all' | 'select'>, cluster: string) {
  const reported = (grant: Grant) => {
    const namespaces = book.select(grant.namespaces).toSorted()
    const { selector } = grant.namespaces
    return {
      name: grant.name,
      project_id: grant.project_id,
      namespaces: namespaces.slice(0, namespaces_max),
      namespace_count: namespaces.length,
      selector: selector === undefined ? null : formatSelector(selector),
      kinds: grant.kinds,
      scopes: grant.scopes,
      roles: grant.roles,
      max_keys: grant.max_keys,
      revoke_after: grant.revoke_after,
    }
  }
  const grants = book.all().toSorted((a, b) => (a.name < b.name ? -1 : 1))
  return { cluster, grants: grants.slice(0, grants_max).map(reported) }
}

/** Formats a label selector as kubectl does; an empty one, which selects everything, is empty. */
export function formatSelector({ matchLabels = {}, matchExpressions = [] }: LabelSelector): string {
  const labels = Object.entries(matchLabels).map(([key, value]) => `${key}=${value}`)
  const expressions = matchExpressions.map(({ key, operator, values = [] }) => {
    if (operator === 'Exists') return key
    if (operator === 'DoesNotExist') return `!${key}`
    return `${key} ${operator === 'In' ? 'in' : 'notin'} (${values.join(',')})`
  })
  return [...labels, ...expressions].join(',').slice(0, selector_length_max)
}

const selector_length_max = 4_096
