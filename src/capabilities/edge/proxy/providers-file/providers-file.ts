import type { Logger, Metrics } from '../../../../platform/telemetry/index.ts'
import { ProvidersFileRefused } from './parse-providers.ts'
import { type ProviderWithKey, type ReadProviders, readProviders } from './read-providers.ts'

/** The providers of LOOPTRACE_PROVIDERS_FILE, which follow the file. */
export type ProvidersFile = {
  providers(): readonly ProviderWithKey[]
  /** Calls `apply` after each change. */
  onChange(apply: (providers: readonly ProviderWithKey[]) => void): void
  /** Returns why the file or a key file is not used as it is; null when all is well. */
  fault(): string | null
  close(): void
}

export type ProvidersFileOptions = {
  path: string
  /** Interval between two reads of the file and the key files. */
  reload_ms: number
  /** Returns why the guard of outbound requests refuses a base URL. */
  refusal: (base_url: string) => string | undefined
  logger: Logger
}

/**
 * Reads the providers file, and again at an interval: watching a mounted Secret by events misses
 * its changes. An invalid change leaves the providers as they were. Throws
 * ProvidersFileRefused when the first read fails.
 */
export function openProvidersFile(options: ProvidersFileOptions): ProvidersFile {
  const { logger } = options
  let read = readChecked(options)
  let refusal: string | undefined
  let seen = textOf(read)
  const listeners: ((providers: readonly ProviderWithKey[]) => void)[] = []
  const fault = () => refusal ?? (read.faults.length > 0 ? read.faults.join('; ') : null)
  for (const one of read.faults) logger.warn({ fault: one }, 'a provider has no key')

  const look = () => {
    const next = readAgain(options)
    if (typeof next === 'string') {
      if (next !== refusal) logger.error({ fault: next }, 'the providers file is not valid')
      refusal = next
      return
    }
    refusal = undefined
    const text = textOf(next)
    if (text === seen) return
    seen = text
    read = next
    const names = read.providers.map(({ name }) => name)
    logger.info({ providers: names }, 'the providers file was read again')
    for (const one of read.faults) logger.warn({ fault: one }, 'a provider has no key')
    for (const apply of listeners) apply(read.providers)
  }
  const timer = setInterval(look, options.reload_ms)
  timer.unref()
  return {
    providers: () => read.providers,
    onChange: (apply) => void listeners.push(apply),
    fault,
    close: () => clearInterval(timer),
  }
}

/** Registers the gauge of the providers file; without a file it is 1. */
export function providersFileGauge(metrics: Metrics, fault: () => string | null): void {
  metrics.gauge({
    name: 'looptrace_proxy_providers_file_valid',
    help: 'Whether the providers file and its key files are in use as they are: 1 or 0.',
    collect: (gauge) => gauge.set(fault() === null ? 1 : 0),
  })
}

/** Reads the file. Throws ProvidersFileRefused, also for an address that is not allowed. */
function readChecked({ path, refusal }: ProvidersFileOptions): ReadProviders {
  const read = readProviders(path)
  for (const { name, base_url } of read.providers) {
    const fault = base_url === undefined ? undefined : refusal(base_url)
    if (fault !== undefined) {
      throw new ProvidersFileRefused(
        `base_url of ${name}: ${fault}; LOOPTRACE_OUTBOUND_ALLOWED allows private networks`,
      )
    }
  }
  return read
}

/** Returns the providers of the file, or why it is refused. */
function readAgain(options: ProvidersFileOptions): ReadProviders | string {
  try {
    return readChecked(options)
  } catch (error) {
    if (error instanceof ProvidersFileRefused) return error.message
    throw error
  }
}

/** Returns a text that is the same for the same providers and keys; for comparison only. */
function textOf({ providers, faults }: ReadProviders): string {
  return JSON.stringify([
    providers.map((one) => ({ ...one, key_for: one.key_for === 'all' ? 'all' : [...one.key_for] })),
    faults,
  ])
}
