import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { BootstrapSecrets } from '../capabilities/access/index.ts'
import { type ProjectKeys, proxyRoutes, type Recorder } from '../capabilities/edge/proxy/index.ts'
import { runSample, sampleScript, startScriptedProvider } from '../capabilities/onboarding/index.ts'
import type { RoleConfig } from '../platform/config/index.ts'
import { createMetrics } from '../platform/telemetry/index.ts'
import { readIfThere } from './data-folder.ts'
import { openProxy } from './edge.ts'
import { listen } from './listen.ts'
import type { RoleContext } from './running.ts'
import { firstLoginFile } from './welcome.ts'

type SampleConfig = Pick<RoleConfig<'all'>, 'data_directory' | 'demo'>

/** In the data folder from the first login until the sample run begins, so that it is played once. */
const pendingFile = ({ data_directory }: SampleConfig) => join(data_directory, 'sample-run-pending')

/** Notes at the first login that the sample run is to be played. */
export async function noteSample(config: SampleConfig): Promise<void> {
  if (config.demo) await writeFile(pendingFile(config), '')
}

/** Returns the first login while the sample run is to be played, and undefined once it has begun. */
export async function pendingSample(config: SampleConfig): Promise<BootstrapSecrets | undefined> {
  if (!config.demo || (await readIfThere(pendingFile(config))) === undefined) return undefined
  const login = await readIfThere(join(config.data_directory, firstLoginFile))
  return login === undefined ? undefined : JSON.parse(login)
}

type Sample = {
  keys: ProjectKeys
  recorder: Recorder
  api_url: string
  project_key: string
  log: (text: string) => void
}

/** Plays the sample run beside the role; nothing waits for it, and the end of the role ends it. */
export function startSample(context: RoleContext, config: RoleConfig<'all'>, sample: Sample): void {
  const ending = new AbortController()
  const played = playSample(context, config, { ...sample, signal: ending.signal }).catch(
    (error: unknown) => {
      if (ending.signal.aborted) return
      context.logger.warn({ err: error }, 'the sample run failed; the service goes on without it')
    },
  )
  context.parts.defer(async () => {
    ending.abort()
    await played
  })
}

/**
 * Sends the sample run over HTTP. Its proxy is a second one, on a port of its own and only for as
 * long as this takes: its provider is our scripted one, while the service's own proxy keeps
 * pointing at the real providers.
 */
async function playSample(
  context: RoleContext,
  config: RoleConfig<'all'>,
  sample: Sample & { signal: AbortSignal },
): Promise<void> {
  await using parts = new AsyncDisposableStack()
  const own: RoleContext = { ...context, metrics: createMetrics(), parts, ports: {} }
  const provider = await startScriptedProvider({ script: sampleScript, seen_requests_max: 0 })
  parts.defer(() => provider.stop())
  const { openai, anthropic, gemini } = provider.base_urls
  const proxy = openProxy(
    own,
    { ...config, openai_base_url: openai, anthropic_base_url: anthropic, gemini_base_url: gemini },
    sample,
  )
  const port = await listen(
    own,
    { ...config, http_host: '127.0.0.1', http_port: 0 },
    { routes: proxyRoutes(proxy), proxy },
  )
  await rm(pendingFile(config))
  await runSample({
    ...sample,
    base_url: `http://127.0.0.1:${port}`,
    provider_key: 'sample',
    model: 'gpt-4.1-mini',
  })
}
