import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import {
  type ScriptedProvider,
  type ScriptedProviderOptions,
  type ScriptInput,
  type Seen,
  type SeenRequest,
  startScriptedProvider,
} from '../../src/capabilities/demo/index.ts'

/** A provider in this process that stops when its scope ends: `await using provider = …`. */
export async function testProvider(
  options: ScriptedProviderOptions = {},
): Promise<ScriptedProvider & AsyncDisposable> {
  const provider = await startScriptedProvider(options)
  return { ...provider, [Symbol.asyncDispose]: () => provider.stop() }
}

/** A provider in a separate process. */
export type ProviderProcess = Pick<ScriptedProvider, 'url' | 'base_urls' | 'stop'> & {
  pid: number
  seen(): Promise<Seen>
  script(next: ScriptInput): Promise<void>
}

/**
 * Starts `provider-process.ts`; waits for the line with its addresses. It ends with this process.
 */
export async function startProviderProcess(
  options: Omit<ScriptedProviderOptions, 'control' | 'clock'> = {},
): Promise<ProviderProcess & AsyncDisposable> {
  const entry = fileURLToPath(new URL('./provider-process.ts', import.meta.url))
  const child = spawn(process.execPath, [entry, JSON.stringify(options)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const { url, base_urls } = await firstLine(child)
  const stop = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return
    const ended = once(child, 'exit')
    child.kill('SIGTERM')
    await ended
  }
  return {
    url,
    base_urls,
    pid: child.pid ?? 0,
    seen: () => seenOver(url),
    script: (next) => scriptOver(url, next),
    stop,
    [Symbol.asyncDispose]: stop,
  }
}

async function firstLine(
  child: ChildProcess,
): Promise<Pick<ScriptedProvider, 'url' | 'base_urls'>> {
  let text = ''
  for await (const part of child.stdout ?? []) {
    text += part
    const end = text.indexOf('\n')
    if (end >= 0) return JSON.parse(text.slice(0, end))
  }
  throw new Error('the provider process ended before it named its address')
}

type SeenOverHttp = Omit<Seen, 'requests'> & {
  requests: (Omit<SeenRequest, 'body'> & { body_base64: string })[]
}

/** What a provider in another process has seen. */
export async function seenOver(url: string): Promise<Seen> {
  const answer = await fetch(`${url}/_seen`)
  const seen = (await answer.json()) as SeenOverHttp
  const requests = seen.requests.map(({ body_base64, ...request }) => ({
    ...request,
    body: Buffer.from(body_base64, 'base64'),
  }))
  return { ...seen, requests }
}

/** Gives a provider in another process its next script. */
export async function scriptOver(url: string, next: ScriptInput): Promise<void> {
  const answer = await fetch(`${url}/_script`, { method: 'POST', body: JSON.stringify(next) })
  if (answer.status !== 204) throw new Error(`POST /_script: ${await answer.text()}`)
}
