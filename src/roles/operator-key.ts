import { readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { mintGivenSecrets } from '../capabilities/access/index.ts'
import { ConfigError, type RoleConfig } from '../platform/config/index.ts'
import { makeFolder } from '../platform/folders/index.ts'
import { readIfThere } from './data-folder.ts'

type KeyConfig = Pick<RoleConfig<'migrate'>, 'operator_key' | 'operator_key_file'>

/** In the data directory, mode 0600: the key that an operator beside role `all` signs in with. */
export const operatorKeyFile = 'operator-key'

/**
 * The operator's key that is set, by itself or in a file; undefined when neither is. Throws
 * `ConfigError` when both are or the file can't be read.
 */
export async function givenOperatorKey(config: KeyConfig): Promise<string | undefined> {
  const { operator_key, operator_key_file: path } = config
  if (path === undefined) return operator_key
  if (operator_key !== undefined) {
    throw new ConfigError(
      'LOOPTRACE_OPERATOR_KEY and LOOPTRACE_OPERATOR_KEY_FILE: got both, expected one of them',
    )
  }
  const text = await readFile(path, 'utf8').catch((cause: unknown) => {
    throw new ConfigError(`LOOPTRACE_OPERATOR_KEY_FILE: ${path} can not be read`, { cause })
  })
  return text.trim()
}

/** The one that is set, else one of our own, made at the first start and kept in a file. */
export async function operatorKeyOf(
  config: KeyConfig & Pick<RoleConfig<'all'>, 'data_directory'>,
): Promise<string> {
  const given = await givenOperatorKey(config)
  if (given !== undefined) return given
  await makeFolder(config.data_directory)
  const path = join(config.data_directory, operatorKeyFile)
  const known = await readIfThere(path)
  if (known !== undefined) return known.trim()
  const { operator_key } = mintGivenSecrets()
  // A start that is killed here must not leave half a key.
  await writeFile(`${path}.new`, `${operator_key}\n`, { mode: 0o600, flush: true })
  await rename(`${path}.new`, path)
  return operator_key
}
