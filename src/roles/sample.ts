import { runSample, sampleScript, startScriptedProvider } from '../capabilities/onboarding/index.ts'
import { type ProjectKeys, proxyRoutes, type Recorder } from '../capabilities/proxy/index.ts'
import type { RoleConfig } from '../platform/config/index.ts'
import { createMetrics } from '../platform/telemetry/index.ts'
import { openProxy } from './edge.ts'
import { listen } from './listen.ts'
import type { RoleContext } from './running.ts'

/**
 * Sends the sample agent run over HTTP. Its proxy is a second one, on a port of its own and only
 * for as long as this takes: its provider is our scripted one, while the service's own proxy keeps
 * pointing at the real providers.
 */
export async function playSample(
  context: RoleContext,
  config: RoleConfig<'all'>,
  about: {
    keys: ProjectKeys
    recorder: Recorder
    api_url: string
    project_key: string
    log: (text: string) => void
  },
): Promise<void> {
  await using parts = new AsyncDisposableStack()
  const own: RoleContext = { ...context, metrics: createMetrics(), parts }
  const provider = await startScriptedProvider({ script: sampleScript, seen_requests_max: 0 })
  parts.defer(() => provider.stop())
  const { openai, anthropic, gemini } = provider.base_urls
  const proxy = openProxy(
    own,
    { ...config, openai_base_url: openai, anthropic_base_url: anthropic, gemini_base_url: gemini },
    about,
  )
  const port = await listen(
    own,
    { ...config, http_host: '127.0.0.1', http_port: 0 },
    { routes: proxyRoutes(proxy), proxy },
  )
  await runSample({
    base_url: `http://127.0.0.1:${port}`,
    api_url: about.api_url,
    project_key: about.project_key,
    provider_key: 'sample',
    model: 'gpt-4.1-mini',
    log: about.log,
  })
}
