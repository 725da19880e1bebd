import type { Logger } from '../../platform/telemetry/index.ts'
import type { Installation } from '../installation.ts'
import type { ServiceClient } from '../service/service-client.ts'
import type { GrantBook } from '../tenancy/grant-book.ts'
import { grantReport, grants_max } from '../tenancy/grant-report.ts'
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
