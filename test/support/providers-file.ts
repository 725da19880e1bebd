import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openProvidersFile, type ProvidersFile } from '../../src/capabilities/edge/proxy/index.ts'
import {
  type Outbound,
  openOutbound,
  parseAllowedNetwork,
  portsOf,
} from '../../src/platform/outbound/index.ts'
import { createLogger, type Logger } from '../../src/platform/telemetry/index.ts'

/** A providers file and its key files in a folder of its own. */
export type WrittenProviders = Disposable & {
  providers_file: ProvidersFile
  outbound: Outbound
  /** Writes a file of the folder. Returns its path. */
  write(name: string, text: string): string
}

/**
 * Writes a providers file and opens it; `keys` are its key files by name, and `{folder}` in the text
 * is the folder of both. It may name servers on 127.0.0.1 at the ports of its URLs.
 */
export function writtenProviders(
  text: string,
  { keys = {}, logger }: { keys?: Record<string, string>; logger?: Logger } = {},
): WrittenProviders {
  const folder = mkdtempSync(join(tmpdir(), 'looptrace-providers-'))
  const write = (name: string, content: string) => {
    const path = join(folder, name)
    writeFileSync(path, content.replaceAll('{folder}', folder))
    return path
  }
  for (const [name, key] of Object.entries(keys)) write(name, key)
  const ports = new Set([...text.matchAll(/127\.0\.0\.1:(\d+)/g)].map(([, port]) => port))
  const allowed = [...ports].map((port) => parseAllowedNetwork(`127.0.0.1/32:${port}`))
  const outbound = openOutbound({ allowed })
  const providers_file = openProvidersFile({
    path: write('providers.yaml', text),
    reload_ms: 20,
    refusal: (url) => outbound.refusal(url, portsOf(url))?.message,
    logger: logger ?? createLogger({ role: 'test', level: 'silent' }),
  })
  return {
    providers_file,
    outbound,
    write,
    [Symbol.dispose]: () => {
      providers_file.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
