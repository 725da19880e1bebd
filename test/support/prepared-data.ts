import { execFile } from 'node:child_process'
import { chmod, mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { builtOnce } from './build-once.ts'
import { bundle, hashSources } from './bundle.ts'

/** The test support fills the folder, so a change of it gives another one, too. */
const filled = `${bundle}-${await hashSources(join(import.meta.dirname, '../..'), ['test/support/**'])}`

/**
 * Copies a prepared data folder to `directory`: stores that were created and migrated once for each
 * state of the sources, which is half of the processor time of a start. `make` fills the folder and
 * must leave no process on it.
 */
export async function copyPrepared(
  name: string,
  directory: string,
  make: (folder: string) => Promise<void>,
): Promise<void> {
  const prepared = await builtOnce(`${filled}-${name}`, async (folder) => {
    await mkdir(folder, { recursive: true })
    // Under root, PostgreSQL runs as another user, who needs access to this folder.
    await chmod(folder, 0o711)
    await make(folder)
  })
  // It keeps owners and modes, which the copy function of Node does not.
  await promisify(execFile)('cp', ['-a', `${prepared}/.`, directory])
}
