import { rm, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import type { BootstrapSecrets, FirstLinks } from '../capabilities/access/index.ts'
import { type ProjectKeys, proxyRoutes, type Recorder } from '../capabilities/edge/proxy/index.ts'
import type { RoleConfig, Settings } from '../platform/config/index.ts'
import { createMetrics } from '../platform/telemetry/index.ts'
import { readOptionalFile } from './data-folder.ts'
import { listen } from './listen.ts'
import { openProxy } from './proxy.ts'
import type { RoleContext } from './running.ts'

/** File in the data folder, mode 0600, with the key and login of the first start. */
export const firstLoginFile = 'first-login.json'

/**
 * Renders the greeting of role `all` for a terminal of 80 columns, but for the link that signs in,
 * which is not broken: the URL, the first login, the data folder and an example call.
 */
export function welcome(greeting: {
  base_url: string
  /** Address of the console, with a token that signs in once, if there is one. */
  console_url: string
  data_directory: string
  firstLogin: BootstrapSecrets | undefined
  /** Whether the sample run is about to start. */
  has_sample: boolean
}): string {
  const { base_url, console_url, firstLogin, has_sample } = greeting
  const isSignedIn = console_url.includes('#')
  const folder = resolve(greeting.data_directory)
  const login =
    firstLogin === undefined
      ? [
          `Data       ${folder}`,
          `           key and login are in ${firstLoginFile}, from the first start`,
        ]
      : [
          `Key        ${firstLogin.project_key}`,
          `Login      ${firstLogin.admin_email}`,
          `Password   ${firstLogin.admin_password}`,
          `Data       ${folder}`,
          `           key and login are shown once; they are also in ${firstLoginFile}`,
        ]
  const key = firstLogin?.project_key ?? `$(grep -o 'lt_\\w*' '${folder}/${firstLoginFile}')`
  const sample = has_sample ? '\nTwo sample agents are running. Their findings follow.\n' : ''
  return `
Looptrace is ready.

  Console    ${console_url}
${isSignedIn ? '             signs you in once, within the next hour\n' : ''}  Base URL   ${base_url}
${login.map((line) => `  ${line}\n`).join('')}
Send a first call from another terminal, with your provider key:

  export LOOPTRACE_URL=${base_url}
  export LOOPTRACE_API_KEY=${key}
  curl $LOOPTRACE_URL/v1/chat/completions \\
    -H "X-API-Key: $LOOPTRACE_API_KEY" \\
    -H "Authorization: Bearer $OPENAI_API_KEY" \\
    -H 'Content-Type: application/json' -H 'X-Task-ID: my-first-task' \\
    -d '{"model":"gpt-4.1-mini","messages":[{"role":"user","content":"Hello"}]}'

Read the recorded task:

  curl $LOOPTRACE_URL/api/v1/tasks/my-first-task \\
    -H "X-API-Key: $LOOPTRACE_API_KEY"
${sample}
`
}

/**
 * File in the data folder from the first login until the sample run starts, so that it runs once.
 */
const pendingFile = ({ data_directory }: Settings<'folder'>) =>
  join(data_directory, 'sample-run-pending')

/** Returns the first login of the data folder; undefined without its file. */
export async function readFirstLogin({
  data_directory,
}: Settings<'folder'>): Promise<BootstrapSecrets | undefined> {
  const login = await readOptionalFile(join(data_directory, firstLoginFile))
  return login === undefined ? undefined : JSON.parse(login)
}

/**
 * Returns the address of the console. With the first login it has a token in its fragment that
 * signs its person in once.
 */
export function consoleUrl(
  base_url: string,
  login: Pick<BootstrapSecrets, 'admin_email'> | undefined,
  links: FirstLinks,
): string {
  return login === undefined
    ? base_url
    : `${base_url}/sign-in#token=${links.create(login.admin_email)}`
}

/** Records at the first login that the sample run is pending. */
export async function markSamplePending(config: Settings<'folder' | 'embedded'>): Promise<void> {
  if (config.demo) await writeFile(pendingFile(config), '')
}

/** Returns the first login while the sample run is pending, and undefined after it has started. */
export async function readPendingSample(
  config: Settings<'folder' | 'embedded'>,
): Promise<BootstrapSecrets | undefined> {
  if (!config.demo || (await readOptionalFile(pendingFile(config))) === undefined) return undefined
  return readFirstLogin(config)
}

type Sample = {
  keys: ProjectKeys
  recorder: Recorder
  api_url: string
  project_key: string
  log: (text: string) => void
}

/** Starts the sample run in the background. It stops when the role ends. */
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
 * Sends the sample run over HTTP, through a second, temporary proxy on its own port. That proxy
 * uses the scripted provider, while the proxy of the service uses the real providers.
 */
async function playSample(
  context: RoleContext,
  config: RoleConfig<'all'>,
  sample: Sample & { signal: AbortSignal },
): Promise<void> {
  await using parts = new AsyncDisposableStack()
  const own: RoleContext = { ...context, metrics: createMetrics(), parts, ports: {} }
  const demo = await import('../capabilities/demo/index.ts')
  const { runSample, sampleScript, startScriptedProvider } = demo
  const provider = await startScriptedProvider({ script: sampleScript, seen_requests_max: 0 })
  parts.defer(() => provider.stop())
  const { openai, anthropic, gemini } = provider.base_urls
  const proxy = openProxy(
    own,
    {
      ...config,
      openai_base_url: openai,
      anthropic_base_url: anthropic,
      gemini_base_url: gemini,
      providers_file: undefined,
    },
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
