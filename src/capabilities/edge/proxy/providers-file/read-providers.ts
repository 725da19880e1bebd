import { holdsProjectKey } from '../../../../kernel/project-key-text.ts'
import { readSettingFile, SettingFileRefused } from '../../../../platform/config/index.ts'
import { type DeclaredProvider, ProvidersFileRefused, parseProviders } from './parse-providers.ts'

/** A provider of the file with its key, which is undefined without a readable key file. */
export type ProviderWithKey = DeclaredProvider & { key: string | undefined }

/** The providers of a file. `faults` are those of key files, whose providers have no key. */
export type ReadProviders = { providers: ProviderWithKey[]; faults: string[] }

/** Reads the providers file and its key files. Throws ProvidersFileRefused. */
export function readProviders(path: string): ReadProviders {
  const faults: string[] = []
  const providers = parseProviders(readText(path)).map((provider) => {
    if (provider.key_file === undefined) return { ...provider, key: undefined }
    const { key, fault } = readKey(provider.key_file)
    if (fault !== undefined) faults.push(`key_file of ${provider.name}: ${fault}`)
    return { ...provider, key }
  })
  return { providers, faults }
}

function readText(path: string): string {
  try {
    return readSettingFile(path) ?? ''
  } catch (error) {
    if (error instanceof SettingFileRefused) throw new ProvidersFileRefused(error.message)
    throw error
  }
}

const keyForm = /^[\x21-\x7e]{1,4096}$/

function readKey(path: string): { key?: string; fault?: string } {
  try {
    const key = readSettingFile(path)?.trim() ?? ''
    if (!keyForm.test(key)) return { fault: `${path} has no key: expected one line without spaces` }
    if (key.startsWith('lt_') || holdsProjectKey(key)) {
      return { fault: `${path} has a project key, expected the provider's` }
    }
    return { key }
  } catch (error) {
    if (error instanceof SettingFileRefused) return { fault: error.message }
    throw error
  }
}
