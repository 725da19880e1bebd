import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { build } from 'vite'

const root = join(import.meta.dirname, '../../console')

/** Builds the console of this checkout if it is not built. `make console` builds it anew. */
export async function ensureConsole(): Promise<void> {
  if (!existsSync(join(root, 'dist/index.html'))) await build({ root, logLevel: 'warn' })
}
